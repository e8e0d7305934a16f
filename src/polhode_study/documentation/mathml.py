"""A Sphinx extension for formulas as MathML, which browsers render without scripts, fonts or network.

The conversion is that of docutils, on which Sphinx is built. A formula that it cannot convert gives a warning with its
location, so that a strict build fails instead of showing the source of the formula.
"""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import MathError, tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number


def mathml(text: str, block: bool = False) -> str:
    """A LaTeX formula as a MathML element.

    Parameters
    ----------
    text : str
        The formula; a displayed one may have rows, as in LaTeX's ``align``.
    block : bool
        Whether it is displayed on its own line.

    Raises
    ------
    ValueError
        If a command is not known to the converter; the message names the formula and the command.
    """
    # The converter takes all digits after \frac as one argument; TeX takes one digit.
    braced = re.sub(r"(\\[td]?frac)(\d)(\d)", r"\1{\2}{\3}", text)
    # A bare bar is taken for a relation; the bars of a norm are delimiters.
    bars = re.split(r"(?<!\\)(?<!\\left)(?<!\\right)(?<!\\big)(?<!\\bigl)(?<!\\bigr)\|", braced)
    if len(bars) % 2:
        braced = bars[0] + "".join((r"\lvert " if i % 2 == 0 else r"\rvert ") + part for i, part in enumerate(bars[1:]))
    try:
        return str(tex2mathml(braced, as_block=block))
    except (MathError, SyntaxError, IndexError, AttributeError) as error:
        raise ValueError(f"the formula {text!r} cannot be written in MathML: {error}") from error


def _visit(self: Any, node: nodes.Element, block: bool) -> None:
    try:
        formula = mathml(node.astext(), block)
    except ValueError as error:
        logging.getLogger(__name__).warning("%s", error, location=node, type="mathml")
        formula = f"<code>{self.encode(node.astext())}</code>"
    if not block:
        self.body.append(formula)
        raise nodes.SkipNode
    self.body.append(self.starttag(node, "div", CLASS="formula"))
    if node.get("number"):
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})</span>')
        self.add_permalink_ref(node, "Link to this equation")
    self.body.append(f"{formula}</div>\n")
    raise nodes.SkipNode


def visit_inline(self: Any, node: nodes.Element) -> None:
    """Write an inline formula."""
    _visit(self, node, False)


def visit_block(self: Any, node: nodes.Element) -> None:
    """Write a displayed formula."""
    _visit(self, node, True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer ``mathml`` for ``html_math_renderer``."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
