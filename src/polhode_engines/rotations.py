"""Rotations as adapters need them, for a unit quaternion q (4), scalar first, that takes body to lab, an array.

Adapters import this file as ``polhode_rotations``, also under the Python of an engine, which has numpy and no polhode
(:func:`polhode_engines.worker.load`).
"""

import numpy as np


def rotated(q, v):
    """The lab components (..., 3) of body vectors v (..., 3), in the unit of v."""
    u, s = q[1:], q[0]
    return v + 2 * np.cross(u, np.cross(u, v) + s * v)


def turned_back(q, v):
    """The body components (..., 3) of lab vectors v (..., 3), in the unit of v."""
    return rotated(q * (1, -1, -1, -1), v)


def lab_torque(case, q, omega):
    """The torque (3,) of a case in the lab, N m, at the orientation q, with omega (3,), rad/s, in the body frame.

    ``case`` is what the worker gives to an adapter (:mod:`polhode_engines.protocol`), under a load other than ``free``.
    """
    value = np.array(case.value)
    if case.load == "lab":
        return value
    return rotated(q, value if case.load == "constant" else -value[0] * omega)


def matrix(q):
    """The rotation matrix (3, 3) of the unit quaternion q (4,), scalar first, which takes body vectors to the lab."""
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion(a):
    """The unit quaternion (4,), scalar first, of either sign, of a matrix a (3, 3) that is a rotation but for round-off.

    The matrix takes body vectors to the lab. The quaternion is NaN if the matrix is not finite.

    The eigenvector of the largest eigenvalue of a symmetric matrix of four rows: Bar-Itzhack, J. Guid. Control Dyn. 23
    (2000) 1085.
    """
    if not np.isfinite(a).all():
        return np.full(4, np.nan)
    four = np.array(
        [
            [a[0, 0] + a[1, 1] + a[2, 2], a[2, 1] - a[1, 2], a[0, 2] - a[2, 0], a[1, 0] - a[0, 1]],
            [0, a[0, 0] - a[1, 1] - a[2, 2], a[0, 1] + a[1, 0], a[0, 2] + a[2, 0]],
            [0, 0, a[1, 1] - a[0, 0] - a[2, 2], a[1, 2] + a[2, 1]],
            [0, 0, 0, a[2, 2] - a[0, 0] - a[1, 1]],
        ]
    )
    return np.linalg.eigh((four + four.T - np.diag(np.diag(four))) / 3)[1][:, -1]
