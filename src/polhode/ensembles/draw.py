"""Random bodies, starts and torques for the ensembles, dimensionless and the same for every method.

Body i is the i-th usable point of a scrambled Sobol sequence, whose coordinates are all that is drawn for a body. The points
fill the ranges of all coordinates, the strength of the torque above all, more evenly than independent ones, so that a few
bodies stand for many. The sequence does not depend on where it ends: the first 32 of 512 bodies are those of an ensemble of 32.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, cos, log2, pi, sin, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.algebra.quaternion import to_lab
from polhode.ensembles.classes import CLASSES
from polhode.interface.arguments import whole
from polhode.registry import nearest

if TYPE_CHECKING:
    from polhode.ensembles.many import Bodies

#: The smallest moment of inertia of a body, as a share of its largest one. A moment of zero would be a line of points.
MARGIN = 0.02
#: The range of the strength of a torque: the angular acceleration in units of the square of the initial angular velocity. A
#: stronger torque sets the scale of the angular velocity itself, within less than a radian.
WEAKEST, STRONGEST = 0.01, 1.0
#: The range of the frequency of a torque that varies with time, in units of the initial angular velocity.
SLOWEST, FASTEST = 0.3, 3.0
#: The range of the speed below which smooth Coulomb friction is linear, in units of the initial angular velocity.
SMOOTHEST, ROUGHEST = 1.0, 0.1
#: The largest ratio of two coefficients of anisotropic friction.
ANISOTROPY = 4.0
#: The coordinates of a body: what :func:`_body_at` takes.
COORDINATES = 39


@dataclass(frozen=True)
class Ensemble:
    """Random bodies with their starts, and parameters of every torque class for each; n bodies, dimensionless.

    ``seed``, from which they are drawn; ``moments`` (n, 3), the principal moments, with mean 1; ``q0`` (n, 4), unit
    quaternions, body to lab, uniform on the rotations; ``omega0`` (n, 3), of length 1 in the body frame; ``strength`` (n,) of
    the torque; ``parameters``, for each key of :data:`polhode.ensembles.classes.CLASSES` an array (n, k) of the numbers that
    its torque reads.
    """

    seed: int
    moments: np.ndarray
    q0: np.ndarray
    omega0: np.ndarray
    strength: np.ndarray
    parameters: dict[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.moments)

    def bodies(self, torque_class: str) -> "Bodies":
        """The bodies with the parameters of a torque class, named by its key, as :func:`polhode.simulate_many` takes them.

        Raises
        ------
        ValueError
            For an unknown class; the message suggests the nearest.
        """
        if torque_class not in self.parameters:
            raise ValueError(f"unknown torque class {torque_class!r}; {nearest(torque_class, list(self.parameters))}")
        from polhode.ensembles.many import Bodies

        return Bodies(self.moments, self.q0, self.omega0, self.parameters[torque_class])


def draw(bodies: int, seed: int = 0) -> Ensemble:
    """An ensemble of ``bodies`` random bodies, drawn from ``seed``, a whole number from 0 on.

    The ratios of the moments of inertia are uniform over the triangle of all possible ones: its corners are rods, the middles
    of its edges flat discs, its centre bodies like a sphere. Orientation and direction of the angular velocity are uniform, the
    strength of the torque is uniform in the logarithm between :data:`WEAKEST` and :data:`STRONGEST`. With 32, 64 and so on
    bodies each coordinate has one body in each of as many equal parts of its range, but where a needle is left out (Sobol 1967,
    with the direction numbers of Joe and Kuo 2008, scrambled as by Matousek 1998).

    Raises
    ------
    TypeError, ValueError
        If one is no whole number or out of range, naming it.

    Examples
    --------
    >>> small, large = draw(2), draw(5)
    >>> bool((small.moments == large.moments[:2]).all())
    True
    >>> large.moments.mean(axis=1).round(12)
    array([1., 1., 1., 1., 1.])
    """
    count = whole("bodies", bodies, least=1)
    whole("seed", seed, least=0, most=2**63 - 1)
    drawn: list[tuple[Any, ...]] = []
    exponent = ceil(log2(count))
    while len(drawn) < count:
        drawn = [body for body in map(_body_at, _points(exponent, seed)) if body is not None][:count]
        exponent += 1
    moments, q0, omega0, strength = (np.array([body[i] for body in drawn]) for i in range(4))
    parameters = {key: np.array([body[4][key] for body in drawn]).reshape(count, -1) for key in CLASSES}
    return Ensemble(seed, moments, q0, omega0, strength, parameters)


def _points(exponent: int, seed: int) -> np.ndarray:
    """The first ``2**exponent`` points of the sequence, (points, COORDINATES), between 0 and 1 and neither of them."""
    from scipy.stats import qmc  # imported here because it takes a second, and the jobs that run methods draw nothing

    sequence = qmc.Sobol(COORDINATES, scramble=True, rng=seed)
    # Points are multiples of 2^-bits; they are taken as the middles of their cells.
    return np.asarray(sequence.random_base2(exponent) + 0.5**31)


def _body_at(point: np.ndarray) -> tuple[Any, ...] | None:
    """Moments, orientation, angular velocity, strength and the parameters of every class, for one body; None for a needle.

    Parameters
    ----------
    point : (COORDINATES,), uniform between 0 and 1
    """
    # The order in which coordinates are taken is part of the definition of an ensemble. The first ones are the most even.
    coordinates = iter(point.tolist())

    def take(count: int) -> list[float]:
        return [next(coordinates) for _ in range(count)]

    strength = _log_uniform(take(1)[0], WEAKEST, STRONGEST)
    # The shares are the second moments of the mass along the axes, uniform over a triangle; a moment of inertia is the sum of
    # two of them, which is why it meets the triangle inequality.
    first, second = take(2)
    root = sqrt(first)
    moments = 1.5 * (1.0 - np.array([1.0 - root, root * (1.0 - second), root * second]))
    if moments.min() < MARGIN * moments.max():
        return None
    omega0 = _direction(take(2))
    epsilon = _log_uniform(take(1)[0], ROUGHEST, SMOOTHEST)
    arm, constant = _direction(take(2)), _direction(take(2))
    q0 = _rotation(take(3))
    frequencies = [_log_uniform(x, SLOWEST, FASTEST) for x in take(2)]
    axes = _matrix(_rotation(take(3)))
    coefficients = np.array([_log_uniform(x, 1.0, ANISOTROPY) for x in take(3)])
    body_wave, lab_wave = _wave(take(9)), _wave(take(9))
    inverse = np.diag(1 / moments)
    friction = axes @ np.diag(coefficients) @ axes.T
    friction *= strength / _mean_size(inverse @ friction)
    isotropic = strength / _mean_size(inverse)
    parameters = {
        "free": [],
        # In the body frame every component accelerates its axis alone, whatever the moment about it.
        "constant": strength * moments * constant,
        "time": [*(strength * np.ravel(body_wave * moments)), frequencies[0]],
        "lab": [*(strength * np.ravel(lab_wave) / _mean_size(inverse)), frequencies[1]],
        "state": strength * arm / _mean_size(inverse @ _cross_matrix(arm)),
        "friction_isotropic": [isotropic],
        "friction_anisotropic": [*np.diag(friction), friction[1, 2], friction[2, 0], friction[0, 1]],
        "friction_smooth_coulomb": [isotropic, epsilon],
    }
    return moments, q0, omega0, strength, parameters


def _log_uniform(x: float, least: float, most: float) -> float:
    return float(least * (most / least) ** x)


def _unit(vector: np.ndarray) -> np.ndarray:
    """A vector over its length."""
    vector = vector / np.sqrt((vector * vector).sum())
    return np.asarray(vector / np.sqrt((vector * vector).sum()))


def _direction(x: Sequence[float]) -> np.ndarray:
    """A unit vector, uniform over all directions, from two coordinates, by Archimedes' projection."""
    height, angle = 2.0 * x[0] - 1.0, 2.0 * pi * x[1]
    radius = sqrt(1.0 - height * height)
    return _unit(np.array([radius * cos(angle), radius * sin(angle), height]))


def _rotation(x: Sequence[float]) -> np.ndarray:
    """A uniform rotation, as a unit quaternion, from three coordinates (Shoemake 1992)."""
    near, far = sqrt(1.0 - x[0]), sqrt(x[0])
    a, b = 2.0 * pi * x[1], 2.0 * pi * x[2]
    return _unit(np.array([near * sin(a), near * cos(a), far * sin(b), far * cos(b)]))


def _wave(x: Sequence[float]) -> np.ndarray:
    """The vectors c, a, b of c + a sin(nu t) + b cos(nu t), whose mean square over a period is 1, from nine coordinates."""
    from scipy.special import ndtri

    vectors = ndtri(np.array(x)).reshape(3, 3)
    squares = (vectors * vectors).sum(axis=1)
    return np.asarray(vectors / np.sqrt(squares[0] + 0.5 * (squares[1] + squares[2])))


def _matrix(q: np.ndarray) -> np.ndarray:
    """The rotation matrix of a quaternion; its columns are the axes."""
    w, x, y, z = q.tolist()
    return np.array([to_lab((w, x, y, z), axis) for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]).T


def _cross_matrix(v: Sequence[float] | np.ndarray) -> np.ndarray:
    """The matrix of the product v x."""
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _mean_size(matrix: np.ndarray) -> float:
    """The root mean square of |matrix d| over all directions d."""
    return float(np.sqrt((matrix * matrix).sum() / 3))
