"""Messages of the package, which speak of keywords of Python, in the words of the command line."""

from __future__ import annotations

import re

__all__ = ["in_options"]

# Keywords that are also plain English words are options only where a value follows.
_KEYWORDS = {
    "n_clusters": "-k",
    "k_range": "-k",
    "metric_params": "--metric-param",
    "memory_limit": "--memory-limit",
    "frozen_medoids": "--frozen",
    "max_iter": "--max-iter",
    "time_limit": "--time-limit",
    "image_shape": "--image-shape",
    "random_state": "--seed",
    "sample_weight": "--weights",
    "n_jobs": "--jobs",
}
_WORDS = {name: f"--{name}" for name in ("algorithm", "metric", "swap", "checkpoint", "resume")}
_OPTIONS = _KEYWORDS | _WORDS
_WITH_VALUE = re.compile(
    rf"\b({'|'.join(_OPTIONS)})(?:\[\d+\])?=('[^']*'|\"[^\"]*\"|\([^)]*\)|\d[\d,.]* (?:bytes|[KMGT]iB)|[\w./+-]*[\w/+])"
)
_ALONE = re.compile(rf"\b({'|'.join(_KEYWORDS)})\b")


def in_options(message: str) -> str:
    """Return a message with options in the place of keywords.

    >>> in_options("memory_limit=2 GiB is too little; raise memory_limit, or use algorithm='clara'")
    '--memory-limit 2 GiB is too little; raise --memory-limit, or use --algorithm clara'
    >>> in_options("pass resume=True to go on")
    'pass --resume to go on'
    """

    def with_value(match: re.Match[str]) -> str:
        value = match[2].strip("'\"")
        return _OPTIONS[match[1]] if value == "True" else f"{_OPTIONS[match[1]]} {value}"

    return _ALONE.sub(lambda match: _KEYWORDS[match[1]], _WITH_VALUE.sub(with_value, message))
