"""Table of the first page: what four kinds of readers run, what it costs them, and what to take."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from math import isfinite, pi
from typing import Any

import pandas as pd

from polhode.fits import impact_errors
from polhode.fits.liquid_drifts import CONSTRAINTS, LENGTH, LONGER, STATED, outcomes, run_length
from polhode.study.analysis import impacts, law_frames, liquids
from polhode.study.analysis.many_body import chess_ratios
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report.formats import enumerated, factor, factor_or_infinite, power, upper
from polhode.study.report.latex import decimal, escape, tabular
from polhode.study.themes.communities import analysis
from polhode.study.themes.communities.analysis import GAME, SLOW, SPACE

#: Widths of the columns, in parts of the text.
WIDTHS = (0.095, 0.165, 0.15, 0.145, 0.165, 0.215)
#: The family of methods that is named once.
ROTOR = "exact rotor"
#: The steps in fs at which drifts in water are stated.
WATER = (2.0, 4.0)


@dataclass(frozen=True)
class Row:
    """What a kind of reader is told, as LaTeX, and the numbers behind it; ``holds`` says in full for whom."""

    who: str
    runs: str
    costs: str
    take: str
    step: str
    first: str
    numbers: dict[str, Any] = field(default_factory=dict)
    holds: str = ""


def communities(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A row for each kind of reader of which the run has the data; the file has the numbers behind it."""
    rows: list[Row] = []
    for make in MAKERS:
        with suppress(NotInRun):
            rows.append(make(inputs))
    if not rows:
        raise NotInRun("this run has nothing of what the first page says to its readers")
    cells: list[Sequence[str] | str] = []
    for row in rows:
        cells += [r"\addlinespace[4pt]"] if cells else []
        cells.append([getattr(row, each.name) for each in fields(row) if each.name not in ("holds", "numbers")])
    head = ["who", "your code runs", "what it costs", "take", "with the step", "but first"]
    columns = "".join(rf">{{\raggedright\arraybackslash}}p{{{width}\textwidth}}" for width in WIDTHS)
    frame = pd.DataFrame([{"who": row.who.partition(r"\newline")[0]} | row.numbers for row in rows])
    return frame, tabular(f"@{{}}{columns}@{{}}", [rf"\textbf{{{name}}}" for name in head], cells)


def _elastic(inputs: Inputs) -> Row:
    """Clumps in elastic contacts: their energy, on all scenes."""
    contacts = law_frames.collisions(inputs)
    best = law_frames.recommended_in_contacts(contacts)
    if best is None:
        raise NotInRun("this run has no collisions")
    codes = analysis.codes(inputs, analysis.DEM)
    ratios = chess_ratios(inputs, [code.method for code in codes])
    known = [code for code in codes if code.method in ratios]
    equal = [contact.label for contact in law_frames.as_good(contacts) if contact is not best]
    half, _, most = best.steps
    predicted = next((contact for contact in contacts if contact.method == "pcdm2016"), None)
    costly = f"; {escape(predicted.label)} takes {factor(predicted.over(best).value)} times as many steps" if predicted else ""
    return Row(
        _who("DEM", "elastic clumps", r"Sec.~\ref{sec:a-contacts}"),
        ", ".join(escape(code.running(code.version.partition(".")[0])) for code in known),
        f"energy error over {escape(best.label)}'s, same step: "
        + ", ".join(f"{escape(code.name)} {factor_or_infinite(ratios[code.method].value)}" for code in known),
        rf"\textbf{{{escape(best.label)}}}" + (f", {escape(equal[0])} or {len(equal) - 1} more: alike" if equal else ""),
        rf"$\mathbf{{T/{most:.0f}}}$ for {power(law_frames.ENERGY)} of the energy, mean over a run",
        f"take the forces of the positions as they are, not of predicted ones{costly}",
        {"method": best.method, "steps": most, "steps_half": half, "equal": ",".join(equal)}
        | {f"energy_{code.name}": ratios[code.method].value for code in known},
    )


def _rubbing(inputs: Inputs) -> Row:
    """Contacts with friction and damping: single random impacts."""
    errors, (tight, loose) = analysis.of_impacts(inputs), impact_errors.ERRORS
    (booked, cured, saved), (booked_loose, cured_loose, _) = (impacts.steps(inputs, error) for error in (tight, loose))
    orders = analysis.contact_orders(inputs)
    exact_to = dict.fromkeys(decimal(order, 1) for order in orders.values())
    return Row(
        _who("DEM", "friction, damping", r"Sec.~\ref{sec:impacts}"),
        f"{enumerated(map(escape, orders))}: spins after a contact of order {enumerated(exact_to)} in the step",
        f"{factor(booked_loose.take / cured_loose.take)} times as many steps for {_percent(loose)} of spin and velocity, "
        f"{factor(booked.take / cured.take)} for {_percent(tight)}",
        rf"\textbf{{keep your method}}: another changes spins by {decimal(errors['method'], 4)}\,\%",
        rf"{_percent(loose)}: $\mathbf{{T/{cured_loose.take:.0f}}}$ if cured, $T/{booked_loose.take:.0f}$ as codes are; "
        rf"{_percent(tight)}: $\mathbf{{T/{cured.take:.0f}}}$, $T/{booked.take:.0f}$",
        "cure the contact: springs from the touch on, in the plane of mid-step; slide in the mean direction; predict dashpot "
        "velocities",
        {"method": impact_errors.LEADING, "steps": cured.take, "steps_half": cured.half, "steps_loose": cured_loose.take}
        | {f"order_{name}": order for name, order in orders.items()}
        | {"steps_loose_half": cured_loose.half, "steps_as_codes": booked.take, "steps_as_codes_loose": booked_loose.take}
        | {"saved": saved.median, "saved_low": saved.low, "saved_high": saved.high}
        | {f"spin_{name}": value for name, value in errors.items()},
    )


def _water(inputs: Inputs) -> Row:
    """Rigid molecules at constant energy."""
    best = liquids.recommended(inputs)
    if best is None:
        raise NotInRun("no method is shown to keep the energy of the liquid")
    every, longest = outcomes(liquids.runs(inputs)), liquids.longest_steps(inputs)
    (lammps,) = analysis.codes(inputs, {"lammps": "rigid"})
    heats = [every[lammps.method][dt].drift for dt in WATER if dt in every.get(lammps.method, {})]
    if len(heats) < len(WATER):
        raise NotInRun("this run has not the drift of the usual method in a liquid")
    of_shake = [every.get(CONSTRAINTS, {}).get(dt) for dt in WATER]
    if None in of_shake:
        settled = "SETTLE was not run"
    elif any(shake.is_shown for shake in of_shake if shake):
        settled = f"SETTLE by {enumerated(_two(shake.drift) for shake in of_shake if shake)}"
    else:
        settled = "SETTLE: none seen"
    in_length = {
        length: [steps.get(key, (0.0, 0.0))[0] for key in (best.method, CONSTRAINTS)]
        for length, steps in (
            (run_length(STATED), longest),
            (run_length(STATED / LONGER), liquids.longest_steps(inputs, STATED / LONGER)),
        )
    }
    (_, longest_shake), (longer, longer_shake) = in_length.values()
    smooth = every[best.method][WATER[0]]
    jump = outcomes(liquids.cutoffs(inputs).sel(law="shifted_energy"))[best.method][WATER[0]]
    (keeps,) = analysis.codes(inputs, {"lammps": "rigid/nve"})
    take = rf"\textbf{{{escape(inputs.label(best.method))}}}"
    if keeps.method in best.others:
        take += rf", \textbf{{{escape(inputs.label(keeps.method))}}} (LAMMPS \code{{rigid/nve}})"
    period = best.dt * best.steps
    runs = [
        f"runs of {length}: "
        + (rf"fastest libration${{}}/\mathbf{{{best.steps:.1f}}}$ (water: {period:.0f}\,fs), " if first else "")
        + rf"\textbf{{{dt:g}\,fs}}"
        + (rf" (SETTLE {shake:g}\,fs)" if shake else "")
        for first, (length, (dt, shake)) in zip((True, False), in_length.items(), strict=True)
        if dt
    ]
    return Row(
        _who("MD", "rigid molecules, energy kept", r"Sec.~\ref{sec:liquids}"),
        rf"LAMMPS \code{{rigid}}: {escape(lammps.label.partition(' (')[0])}; GROMACS, OpenMM, AMBER: SETTLE, SHAKE",
        rf"LAMMPS \code{{rigid}} heats by {_two(heats[0])}\,$kT$/ns at {WATER[0]:g}\,fs, {_two(heats[1])} at "
        rf"{WATER[1]:g}\,fs; {settled}",
        rf"{take}, or keep SETTLE",
        "; ".join(runs),
        rf"let force and slope vanish at the cut-off: with a jump the energy drifts by {_two(jump.drift)}\,$kT$/ns at "
        rf"{WATER[0]:g}\,fs, without by less than {upper(smooth.largest, 1):g}",
        {"method": best.method, "steps": best.steps, "dt_fs": best.dt, "shake_fs": longest_shake, "run_ns": LENGTH}
        | {"dt_fs_longer": longer, "shake_fs_longer": longer_shake, "longer_run_ns": LENGTH * LONGER}
        | {f"lammps_{dt:g}fs": value for dt, value in zip(WATER, heats, strict=True)}
        | {"jump": jump.drift, "smooth_at_most": smooth.largest},
    )


def _games(inputs: Inputs) -> Row:
    """Large steps, an error of a hundredth."""
    ens = law_frames.ensemble(inputs)
    codes = analysis.codes(inputs, analysis.GAMES)
    first = [code for code in codes if not code.lab > 1.5]
    by_method = analysis.grouped(ens, codes)
    rates = {names[0]: analysis.steps(ens, key, GAME).rate for key, names in by_method.items()}
    if not rates:
        raise NotInRun("the ensembles of this run have no method of a game engine")
    method = analysis.serving(ens, analysis.without_outputs(inputs, ens), GAME)
    best, simple = (analysis.steps(ens, key, GAME) for key in (method, analysis.CENTRED))
    frozen = analysis.steps(ens, analysis.FROZEN, GAME)
    damped, simpler = analysis.damped(inputs), escape(ens.label(analysis.CENTRED))
    without = analysis.without_gyroscopic_term(inputs)
    reached = [f"{escape(name)} {_hz(rate)}" for name, rate in rates.items() if isfinite(rate)]
    never = [escape(name) for name, rate in rates.items() if not isfinite(rate)]
    return Row(
        _who(
            "games,",
            rf"\textbf{{robots}}\newline error {power(GAME)},\newline ${360 * GAME:.1f}^\circ$ a turn",
            r"Sec.~\ref{sec:engines}",
        ),
        f"{enumerated([escape(code.name) for code in first])}: first order, by default"
        + (f"; without the gyroscopic term: {enumerated(map(escape, without))}" if without else ""),
        f"at one turn a second {', '.join(reached)}\\,Hz" + (f"; {enumerated(never)}: never" if never else ""),
        rf"\textbf{{{escape(ens.label(method))}}}; simpler: {simpler}",
        rf"one turn a second: \textbf{{{_hz(best.rate)}\,Hz}} ({_hz(simple.rate)} with {simpler}); {analysis.FRAMES:g}\,Hz: "
        f"{decimal(analysis.FRAMES / best.rate, 1)} ({decimal(analysis.FRAMES / simple.rate, 1)}) turns a second",
        f"turn off angular damping: it stops spins ({', '.join(map(escape, damped))}); {simpler} with mid-step torque "
        f"(of the start: {_hz(frozen.rate)}\\,Hz)",
        {"method": method, "steps": best.most, "steps_half": best.half, "steps_simple": simple.most}
        | {"steps_frozen": frozen.most}
        | {f"hz_{key}": value for key, value in rates.items()},
    )


def _spacecraft(inputs: Inputs) -> Row:
    """Long and exact: a millionth."""
    ens = law_frames.ensemble(inputs)
    codes = analysis.codes(inputs, analysis.SPACECRAFT)
    if not codes:
        raise NotInRun("the atlas has no code for spacecraft")
    method, single = (analysis.serving(ens, kind(inputs, ens), SPACE) for kind in (analysis.several, analysis.single))
    choices = [analysis.steps(ens, key, SPACE) for key in (analysis.RUNGE_KUTTA, method, single)]
    usual, best, one = choices
    frozen, centred = (analysis.steps(ens, key, SPACE) for key in (analysis.FROZEN, analysis.CENTRED))
    several, one_torque, family = ens.label(method), ens.label(single), ""
    if several.startswith(ROTOR) and one_torque.startswith(ROTOR):
        several, one_torque = (label.removeprefix(ROTOR).strip(", ") for label in (several, one_torque))
        family = f" ({ROTOR}s)"
    names = (escape(ens.label(analysis.RUNGE_KUTTA)), escape(several), escape(one_torque))
    of_each = [rf"{name} {_seconds(x)}\,s ({_two(x.most)} a radian)" for name, x in zip(names, choices, strict=True)]
    return Row(
        _who("spacecraft", rf"no wheels;\newline error {power(SPACE)}", r"Sec.~\ref{sec:laws}"),
        "; ".join(
            f"{escape(code.name)}: {escape(code.label)}; order {code.lab:.0f} where a torque is set once a step"
            for code in codes
        ),
        f"a torque of the start of a step instead of its middle costs {escape(ens.label(analysis.CENTRED))} a factor of "
        f"{_steps(frozen.most / centred.most)} in steps",
        rf"\textbf{{{names[0]}}}; fewest torques: \textbf{{{names[1]}}}; one a step: \textbf{{{names[2]}}}{family}",
        rf"at {SLOW:g}~degree/s: {'; '.join(of_each)}",
        f"{analysis.SPACECRAFT_RATE}; evaluate the torque at each stage; end a step at its jumps",
        {"method": method, "steps": best.most, "steps_half": best.half, "steps_rk4": usual.most, "steps_rk4_half": usual.half}
        | {"method_one_torque": single, "steps_one_torque": one.most}
        | {"steps_frozen": frozen.most, "steps_centred": centred.most},
        analysis.SPACECRAFT_ARE,
    )


MAKERS: tuple[Callable[[Inputs], Row], ...] = (_elastic, _rubbing, _water, _games, _spacecraft)


def _who(name: str, what: str, where: str) -> str:
    return rf"\textbf{{{name}}}\newline {what}\newline {_small(where)}"


def _small(text: str) -> str:
    return rf"{{\scriptsize {text}}}"


def _seconds(needed: analysis.Steps) -> str:
    return rf"\textbf{{{float(f'{180 / pi / SLOW / needed.most:.2g}'):g}}}"


def _percent(error: float) -> str:
    return f"{100 * error:g}\\,\\%"


def _two(value: float) -> str:
    return rf"\num{{{float(f'{value:.2g}'):g}}}"


def _hz(value: float) -> str:
    return _two(value) if isfinite(value) else r"$\infty$"


def _steps(value: float) -> str:
    return rf"\num{{{float(f'{value:.2g}'):.0f}}}" if isfinite(value) else r"$\infty$"
