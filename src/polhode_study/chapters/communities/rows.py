"""The rows of the first page: what each kind of reader runs, what to take, with which time step, and the numbers behind it."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from math import isfinite, sqrt
from typing import Any

from polhode.fits import baths, impact_errors
from polhode.fits.largest_step import rounded_down
from polhode.fits.liquid_drifts import CONSTRAINTS, LENGTH, LONGER, STATED, outcomes, run_length
from polhode_study.chapters.communities import frames
from polhode_study.chapters.communities.frames import GAME, SPACE
from polhode_study.chapters.impacts import frames as impacts
from polhode_study.chapters.laws import frames as law_frames
from polhode_study.chapters.liquids import frames as liquids
from polhode_study.chapters.many_body.frames import chess_ratios
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report.formats import enumerated, factor_or_infinite, power
from polhode_study.report.latex import decimal, escape

#: Measured orders in words.
ORDERS = {1.0: "first order", 2.0: "second order"}
#: The family of methods that is named once.
ROTOR = "exact rotor"
#: The steps in fs at which drifts in water are stated.
WATER = (2.0, 4.0)
#: The gravel of the examples: Young's modulus (Pa), Poisson's ratio, density (kg/m^3), radius (m), speed (m/s).
GRAVEL = (7e7, 0.3, 2500.0, 2.5e-3, 0.5)
#: The satellite of the example, a cubesat of three units: the moments about x and z (kg m^2), the wheel along y (N m s), and
#: the rate of its orbit (rad/s).
CUBESAT, WHEEL, ORBIT = (0.007, 0.036), 5e-3, 1.13e-3


@dataclass(frozen=True)
class Row:
    """What a kind of reader is told, as LaTeX, and the numbers behind it.

    Parameters
    ----------
    who, what : the field, and the kind of motion or the error
    runs, take, step : the cells: the codes of the field, what to do, and with which time step
    example : one sentence with the numbers of a typical case
    more : what qualifies the row, in its section of the article and behind the rows of the documentation
    numbers : the numbers of the cells by name, for the file of the table
    """

    who: str
    what: str
    runs: str
    take: str
    step: str
    example: str
    more: str
    numbers: dict[str, Any] = field(default_factory=dict)


def rows(inputs: Inputs) -> list[Row]:
    """A row for each kind of reader of which the run, or the release, has the data."""
    made: list[Row] = []
    for make in MAKERS:
        with suppress(NotInRun):
            made.append(make(inputs))
    return made


def _elastic(inputs: Inputs) -> Row:
    """Clumps in elastic contacts: their energy, on all scenes."""
    contacts = law_frames.collisions(inputs)
    best = law_frames.recommended_in_contacts(contacts)
    if best is None:
        raise NotInRun("this run has no collisions")
    codes = frames.codes(inputs, frames.DEM)
    ratios = chess_ratios(inputs, [code.method for code in codes])
    known = [code for code in codes if code.method in ratios]
    equal = [contact.label for contact in law_frames.as_good(contacts) if contact is not best]
    half, _, most = best.steps
    alike = f" or {escape(equal[0])}" if equal else ""
    time = frames.contact_time(*GRAVEL)
    newest: dict[str, frames.Code] = {}
    for code in known:
        newest.setdefault(code.name, code)
    have_it = [escape(code.release) for code in known if code.method == best.method]
    others = [code for code in known if code.method != best.method]
    energies = [f"{factor_or_infinite(ratios[code.method].value)} with {escape(code.release)}" for code in others]
    runs = "run" if len(have_it) > 1 else "runs"
    by_default = f"{enumerated(have_it)} {runs} {escape(best.label)} by default. " if have_it else ""
    as_good = f" {len(equal)} other methods are as good for this error." if equal else ""
    return Row(
        "DEM",
        "elastic clumps",
        enumerated(escape(code.release) for code in newest.values()),
        rf"Use \textbf{{{escape(best.label)}}}{alike}. Compute forces at actual, not predicted positions.",
        rf"$T/\mathbf{{{most:.0f}}}$ for an energy error of {power(law_frames.ENERGY)}",
        rf"In gravel of {_gravel()} a contact lasts {_in(1e3 * time)}\,ms, so the step is {_in(1e6 * time / most)}\,$\mu$s.",
        f"{by_default}With the same step, the energy error relative to {escape(best.label)} is {enumerated(energies)}."
        f"{as_good}",
        {"method": best.method, "steps": most, "steps_half": half, "equal": ",".join(equal), "contact_time": time}
        | {f"energy_{code.release}": ratios[code.method].value for code in others},
    )


def _rubbing(inputs: Inputs) -> Row:
    """Contacts with friction and damping: single random impacts, and a drum."""
    errors, loose = frames.of_impacts(inputs), impact_errors.ERRORS[-1]
    booked, cured, saved = impacts.steps(inputs, loose)
    orders = frames.contact_orders(inputs)
    exact_to = dict.fromkeys(map(_order, orders.values()))
    slope = frames.slope(inputs)
    time, bulk = frames.contact_time(*GRAVEL), slope.division
    return Row(
        "DEM",
        "friction and damping",
        " or ".join(map(escape, orders)),
        rf"\textbf{{Keep your method}}: another of second order changes spins by {decimal(errors['method'], 4)}\,\%.",
        rf"$T/\mathbf{{{bulk}}}$ for slopes and heights; for one impact to {_percent(loose)} $T/{booked.take:.0f}$, or "
        rf"$T/{cured.take:.0f}$ with a better contact update",
        rf"In a drum, {frames.CODE}' update at {_in(1e6 * time / bulk)}\,$\mu$s changes the slope by "
        rf"{_signed(slope.change)}$^\circ$, where starts scatter by {decimal(slope.scatter, 1)}$^\circ$.",
        f"The contact force of {' or '.join(map(escape, orders))} is of {enumerated(exact_to)} in the step. The interval of "
        rf"the change of the slope with the contact update of {frames.CODE} is {_signed(slope.low)}$^\circ$ to "
        rf"{_signed(slope.high)}$^\circ$, against the shortest step with all corrections.",
        {"method": impact_errors.LEADING, "steps": cured.take, "steps_half": cured.half, "steps_bulk": bulk}
        | {f"order_{name}": order for name, order in orders.items()}
        | {"steps_as_codes": booked.take, "saved": saved.median, "saved_low": saved.low, "saved_high": saved.high}
        | {"slope": slope.change, "slope_low": slope.low, "slope_high": slope.high, "slope_scatter": slope.scatter}
        | {f"spin_{name}": value for name, value in errors.items()},
    )


def _water(inputs: Inputs) -> Row:
    """Rigid molecules at constant energy."""
    best = liquids.recommended(inputs)
    if best is None:
        raise NotInRun("no method is shown to keep the energy of the liquid")
    every, longest = outcomes(liquids.runs(inputs)), liquids.longest_steps(inputs)
    (lammps,) = frames.codes(inputs, [("lammps", "rigid")])
    heats = [every[lammps.method][dt].drift for dt in WATER if dt in every.get(lammps.method, {})]
    if len(heats) < len(WATER):
        raise NotInRun("this run has not the drift of the usual method in a liquid")
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
    (keeps,) = frames.codes(inputs, [("lammps", "rigid/nve")])
    take = rf"\textbf{{{escape(inputs.label(best.method))}}}"
    if keeps.method in best.others:
        take += rf" or \textbf{{{escape(inputs.label(keeps.method))}}} (LAMMPS \code{{rigid/nve/small}})"
    period = best.dt * best.steps
    rates = [float(liquids.spectrum(inputs)["rate_squared"].sel(kind=kind)) for kind in ("translation", "rotation")]
    share = baths.BIAS / baths.TEMPERATURE
    in_bath, as_forces = map(rounded_down, (baths.longest_step(rates, share), baths.longest_step_of_places(rates[1], share)))
    of_runs = {length: pair for length, pair in in_length.items() if pair[0]}
    steps = ", ".join(
        rf"for {length} \textbf{{{dt:g}\,fs}}" + (rf" (SETTLE {shake:g}\,fs)" if shake else "")
        for length, (dt, shake) in of_runs.items()
    )
    settles = enumerated(rf"{shake:g}\,fs for {length}" for length, (_, shake) in of_runs.items() if shake)
    keep = ", or keep SETTLE" if longer_shake else ""
    return Row(
        "MD",
        "rigid molecules",
        r"LAMMPS \code{rigid}; GROMACS, OpenMM or AMBER (SETTLE)",
        rf"Use the {take}{keep}. Let force and slope vanish at the cut-off. Heat bath: BAOAB or \code{{v-rescale}}, "
        rf"{in_bath:.2g}\,fs; LAMMPS \code{{langevin}}, {as_forces:.2g}\,fs.",
        f"water at constant energy: {steps}; other molecules: fastest libration${{}}/{best.steps:.1f}$",
        rf"Water at {baths.TEMPERATURE:g}\,K librates in {period:.0f}\,fs, so the step is {best.dt:g}\,fs; at "
        rf"{WATER[-1]:g}\,fs LAMMPS \code{{rigid}} heats it by {_two(heats[-1])}\,$kT$/ns per degree of freedom.",
        (f"At constant energy SETTLE allows {settles}. " if longer_shake else "")
        + "With weak friction and BAOAB, or with velocity rescaling around a leapfrog, the temperature of rotation between the "
        "kicks is too high by at most "
        rf"{baths.BIAS:g}\,K with {in_bath:.2g}\,fs; where friction and noise are forces, angles are too hot by "
        rf"{baths.BIAS:g}\,K with {as_forces:.2g}\,fs.",
        {"method": best.method, "steps": best.steps, "dt_fs": best.dt, "shake_fs": longest_shake, "run_ns": LENGTH}
        | {"bath_fs": in_bath, "bath_fs_lammps": as_forces}
        | {"dt_fs_longer": longer, "shake_fs_longer": longer_shake, "longer_run_ns": LENGTH * LONGER}
        | {f"lammps_{dt:g}fs": value for dt, value in zip(WATER, heats, strict=True)}
        | {"jump": jump.drift, "smooth_at_most": smooth.largest},
    )


def _games(inputs: Inputs) -> Row:
    """Large steps, an error of a hundredth."""
    ens = law_frames.ensemble(inputs)
    codes = frames.codes(inputs, frames.GAMES)
    first = [code for code in codes if not code.lab > 1.5]
    by_method = frames.grouped(ens, codes)
    rates = {names[0]: frames.steps(ens, key, GAME).rate for key, names in by_method.items()}
    if not rates:
        raise NotInRun("the ensembles of this run have no method of a game engine")
    method = frames.serving(ens, frames.without_outputs(inputs, ens), GAME)
    best, simple = (frames.steps(ens, key, GAME) for key in (method, frames.CENTRED))
    frozen = frames.steps(ens, frames.FROZEN, GAME)
    simpler = escape(ens.label(frames.CENTRED))
    without = frames.without_gyroscopic_term(inputs)
    shipped = [rf"{_hz(rate)}\,Hz with {escape(name)}" for name, rate in rates.items() if isfinite(rate)]
    never = [escape(name) for name, rate in rates.items() if not isfinite(rate)]
    more = f"For this error at one turn a second, engines as shipped need {enumerated(shipped)}."
    more += f" No step is short enough with {enumerated(never)}." if never else ""
    more += f" The gyroscopic term is left out by {enumerated(map(escape, without))}." if without else ""
    return Row(
        "Games, robots",
        rf"${360 * GAME:.1f}^\circ$ a turn",
        enumerated([escape(code.name) for code in first]),
        "Turn damping off and the gyroscopic term on. Use the "
        rf"\textbf{{{escape(ens.label(method))}}}, or {simpler} with the torque of mid-step.",
        rf"$\mathbf{{{_hz(best.rate)}}}$ steps a turn; {simpler}: {_hz(simple.rate)}",
        f"At {frames.FRAMES:g}\\,Hz a T-handle may turn {decimal(frames.FRAMES / best.rate, 1)} times a second, "
        f"{decimal(frames.FRAMES / simple.rate, 1)} with {simpler}.",
        more,
        {"method": method, "steps": best.most, "steps_half": best.half, "steps_simple": simple.most}
        | {"steps_frozen": frozen.most}
        | {f"hz_{key}": value for key, value in rates.items()},
    )


def _spacecraft(inputs: Inputs) -> Row:
    """Long and exact: a millionth."""
    ens = law_frames.ensemble(inputs)
    codes = frames.codes(inputs, frames.SPACECRAFT)
    if not codes:
        raise NotInRun("the atlas has no code for spacecraft")
    method, single = (frames.serving(ens, kind(inputs, ens), SPACE) for kind in (frames.several, frames.single))
    usual, best, single_torque = (frames.steps(ens, key, SPACE) for key in (frames.RUNGE_KUTTA, method, single))
    frozen, centred = (frames.steps(ens, key, SPACE) for key in (frames.FROZEN, frames.CENTRED))
    runge_kutta = escape(ens.label(frames.RUNGE_KUTTA))
    nutation = WHEEL / sqrt(CUBESAT[0] * CUBESAT[1])
    of_satellites = frames.with_wheels(inputs, SPACE)
    wheels, fewest = of_satellites[frames.RUNGE_KUTTA], next(iter(of_satellites))
    step = max(usual.most, wheels)
    shipped = " ".join(f"{escape(code.name)} is of {_order(code.lab)} if a torque is set once a step." for code in codes)
    return Row(
        "Spacecraft",
        f"error {power(SPACE)} a radian",
        enumerated(escape(code.name) for code in codes),
        rf"Use \textbf{{{runge_kutta}}}, evaluate torques at each stage, and end a step where they jump: at firings and "
        "samples of a controller, which only caps the step.",
        rf"a radian$/\mathbf{{{_steps(step)}}}$ of the faster of spin and nutation ($h/\sqrt{{I_xI_z}}$, wheel $h$ along $y$)",
        rf"A 3U cubesat with a {1e3 * WHEEL:g}\,mN\,m\,s wheel nutates at {_in(nutation)}\,rad/s, so the step "
        rf"is {_in(1 / step / nutation)}\,s.",
        rf"At {_in(1 / step / ORBIT)}\,s, the step for its orbital rate, {runge_kutta} diverges. For 90\,\% of random "
        rf"satellites with wheels {_in(1 / wheels / nutation)}\,s are sufficient. The method with the fewest torques is "
        f"{escape(ens.label(method))}; with wheels {escape(ens.label(fewest))}. {shipped}",
        {
            "method": method,
            "steps": best.most,
            "steps_half": best.half,
            "steps_rk4": step,
            "steps_wheels": wheels,
            "method_wheels": fewest,
            "steps_rk4_half": usual.half,
        }
        | {"method_one_torque": single, "steps_one_torque": single_torque.most, "nutation": nutation}
        | {"steps_frozen": frozen.most, "steps_centred": centred.most},
    )


MAKERS: tuple[Callable[[Inputs], Row], ...] = (_elastic, _rubbing, _water, _games, _spacecraft)


def _gravel() -> str:
    """The gravel of the examples, in words."""
    young, _, _, radius, speed = GRAVEL
    return rf"{2e3 * radius:g}\,mm ($E=\num{{{young / 1e6:g}}}$\,MPa, {speed:g}\,m/s)"


def _in(value: float) -> str:
    """Two digits, plain."""
    return f"{float(f'{value:.2g}'):g}"


def _order(order: float) -> str:
    return ORDERS.get(round(order, 1), f"order {decimal(order, 1)}")


def _signed(value: float) -> str:
    return f"${decimal(value, 1)}$"


def _percent(error: float) -> str:
    return f"{100 * error:g}\\,\\%"


def _two(value: float) -> str:
    return rf"\num{{{float(f'{value:.2g}'):g}}}"


def _hz(value: float) -> str:
    return _two(value) if isfinite(value) else r"$\infty$"


def _steps(value: float) -> str:
    return rf"\num{{{float(f'{value:.2g}'):.0f}}}" if isfinite(value) else r"$\infty$"
