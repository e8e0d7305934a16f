"""The rows of the first page outside the article: as Markdown and HTML, with what is behind each."""

import re
from html import escape

#: Of each row of the first page: the name of its tab, the released file behind it and a group of it, the page on it, and an
#: example of asking for a case of one's own.
BEHIND = {
    "_elastic": ("DEM: elastic contacts", "many_body.nc", "chess", "many-bodies", "chess --error 1e-4"),
    "_rubbing": (
        *("DEM: friction, damping", "checks/random_impacts.nc", "/", "impacts"),
        "--contact-time 1e-4 --friction 0.3 --restitution 0.7 --error 1e-2",
    ),
    "_water": ("MD: rigid molecules", "liquids.nc", "followed", "liquids", "--liquid water64 --drift 0.01"),
    "_games": ("Games, robotics", "laws.nc", "/", "ensembles", "--torque-class smooth --omega 6.28 --error 1e-2"),
    "_spacecraft": (
        *("Spacecraft", "laws.nc", "/", "ensembles"),
        "--torque-class smooth --omega 0.0175 --error 1e-6 --several-torques",
    ),
}
#: A second example for bodies that the first one leaves out: which, the question, and the page on it.
BESIDE = {
    "_spacecraft": (
        *("with wheels, firings or a controller", "--spacecraft --error 1e-6"),
        "recommend-class.md#a-spacecraft",
    ),
}
#: What the cells of the table in LaTeX have, as Markdown, innermost first.
MARKDOWN = (
    (r",? *Secs?\.~(?:\\ref\{[^}]*\}(?:, )?)+", ""),
    (r"\\num\{1e-0?(\d+)\}", r"10<sup>−\1</sup>"),
    (r"\\num\{-", r"\\num{−"),
    (r"\\num\{([^{}]*)\}", r"\1"),
    (r"\\mathbf\{([^{}]*)\}", r"**\1**"),
    (r"\$\*\*(.*?)\*\*\$", r"**\1**"),
    (r"\$\{\}/", "$/"),
    (r"h/\\sqrt\{I_xI_z\}", "h/√(I<sub>x</sub> I<sub>z</sub>)"),
    (r"I\\Omega\^2", "IΩ²"),
    (r"\\leq", "≤ "),
    (r"\\infty", "∞"),
    (r"\^\\circ", "°"),
    (r"\\mu", "µ"),
    (r"\\([%_&#])", r"\1"),
    (r"\\,|~", " "),
    (r"\\code\{([^{}]*)\}", r"`\1`"),
    (r"\\textbf\{([^{}]*)\}", r"**\1**"),
    (r"\{\\scriptsize ([^{}]*)\}", r"\1"),
    (r"\\newline", " "),
    (r"\$", ""),
)


def markdown(latex: str) -> str:
    """A cell of the table as Markdown.

    Raises
    ------
    ValueError
        If a command is left that :data:`MARKDOWN` does not have.
    """
    text = latex
    for pattern, replacement in MARKDOWN:
        text = re.sub(pattern, replacement, text)
    if re.search(r"[\\{}]", text):
        raise ValueError(f"a cell of the first page has LaTeX that the landing page cannot show: {latex!r} gave {text!r}")
    return " ".join(text.split())


def html(latex: str) -> str:
    """A cell of the table as HTML."""
    text = escape(markdown(latex), quote=False)
    for pattern, replacement in (
        (r"&lt;(/?su[bp])&gt;", r"<\1>"),
        (r"\*\*(.*?)\*\*", r"<strong>\1</strong>"),
        ("`(.*?)`", r"<code>\1</code>"),
    ):
        text = re.sub(pattern, replacement, text)
    return text
