r"""NO_SQUISH with its arbitrary moment, and the energy error of splittings of a free body in all orders of the rotors.

Two families are compared, each with its six assignments of the axes (a, b, c), which are named after their moments: s, m and l
for the smallest, the middle and the largest.

* ``rotors``: R_a(dt/2) R_b(dt/2) R_c(dt) R_b(dt/2) R_a(dt/2), R_k being the motion under Pi_k^2/(2 I_k) alone (Dullweber,
  Leimkuhler and McLachlan 1997).
* ``top``: the motion under L^2/(2 I_b), which leaves Pi alone, and R_a(dt/2) R_c(dt) R_a(dt/2) for what is left of the kinetic
  energy (Touma and Wisdom 1994).

Fassò (2003) compares them by the leading term of the modified Hamiltonian. Here the error itself is measured, on angular
momenta alone, as the energy needs no more. Nothing is taken from the methods but the score by which they choose
(:mod:`polhode.methods.rotor_choice`).
"""

from collections.abc import Sequence
from itertools import permutations
from math import nan
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from polhode.algebra import metrics
from polhode.interface.arrays import about
from polhode.methods import no_squish
from polhode.methods.rotor_choice import score
from polhode.simulate import simulate
from polhode_study.run.check import problem_of
from polhode_study.run.making import Settings

Array = NDArray[Any]

#: Outer, second and middle axis, by moments: s(mallest), m(iddle), l(argest).
ORDERS = tuple("".join(order) for order in permutations("sml"))
FAMILIES = ("rotors", "top")
#: Angle that a body turns in a step at the start, rad, and number of steps: some fifteen turns.
ANGLE = 0.1
STEPS = 1000
#: Number of bodies, and the seed of the generator that draws them.
COUNT, SEED = 400, 0


def random_bodies(count: int, seed: int) -> tuple[Array, Array]:
    """Moments in ascending order, each (count, 3), and angular momenta of length 1 in all directions.

    The moments are those of bodies that exist: sums of two of three second moments of mass, uniform in (0, 1).
    """
    rng = np.random.default_rng(seed)
    second = rng.uniform(size=(count, 3))
    directions = rng.normal(size=(count, 3))
    moments = np.sort(second.sum(axis=1, keepdims=True) - second, axis=1)
    return moments, directions / np.linalg.norm(directions, axis=1, keepdims=True)


def rates(moments: Array, family: str, order: str) -> Array:
    """The rates (n, 3) of the rotors about the axes of an order, for moments (n, 3) in ascending order."""
    inverse = 1 / moments[:, ["sml".index(axis) for axis in order]]
    return inverse if family == "rotors" else inverse - inverse[:, 1:2]


def energy_error(moments: Array, momenta: Array, family: str, order: str, angle: float = ANGLE, steps: int = STEPS) -> Array:
    """The largest relative energy error (n,) of a splitting in a number of steps.

    Parameters
    ----------
    moments, momenta : (n, 3), the moments in ascending order
    family, order : one of :data:`FAMILIES` and of :data:`ORDERS`
    angle : angle in rad that a body turns in a step at the start
    """
    axes = ["sml".index(axis) for axis in order]
    inverse, rate = 1 / moments, rates(moments, family, order)
    dt = angle / np.linalg.norm(momenta * inverse, axis=1)
    state = momenta.T.copy()
    start = (inverse.T * state**2).sum(axis=0)
    largest = np.zeros(len(moments))
    # The half rotors at the end of a step and at the beginning of the next are both done: the energy is that between steps.
    sequence = [(0, 0.5), (1, 0.5), (2, 1.0), (1, 0.5), (0, 0.5)]
    if family == "top":
        sequence = [rotor for rotor in sequence if rotor[0] != 1]
    for _ in range(steps):
        for place, share in sequence:
            axis = axes[place]
            x, y = (axis + 1) % 3, (axis + 2) % 3
            turn = share * dt * rate[:, place] * state[axis]
            cosine, sine = np.cos(turn), np.sin(turn)
            state[x], state[y] = cosine * state[x] + sine * state[y], cosine * state[y] - sine * state[x]
        largest = np.maximum(largest, np.abs((inverse.T * state**2).sum(axis=0) / start - 1))
    return largest


def rotor_order(settings: Settings) -> xr.Dataset:
    """How much the order of the rotors matters; with ``orders`` in the settings for some orders only."""
    return energy_errors(COUNT, SEED, settings.get("orders", ORDERS))


def energy_errors(count: int, seed: int, orders: Sequence[str] = ORDERS) -> xr.Dataset:
    """The energy errors of both families in all orders, and the scores by which the methods choose one.

    Returns
    -------
    ``energy_error`` and ``score`` (family, order, body), ``moment`` (body, axis) in units of the largest.
    """
    moments, momenta = random_bodies(count, seed)
    shape = len(FAMILIES), len(orders), count
    errors, scores = np.empty(shape), np.empty(shape)
    for i, family in enumerate(FAMILIES):
        for j, order in enumerate(orders):
            errors[i, j] = energy_error(moments, momenta, family, order)
            scores[i, j] = [score(*map(float, row)) for row in rates(moments, family, order)]
    dims = ("family", "order", "body")
    return xr.Dataset(
        {
            "energy_error": (dims, errors, about("largest relative energy error")),
            "score": (
                dims,
                scores,
                about("mean square of the leading rate of the energy error", "kg-8 m-16"),
            ),
            "moment": (("body", "axis"), moments / moments[:, 2:], about("moment over the largest")),
        },
        {
            "family": ("family", list(FAMILIES), {"long_name": "splitting of the kinetic energy"}),
            "order": ("order", list(orders), {"long_name": "axes of the rotors by their moments: outer, second, middle"}),
            "axis": ("axis", list("sml"), {"long_name": "axis of the smallest, middle and largest moment"}),
        },
        {"angle": ANGLE, "steps": STEPS, "seed": seed},
    )


#: The arbitrary moments, kg m^2, and the run.
MOMENTS = tuple(10.0**k for k in range(-6, 7))
MOMENT_PROBLEM, MOMENT_DT, MOMENT_STEPS, MOMENT_SAMPLES = "heavy_top", 1e-3, 10_000, 100


def extended_inertia(settings: Settings) -> xr.Dataset:
    """NO_SQUISH with the fourth rotor at several values of its arbitrary moment I_11, compared with NO_SQUISH without it."""
    problem = problem_of(MOMENT_PROBLEM)
    samples = settings.get("samples", MOMENT_SAMPLES)
    end = samples * (MOMENT_STEPS // MOMENT_SAMPLES) * MOMENT_DT
    plain = simulate(problem, no_squish.METHOD, MOMENT_DT, end, samples)
    distance, norm = (np.full((len(MOMENTS), plain.sizes["time"]), nan) for _ in range(2))
    for i, moment in enumerate(MOMENTS):
        run = simulate(problem, no_squish.extended(moment), MOMENT_DT, end, samples)
        distance[i] = metrics.geodesic_angle(run.q.values, plain.q.values / np.linalg.norm(plain.q.values, axis=-1)[:, None])
        norm[i] = metrics.norm_error(run.q.values)
    dims = ("i11", "time")
    return xr.Dataset(
        {
            "angle_to_plain": (dims, distance, about("angle to the orientation without the fourth rotor", "rad")),
            "norm_error": (dims, norm, about("distance of the norm of q from 1")),
            "plain_norm_error": ("time", metrics.norm_error(plain.q.values), about("the same without the fourth rotor")),
        },
        {
            "i11": ("i11", list(MOMENTS), about("arbitrary moment", "kg m2")),
            "time": ("time", plain.time.values, about("time", "s")),
        },
        {"problem": problem.key, "dt": MOMENT_DT, "dt_units": "s", "steps": MOMENT_STEPS},
    )
