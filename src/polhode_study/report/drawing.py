"""Elements shared by several figures: axes for errors, legends, guides, and the two common kinds of figure."""

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import xarray as xr
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report import style
from polhode_study.report.formats import labels_of

#: Errors below this are plotted at this value, since a logarithmic axis has no zero.
FLOOR = 1e-17
#: Ticks of axes of ratios.
RATIOS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
#: Errors above this only mean that the orientation is lost; the axes end here.
CEILING = 10.0

Q_ERROR = r"error of orientation $\varepsilon_q$"
OMEGA_ERROR = r"error of angular velocity $\varepsilon_\omega$"
STEP = r"time step $\Delta t$ (s)"
TIME = "time $t$ (s)"


def available(data: xr.Dataset, wanted: Iterable[str], plugins: Sequence[str] = ()) -> list[str]:
    """The methods of ``wanted``, and the plug-ins, that the data contain."""
    present = set(map(str, data["integrator"].values))
    return [key for key in dict.fromkeys([*wanted, *plugins]) if key in present]


#: Height of the tallest figure, inches: a page less its caption.
TALLEST = 8.0


def rows_height(rest: float, row: float, rows: float) -> float:
    """The height in inches of a figure with a row for each method, and ``rest`` inches of axes and legends; at most a page."""
    return min(TALLEST, rest + row * rows)


def new_figure(size: tuple[float, float]) -> Figure:
    """An empty figure of this size in inches."""
    return Figure(figsize=size, layout="constrained")


def panel_grid(figure: Figure, count: int, columns: int, **options: Any) -> list[Axes]:
    """As many panels as asked for, row by row in at most so many columns; ``options`` as of ``Figure.subplots``."""
    panels = figure.subplots(-(-count // columns), min(columns, count), squeeze=False, **options).ravel()
    for axes in panels[count:]:
        axes.set_axis_off()
    return list(panels[:count])


def outer_labels(panels: Sequence[Axes], columns: int, below: str, left: str) -> None:
    """Labels below the last panel of each column, and at the left of each row."""
    for number, axes in enumerate(panels):
        if number % columns == 0:
            axes.set_ylabel(left)
        if number + columns >= len(panels):
            axes.set_xlabel(below)


def drawn_in_turn(
    panels: Sequence[Axes], letters: str, drawings: Mapping[str, Callable[[Axes, Inputs], None]], inputs: Inputs
) -> None:
    """Draw panels of different kinds, by their titles; one whose data the run lacks says so."""
    for axes, letter, (title, draw) in zip(panels, letters, drawings.items(), strict=True):
        panel_title(axes, letter, title)
        try:
            draw(axes, inputs)
        except NotInRun:
            axes.text(0.5, 0.5, "not in this run", ha="center", va="center", fontsize=style.NOTE)


def looks_of(inputs: Inputs, keys: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Styles that do not depend on which of the run's methods a figure shows."""
    every = styles_of(inputs, map(str, inputs.errors["integrator"].values))
    return {key: look for key, look in every.items() if key in keys}


def styles_of(inputs: Inputs, methods: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Line styles of methods, with the variants that the run declares."""
    methods = list(methods)
    return style.styles(methods, {key: str(inputs.declared(key, "variant_of")) for key in methods})


#: Characters that the font of the figures replaces by others, or that start a formula in matplotlib.
_AS_FORMULA = {
    "$": r"\$",
    "_": r"$\_$",
    "<": "${<}$",
    ">": "${>}$",
    "|": "${|}$",
    "{": r"$\{$",
    "}": r"$\}$",
    "\\": r"$\backslash$",
    "±": r"$\pm$",
    "°": r"$^\circ$",
    "²": "$^2$",
    "³": "$^3$",
    "µ": r"$\mu$",
    "·": r"$\cdot$",
}


#: Combining accents, and the commands of formulas that set them: the font of the figures has letters without accents only.
_ACCENTS = {
    "\u0300": "grave",
    "\u0301": "acute",
    "\u0302": "hat",
    "\u0303": "tilde",
    "\u0304": "bar",
    "\u0306": "breve",
    "\u0307": "dot",
    "\u0308": "ddot",
}


def _as_formula(c: str) -> str:
    """A character as a formula, empty if it has none: those of the table, and letters with an accent, which it composes."""
    parts = unicodedata.normalize("NFD", c)
    # An accent on i or j would come above their dots.
    if len(parts) == 2 and parts[1] in _ACCENTS and parts[0].isascii() and parts[0].isalpha() and parts[0] not in "ij":
        return rf"$\mathrm{{\{_ACCENTS[parts[1]]}{{{parts[0]}}}}}$"
    return _AS_FORMULA.get(c, "")


def printable(text: str) -> str:
    """A plain-text name as matplotlib prints it with the fonts of the figures; unavailable characters become ``?``."""
    first, second = _characters()
    known = "".join(c if ord(c) < 0x7F or _as_formula(c) or ord(c) in second - first else "?" for c in text)
    if any(_as_formula(c).count("$") > 1 for c in known):
        # Next to a formula only the first font is used: other letters lose their accents.
        plain = (c if _as_formula(c) else unicodedata.normalize("NFKD", c)[0] for c in known)
        known = "".join(c if ord(c) < 0x7F or _as_formula(c) else "?" for c in plain)
    return "".join(_as_formula(c) or c for c in known)


@cache
def _characters() -> list[frozenset[int]]:
    """The characters of the two fonts of the figures; the first, an old one of TeX, has others in their places beyond ASCII."""
    names = style.SETTINGS["font.family"]
    return [frozenset(font_manager.get_font(font_manager.findfont(name)).get_charmap()) for name in names]


def legend_below(figure: Figure, inputs: Inputs, keys: Sequence[str], looks: dict[str, dict[str, Any]], columns: int) -> None:
    """One legend for all panels, below them, filled row by row."""
    legend_below_styles(figure, {key: inputs.label(key) for key in keys}, looks, columns)


def legend_below_styles(figure: Figure, labels: Mapping[str, str], looks: Mapping[str, dict[str, Any]], columns: int) -> None:
    """One legend for all panels, for keys with given labels; of fewer columns if so many are wider than the figure."""
    handles = [Line2D([], [], label=printable(label), **looks[key]) for key, label in labels.items()]
    if not handles:
        return
    # Filled row by row: matplotlib fills columns first.
    rows = -(-len(handles) // columns)
    order = [row * columns + column for column in range(columns) for row in range(rows)]
    legend = figure.legend(
        handles=[handles[i] for i in order if i < len(handles)],
        loc="outside lower center",
        ncols=min(columns, len(handles)),
        handlelength=2.6,
        columnspacing=1.4,
        labelspacing=0.35,
    )
    if columns > 1 and legend.get_window_extent().width > figure.bbox.width:
        legend.remove()
        legend_below_styles(figure, labels, looks, columns - 1)


def method_looks(*groups: xr.Dataset) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
    """Labels and line styles of all methods of some data that name their variants."""
    variants = {
        str(key): str(parent)
        for data in groups
        for key, parent in zip(data["integrator"].values, data["variant_of"].values, strict=True)
    }
    return labels_of(*groups), style.styles(variants, variants)


def error_line(axes: Axes, at: np.ndarray, error: np.ndarray, look: Mapping[str, Any], **options: Any) -> None:
    """A line through the finite errors, with zero at :data:`FLOOR`; ``options`` replace entries of the style."""
    finite = np.isfinite(error)
    axes.plot(at[finite], np.maximum(error[finite], FLOOR), **{**look, **options})


def curves(
    axes: Axes,
    lines: Mapping[str, tuple[np.ndarray, np.ndarray]],
    looks: Mapping[str, dict[str, Any]],
    markers: int = 0,
    **options: Any,
) -> None:
    """A family of thin lines (at, error), with about so many markers on each, at other places than on others; 0: all points.

    ``options`` replace entries of the styles; what has no style is grey, behind the others and without markers.
    """
    for number, (key, (at, error)) in enumerate(lines.items()):
        every = max(1, np.isfinite(error).sum() // markers) if markers else 1
        look = style.FIRST | looks[key] | {"markevery": (number * every // len(lines), every)} if key in looks else style.OTHERS
        error_line(axes, at, error, look, **options)


def panel_title(axes: Axes, letter: str, text: str) -> None:
    """(a) and so on, above the left corner."""
    axes.set_title(f"({letter}) {text}", loc="left")


def log_error_axis(axes: Axes, lowest: float, highest: float) -> None:
    """A logarithmic axis for errors between these limits, labelled at every decade or every second one."""
    axes.set_yscale("log")
    axes.set_ylim(lowest, highest)
    axes.yaxis.set_major_locator(LogLocator(10, numticks=30))
    decades = int(np.log10(highest / lowest))
    if decades > 9:
        exponents = range(int(np.floor(np.log10(lowest))), int(np.ceil(np.log10(highest))) + 1)
        axes.yaxis.set_major_locator(FixedLocator([10.0**e for e in exponents if e % 2 == 0]))
        axes.yaxis.set_minor_locator(FixedLocator([10.0**e for e in exponents if e % 2]))
    else:
        axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_formatter(NullFormatter())


def decades_below(axes: Axes, values: np.ndarray, margin: float = 1.6, most: float = 12) -> None:
    """A logarithmic horizontal axis around these values, with a tick at every decade, or every second of more than ``most``."""
    low, high = np.nanmin(values), np.nanmax(values)
    axes.set_xscale("log")
    axes.set_xlim(low / margin, high * margin)
    axes.xaxis.set_major_locator(LogLocator(100 if high / low > 10**most else 10, numticks=12))
    axes.xaxis.set_minor_locator(NullLocator())


def ratio_ticks(axis: Axis, low: float, high: float, marks: Iterable[float] = RATIOS) -> None:
    """Plain numbers along a logarithmic axis of ratios between these limits."""
    axis.set_major_locator(FixedLocator([mark for mark in marks if low <= mark <= high]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def row_places(groups: Iterable[tuple[str, Sequence[str]]], gap: float) -> tuple[dict[str, float], float]:
    """The place of each member of some groups in a figure with one row (or column) for each, and the end of all.

    Groups, and the end, are ``gap`` rows apart.
    """
    places: dict[str, float] = {}
    at = 0.0
    for _, keys in groups:
        for key in keys:
            places[key] = at
            at += 1.0
        at += gap
    return places, at


def limits(*values: np.ndarray) -> tuple[float, float]:
    """Whole decades around all finite errors, within FLOOR and CEILING."""
    joined = np.concatenate([np.ravel(v) for v in values]) if values else np.array([1.0])
    joined = np.clip(joined[np.isfinite(joined)], FLOOR, CEILING)
    if joined.size == 0:
        return FLOOR, CEILING
    low = 10.0 ** np.floor(np.log10(joined.min()) - 0.2)
    high = 10.0 ** np.ceil(np.log10(joined.max()) + 0.2)
    return max(low, FLOOR / 10), min(high, CEILING)


def note(axes: Axes, text: str, at: tuple[Any, Any], shift: tuple[float, float], **options: Any) -> None:
    """Small print at a point, shifted by so many points; ``options`` as of ``Axes.annotate``."""
    axes.annotate(text, at, xytext=shift, textcoords="offset points", **{**style.NOTES, **options})


def slope_guides(axes: Axes, slopes: Sequence[int]) -> None:
    """Straight grey lines of the given slopes through the lower right corner region, each labelled where it leaves the axes."""
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
    width, height = np.log10(x1 / x0), np.log10(y1 / y0)
    for number, slope in enumerate(slopes):
        # Fan of lines below the data: the steeper, the further right.
        run = min((0.16 if len(slopes) < 4 else 0.1) * width, 0.2 * height / slope)
        pitch = 0.125 if len(slopes) < 4 else 0.08
        left = np.log10(x0) + width * (0.88 - pitch * (len(slopes) - number)) + (0 if slope > 2 else -0.03 * width)
        bottom = np.log10(y0) + 0.045 * height
        xs = 10.0 ** np.array([left, left + run])
        ys = 10.0 ** np.array([bottom, bottom + slope * run])
        axes.plot(xs, ys, **style.GUIDES, zorder=1)
        note(axes, f"{slope}", (xs[1], ys[1]), (1.5, 1), va="center")


def error_panels(
    data: xr.Dataset, keys: Sequence[str], looks: Mapping[str, dict[str, Any]], omega: str, along: str, markers: int = 0
) -> tuple[Figure, Any]:
    """A figure with the errors of q and omega along a coordinate, one line per method, and its two panels.

    ``omega`` is the variable with the error of omega; ``markers``: thin lines with so many on each.
    """
    figure = new_figure(style.TWO_PANELS)
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    at = data[along].values
    low, high = limits(*(data[name].sel(integrator=list(keys)).values for name in ("q_error_l1", omega)))
    for axes, name, label, letter, title in zip(
        panels, ("q_error_l1", omega), (Q_ERROR, OMEGA_ERROR), "ab", ("orientation", "angular velocity"), strict=True
    ):
        lines = {key: (at, data[name].sel(integrator=key).values) for key in keys}
        curves(axes, lines, looks, markers, **({} if markers else {"linewidth": style.LINE}))
        log_error_axis(axes, low, high)
        axes.set_ylabel(label)
        axes.yaxis.set_tick_params(labelleft=True)
        panel_title(axes, letter, title)
    return figure, panels


def errors_against_step(inputs: Inputs, keys: Sequence[str], omega: str, slopes: Sequence[int], columns: int) -> Figure:
    """Errors of q and omega at the end against dt, one line per method, with guides of the given slopes."""
    data, looks = inputs.ladder, looks_of(inputs, keys)
    figure, panels = error_panels(data, keys, looks, omega, "dt")
    for axes in panels:
        decades_below(axes, data["dt"].values)
        axes.set_xlabel(STEP)
        slope_guides(axes, slopes)
    legend_below(figure, inputs, keys, looks, columns)
    return figure


def errors_against_time(inputs: Inputs, keys: Sequence[str], omega: str, columns: int) -> Figure:
    """Errors of q and omega of the long run against time, one line per method."""
    data, looks = inputs.long_run, looks_of(inputs, keys)
    time = data["time"].values
    figure, panels = error_panels(data.isel(time=time > 0), keys, looks, omega, "time", 8)
    for axes in panels:
        axes.set_xlim(0, time.max())
        axes.set_xlabel(TIME)
    legend_below(figure, inputs, keys, looks, columns)
    return figure


def note_instead(text: str) -> Figure:
    """An empty figure with the reason why it is empty."""
    figure = new_figure((style.TEXT_WIDTH, 1.2))
    figure.text(0.5, 0.5, text, ha="center", va="center", color=style.DARK)
    return figure


#: Components and their styles; not method colours.
COMPONENTS: tuple[tuple[str, str, Any], ...] = (
    ("x", style.NAVY, "-"),
    ("y", style.RED, (0, (5, 1.5))),
    ("z", style.GOLD, (0, (1.5, 1.2))),
)
