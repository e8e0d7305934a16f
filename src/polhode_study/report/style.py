"""One colour and one marker for each method in all figures, and one way to write a figure."""

import logging
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.path import Path as Outline

from polhode.interface.storage import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# It logs messages about the creation dates of the fonts, twice for each figure.
logging.getLogger("fontTools").setLevel(logging.ERROR)

#: Width of the text block of the report, inches.
TEXT_WIDTH = 6.3
#: Width of a figure that is scaled down to the text, inches.
WIDE = 6.9
#: Width and height of a figure with two panels and a legend below.
TWO_PANELS = (TEXT_WIDTH, 3.55)
#: Sizes of letters, points: notes in a panel, small labels, legends and ticks, text; heads of the picture for readers.
NOTE, LABEL, KEY, TEXT, LEAD, HEAD = 7.0, 7.5, 8.0, 9.0, 10.5, 12.0
#: Widths of lines, points: hair lines and edges, the curves of a family, single curves, what stands out.
HAIR, FINE, LINE, BOLD = 0.6, 0.85, 1.0, 1.4
#: Greys: letters and marks, guides, lines behind, rules, areas.
DARK, GUIDE, PALE, RULE, SHADE = "0.3", "0.45", "0.6", "0.8", "0.93"
#: Hues of what is no method: Okabe and Ito's;
BLACK, ORANGE, SKY, GREEN, BLUE, VERMILION, PURPLE = (
    *("#000000", "#E69F00", "#56B4E9", "#009E73"),
    *("#0072B2", "#D55E00", "#CC79A7"),
)
#: Tol's for high contrast, then bright and muted ones.
NAVY, RED, GOLD = "#004488", "#BB5566", "#DDAA33"
STEEL, OLIVE, LEAF = "#4477AA", "#CCBB44", "#228833"
WINE, MAGENTA, INDIGO, MOSS, BROWN = "#AA3377", "#EE3377", "#332288", "#999933", "#8B5A2B"
#: Ten hues for things without an order: seaborn's palette for the colour-blind.
TEN = (
    *("#0173b2", "#de8f05", "#029e73", "#d55e00", "#cc78bc"),
    *("#ca9161", "#fbafe4", "#949494", "#ece133", "#56b4e9"),
)
#: Cells by the fitted order, from light to dark, with a warm colour for none.
ORDERS = {0: "#E9A08F", 1: "#FDECB0", 2: "#A3D9C9", 3: "#4A9FC4", 4: "#2B4F91"}
#: What stays, what grows slowly, and what drifts; what a publication states; what misses its own claim.
STAYS, GROWS, DRIFTS, STATED, ALARM = "#2F7F99", "#F2D16B", "#C4512D", "#C00000", "#7A1F1F"
#: The same for a page in a browser, light, dark, and on paper: ink, rules, bands, good and bad.
CSS_COLOURS = """
:root{color-scheme:light dark;--ink:#1c1e21;--soft:#5d646b;--line:#d5d9dd;--paper:#fff;--band:#f3f5f7;--good:#1b6e3c;
--bad:#b3261e}@media (prefers-color-scheme:dark){:root{--ink:#e6e8ea;--soft:#a0a7ae;--line:#3b4148;--paper:#15181b;
--band:#1f2428;--good:#7fd19b;--bad:#ff8a80}}@media print{:root{color-scheme:light;--ink:#000;--soft:#444;--line:#bbb;
--paper:#fff;--band:#fff;--good:#1b6e3c;--bad:#b3261e}}"""
#: Looks of what is no data: drawn marks, guides behind the data, notes in a panel.
INK: dict[str, Any] = {"color": DARK, "linewidth": FINE}
GUIDES: dict[str, Any] = {"color": GUIDE, "linewidth": FINE}
NOTES: dict[str, Any] = {"fontsize": NOTE, "color": DARK}
#: The roles of curves: the first ones have the colours of their methods, and all others are grey behind them.
FIRST: dict[str, Any] = {"linewidth": FINE, "zorder": 2}
OTHERS: dict[str, Any] = {"color": RULE, "linewidth": HAIR, "zorder": 1}


def _half_disc(side: int) -> Outline:
    """A filled half disc as a marker, with its round side to the left (-1) or right (+1)."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, 25)
    points = [(side * (np.cos(a) - 0.5), np.sin(a)) for a in angle]
    return Outline([*points, points[0]], closed=True)


#: Torque at the old time: the half disc that points back; at the new time: the one that points ahead.
BACK, AHEAD = _half_disc(-1), _half_disc(1)
#: Colours and markers of the method families; Okabe and Ito's palette, completed by Tol's. Markers differ within every group of
#: methods, too, so that nothing depends on colour alone. A variant listed here has its own style: those of PCDM are
#: mainly compared with each other, so they have clearly different hues, also for the colour-blind. Methods that are the fastest
#: at some error differ by hue, because maps show them as areas; none is grey, whose tints say how far the second is.
FAMILIES: dict[str, tuple[str, Any]] = {
    "spiral_leapfrog": ("#D55E00", "o"),
    "spiral_synchronous": ("#CC79A7", "s"),
    "spiral_omelyan": ("#E69F00", "D"),
    "omelyan1998": ("#0072B2", "^"),
    "omelyan1999_momentum": ("#4477AA", "p"),
    "buss2000": ("#009E73", "v"),
    "verlet": ("#56B4E9", "<"),
    "martys1999": ("#1B7F9E", "D"),
    "rozmanov2010": ("#7F3C8D", "s"),
    "fincham1992": ("#882255", ">"),
    "euler": ("#7F7F7F", "h"),
    "johnson2008": ("#999933", "p"),
    "pfc4": ("#000000", "X"),
    "rk4": ("#332288", "*"),
    "pcdm2016": ("#117733", "P"),
    "pcdm2013_mid": ("#CCBB00", "d"),
    "pcdm2013_lag": ("#2222DD", BACK),
    "pcdm2013_lead": ("#EE9988", AHEAD),
    "scalar_factor": ("#AA4499", "x"),
    "calzavarini2010": ("#8B5A2B", (4, 1, 0)),
    "no_squish": ("#EE3377", "+"),
    "spiral_predicted": ("#B00020", "s"),
    "spiral_predicted_last": ("#FF8FB1", "^"),
    "spiral_kdk": ("#A626AA", "D"),
    "spiral_dkd": ("#0F4C81", "v"),
    "magnus_adams4": ("#00A388", ">"),
    "implicit_midpoint": ("#66A61E", "s"),
    "implicit_midpoint_iterated": ("#66A61E", "D"),
    "dlm1997": ("#AA3377", "^"),
    "dlm1997_fasso": ("#AA3377", "v"),
    "touma1994": ("#5C4033", "<"),
    "exact_rotor": ("#BB5566", "*"),
    "exact_rotor_corrected": ("#5B2A86", "p"),
    "exact_rotor_dkd_corrected": ("#5B2A86", "X"),
    "moser_veselov": ("#DDAA33", "d"),
    "moser_veselov4": ("#DDAA33", "P"),
    "rkmk4": ("#A6C813", "o"),
    "cf4": ("#4C9F38", "^"),
    "lie_rk4_naive": ("#117799", "X"),
    "rotor_modified_kick": ("#00B7EB", "h"),
    "rotor_flat_kick": ("#A0522D", "8"),
    "rotor_srkn6": ("#8A2BE2", "d"),
    "rotor_gradient4": ("#6B8E23", "s"),
    "rotor_pefrl": ("#C71585", "P"),
    "rotor_forest_ruth": ("#2E8B57", "v"),
    "rotor_two_stage": ("#B8860B", "<"),
    "adams_bashforth2_buss": ("#2FA4C7", "<"),
    "adams_bashforth2_barker": ("#117799", ">"),
    "adams_bashforth3": ("#A6761D", "^"),
    "adams_bashforth4": ("#C9A000", "*"),
    "rescaled_momentum": ("#6F4E7C", "o"),
    "catto2015": ("#6F4E7C", "s"),
    "lacoursiere2006": ("#0B6E4F", "D"),
    "richardson": ("#0B6E4F", "P"),
    "fincham1992_yade": ("#AD494A", "X"),
    "munjiza2003": ("#AD494A", "d"),
}
#: Dashes of methods that often coincide with another one, so that the line below shows through.
DASHES: dict[str, Any] = {
    "pcdm2013_mid": (0, (5, 2.5)),
    "pcdm2013_lag": (0, (2, 1.5)),
    "pcdm2013_lead": (0, (6, 1.5, 1.5, 1.5)),
    "spiral_predicted": (0, (5, 2.5)),
    "spiral_predicted_last": (0, (2, 1.5)),
    "spiral_kdk": (0, (6, 1.5, 1.5, 1.5)),
}
#: Markers made only of strokes, which need a wider stroke to show their colour.
STROKES = ("x", "+")
#: Styles for methods outside FAMILIES, chosen by a hash of their key; first come, first served in the order of the keys.
SPARE: tuple[tuple[str, Any], ...] = tuple(
    (colour, marker)
    for marker in ("H", "8", (3, 1, 0), (6, 1, 0), "$\\oplus$", "$\\otimes$")
    for colour in ("#DDAA33", "#004488", "#AA3377", "#66A61E", "#BB5566", "#117799")
)

SETTINGS: dict[str, Any] = {
    "font.family": ["cmr10", "DejaVu Serif"],
    "mathtext.fontset": "cm",
    "axes.formatter.use_mathtext": True,
    "axes.unicode_minus": False,
    "font.size": TEXT,
    "axes.labelsize": TEXT,
    "axes.titlesize": TEXT,
    "legend.fontsize": KEY,
    "xtick.labelsize": KEY,
    "ytick.labelsize": KEY,
    "axes.linewidth": HAIR,
    "lines.linewidth": LINE,
    "lines.markersize": 3.8,
    "xtick.direction": "in",
    "ytick.direction": "in",
    "xtick.top": True,
    "ytick.right": True,
    "xtick.major.width": HAIR,
    "ytick.major.width": HAIR,
    "legend.frameon": False,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,
    "svg.hashsalt": "polhode",
    "path.simplify": False,
    "axes.titley": 1.0,
}


#: Settings for figures on a web page: larger, without layout warnings, in a font that matches its text and has all characters.
PAGE: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],
    "mathtext.fontset": "dejavusans",
    "figure.figsize": (7.6, 3.8),
    "figure.dpi": 110,
    "figure.constrained_layout.use": True,
    "lines.markersize": 4.5,
}

#: Metadata of the files, without dates and versions, so that equal figures are equal files.
METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "ModDate": None, "Producer": None, "Creator": "polhode"},
}
#: The quickest compression of PNG: half the time, for files a twentieth larger.
OPTIONS: dict[str, dict[str, Any]] = {"png": {"pil_kwargs": {"compress_level": 1}}, "pdf": {}}


def settings() -> Any:
    """A context in which matplotlib uses the style of the report; nothing outside it changes.

    Matplotlib's settings belong to the process: figures are drawn in processes, not in threads.
    """
    defaults: dict[str, Any] = {key: value for key, value in dict(matplotlib.rcParamsDefault).items() if key != "backend"}
    look: Any = {**defaults, **SETTINGS}
    return matplotlib.rc_context(look)


def use() -> None:
    """Use the style of the report for everything plotted from here on, at page size: for notebooks."""
    matplotlib.rcdefaults()
    larger = {name: SETTINGS[name] + 0.5 for name in SETTINGS if name.endswith("size") and "marker" not in name}
    look: Any = SETTINGS | larger | PAGE
    matplotlib.rcParams.update(look)


def styles(keys: Iterable[str], variants: Mapping[str, str] | None = None) -> dict[str, dict[str, Any]]:
    """Line styles of several methods, all distinct, independent of the order in which they are given.

    Parameters
    ----------
    keys : method keys; unknown ones (plug-ins) get a spare colour and marker, chosen by a hash of the key
    variants : key -> the key of the method it is a variant of, empty for an original method, as a run declares it; by default
        as the methods registered now declare it

    Returns
    -------
    key -> keyword arguments of ``Axes.plot``. A variant has the colour and marker of its method, hollow and dashed, unless
    :data:`FAMILIES` lists it.
    """
    keys = list(keys)
    if variants is None:
        from polhode_study.declarations import variant_of_registered  # imported here because figures name their variants

        variants = {key: variant_of_registered(key) for key in keys}
    parents = {key: key if key in FAMILIES else variants.get(key) or key for key in keys}
    look: dict[str, tuple[str, Any]] = dict(FAMILIES)
    unknown = sorted({parent for parent in parents.values()} - set(look))
    if len(unknown) > len(SPARE):
        raise ValueError(
            f"no distinct style is left for {unknown[len(SPARE) :]}: at most {len(SPARE)} methods beyond the built-in ones"
        )
    free = dict.fromkeys(range(len(SPARE)))
    for name in unknown:
        choice = int(sha256(name.encode()).hexdigest(), 16) % len(SPARE)
        while choice not in free:
            choice = (choice + 1) % len(SPARE)
        del free[choice]
        look[name] = SPARE[choice]
    result = {}
    for key in keys:
        colour, marker = look[parents[key]]
        variant = parents[key] != key
        result[key] = {
            "color": colour,
            "marker": marker,
            "linestyle": (0, (4, 1.6)) if variant else DASHES.get(key, "-"),
            "markerfacecolor": "white" if variant else colour,
            "markeredgecolor": colour,
            "markeredgewidth": 1.1 if marker in STROKES else 0.8,
        }
    return result


def style(key: str) -> dict[str, Any]:
    """Line style of one method, see :func:`styles`."""
    return styles([key])[key]


def lay_out(figure: "Figure", dpi: float) -> None:
    """Lay a figure out once for all files, at the resolution of the PNG, which then finds all text measured.

    ``savefig`` would draw the whole figure only to find the layout, for each file.
    """
    figure.set_dpi(dpi)
    if figure.axes and (engine := figure.get_layout_engine()):
        engine.execute(figure)
    figure.set_layout_engine(None)


def save(figure: "Figure", path: str | Path, subject: str = "") -> None:
    """Write ``figure`` to the two files ``path`` + .pdf and .png, without dates, each atomically.

    Parameters
    ----------
    path : the file without its extension; its folder is created if necessary
    subject : noted in the PDF as its subject
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # imported here because the explorer needs only the colours

    path = Path(path)
    FigureCanvasAgg(figure)
    with settings():
        lay_out(figure, SETTINGS["savefig.dpi"])
    for ending, entries in METADATA.items():
        if subject and ending == "pdf":
            entries = {**entries, "Subject": subject}

        def draw(temporary: Path, ending: str = ending, entries: dict[str, Any] = entries) -> None:
            with settings():
                figure.savefig(temporary, format=ending, metadata=entries, **OPTIONS[ending])

        write_atomically(path.with_name(f"{path.name}.{ending}"), draw)
