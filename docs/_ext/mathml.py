"""Formulas as MathML, which browsers draw and screen readers read: no script and no network.

docutils converts a formula; Sphinx asks for it by ``html_math_renderer = "mathml"``.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml, pick_math_environment


def _mathml(formula: str, *, block: bool) -> str:
    if block:
        environment = pick_math_environment(formula)
        formula = f"\\begin{{{environment}}}{formula}\\end{{{environment}}}" if environment != "equation*" else formula
    return str(latex2mathml.tex2mathml(formula, as_block=block))


def _inline(self: Any, node: Any) -> None:
    self.body.append(_mathml(node.astext(), block=False))
    raise nodes.SkipNode


def _block(self: Any, node: Any) -> None:
    self.body.append(f'<div class="math" tabindex="0">{_mathml(node.astext(), block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
