"""The answers with which the page opens: the rows of the first page, each with its evidence."""

from collections.abc import Callable
from contextlib import suppress
from html import escape
from math import isfinite, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polhode.advice.prices import USUAL
from polhode.fits import impact_errors, laws
from polhode.fits.liquid_drifts import LENGTH, STATED
from polhode_study.chapters.communities import frames, web
from polhode_study.chapters.communities import rows as page_rows
from polhode_study.chapters.impacts import frames as impacts
from polhode_study.chapters.laws import frames as law_frames
from polhode_study.chapters.liquids import frames as liquids
from polhode_study.explorer.rows import links, number
from polhode_study.inputs import Inputs, NotInRun

#: Of each row of the first page: the views of the page with its evidence, and the figures and tables of the report.
EVIDENCE: dict[str, tuple[dict[str, str], str, str]] = {
    "_elastic": ({"bodies?contact=0.0001": "many bodies"}, "contact_law many_body_energy", "contact_law many_body"),
    "_rubbing": ({"bodies?contact=0.01": "contacts with friction"}, "", "impacts grains"),
    "_water": ({}, "liquids", "liquids thermal_librations"),
    "_games": ({"random?target=0.01": "random bodies", "engines?": "engines"}, "free_body engine_errors", "engines"),
    "_spacecraft": (
        {"random?target=0.000001&one=false": "random bodies", "satellites?": "satellites with wheels"},
        *("slowdown", "law_sheet velocity_torque"),
    ),
}
Rows = list[dict[str, Any]]


def fields(inputs: Inputs) -> list[dict[str, Any]]:
    """A row of the first page each, as HTML, with what its methods need; rows without data are left out."""
    entries = []
    for make in page_rows.MAKERS:
        with suppress(NotInRun):
            row, key = make(inputs), make.__name__
            unit, caption, rows = CHARTS[key](inputs)
            name, *_, question = web.BEHIND[key]
            beside = [web.BESIDE[key]] if key in web.BESIDE else []
            views, figures, names = EVIDENCE[key]
            short = key.strip("_")
            see = [f'<a href="#{view}{"&" * (view[-1] != "?")}field={short}">{title}</a>' for view, title in views.items()]
            cells = dict(
                zip(
                    ("Do this", "Time step", "For example", "If your code runs"),
                    (row.take, row.step, f"{row.example} {row.more}", row.runs),
                    strict=True,
                )
            )
            lines = {head: web.html(cell) for head, cell in cells.items()} | {
                "Your own case": f"<code>polhode recommend {escape(question)}</code>"
                + "".join(f"; {bodies} <code>polhode recommend {escape(more)}</code>" for bodies, more, _ in beside),
                "Evidence": "; ".join(
                    filter(None, (", ".join(see), f"in the report: {links(figures, f'communities {names}')}"))
                ),
            }
            entries.append(
                {
                    "key": short,
                    "head": f"<strong>{web.html(row.who)}</strong><span>{web.html(row.what)}</span>",
                    "answer": "".join(f"<div><dt>{head}</dt><dd>{cell}</dd></div>" for head, cell in lines.items()),
                    "take": row.numbers["method"] if key != "_spacecraft" else frames.RUNGE_KUTTA,
                    "price": USUAL,
                    "unit": unit,
                    "caption": f"{escape(name)}. {caption}",
                    "rows": rows,
                }
            )
    return entries


def _row(method: str, value: float, words: str, more: str = "") -> dict[str, Any]:
    return {"method": method, "value": value, "words": words, "more": more}


def _elastic(inputs: Inputs) -> tuple[str, str, Rows]:
    rows = [
        _row(each.method, most, f"T/{most:.0f}", f"half of the states: T/{half:.0f}") | {"low": half, "high": most}
        for each in law_frames.collisions(inputs)
        for half, _, most in [each.steps]
        if isfinite(most)
    ]
    text = (
        f"The step in a contact time T that keeps the error of the energy below {number(law_frames.ENERGY)} in 90 % of the "
        "states. Bar: from the median. Methods called as good are not distinguished by runs from the same states."
    )
    return "steps in a contact time T", text, sorted(rows, key=lambda row: row["value"])


def _rubbing(inputs: Inputs) -> tuple[str, str, Rows]:
    loose, bulk = impact_errors.ERRORS[-1], frames.slope(inputs).division
    codes, better, _ = impacts.steps(inputs, loose)
    rows = [
        ("slopes and heights in a drum", bulk),
        ("one impact, better contact update", better.take),
        ("one impact, as codes", codes.take),
    ]
    text = f"Time steps in a contact time T; for one impact to {100 * loose:g} % of its change, in 95 % of random impacts."
    return (
        "steps in a contact time T",
        text,
        [{"label": label, "value": steps, "words": f"T/{steps:.0f}"} for label, steps in rows],
    )


def _water(inputs: Inputs) -> tuple[str, str, Rows]:
    steps = {key: shown for key, (shown, _) in liquids.longest_steps(inputs).items() if shown}
    rows = [_row(key, dt, f"{dt:g} fs") for key, dt in sorted(steps.items(), key=lambda item: -item[1])]
    text = (
        f"The longest step of those run with which water is shown to drift by less than {STATED:g} kT/ns per degree of freedom."
    )
    return f"longest step for a run of {LENGTH:g} ns", text, rows


def _games(inputs: Inputs) -> tuple[str, str, Rows]:
    ens = law_frames.ensemble(inputs)
    rows = _of_laws(ens, frames.without_outputs(inputs, ens), frames.GAME)
    turns = [_row(key, 2 * pi * steps, f"{2 * pi * steps:.0f} steps") for key, steps, _ in rows]
    return (
        "steps in a turn",
        "Time steps in a turn that keep the error below 3.6° in 90 % of random bodies; one torque a step.",
        turns,
    )


def _spacecraft(inputs: Inputs) -> tuple[str, str, Rows]:
    ens = law_frames.ensemble(inputs)
    allowed = frames.several(inputs, ens) | frames.single(inputs, ens) | (np.array(ens.methods) == frames.RUNGE_KUTTA)
    rows = [
        _row(key, torques, f"{torques:.0f} torques, {steps:.0f} steps")
        for key, steps, torques in _of_laws(ens, allowed, frames.SPACE)
    ]
    text = (
        f"Torques in a radian that keep the error below {number(frames.SPACE)} in 90 % of random bodies without wheels, under "
        "torques that are smooth over a step. A nutation or a controller that is faster than the spin sets the step."
    )
    return "torques in a radian", text, rows


def _of_laws(ens: law_frames.EnsembleLaws, allowed: NDArray[np.bool_], error: float) -> list[tuple[str, float, float]]:
    """Method, steps and torques per radian under smooth torques for 90 % of the bodies, fewest torques first."""
    torques = laws.spread(ens.work(ens.rows(law_frames.SMOOTH), error).reshape(len(ens.methods), -1), axis=1).high
    usable = [i for i in np.argsort(torques, kind="stable") if (allowed & ens.recommendable)[i] and np.isfinite(torques[i])]
    return [(ens.methods[i], frames.steps(ens, ens.methods[i], error).most, float(torques[i])) for i in usable]


#: Of each row of the first page: what is counted, a caption, and the methods with their values, the best first.
CHARTS: dict[str, Callable[[Inputs], tuple[str, str, Rows]]] = {
    make.__name__: make for make in (_elastic, _rubbing, _water, _games, _spacecraft)
}
