"""The arithmetic of parts of a step, counted from the kernels and measured in their rounding: variables of single_body.nc.

Later stages read these numbers and do not count again. They belong to no problem and are at the root of the file, along a
dimension without coordinates, which would be inherited by all groups below.
"""

from collections.abc import Callable, Sequence
from functools import cache
from math import ldexp
from typing import Any

import numpy as np
import xarray as xr

from polhode.algebra import quaternion
from polhode.algebra.body import Body, angular_velocity, euler_equations
from polhode.algebra.vector import add, axpy, scale
from polhode.compiling.operations import Operations, count, on_counting
from polhode.interface.arrays import about
from polhode.methods import omelyan1998, spiral_leapfrog

Vector = tuple[Any, Any, Any]
Quaternion = tuple[Any, Any, Any, Any]

#: The dimension of the table of operations.
BLOCKS = "block_number"


# Kicks: the angular velocity over a step with a known torque


def _runge_kutta_kick(omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The classical Runge-Kutta scheme for Euler's equations, the torque frozen."""
    half = 0.5 * dt
    k1 = euler_equations(omega, torque, body)
    k2 = euler_equations(axpy(half, k1, omega), torque, body)
    k3 = euler_equations(axpy(half, k2, omega), torque, body)
    k4 = euler_equations(axpy(dt, k3, omega), torque, body)
    return axpy(dt / 6, add(add(k1, k4), scale(2.0, add(k2, k3))), omega)


def _plain_kick(omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The leapfrog of a sphere, without products of angular velocities."""
    return axpy(dt, angular_velocity(torque, body), omega)


KICKS: dict[str, Callable[..., Any]] = {
    "spiral_leapfrog": spiral_leapfrog.kick,
    "omelyan1998": omelyan1998.kick,
    "runge_kutta": _runge_kutta_kick,
    "plain": _plain_kick,
}


def kick_operations(name: str) -> Operations:
    """The operations of one of :data:`KICKS` (see polhode.compiling.operations)."""
    omega, torque, inertia = (0.9, -0.7, 1.1), (0.4, -0.5, 0.2), Body((1.0, 1.7, 2.3)).coefficients()
    return count(KICKS[name], omega, torque, inertia, 1e-3)


# Vectors by a matrix and by a quaternion: Seelen et al. (2016), Sec. 1


def by_matrix(q: Quaternion, vectors: tuple[Vector, ...]) -> tuple[Vector, ...]:
    """Vectors in the lab frame by the rotation matrix of a unit quaternion, each product of its components formed once."""
    ww, xx, yy, zz = q[0] * q[0], q[1] * q[1], q[2] * q[2], q[3] * q[3]
    wx, wy, wz, xy, xz, yz = q[0] * q[1], q[0] * q[2], q[0] * q[3], q[1] * q[2], q[1] * q[3], q[2] * q[3]
    rows = (
        (ww + xx - yy - zz, 2.0 * (xy - wz), 2.0 * (xz + wy)),
        (2.0 * (xy + wz), ww - xx + yy - zz, 2.0 * (yz - wx)),
        (2.0 * (xz - wy), 2.0 * (yz + wx), ww - xx - yy + zz),
    )
    return tuple(tuple(r[0] * v[0] + r[1] * v[1] + r[2] * v[2] for r in rows) for v in vectors)  # type: ignore[return-value]


def by_quaternion(q: Quaternion, vectors: tuple[Vector, ...]) -> tuple[Vector, ...]:
    """Vectors in the lab frame as q v q*, by the kernel that the methods use."""
    turn = _to_lab()
    return tuple(turn(q, v) for v in vectors)


@cache
def _to_lab() -> Callable[..., Vector]:
    return on_counting(quaternion.to_lab)


def turning(turn: Callable[..., tuple[Vector, ...]], vectors: int) -> Operations:
    """The operations of rotating a number of vectors."""
    return count(turn, (0.5, 0.5, -0.5, 0.5), ((1.0, 2.0, 3.0),) * vectors)


#: Number of rotations whose rounding is compared, and of resamplings for the interval of the ratio.
ROTATIONS, RESAMPLINGS = 5000, 1000
#: Exact products are formed from whole multiples of 2**-EXACT_BITS: of that, every float above 2**-148 is a whole multiple.
EXACT_BITS = 200


def rotation_rounding() -> dict[str, float]:
    """Rounding errors of a vector rotated by a matrix and by the quaternion, rms, and their ratio with its 95 % interval.

    Both are compared with the same product in whole numbers, which is exact.
    """
    rng = np.random.default_rng(2016)
    drawn = rng.normal(size=(ROTATIONS, 7)).T
    # Normalised in plain arithmetic: NumPy's norm rounds differently on another processor, and would give another sample.
    size = np.sqrt(sum(x * x for x in drawn[:4]))
    q, v = tuple(x / size for x in drawn[:4]), tuple(drawn[4:])
    (exact,) = by_quaternion(_whole(q), (_whole(v),))  # type: ignore[arg-type]
    errors = np.empty((ROTATIONS, 2))
    for j, turn in enumerate((by_matrix, by_quaternion)):
        (rotated,) = turn(q, (v,))  # type: ignore[arg-type]
        # Two components of q and one of the vector were multiplied.
        rounding = [(a - b) / (1 << 3 * EXACT_BITS) for a, b in zip(_whole(rotated, 3 * EXACT_BITS), exact, strict=True)]
        errors[:, j] = sum(x * x for x in rounding) / sum(x * x for x in v)
    chosen = rng.integers(ROTATIONS, size=(RESAMPLINGS, ROTATIONS))
    squares = np.array([errors[rows].mean(axis=0) for rows in chosen])
    low, high = np.quantile(np.sqrt(squares[:, 0] / squares[:, 1]), [0.025, 0.975])
    matrix, two = np.sqrt(errors.mean(axis=0))
    return {
        "matrix": float(matrix),
        "quaternion": float(two),
        "ratio": float(matrix / two),
        "ratio_low": float(low),
        "ratio_high": float(high),
    }


def _whole(vector: Sequence[Any], bits: int = EXACT_BITS) -> tuple[Any, ...]:
    """The components of vectors (arrays of floats) as Python's whole numbers, in units of 2**-bits."""
    return tuple(np.array([int(ldexp(x, bits)) for x in component.tolist()], dtype=object) for component in vector)


def _sum(*parts: Operations) -> int:
    return sum(operations.total for operations in parts)


def building_blocks() -> dict[str, tuple[str, int]]:
    """Key -> (meaning, number of operations) of every part of a step that the report counts.

    Additions, multiplications, divisions and square roots count, each as one.
    """
    unit, omega = (1.0, 0.0, 0.0, 0.0), (0.1, 0.2, 0.3)
    linear = count(quaternion.derivative, unit, omega), count(quaternion.increment, 0.1, unit, unit)
    blocks = {
        "normalisation": ("normalisation of a quaternion", _sum(count(quaternion.normalise, unit))),
        "rotation": ("exact rotation of a quaternion about an axis", _sum(count(quaternion.rotate, unit, omega, 0.1))),
        "linear_update": ("derivative of a quaternion, and its addition", _sum(*linear)),
        "change_of_frame": ("a vector from the body frame to the lab", _sum(count(quaternion.to_lab, unit, omega))),
    }
    for name in KICKS:
        blocks[f"kick_{name}"] = (f"angular velocity over a step with a known torque, {name}", _sum(kick_operations(name)))
    for vectors, number in ((1, "one vector"), (2, "two vectors")):
        blocks[f"matrix_{vectors}"] = (f"{number} rotated by the matrix of a quaternion", _sum(turning(by_matrix, vectors)))
        blocks[f"quaternion_{vectors}"] = (f"{number} rotated by a quaternion", _sum(turning(by_quaternion, vectors)))
    return blocks


def arithmetic() -> xr.Dataset:
    """The operations of all :func:`building_blocks`, and the rounding of rotations (``rotation_rounding_...``, scalars)."""
    blocks, rounding = building_blocks(), rotation_rounding()
    meaning = {
        "matrix": "rounding error of a vector rotated by the matrix of a quaternion, root mean square, relative",
        "quaternion": "rounding error of a vector rotated by a quaternion, root mean square, relative",
        "ratio": "rounding error by the matrix over that by the quaternion",
        "ratio_low": "lower end of the 95 % interval of the ratio of rounding errors",
        "ratio_high": "upper end of the 95 % interval of the ratio of rounding errors",
    }
    variables: dict[str, Any] = {
        "building_block": (BLOCKS, list(blocks), {"long_name": "key of a part of a step"}),
        "building_block_meaning": (BLOCKS, [text for text, _ in blocks.values()], {"long_name": "what the part does"}),
        "building_block_operations": (
            BLOCKS,
            np.array([total for _, total in blocks.values()], "int32"),
            about("additions, multiplications, divisions and square roots of the part"),
        ),
    }
    variables |= {
        f"rotation_rounding_{name}": ((), rounding[name], about(text) | {"rotations": ROTATIONS})
        for name, text in meaning.items()
    }
    return xr.Dataset(variables)
