"""Distances between a computed and an exact state. Each function takes arrays whose last axis is the vector or quaternion.

Quaternions are scalar first and take body to lab; q and -q are the same orientation, and every orientation error here is the
same for both. Where a state is NaN, as after a blow-up, or an exact vector is zero, the result is NaN or infinite.

Raises
------
TypeError, ValueError
    By every function, if an argument is no array of numbers of its shape, or if the arrays do not fit together; naming them.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode.interface.arguments import shown, vectors

Array = NDArray[np.float64]

#: What cannot be computed is NaN or infinite, without a warning.
_silently = np.errstate(all="ignore")


def _arrays(**given: tuple[ArrayLike, int | None]) -> list[Array]:
    """The arguments, each with the length of its vectors or None, as arrays whose leading axes fit together."""
    arrays = {name: vectors(name, *values) for name, values in given.items()}
    shapes = [array.shape for array in arrays.values()]
    try:
        np.broadcast_shapes(*(shape[:-1] for shape in shapes))
    except ValueError:
        raise _unlike(arrays) from None
    if all(size is None for _, size in given.values()) and len({shape[-1] for shape in shapes}) > 1:
        raise _unlike(arrays)
    return list(arrays.values())


def _unlike(arrays: dict[str, Array]) -> ValueError:
    shapes = ", ".join(str(array.shape) for array in arrays.values())
    return ValueError(f"{', '.join(arrays)} must have shapes that fit together, got {shapes}")


@_silently
def relative_l1(value: ArrayLike, exact: ArrayLike) -> Array:
    """The relative error sum |v_i - v'_i| / sum |v'_i| of vectors of n components in any unit: del Valle et al. (2024), Eq. 13.

    Shapes (..., n) -> (...).

    Examples
    --------
    >>> relative_l1([[1.0, 2.0, 2.0], [1.0, 2.0, 1.0]], [1.0, 2.0, 1.0])
    array([0.25, 0.  ])
    """
    value, exact = _arrays(value=(value, None), exact=(exact, None))
    return np.asarray(np.abs(value - exact).sum(-1) / np.abs(exact).sum(-1))


@_silently
def align(q: ArrayLike, exact: ArrayLike) -> Array:
    """q or -q, whichever is nearer to ``exact``, of quaternions (..., 4), scalar first; the result has this shape, too."""
    q, exact = _arrays(q=(q, 4), exact=(exact, 4))
    return np.where((q * exact).sum(-1, keepdims=True) < 0, -q, q)


@_silently
def orientation_l1(q: ArrayLike, exact: ArrayLike) -> Array:
    """:func:`relative_l1` of quaternions after :func:`align`; the published orientation error, which has no unit.

    Shapes (..., 4) -> (...).

    Examples
    --------
    >>> float(orientation_l1([-1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]))
    0.0
    """
    return relative_l1(align(q, exact), exact)


@_silently
def rotation_matrix(q: ArrayLike) -> Array:
    """The matrix from body to lab of a unit quaternion, scalar first, body to lab. Shapes (..., 4) -> (..., 3, 3).

    Examples
    --------
    >>> rotation_matrix([0.5, 0.5, 0.5, 0.5])
    array([[0., 0., 1.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    (q,) = _arrays(q=(q, 4))
    columns = [lab_angular_momentum(q, np.broadcast_to(axis, (*q.shape[:-1], 3)), np.ones(3)) for axis in np.eye(3)]
    return np.stack(columns, axis=-1)


@_silently
def matrix_error(q: ArrayLike, exact: ArrayLike) -> Array:
    """||R - R'|| / ||R||, R from body to lab, with the norm max_i sum_j |R_ij|. Shapes (..., 4) -> (...), without a unit.

    The "orientation error" of the one method of del Valle et al. (2024) that advances a rotation matrix, PFC4 (Fig. 2,
    Table 2). The paper does not print it; it was inferred from the printed time steps, which it reproduces. Note the divisor:
    the norm of the computed matrix, not of the exact one. Near zero the error is of the order of :func:`orientation_l1`, but
    not equal to it.
    """
    computed, true = map(rotation_matrix, _arrays(q=(q, 4), exact=(exact, 4)))
    return np.asarray(np.abs(computed - true).sum(-1).max(-1) / np.abs(computed).sum(-1).max(-1))


#: The orientation error of del Valle et al. (2024), by the variable a method advances: Eq. 13, or another one for PFC4.
PUBLISHED_ERRORS: dict[str, Callable[[ArrayLike, ArrayLike], Array]] = {
    "quaternion": orientation_l1,
    "matrix": matrix_error,
}


@_silently
def mean_error(
    q: ArrayLike, exact_q: ArrayLike, omega: ArrayLike, exact_omega: ArrayLike, measure: str = "quaternion"
) -> Array:
    """Mean of the errors of orientation and angular velocity: the target error of del Valle et al. (2024), Table 2.

    Parameters
    ----------
    q, exact_q : (..., 4), unit quaternions, scalar first, body to lab
    omega, exact_omega : (..., 3), rad/s, body frame, both at the time at which the method holds omega
    measure : how the orientation is compared, a key of :data:`PUBLISHED_ERRORS`

    Returns
    -------
    The mean of two relative errors, (...), without a unit.

    Raises
    ------
    TypeError, ValueError
        As every function here, and if ``measure`` is another word.
    """
    if not isinstance(measure, str) or measure not in PUBLISHED_ERRORS:
        raise ValueError(f"measure must be one of {', '.join(PUBLISHED_ERRORS)}, got {shown(measure)}")
    q, exact_q, omega, exact_omega = _arrays(q=(q, 4), exact_q=(exact_q, 4), omega=(omega, 3), exact_omega=(exact_omega, 3))
    return np.asarray((PUBLISHED_ERRORS[measure](q, exact_q) + relative_l1(omega, exact_omega)) / 2)


@_silently
def geodesic_angle(q: ArrayLike, exact: ArrayLike) -> Array:
    """Angle in rad of the rotation between two orientations, 4 asin(min(|q-p|, |q+p|)/2). Shapes (..., 4) -> (...).

    Unlike the arc cosine of the scalar product it does not lose half of the digits near zero. The norm of q is divided
    out, so that only the orientation matters; ``exact``, p in the formula, must be a unit quaternion.

    Examples
    --------
    >>> round(float(geodesic_angle([0.0, 0.0, 0.0, 2.0], [1.0, 0.0, 0.0, 0.0])), 12)  # half a turn
    3.14159265359
    """
    q, exact = _arrays(q=(q, 4), exact=(exact, 4))
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    distance = np.linalg.norm(align(q, exact) - exact, axis=-1)
    return np.asarray(4 * np.arcsin(np.minimum(distance / 2, 1.0)))


@_silently
def norm_error(q: ArrayLike) -> Array:
    """| |q| - 1 |, by how much the norm of a quaternion differs from 1, without a unit. Shapes (..., 4) -> (...)."""
    (q,) = _arrays(q=(q, 4))
    return np.asarray(np.abs(np.linalg.norm(q, axis=-1) - 1))


@_silently
def kinetic_energy(omega: ArrayLike, inertia: ArrayLike) -> Array:
    """omega . I omega / 2 in J, omega (rad/s) in the body frame, ``inertia`` the principal moments (kg m^2).

    Shapes (..., 3) -> (...).

    Examples
    --------
    >>> float(kinetic_energy([1.0, 2.0, 0.0], [2.0, 1.0, 1.0]))
    3.0
    """
    omega, inertia = _arrays(omega=(omega, 3), inertia=(inertia, 3))
    return np.asarray(0.5 * (inertia * omega * omega).sum(-1))


@_silently
def lab_angular_momentum(q: ArrayLike, omega: ArrayLike, inertia: ArrayLike, wheels: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """q (I omega + h) q* in kg m^2/s, the angular momentum in the lab. Shapes (..., 4) and (..., 3) -> (..., 3).

    q are unit quaternions, scalar first, body to lab; omega is in rad/s and the momentum h of the ``wheels`` in kg m^2/s, both
    in the body frame; ``inertia`` are the principal moments, kg m^2.

    Examples
    --------
    >>> lab_angular_momentum([0.5, 0.5, 0.5, 0.5], [1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
    array([3., 1., 2.])
    """
    q, omega, inertia, wheels = _arrays(q=(q, 4), omega=(omega, 3), inertia=(inertia, 3), wheels=(wheels, 3))
    momentum = inertia * omega + wheels
    scalar, vector = q[..., :1], q[..., 1:]
    twice = 2 * _cross(vector, momentum)
    return np.asarray(momentum + scalar * twice + _cross(vector, twice))


def _cross(a: Array, b: Array) -> Array:
    """The values of ``numpy.cross``, which spends most of its time on short arrays on looking for their axes."""
    ax, ay, az, bx, by, bz = (v[..., i] for v in (a, b) for i in range(3))
    return np.stack((ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx), axis=-1)


@_silently
def inclination(q: ArrayLike, start: ArrayLike) -> Array:
    """Angle in rad between the body's x axis and its direction at the orientation ``start``: Seelen et al. (2016), Eq. 6.

    Computed with the arc cosine, as published; near 0 and pi its resolution is no better than 1e-8. Shapes (..., 4) and
    (4,) -> (...).
    """
    q, start = _arrays(q=(q, 4), start=(start, 4))
    axis = np.array([1.0, 0.0, 0.0])
    turned, first = (lab_angular_momentum(x, np.broadcast_to(axis, (*np.shape(x)[:-1], 3)), np.ones(3)) for x in (q, start))
    return np.asarray(np.arccos(np.clip((turned * first).sum(-1), -1.0, 1.0)))
