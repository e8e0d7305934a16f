"""Random bodies, starts and torques for the ensembles, dimensionless and the same for every method.

Body i is drawn from its own child of the seed, so that the first 32 of 512 bodies are those of an ensemble of 32.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.arguments import whole
from polhode.ensembles.classes import CLASSES
from polhode.ensembles.many import Bodies
from polhode.registry import nearest

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


@dataclass(frozen=True)
class Ensemble:
    """Random bodies with their starts, and parameters of every torque class for each.

    ``moments`` (n, 3), with mean 1; ``q0`` (n, 4), uniform on the rotations; ``omega0`` (n, 3), of length 1 in the body frame;
    ``strength`` (n,); ``parameters``, for each key of :data:`polhode.ensembles.classes.CLASSES` an array (n, k).
    """

    seed: int
    moments: np.ndarray
    q0: np.ndarray
    omega0: np.ndarray
    strength: np.ndarray
    parameters: dict[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.moments)

    def bodies(self, torque_class: str) -> Bodies:
        """The bodies with the parameters of a torque class, as :func:`polhode.simulate_many` takes them."""
        if torque_class not in self.parameters:
            raise ValueError(f"unknown torque class {torque_class!r}; {nearest(torque_class, list(self.parameters))}")
        return Bodies(self.moments, self.q0, self.omega0, self.parameters[torque_class])


def draw(bodies: int, seed: int = 0) -> Ensemble:
    """An ensemble of ``bodies`` random bodies, drawn from ``seed``.

    The ratios of the moments of inertia are uniform over the triangle of all possible ones: its corners are rods, the middles
    of its edges flat discs, its centre bodies like a sphere. Orientation and direction of the angular velocity are uniform, the
    strength of the torque is uniform in the logarithm between :data:`WEAKEST` and :data:`STRONGEST`.

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
    drawn = [_one(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(i,)))) for i in range(count)]
    moments, q0, omega0, strength = (np.array([one[i] for one in drawn]) for i in range(4))
    parameters = {key: np.array([one[4][key] for one in drawn]).reshape(count, -1) for key in CLASSES}
    return Ensemble(seed, moments, q0, omega0, strength, parameters)


def _one(random: np.random.Generator) -> tuple[Any, ...]:
    """Moments, orientation, angular velocity, strength and the parameters of every class, for one body."""
    # The order of the draws is part of the definition of an ensemble.
    while True:
        # Dirichlet (1, 1, 1) is uniform over a triangle. The shares are the second moments of the mass along the axes; a moment
        # of inertia is the sum of two of them, which is why it meets the triangle inequality.
        spread = random.dirichlet((1.0, 1.0, 1.0))
        moments = 1.5 * (1.0 - spread)
        if moments.min() >= MARGIN * moments.max():
            break
    q0, omega0 = _direction(random, 4), _direction(random, 3)
    strength = _log_uniform(random, WEAKEST, STRONGEST)
    inverse = np.diag(1 / moments)
    body_wave, lab_wave = _wave(random), _wave(random)
    frequencies = _log_uniform(random, SLOWEST, FASTEST), _log_uniform(random, SLOWEST, FASTEST)
    constant, arm = _direction(random, 3), _direction(random, 3)
    axes = _orthogonal(random)
    coefficients = np.exp(random.uniform(0.0, np.log(ANISOTROPY), 3))
    friction = axes @ np.diag(coefficients) @ axes.T
    friction *= strength / _mean_size(inverse @ friction)
    isotropic = strength / _mean_size(inverse)
    epsilon = _log_uniform(random, ROUGHEST, SMOOTHEST)
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


def _log_uniform(random: np.random.Generator, least: float, most: float) -> float:
    return float(np.exp(random.uniform(np.log(least), np.log(most))))


def _direction(random: np.random.Generator, size: int) -> np.ndarray:
    """A unit vector, uniform over all directions; of four components, a uniform rotation."""
    found = random.standard_normal(size)
    found /= np.sqrt((found * found).sum())
    return np.asarray(found / np.sqrt((found * found).sum()))


def _wave(random: np.random.Generator) -> np.ndarray:
    """The vectors c, a, b of c + a sin(nu t) + b cos(nu t), whose mean square over a period is 1."""
    found = random.standard_normal((3, 3))
    squares = (found * found).sum(axis=1)
    return np.asarray(found / np.sqrt(squares[0] + 0.5 * (squares[1] + squares[2])))


def _orthogonal(random: np.random.Generator) -> np.ndarray:
    """A uniform orthogonal matrix."""
    found, upper = np.linalg.qr(random.standard_normal((3, 3)))
    return np.asarray(found * np.sign(np.diag(upper)))


def _cross_matrix(v: Sequence[float] | np.ndarray) -> np.ndarray:
    """The matrix of the product v x."""
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _mean_size(matrix: np.ndarray) -> float:
    """The root mean square of |matrix d| over all directions d."""
    return float(np.sqrt((matrix * matrix).sum() / 3))
