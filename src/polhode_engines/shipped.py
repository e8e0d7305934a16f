"""What users meet of an engine before its order: damping, limits, sleep, the moments that act, a T-handle, and long free spins.

The body is a ball or has three moments, in a box of 1 m where the engine wants a shape; nothing is switched off but what the
option says, except in the two long spins (:attr:`Shipped.vector`, :attr:`Shipped.ball`), where the body must stay awake. Each
number follows from running; the step is 1/60 s.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from polhode_engines.cases import INERTIA
from polhode_engines.causes import in_lab
from polhode_engines.environments import RUN_LIMIT, Run, Spun, spin
from polhode_engines.protocol import Engine

RATE = 60
Q0 = (1.0, 0.0, 0.0, 0.0)
BALL, THREE = (1.0, 1.0, 1.0), (1.0, 2.0, 3.0)
#: Angular velocity, rad/s, and time, s, from which the damping follows; above any limit of sleep, below any of speed.
AWAKE, DAMPED_FOR = 3.0, 10
#: A speed above any limit, rad/s, and turns in a step that engines may shorten, rad.
FAST, TURNS = 1e4, (1.0, 2.5)
#: A step that engines may shorten, s.
LONG = 0.2
#: The step in which the moments show, s, under a torque of 1 N m.
SHORT = 1.0 / 1024
#: A speed at which a body that can sleep does, rad/s, those among which the limit is searched, and for how long, s.
DROWSY, SPEEDS, RESTED = 0.004, (0.002, 4.0), 3
SPEEDS_AT_ONCE, SEARCHES = 32, 3
#: The T-handle: about the middle axis of the moments 1, 2 and 3, a hundredth beside it, rad/s; and for how long, s.
T_HANDLE, T_HANDLE_FOR = (0.05, 5.0, 0.05), 120
#: The long free spin between the axes, rad/s, and its length, s; the length of the spin of the ball, s.
BETWEEN, BETWEEN_FOR, BALL_FOR = (0.3, 0.4, 1.0), 1000, 300
BETWEEN_Q0 = (0.7, 0.1, 0.5, 0.5)
#: A relative difference that is no rounding, and the smallest rate of damping that is one, 1/s.
PLAIN, FAINT = 1e-3, 2e-5
#: A difference of the share that a damping takes at first and in the mean, and what is said of such a damping.
UNEVEN, GROWS = 0.1, "and not in proportion to ω"
#: Law of a damping at the rate c: the rate from the factor of omega in a step, and its words.
RATES: Mapping[str, Callable[[float, float], float]] = {
    "1 - c dt": lambda factor, dt: (1 - factor) / dt,
    "1/(1 + c dt)": lambda factor, dt: (1 / factor - 1) / dt,
    "exp(-c dt)": lambda factor, dt: -math.log(factor) / dt,
    "(1 - c)^dt": lambda factor, dt: 1 - factor ** (1 / dt),
}


@dataclass(frozen=True)
class Shipped:
    """What was measured; NaN where a run failed, infinite where there is no limit.

    Parameters
    ----------
    damping : rate of damping, 1/s
    damping_law : the factor of omega in a step, and whether it comes before or after the rotation; empty: none
    speed_limit : the largest angular velocity after a step of 1/60 s, rad/s
    turn_of_1, turn_of_2p5 : how far a body turns in a step in which it should turn by so many radians, rad
    longest_step : the longest step that is not shortened, s
    sleep_below : the largest angular velocity at which a free body falls asleep within 3 s, rad/s; 0: it never does
    sleep_after : the time after which it has, from 0.004 rad/s, s
    sleep_reads : the angular velocity that is then read, by that at the start
    moments : those that act under a torque where 0.6, 1.0 and 1.4 kg m^2 are set
    is_single : 1 if everything read is in single precision
    turns : how often a T-handle turns over in 120 s
    vector : largest change of the vector of angular momentum within 1000 s, by its length, asleep never; infinite: it diverges
    ball : relative change of the angular velocity of a body with equal moments in 300 s, asleep never
    """

    damping: float
    damping_law: str
    speed_limit: float
    turn_of_1: float
    turn_of_2p5: float
    longest_step: float
    sleep_below: float
    sleep_after: float
    sleep_reads: float
    moments: tuple[float, float, float]
    is_single: float
    turns: float
    vector: float
    ball: float


#: Variable -> what it is, units; the names of the dataset begin with ``shipped_``.
NAMES = {
    "damping": ("rate of the damping of omega", "1/s"),
    "damping_law": ("factor of omega in a step, and where it stands", ""),
    "speed_limit": ("largest angular velocity after a step of 1/60 s", "rad/s"),
    "turn_of_1": ("turn in a step of 1/60 s at 60 rad/s", "rad"),
    "turn_of_2p5": ("turn in a step of 1/60 s at 150 rad/s", "rad"),
    "longest_step": ("longest step that is not shortened", "s"),
    "sleep_below": ("largest angular velocity at which a free body falls asleep within 3 s", "rad/s"),
    "sleep_after": ("time after which a free body of 0.004 rad/s is asleep", "s"),
    "sleep_reads": ("angular velocity read of a body asleep, by that at the start", "1"),
    "moments": ("moments that act where 0.6, 1.0 and 1.4 are set", "kg m^2"),
    "is_single": ("whether everything read is in single precision", "1"),
    "turns": ("turns of a T-handle in 120 s at 5 rad/s", "1"),
    "vector": ("largest change of the vector of angular momentum within 1000 s, never asleep", "1"),
    "ball": ("relative change of the spin of a body with equal moments in 300 s, never asleep", "1"),
}


def _run(inertia: tuple[float, float, float], omega: tuple[float, float, float], dt: float, samples: Sequence[int]) -> Run:
    return Run("free", (0.0,), inertia, Q0, omega, dt, tuple(samples))


def requests() -> dict[str, Run]:
    """The runs as shipped, by names that :func:`judged` knows, but for the search with :func:`sleepy`."""
    dt = 1 / RATE
    runs = {f"damping {rate}": _run(BALL, (0, 0, AWAKE), 1 / rate, (0, 1, rate * DAMPED_FOR)) for rate in (RATE // 2, RATE)}
    runs |= {"fast": _run(BALL, (0, 0, FAST), dt, (0, 1)), "long": _run(BALL, (0, 0, AWAKE), LONG, (0, 1))}
    runs |= {f"turn {turn:g}": _run(BALL, (0, 0, turn * RATE), dt, (0, 1)) for turn in TURNS}
    runs["drowsy"] = _run(BALL, (0, 0, DROWSY), dt, range(10 * RATE + 1))
    for k in range(3):
        torque = tuple(float(k == i) for i in range(3))
        runs[f"moment {k}"] = Run("constant", torque, INERTIA, Q0, (0.0, 0.0, 0.0), SHORT, (0, 1))
    runs["t-handle"] = _run(THREE, T_HANDLE, dt, range(0, T_HANDLE_FOR * RATE + 1, RATE // 10))
    return runs


def long_requests() -> dict[str, Run]:
    """The two long spins in which the body never sleeps, by their names: ``vector`` and ``ball``."""
    vector = _run(THREE, BETWEEN, 1 / RATE, range(0, BETWEEN_FOR * RATE + 1, RATE))
    return {
        "vector": Run(vector.load, vector.value, THREE, BETWEEN_Q0, BETWEEN, vector.dt, vector.samples),
        "ball": _run(BALL, BETWEEN, 1 / RATE, (0, BALL_FOR * RATE)),
    }


def sleepy(speeds: Sequence[float]) -> list[Run]:
    """Runs, one for each of these angular velocities at the start, rad/s, that end asleep or awake."""
    return [_run(BALL, (0, 0, float(speed)), 1 / RATE, (0, RESTED * RATE - 1, RESTED * RATE)) for speed in speeds]


def jobs() -> int:
    """How often :func:`measure` reports progress, for a bar; the processes behind a row are as many, or fewer."""
    return 2 + SEARCHES


def measure(engine: Engine, option: str, progress: Callable[[], object] = lambda: None, limit: float = RUN_LIMIT) -> Shipped:
    """Run an engine with a key of its options as it is shipped, and measure everything of it.

    ``progress`` is called :func:`jobs` times; ``limit`` are the seconds that one run may take. What takes more steps than the
    engine may take is not measured.

    Raises
    ------
    NotInReleaseError
        If the installed release lacks the option.
    """

    def spun(runs: Mapping[str, Run], function: str = "shipped") -> dict[str, Spun]:
        short = {name: run for name, run in runs.items() if run.samples[-1] <= engine.most_steps}
        outcomes = spin(engine, option, list(short.values()), limit=limit, function=function)[1] if short else []
        progress()
        return {name: left_out(run) for name, run in runs.items()} | dict(zip(short, outcomes, strict=True))

    out = spun(requests()) | spun(long_requests(), "run")
    low, high = SPEEDS
    # Where a slow body stays awake for 10 s, none falls asleep within 3 s.
    falls_asleep = asleep(out["drowsy"])
    for _ in range(SEARCHES):
        speeds = np.geomspace(low, high, SPEEDS_AT_ONCE).tolist() if falls_asleep else []
        rests = [asleep(motion) for motion in spun(dict(zip(map(str, speeds), sleepy(speeds), strict=True))).values()]
        last = max((k for k, rest in enumerate(rests) if rest), default=-1)
        low, high = (speeds[last], speeds[min(last + 1, len(speeds) - 1)]) if last >= 0 else (low, low)
    result = judged(out, low if last >= 0 else 0.0)
    # Adapters in Python read in double what an engine has in single precision.
    return result if engine.is_web else replace(result, is_single=float(engine.precision == "float32"))


def left_out(run: Run) -> Spun:
    """The outcome of a run that was not made because it takes too many steps: NaN, and an error that says so."""
    count = len(run.samples)
    return Spun(np.full((count, 4), np.nan), np.full((count, 3), np.nan), "takes too many steps")


def asleep(spun: Spun) -> bool:
    """Whether q is the same to the last bit at the last two samples; False for a run with an error."""
    return bool((spun.q[-1] == spun.q[-2]).all()) and not spun.error


def judged(out: Mapping[str, Spun], sleep_below: float) -> Shipped:
    """What follows from the outcomes of :func:`requests` and :func:`long_requests`, by the same names.

    ``sleep_below`` is the largest angular velocity at which a body falls asleep, rad/s; 0 if none does.
    """
    rate, law = damping_of({1 / number: out[f"damping {number}"] for number in (RATE, RATE // 2)})
    factor = speed(out[f"damping {RATE}"], 1) / AWAKE
    fast = speed(out["fast"], 1)
    long = turned(out["long"])
    handle, vector, ball, drowsy = (out[name] for name in ("t-handle", "vector", "ball", "drowsy"))
    still = np.flatnonzero((drowsy.q[1:] == drowsy.q[:-1]).all(axis=1))
    momentum = in_lab(vector.q, np.array(THREE) * vector.omega)
    with np.errstate(all="ignore"):
        change = float(np.linalg.norm(momentum - momentum[0], axis=1).max() / np.linalg.norm(momentum[0]))
    # What a damping takes in this step is not the moments'; from rest one that is not in proportion takes nothing.
    kick = SHORT * (1 - (0 if law.endswith(GROWS) else rate) * SHORT)
    moments = [kick / (speed(out[f"moment {k}"], 1) or math.nan) for k in range(3)]
    singles = [code.is_single for name, code in out.items() if name not in long_requests() and code.is_single is not None]
    return Shipped(
        damping=rate,
        damping_law=law,
        speed_limit=math.inf if fast > (1 - PLAIN) * factor * FAST else fast,
        turn_of_1=turned(out["turn 1"]),
        turn_of_2p5=turned(out["turn 2.5"]),
        # A turn of 0.6 rad is one of 0.583 rad where the rotation is linear.
        longest_step=math.inf if long > 0.9 * AWAKE * LONG else long / AWAKE,
        sleep_below=sleep_below,
        sleep_after=float(still[0] / RATE) if still.size and sleep_below else math.inf,
        sleep_reads=speed(drowsy, -1) / DROWSY if still.size and sleep_below else math.nan,
        moments=(moments[0], moments[1], moments[2]),
        is_single=float(all(singles)) if singles else math.nan,
        turns=math.nan if handle.error else float(turns(handle.omega[:, 1])),
        # Numbers that are not finite come from a spin that diverges.
        vector=math.inf if math.isnan(change) and not vector.error else change,
        ball=speed(ball, -1) / speed(ball, 0) - 1,
    )


def speed(spun: Spun, sample: int) -> float:
    """The size of the angular velocity, rad/s, at the sample with the number ``sample``."""
    return float(np.linalg.norm(spun.omega[sample]))


def turned(spun: Spun) -> float:
    """The angle about z by which a body has turned from the first to the second sample, rad, between 0 and a whole turn."""
    begun, ended = (2 * math.atan2(spun.q[k][3], spun.q[k][0]) for k in (0, 1))
    return (ended - begun) % (2 * math.pi)


def turns(spin_about_middle: np.ndarray) -> int:
    """The number of times that the angular velocity about the middle axis, an array (samples,), changes its sign."""
    signs = np.sign(spin_about_middle)
    return int((signs[1:] * signs[:-1] < 0).sum())


@cache
def exact_turns() -> int:
    """The number of times that the exact T-handle turns over in :data:`T_HANDLE_FOR` seconds."""
    from scipy.integrate import solve_ivp

    x, y, z = THREE

    def rates(t: float, w: np.ndarray) -> list[float]:
        return [(y - z) / x * w[1] * w[2], (z - x) / y * w[2] * w[0], (x - y) / z * w[0] * w[1]]

    at = np.arange(0, T_HANDLE_FOR + 1e-9, 6 / RATE)
    return turns(solve_ivp(rates, (0, T_HANDLE_FOR), T_HANDLE, "DOP853", at, rtol=1e-12, atol=1e-14).y[1])


def damping_of(spun: Mapping[float, Spun]) -> tuple[float, str]:
    """The rate of a damping, 1/s, and its law in words, from runs with two steps: the law whose rate is the same for both.

    ``spun`` has the step in s -> the outcome of :data:`DAMPED_FOR` seconds, read at the start, after one step and at the end.
    Without a damping the result is 0 and an empty text, of runs that failed NaN and an empty text. Of a damping that is not in
    proportion to omega the rate is the one in the first step, and the text ends in :data:`GROWS`.

    Of laws between which rounding decides it is the one whose rate is nearest to a number of two digits.
    """
    factors = {}
    for dt, run in spun.items():
        whole = speed(run, -1) / speed(run, 0)
        factors[dt] = whole ** (dt / DAMPED_FOR) if whole > 0 else math.nan
    finest = min(factors)
    if not all(math.isfinite(factor) for factor in factors.values()):
        return math.nan, ""
    if (1 - factors[finest]) / finest < FAINT:
        return 0.0, ""
    # A damping proportional to omega takes the same share in every step.
    begun = (1 - speed(spun[finest], 1) / speed(spun[finest], 0)) / finest
    if abs(begun / RATES["exp(-c dt)"](factors[finest], finest) - 1) > UNEVEN:
        return begun, f"at {AWAKE:g} rad/s, {GROWS}"
    rates = {law: [rate(factor, dt) for dt, factor in factors.items()] for law, rate in RATES.items()}
    apart = {name: abs(pair[0] - pair[1]) for name, pair in rates.items()}
    # exp(-c dt) and (1 - c)^dt are one law with two rates: that with fewer digits is the engine's.
    alike = [name for name, miss in apart.items() if miss < 2 * min(apart.values()) + 1e-12]
    law = min(alike, key=lambda name: abs(rates[name][0] - float(f"{rates[name][0]:.1e}")))
    # Either the whole speed turns the body in the first step or the damped one, exactly or by a linear rotation.
    angle, once = turned(spun[finest]), speed(spun[finest], 1)
    maps = {"after": AWAKE * finest, "before": once * finest}
    misses = {name: min(abs(angle - turn), abs(angle - 2 * math.atan(turn / 2))) for name, turn in maps.items()}
    return float(np.mean(rates[law])), f"{law}, {min(misses, key=lambda name: misses[name])} the rotation"
