"""Distances between a computed and an exact state. Each function takes arrays whose last axis is the vector or quaternion.

q and -q are the same orientation: every orientation error here is the same for both.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def relative_l1(value: ArrayLike, exact: ArrayLike) -> Array:
    """sum |v_i - v'_i| / sum |v'_i|: del Valle et al. (2024), Eq. 13. Shapes (..., n) -> (...).

    Examples
    --------
    >>> relative_l1([[1.0, 2.0, 2.0], [1.0, 2.0, 1.0]], [1.0, 2.0, 1.0])
    array([0.25, 0.  ])
    """
    value, exact = np.asarray(value, float), np.asarray(exact, float)
    return np.asarray(np.abs(value - exact).sum(-1) / np.abs(exact).sum(-1))


def align(q: ArrayLike, exact: ArrayLike) -> Array:
    """q or -q, whichever is nearer to ``exact``. Shapes (..., 4)."""
    q, exact = np.asarray(q, float), np.asarray(exact, float)
    return np.where((q * exact).sum(-1, keepdims=True) < 0, -q, q)


def orientation_l1(q: ArrayLike, exact: ArrayLike) -> Array:
    """:func:`relative_l1` of quaternions after :func:`align`; the published orientation error. Shapes (..., 4) -> (...).

    Examples
    --------
    >>> float(orientation_l1([-1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]))
    0.0
    """
    return relative_l1(align(q, exact), exact)


def rotation_matrix(q: ArrayLike) -> Array:
    """The matrix from body to lab of a unit quaternion. Shapes (..., 4) -> (..., 3, 3).

    Examples
    --------
    >>> rotation_matrix([0.5, 0.5, 0.5, 0.5])
    array([[0., 0., 1.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    q = np.asarray(q, float)
    columns = [lab_angular_momentum(q, np.broadcast_to(axis, (*q.shape[:-1], 3)), np.ones(3)) for axis in np.eye(3)]
    return np.stack(columns, axis=-1)


def matrix_error(q: ArrayLike, exact: ArrayLike) -> Array:
    """||R - R'|| / ||R||, R from body to lab, with the norm max_i sum_j |R_ij|. Shapes (..., 4) -> (...).

    The "orientation error" of the one method of del Valle et al. (2024) that advances a rotation matrix, PFC4 (Fig. 2,
    Table 2). The paper does not print it; it was inferred from the printed time steps, which it reproduces. Note the divisor:
    the norm of the computed matrix, not of the exact one. Near zero the error is of the order of :func:`orientation_l1`, but
    not equal to it.
    """
    computed, true = rotation_matrix(q), rotation_matrix(exact)
    return np.asarray(np.abs(computed - true).sum(-1).max(-1) / np.abs(computed).sum(-1).max(-1))


#: The orientation error of del Valle et al. (2024), by the variable a method advances: Eq. 13, or another one for PFC4.
PUBLISHED_ERRORS: dict[str, Callable[[ArrayLike, ArrayLike], Array]] = {
    "quaternion": orientation_l1,
    "matrix": matrix_error,
}


def mean_error(
    q: ArrayLike, exact_q: ArrayLike, omega: ArrayLike, exact_omega: ArrayLike, measure: str = "quaternion"
) -> Array:
    """Mean of the errors of orientation and angular velocity: the target error of del Valle et al. (2024), Table 2.

    Parameters
    ----------
    q, exact_q : (..., 4)
    omega, exact_omega : (..., 3), both at the time at which the method holds omega
    measure : how the orientation is compared, a key of :data:`PUBLISHED_ERRORS`
    """
    return np.asarray((PUBLISHED_ERRORS[measure](q, exact_q) + relative_l1(omega, exact_omega)) / 2)


def geodesic_angle(q: ArrayLike, exact: ArrayLike) -> Array:
    """Angle in rad of the rotation between two orientations, 4 asin(min(|q-p|, |q+p|)/2). Shapes (..., 4) -> (...).

    Unlike the arc cosine of the scalar product it does not lose half of the digits near zero. The norm of q is divided
    out, so that only the orientation matters.

    Examples
    --------
    >>> round(float(geodesic_angle([0.0, 0.0, 0.0, 2.0], [1.0, 0.0, 0.0, 0.0])), 12)  # half a turn
    3.14159265359
    """
    q = np.asarray(q, float)
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    distance = np.linalg.norm(align(q, exact) - np.asarray(exact, float), axis=-1)
    return np.asarray(4 * np.arcsin(np.minimum(distance / 2, 1.0)))


def norm_error(q: ArrayLike) -> Array:
    """| |q| - 1 |. Shapes (..., 4) -> (...)."""
    return np.asarray(np.abs(np.linalg.norm(np.asarray(q, float), axis=-1) - 1))


def kinetic_energy(omega: ArrayLike, inertia: ArrayLike) -> Array:
    """omega . I omega / 2 in J, omega (rad/s) in the body frame. Shapes (..., 3) -> (...).

    Examples
    --------
    >>> float(kinetic_energy([1.0, 2.0, 0.0], [2.0, 1.0, 1.0]))
    3.0
    """
    omega = np.asarray(omega, float)
    return np.asarray(0.5 * (np.asarray(inertia, float) * omega * omega).sum(-1))


def lab_angular_momentum(q: ArrayLike, omega: ArrayLike, inertia: ArrayLike) -> Array:
    """q (I omega) q* in kg m^2/s. Shapes (..., 4) and (..., 3) -> (..., 3).

    Examples
    --------
    >>> lab_angular_momentum([0.5, 0.5, 0.5, 0.5], [1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
    array([3., 1., 2.])
    """
    q, momentum = np.asarray(q, float), np.asarray(inertia, float) * np.asarray(omega, float)
    scalar, vector = q[..., :1], q[..., 1:]
    twice = 2 * _cross(vector, momentum)
    return np.asarray(momentum + scalar * twice + _cross(vector, twice))


def _cross(a: Array, b: Array) -> Array:
    """The values of ``numpy.cross``, which spends most of its time on short arrays on looking for their axes."""
    ax, ay, az, bx, by, bz = (v[..., i] for v in (a, b) for i in range(3))
    return np.stack((ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx), axis=-1)


def inclination(q: ArrayLike, start: ArrayLike) -> Array:
    """Angle in rad between the body's x axis and its direction at the orientation ``start``: Seelen et al. (2016), Eq. 6.

    Computed with the arc cosine, as published; near 0 and pi its resolution is no better than 1e-8. Shapes (..., 4) and
    (4,) -> (...).
    """
    axis = np.array([1.0, 0.0, 0.0])
    turned, first = (lab_angular_momentum(x, np.broadcast_to(axis, (*np.shape(x)[:-1], 3)), np.ones(3)) for x in (q, start))
    return np.asarray(np.arccos(np.clip((turned * first).sum(-1), -1.0, 1.0)))
