r"""The check ``rotor_order``: the energy error of splittings of a free body in all orders of the rotors, over random bodies.

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
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from polhode.interface.arrays import about
from polhode.methods.rotor_choice import score
from polhode.study.run.making import Settings

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
