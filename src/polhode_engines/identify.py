"""Which of our methods an engine runs: each is stepped from the engine's own states, and must end in the engine's next state.

From every state of a run of an engine, read at every step, each candidate takes one step. Its deviation is the largest
difference between its state and the engine's next one, in units of the engine's round-off, over all steps: of a component of q,
or of omega relative to its length (:func:`apart`). Errors do not add up, so that methods of the same order, whose runs lie
close together, remain far apart. An engine may hold omega at half steps; a leapfrog is therefore also tried with the engine's
omega as the one it stores (:func:`stored`). A multistep method takes the rates of earlier steps from its own steps
(:func:`carried`). No limit is absolute: a run in other units of time has the same deviations.

A way in which a method begins is a function (driver, state, q, omega) -> state, listed in :data:`MODES`: q (4,), scalar first,
body to lab, and omega (3,), rad/s, body frame, are the engine's, and ``state`` is the candidate's after the step before, or
None. What a state is made of depends on the method; it is a tuple of floats that begins with q.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polhode.algebra.body import Body
from polhode.compiling.plain import in_plain_python
from polhode.methods.plain_driver import PlainDriver, plain_driver
from polhode.methods.protocol import Method
from polhode_engines.candidates import candidates, damped, with_rates
from polhode_engines.cases import LOADS, STEP
from polhode_engines.environments import Run, Spun

#: A method is identified if it deviates by less than this many round-offs, and the next one by this factor more.
WITHIN, APART = 100.0, 1e3
#: Steps that a run needs at least, and the first steps by which the candidates are put in order.
FEW, FIRST = 12, 5
#: Angular velocities that are judged, in units of that at the start: in a step of :data:`~polhode_engines.cases.STEP` the body
#: turns by 0.75 rad at most, where Bullet bends it above a quarter of pi.
SLOWEST, FASTEST = 1e-3, 0.75 / STEP
#: Iterations to find the state whose stored angular velocity is the engine's.
ITERATIONS = 60

State = tuple[Any, ...]


@dataclass(frozen=True)
class Deviation:
    """How far a candidate is from an engine: its key, how it was started, and the largest deviation in round-offs."""

    key: str
    mode: str
    value: float


def synchronous(driver: PlainDriver, state: State | None, q: State, omega: State) -> State:
    """The state that begins at the engine's q and omega, both at the whole time."""
    made: State = driver.start(q, omega)
    return made


def stored(driver: PlainDriver, state: State | None, q: State, omega: State) -> State:
    """The state with the engine's q whose stored angular velocity is the engine's omega.

    Raises
    ------
    ArithmeticError
        If the iteration does not end.
    """
    return _state_that_shows(driver, driver.stored, q, omega)


def shown(driver: PlainDriver, state: State | None, q: State, omega: State) -> State:
    """The state with the engine's q from which the engine's omega is read; a leapfrog does not always start from it.

    Raises
    ------
    ArithmeticError
        If the iteration does not end.
    """
    return _state_that_shows(driver, lambda made: driver.read(made, 0)[1], q, omega)


def _state_that_shows(driver: PlainDriver, look: Callable[[State], State], q: State, omega: State) -> State:
    guess, made = omega, driver.start(q, omega)
    for _ in range(ITERATIONS):
        held = look(made)
        miss = tuple(a - b for a, b in zip(omega, held, strict=True))
        if max(map(abs, miss)) < 4e-16 * (1 + max(map(abs, omega))):
            break
        guess = tuple(a + b for a, b in zip(guess, miss, strict=True))
        made = driver.start(q, guess)
    else:
        if max(map(abs, miss)) > 1e-13:
            raise ArithmeticError("no state has this angular velocity")
    begun: State = made
    return begun


def carried(driver: PlainDriver, state: State | None, q: State, omega: State) -> State:
    """The engine's q and omega with the memory that the method has of its own earlier steps, or before them with its first one.

    Raises
    ------
    ValueError
        If the method has none.
    """
    made: State = driver.start(q, omega)
    if len(made) == len(q) + len(omega):
        raise ValueError("no memory")
    return made if state is None else made[:7] + state[7:]


def half_step_away(driver: PlainDriver, state: State | None, q: State, omega: State) -> State:
    """The state with the engine's q that holds the engine's omega or momentum as what the method advances."""
    made: State = driver.start(q, omega)
    held: State = driver.hold(q, omega)
    return made[:4] + held + made[7:]


#: Way in which a method begins at the states of a run -> the state with which it does.
MODES: Mapping[str, Callable[[PlainDriver, State | None, State, State], State]] = {
    "": synchronous,
    "stored": stored,
    "shown": shown,
    "half": half_step_away,
    "memory": carried,
}


def modes(method: Method, half: bool = False, equal_steps: bool = True) -> Iterator[str]:
    """The ways in which a method can begin at an engine's state, keys of :data:`MODES`.

    A method with steps of warm-up begins with its memory alone. All others begin at the engine's state, a leapfrog also with
    the omega that it stores, and all also with their memory, which :func:`carried` refuses if there is none. With ``half`` a
    leapfrog that can be normalised also begins with what it reads and with what it advances, and any multistep method with its
    memory alone: without it, its step equals another method of first order. Without ``equal_steps`` no memory of earlier
    steps is of use.
    """
    if getattr(method, "warm_up_steps", 0) or (half and _is_multistep(method)):
        if equal_steps:
            yield "memory"
        return
    yield ""
    if method.stored_offset:
        yield "stored"
        if half and method.normalisable:
            yield "shown"
            yield "half"
    if equal_steps:
        yield "memory"


def _is_multistep(method: Method) -> bool:
    """Whether a method needs rates of earlier steps."""
    return method.key.startswith("adams_bashforth") or (method.start is with_rates and not method.key.startswith("euler_"))


def step_deviations(
    method: Method, mode: str, run: Run, spun: Spun, eps: float, steps: Iterable[int], stretch: int = 1
) -> Iterator[float]:
    """The deviation (:func:`apart`) of a candidate from the engine in each of some steps of a run, in round-offs.

    Parameters
    ----------
    method : the candidate
    mode : how it begins at the engine's states, a key of :data:`MODES`
    run : what the engine was asked to run: the body, the torque and the step
    spun : what it returned: the states from which the candidate steps, and at which it should arrive
    eps : the round-off of the engine's precision
    steps : numbers n, counted from 0, of the states from which the candidate steps; it should arrive at the states n + 1. With
        the mode "memory" they are neighbours, ascending.
    stretch : how many steps of ``run.dt`` (of ``run.steps[n]``, if there are any) lie between two states

    Raises
    ------
    ArithmeticError, ValueError, TypeError
        If the candidate cannot be stepped.
    """
    numbers = list(steps)
    for n, (q, omega) in zip(numbers, predictions(method, mode, run, spun, numbers, stretch), strict=True):
        yield apart(q, omega, spun.q[n + 1], spun.omega[n + 1]) / eps


def predictions(
    method: Method, mode: str, run: Run, spun: Spun, steps: Iterable[int], stretch: int = 1
) -> Iterator[tuple[State, State]]:
    """The q (4,), scalar first, body to lab, and omega (3,), rad/s, body frame, to which a candidate goes from some states.

    For arguments and errors see :func:`step_deviations`.
    """
    driver = driver_of(method, run)
    state: State | None = None
    for n in steps:
        if run.steps:
            driver = driver_of(method, replace(run, dt=run.steps[n]))
        q, omega = tuple(map(float, spun.q[n])), tuple(map(float, spun.omega[n]))
        state = MODES[mode](driver, state, q, omega)
        # Steps are numbered from far beyond any warm-up: the engine is in the middle of its run.
        count = n * stretch if mode == "memory" else 0
        for k in range(stretch):
            state = driver.step(state, count + k)
        if mode in ("stored", "half"):
            look = driver.stored if mode == "stored" else driver.held
            new_q, new_omega = tuple(state[:4]), look(state)
        else:
            new_q, new_omega = driver.read(state, count + stretch)
        yield new_q, new_omega


def driver_of(method: Method, run: Run) -> PlainDriver:
    """A method ready to make a run, in plain Python."""
    body = Body(run.inertia).coefficients()
    return plain_driver(method, in_plain_python, in_plain_python(LOADS[run.load]), body, run.dt, tuple(run.value))


def deviation(
    method: Method, mode: str, run: Run, spun: Spun, eps: float, steps: Iterable[int], skip: int = 0, stretch: int = 1
) -> float:
    """The largest deviation of a candidate over some of the steps of a run, in round-offs; infinite if it cannot be stepped.

    Parameters
    ----------
    eps, steps, stretch : see :func:`step_deviations`
    skip : how many steps at the beginning are not judged: the memory of a multistep method is empty there
    """
    worst, numbers = 0.0, list(steps)
    try:
        for n, value in zip(numbers, step_deviations(method, mode, run, spun, eps, numbers, stretch), strict=True):
            if n >= skip:
                worst = max(worst, value)
                if not math.isfinite(worst):
                    break
    except (ArithmeticError, ValueError, TypeError):
        return math.inf
    return worst


def apart(q: Sequence[float], omega: Sequence[float], other_q: Any, other_omega: Any) -> float:
    """The difference of two states, without a unit; infinite if one is not finite.

    It is the largest difference of a component of their unit quaternions (4,), whose signs do not matter, or of their angular
    velocities (3,), in one frame and unit, over the length of the second one's, whichever is larger.
    """
    p, r = np.asarray(q, float), np.asarray(other_q, float)
    with np.errstate(all="ignore"):
        p, r = p / np.linalg.norm(p), r / np.linalg.norm(r)
        turned = min(float(np.abs(p - r).max()), float(np.abs(p + r).max()))
        w, v = np.asarray(omega, float), np.asarray(other_omega, float)
        spun = float(np.abs(w - v).max() / np.linalg.norm(v))
    return max(turned, spun) if math.isfinite(turned + spun) else math.inf


def deviations(
    runs: Sequence[Run],
    spun: Sequence[Spun],
    eps: float,
    damping: float = 0.0,
    half: bool = False,
    bound: float = WITHIN,
    stretch: int = 1,
) -> list[Deviation]:
    """Every candidate's deviation from an engine, smallest first; behind the second best it is a lower bound.

    Runs with an error do not count. The list is empty if none of the others has more than :data:`FEW` usable steps, nor all
    together.

    Parameters
    ----------
    runs, spun : runs read at every step, and what the engine returned
    eps : the round-off of the engine's precision
    damping : the rate that the engine declares, 1/s; damped candidates are tried as well if there is one
    half : whether leapfrogs are also tried with what they advance, half a step away
    bound : a candidate is not followed to the end if two others, which do not deviate less than this, are closer
    stretch : how many steps lie between two states
    """
    pairs = [(run, outcome, usable(run, outcome)) for run, outcome in zip(runs, spun, strict=True) if not outcome.error]
    pairs = [pair for pair in pairs if pair[2] > FEW] or (pairs if sum(count for _, _, count in pairs) > FEW else [])
    if not pairs:
        return []
    first: list[tuple[Method, str, float]] = []
    for method in all_candidates(damping):
        run, outcome, count = pairs[0]
        for mode in modes(method, half, not run.steps):
            steps = range(min(FIRST + judged_from(mode) - 1, count))
            first.append((method, mode, deviation(method, mode, run, outcome, eps, steps, judged_from(mode), stretch)))
    # The largest deviation only grows with more steps: a candidate is followed to the end only if it could still be among the
    # best two classes.
    first.sort(key=lambda entry: entry[2])
    closest: dict[str, Deviation] = {}
    whole: list[float] = []
    for method, mode, value in first:
        if math.isfinite(value) and sum(done >= bound and done <= value for done in whole) < 2:
            for run, other, count in pairs:
                value = max(value, deviation(method, mode, run, other, eps, range(count), judged_from(mode), stretch))
            whole.append(value)
        if method.key not in closest or value < closest[method.key].value:
            closest[method.key] = Deviation(method.key, mode, value)
    return sorted(closest.values(), key=lambda deviation: deviation.value)


def all_candidates(damping: float = 0.0) -> tuple[Method, ...]:
    """The candidates, with those that damp at the rate ``damping``, 1/s, if it is not 0."""
    return (*candidates(), *(damped(damping) if damping else ()))


def judged_from(mode: str) -> int:
    """The number of the first step that is judged with a way to begin, a key of :data:`MODES`.

    The state at the start need not be one of the method, and the memory of a multistep method is empty there.
    """
    return 4 if mode == "memory" else 1


def usable(run: Run, spun: Spun) -> int:
    """The number of steps before the body turns too fast or too slowly, or a number is not finite; -1: at the start.

    Too fast is :data:`FASTEST` times the angular velocity at the start and more, too slow :data:`SLOWEST` times it and less.
    """
    size = np.linalg.norm(spun.omega, axis=1)
    fine = np.isfinite(size) & np.isfinite(spun.q).all(axis=1) & (size < FASTEST * size[0]) & (size > SLOWEST * size[0])
    return int(np.argmin(fine)) - 1 if not fine.all() else len(run.samples) - 1


@dataclass(frozen=True)
class Identity:
    """The result of an identification.

    Parameters
    ----------
    identified : whether the rule of the module is met
    methods : the method identified, with those that cannot be told from it; otherwise the closest alone
    deviation : the largest deviation of these, in round-offs
    runner_up, runner_up_deviation : the closest other candidate; empty and infinite if there is none
    """

    identified: bool
    methods: tuple[str, ...]
    deviation: float
    runner_up: str
    runner_up_deviation: float


NOTHING = Identity(False, (), math.inf, "", math.inf)


def judged(deviations: Sequence[Deviation]) -> Identity:
    """The verdict on deviations, in round-offs, sorted by size.

    Those below :data:`WITHIN` fit; they are identified if the next is at least :data:`APART` times the largest of them, and
    that many round-offs. Without any deviation the verdict is :data:`NOTHING`.
    """
    if not deviations:
        return NOTHING
    same = [deviation for deviation in deviations if deviation.value < WITHIN]
    others = [deviation for deviation in deviations if deviation.value >= WITHIN]
    if not same:
        best, second = deviations[0], deviations[1] if len(deviations) > 1 else Deviation("", "", math.inf)
        return Identity(False, (named(best),), best.value, named(second), second.value)
    worst = max(deviation.value for deviation in same)
    second = others[0] if others else Deviation("", "", math.inf)
    clear = second.value >= APART * max(worst, 1.0)
    return Identity(clear, tuple(named(deviation) for deviation in same), worst, named(second), second.value)


def named(deviation: Deviation) -> str:
    """The key of a candidate, with the way in which it was started if that is "stored"."""
    return f"{deviation.key} ({deviation.mode})" if deviation.mode == "stored" else deviation.key
