"""Figures of correctors: torques per radian by strength, and what takes orders and makes drift."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from polhode_study.chapters.correctors import frames
from polhode_study.chapters.correctors.frames import CORRECTED, PLAIN
from polhode_study.chapters.many_body.frames import NEAR
from polhode_study.inputs import Inputs
from polhode_study.report import style
from polhode_study.report.drawing import (
    legend_below_styles,
    new_figure,
    panel_grid,
    panel_title,
    printable,
    styles_of,
)

#: The methods drawn by strength.
DRAWN = (PLAIN, CORRECTED, "rotor_modified_kick", "rotor_gradient4", "magnus_adams4", "cf4", "spiral_leapfrog", "no_squish")


def correctors(inputs: Inputs) -> Figure:
    """A figure of the torques per radian by strength, a panel for each of two classes of torque."""
    tables = {name: frames.torques(inputs, name) for name in ("state", "lab")}
    keys = [key for key in DRAWN if key in tables["state"]]
    looks = styles_of(inputs, keys)
    figure = new_figure((style.TEXT_WIDTH, 3.1))
    panels = panel_grid(figure, 2, 2)
    for axes, letter, (name, table) in zip(panels, "ab", tables.items(), strict=True):
        panel_title(axes, letter, {"state": "torque of the orientation", "lab": "torque fixed in the lab"}[name])
        for key in keys:
            axes.plot(list(table[key]), list(table[key].values()), **looks[key])
        axes.set(xscale="log", yscale="log", ylim=(frames.COARSEST / 1.2, 2e3))
        axes.set_xlabel(r"strength of the torque $|M|/(I\Omega^2)$")
        axes.set_ylabel(r"torques per radian for $10^{-4}$")
    legend_below_styles(figure, {key: inputs.label(key) for key in keys}, looks, 4)
    return figure


#: Colours of the cells: by order, and by whether energy stays; white where there is nothing to say.
ORDERS = {order: colour for order, colour in style.ORDERS.items() if order}
STAYS, DRIFTS, NOTHING = style.ORDERS[2], style.ORDERS[1], "white"
#: Left edges and widths of the columns, whose groups have a gap between them, and the edges of the two columns of words.
EDGES = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.25, 8.25, 9.7, 11.25)
WIDTHS = (*(1.0,) * 6, 1.75, 1.45, 1.55, 1.75)
HEADS = ("none", "const.", "time", "lab", "$q$", r"$\omega$", "/SPIRAL's", "free top", "libration", "symplectic")
GROUPS = ((0, 6, "lowest order, torque of"), (6.25, 8.0, "contacts"), (8.25, 13.0, "energy in long runs, and why"))
METHOD, TORQUE = -8.9, -4.9


def order_and_drift(inputs: Inputs) -> Figure:
    """What reduces the order and what makes drift: one method for each place of the torque, with what was measured."""
    rows = frames.order_and_drift(inputs)
    figure = new_figure((style.TEXT_WIDTH, 0.85 + 0.19 * len(rows)))
    axes = figure.subplots()
    for y, row in enumerate(rows):
        axes.text(METHOD, y + 0.5, printable(row.label.partition(" (")[0]), va="center", fontsize=style.LABEL)
        axes.text(TORQUE, y + 0.5, row.torque, va="center", fontsize=style.LABEL)
        for column, order in enumerate(row.orders):
            rounded = round(order) if np.isfinite(order) else 0
            colour = ORDERS.get(min(rounded, max(ORDERS)), NOTHING)
            _cell(axes, column, y, f"{order:.1f}" if rounded else "--", colour, "white" if rounded >= 4 else "black")
        ratio = row.contacts
        _cell(axes, 6, y, _short(ratio), NOTHING if np.isnan(ratio) else STAYS if ratio < NEAR else DRIFTS)
        _cell(axes, 7, y, _short(row.energy), STAYS if row.stays else DRIFTS)
        _cell(axes, 8, y, row.libration, {"steady": STAYS, "": NOTHING}.get(row.libration, DRIFTS))
        _cell(axes, 9, y, row.symplectic, {"yes": STAYS, "no": DRIFTS}.get(row.symplectic, NOTHING))
    for edge, width, head in zip(EDGES, WIDTHS, HEADS, strict=True):
        axes.text(edge + width / 2, -0.15, head, ha="center", va="bottom", fontsize=style.LABEL)
    for begin, end, text in GROUPS:
        axes.plot([begin + 0.06, end - 0.06], [-1.05, -1.05], **style.INK)
        axes.text((begin + end) / 2, -1.2, text, ha="center", va="bottom", fontsize=style.KEY)
    axes.text(METHOD, -0.15, "method", va="bottom", fontsize=style.LABEL)
    axes.text(TORQUE, -0.15, r"its torque, and the $\omega$ of that", va="bottom", fontsize=style.LABEL)
    axes.set_xlim(METHOD, EDGES[-1] + WIDTHS[-1])
    axes.set_ylim(len(rows), -2.1)
    axes.set_axis_off()
    words = {
        1: "first order; drifts, or more than SPIRAL",
        2: "second order; stays, or as SPIRAL",
        3: "third",
        4: "fourth order",
    }
    shown = {min(round(x), max(ORDERS)) for row in rows for x in row.orders if np.isfinite(x)}
    patches = [Patch(facecolor=ORDERS[order], label=word) for order, word in words.items() if order in shown]
    figure.legend(handles=patches, loc="outside lower center", ncols=4, handlelength=1.1, columnspacing=1.3)
    return figure


def _cell(axes: Axes, column: int, y: float, text: str, colour: str, ink: str = "black") -> None:
    """Draw a cell of the figure of orders and drift."""
    edge, width = EDGES[column], WIDTHS[column]
    axes.add_patch(Rectangle((edge + 0.03, y + 0.04), width - 0.06, 0.92, facecolor=colour, edgecolor="none"))
    axes.text(edge + width / 2, y + 0.5, text, ha="center", va="center", fontsize=style.LABEL, color=ink)


def _short(value: float) -> str:
    """A number in two digits, or one and a power of ten if it is small or large; a dash if there is none."""
    if not np.isfinite(value):
        return "--" if np.isnan(value) else "lost"
    if 0.1 <= value < 1000:
        return f"{value:.2g}"
    mantissa, exponent = f"{value:.0e}".split("e")
    return rf"${mantissa}\!\times\!10^{{{int(exponent)}}}$"
