"""Tables, numbers and names as the page writes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean, stdev

__all__ = [
    "DATA_TITLES",
    "SAME_LOSS",
    "Section",
    "enumerate_names",
    "format_ratio",
    "mean_and_deviation",
    "share_above",
    "table",
]

# Relative difference up to which two float64 losses, summed in different orders, are equal.
SAME_LOSS = 1e-9
# Names of the data sets on the page.
DATA_TITLES = {
    "MNIST": "MNIST (L2)",
    "CIFAR10": "CIFAR10 (L1)",
    "NEWSGROUPS": "20 Newsgroups (cosine)",
    "SCRNA-WORM": "scRNA worm (L1)",
    "SCRNA-BLADDER": "scRNA bladder (L1)",
}


@dataclass(frozen=True)
class Section:
    """A table or figure of the page: paragraphs, whether the claim held, and an SVG after the first paragraph."""

    paragraphs: Sequence[str]
    verdict: str
    picture: str = ""


def table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown.

    >>> print(table(["k", "loss"], [["5", "7.9"]]))
    | k | loss |
    |---|---|
    | 5 | 7.9 |
    """
    return "\n".join(
        [
            "| " + " | ".join(heads) + " |",
            "|" + "---|" * len(heads),
            *("| " + " | ".join(line) + " |" for line in lines),
        ]
    )


def format_ratio(ratio: float) -> str:
    """Write a ratio near 1 as the paper does, with its difference from 1 if there is one.

    >>> format_ratio(1.0), format_ratio(1.0012)
    ('1.00', '1.00 (+1.2e-03)')
    """
    return f"{ratio:.2f}" + (f" ({ratio - 1:+.1e})" if abs(ratio - 1) > SAME_LOSS else "")


def share_above(loss: float, other: float) -> str:
    """Write by what share a loss is above another.

    >>> share_above(2.0, 2.0), share_above(3.0, 2.0)
    ('0', '+5.0e-01')
    """
    share = loss / other - 1
    return "0" if abs(share) <= SAME_LOSS else f"{share:+.1e}"


def mean_and_deviation(values: Sequence[float]) -> str:
    """Write a mean, with the standard deviation if there are several values.

    >>> mean_and_deviation([2.0]), mean_and_deviation([1.0, 3.0])
    ('2.00', '2.00 ± 1.41')
    """
    if not values:
        return "not run"
    return f"{mean(values):.2f}" + (f" ± {stdev(values):.2f}" if len(values) > 1 else "")


def enumerate_names(names: Sequence[str], limit: int = 1_000) -> str:
    """Write names as an enumeration that shows at most ``limit`` of them.

    >>> enumerate_names(["a", "b", "c"]), enumerate_names(["a", "b", "c"], limit=1)
    ('a, b and c', 'a and 2 more')
    """
    shown = list(names[:limit]) + ([f"{len(names) - limit} more"] if len(names) > limit else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
