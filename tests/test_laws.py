"""The laws of the ensembles, recovered from errors that were made from known ones; their tables, figures and numbers."""

from dataclasses import dataclass

import numpy as np
import pytest
import xarray as xr

from polhode.study.analysis import laws

CLASSES = (
    "free",
    "constant",
    "time",
    "lab",
    "state",
    "friction_isotropic",
    "friction_anisotropic",
    "friction_smooth_coulomb",
)
STEPS = 0.5 / 2.0 ** np.arange(12)
RADIANS = np.array([2.0, 4.0, 8.0, 16.0])


@dataclass(frozen=True)
class Law:
    """What a method of the tests does: error per radian C h^p, for each class of torque if they differ."""

    order: float
    coefficient: float
    torques: int = 1
    group: str = "simple"
    #: Under friction.
    friction_order: float | None = None
    friction_coefficient: float | None = None
    growth: float = 1.0
    #: It diverges at steps above this.
    limit: float = np.inf
    not_run: tuple[str, ...] = ()

    def of(self, torque_class: str) -> tuple[float, float]:
        if not torque_class.startswith("friction"):
            return self.order, self.coefficient
        order = self.order if self.friction_order is None else self.friction_order
        return order, self.coefficient if self.friction_coefficient is None else self.friction_coefficient


#: The methods of most tests.
METHODS = {
    "spiral_leapfrog": Law(2, 0.02, group="SPIRAL and Omelyan", friction_order=1, friction_coefficient=0.2),
    "spiral_predicted": Law(2, 0.022, group="new in this work"),
    "verlet": Law(2, 0.4, group="kicks at both ends", friction_order=1, friction_coefficient=0.5),
    "euler": Law(1, 0.5, limit=0.2),
    "rkmk4": Law(4, 0.05, torques=4, group="several torques per step"),
    "exact_rotor": Law(2, 0.03, group="splittings and variational", friction_order=1, friction_coefficient=0.3),
    "no_friction": Law(2, 0.05, not_run=CLASSES[5:]),
}


def ensemble(methods=METHODS, bodies=32, classes=CLASSES, seed=1, scatter=0.5, bend=0.3, rounding=1e-16):
    """A dataset as ensembles.nc holds it, in which a body multiplies the C of all methods by one factor, and each by its own."""
    draw = np.random.Generator(np.random.PCG64(seed))
    shape = (len(classes), len(methods), bodies, len(STEPS), len(RADIANS))
    body = np.exp(draw.normal(0, scatter, bodies))
    own = np.exp(draw.normal(0, 0.2 * scatter, (len(classes), len(methods), bodies)))
    q, lost = np.full(shape, np.nan), np.zeros(shape[:-1], "int8")
    h, r = STEPS[:, None], RADIANS[None, :]
    for i, torque_class in enumerate(classes):
        for j, law in enumerate(methods.values()):
            if torque_class in law.not_run:
                continue
            order, coefficient = law.of(torque_class)
            scale = RADIANS[-1] * (r / RADIANS[-1]) ** law.growth * h**order * (1 + bend * h)
            q[i, j] = coefficient * (body * own[i, j])[:, None, None] * scale
            lost[i, j] = STEPS > law.limit
    q += rounding * np.sqrt(r / h) * np.abs(draw.normal(1, 0.3, q.shape))
    q[lost.astype(bool)] = np.nan
    keys = list(methods)
    own_orders = [[law.of(name)[0] for law in methods.values()] for name in classes]
    per_method = {
        "label": ("method", [key.replace("_", " ") for key in keys]),
        "group": ("method", [law.group for law in methods.values()]),
        "variant_of": ("method", [""] * len(keys)),
        "torques_per_step": ("method", [law.torques for law in methods.values()]),
        "place": ("method", list(range(len(keys)))),
        "order_q_declared": (("torque_class", "method"), own_orders),
        "order_omega_declared": (("torque_class", "method"), own_orders),
    }
    dims = ("torque_class", "method", "body", "step", "radians")
    return xr.Dataset(
        {"error_q": (dims, q), "error_omega": (dims, 0.5 * q), "diverged": (dims[:-1], lost), **per_method},
        {"torque_class": list(classes), "method": keys, "body": np.arange(bodies), "step": STEPS, "radians": RADIANS},
        {"seed": seed, "factors": body},
    )
