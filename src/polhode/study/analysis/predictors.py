r"""Predictors of the angular velocity that a torque is handed, under linear friction: polynomials, stability limits, errors.

A leapfrog under friction, :math:`\dot\omega = -k\omega` with :math:`z = k\,\Delta t`, is
:math:`v_{n+1/2} = v_{n-1/2} - z u_n`, where v is the angular velocity at half steps and u_n that predicted for the torque at
the whole time. A predictor that is linear in what is known before makes it a recurrence with a characteristic polynomial. The
step is stable while no root has left the unit circle. The root near :math:`e^{-z}` is
:math:`\exp(-z + C z^{p+1} + \ldots)`, with p the order and C the error constant: after a time t the relative error of v is
:math:`C\,k t\,z^p`.

Each predictor is given twice: as its polynomial, and as the recurrence itself (:attr:`Predictor.predict`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf, sqrt
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from polhode.methods.predictor import HOLD

#: What a predictor is given: v at the last half step, and, latest first, the torques dt M / I evaluated so far and the u with
#: which they were.
Predict = Callable[[float, Sequence[float], Sequence[float]], float]
#: Limits are looked for up to here.
LARGEST = 20.0
#: Steps of the recurrences that have no polynomial, and the number of earlier torques that they start with.
STEPS, HISTORY = 2000, 5


@dataclass(frozen=True)
class Predictor:
    """A predictor of the angular velocity at the time of the torque.

    Parameters
    ----------
    key, label : str
    formula : str
        In LaTeX, with u the prediction, v, and m the torques in units of I / dt.
    predict : function (v, torques, predictions) -> u
    order : int
        Order of the leapfrog with it.
    error_constant : float
        C in the module's docstring.
    polynomial : function z -> coefficients from the highest power, or None for a predictor that is not linear
    characteristic : str
        The polynomial in LaTeX.
    method : str
        The registered method that uses it; empty if none does.
    """

    key: str
    label: str
    formula: str
    predict: Predict = field(repr=False)
    order: int
    error_constant: float
    polynomial: Callable[[Any], tuple[Any, ...]] | None = field(default=None, repr=False)
    characteristic: str = ""
    method: str = ""


def weighted(*weights: Any) -> Callable[[Any], tuple[Any, ...]]:
    """The polynomial of the half kick with a mean of the last torques, u = v + 1/2 sum_j w_j m_j; the weights sum to one.

    Since m_j is the j-th last difference of v, it is l^(J+1) - l^J + z (l^J + 1/2 sum_j w_j (l - 1) l^(J-1-j)).
    """
    last = len(weights)

    def polynomial(z: Any) -> tuple[Any, ...]:
        coefficients: list[Any] = [1, z - 1] + [0] * last
        for j, weight in enumerate(weights):
            coefficients[j + 1] += z * weight / 2
            coefficients[j + 2] -= z * weight / 2
        return tuple(coefficients)

    return polynomial


def of_weights(weights: Sequence[float]) -> Predict:
    """The recurrence of :func:`weighted`."""
    return lambda v, torques, predictions: v + 0.5 * sum(w * m for w, m in zip(weights, torques, strict=False))


def constant_of_weights(weights: Sequence[float]) -> float:
    """The error constant: half the mean age of the torques in steps, less 1/12."""
    return 0.5 * sum(w * (j + 1) for j, w in enumerate(weights)) - 1 / 12


def remembering(share: Any) -> Callable[[Any], tuple[Any, ...]]:
    """The polynomial of a prediction that also keeps a share g of the last one: l^2 - (1 + g - z (3-g)/2) l + g - z (1+g)/2.

    It is the general explicit two-step scheme of second order; stable for z < 1 + g.
    """

    def polynomial(z: Any) -> tuple[Any, ...]:
        return 1, z * (3 - share) / 2 - 1 - share, share - z * (1 + share) / 2

    return polynomial


def of_memory(share: float) -> Predict:
    """The recurrence of :func:`remembering`: u = (3-g)/2 v - (1+g)/2 (v - m_0) + g u_0."""
    return lambda v, torques, predictions: 0.5 * (3 - share) * v - 0.5 * (1 + share) * (v - torques[0]) + share * predictions[0]


def secant(weight: Any) -> Callable[[Any], tuple[Any, ...]]:
    """The polynomial of a half kick with the torque (1 - s) m_0 + s m, where m is that at u by the secant; s = 1 in the method.

    Under friction at one rate the secant is that rate, so (1 + s z/2) u = v + (1-s)/2 m_0: stable for z < 1/(1 - s).
    """

    def polynomial(z: Any) -> tuple[Any, ...]:
        factor = 1 + weight * z / 2
        return factor, z * (3 - weight) / 2 - factor, -z * (1 - weight) / 2

    return polynomial


def of_secant(weight: float) -> Predict:
    """The recurrence of :func:`secant`, with the secant of the last two torques."""

    def predict(v: float, torques: Sequence[float], predictions: Sequence[float]) -> float:
        rate = _rate(torques, predictions[0] - predictions[1])
        return predictions[0] + (v + 0.5 * torques[0] - predictions[0]) / (1 + 0.5 * weight * rate)

    return predict


def corrected(v: float, torques: Sequence[float]) -> float:
    """The angular velocity c_0 at the last whole time, corrected by half a kick with the torque of that time."""
    return v - 0.5 * torques[0]


def of_corrected_start(v: float, torques: Sequence[float], predictions: Sequence[float]) -> float:
    """The secant of :func:`of_secant`, drawn towards the corrected angular velocity as if the last torque were that at it."""
    c = corrected(v, torques)
    return c + (v + 0.5 * torques[0] - c) / (1 + 0.5 * _rate(torques, predictions[0] - predictions[1]))


def of_corrected_torque(v: float, torques: Sequence[float], predictions: Sequence[float]) -> float:
    """Half a kick with the last torque corrected, by the secant, to the corrected angular velocity."""
    rate = _rate(torques, predictions[0] - predictions[1])
    return v + 0.5 * (torques[0] - rate * (corrected(v, torques) - predictions[0]))


def _rate(torques: Sequence[float], change: float) -> float:
    """kappa dt from the last two torques and the change of the angular velocity between them."""
    return max(0.0, (torques[1] - torques[0]) / change) if change else 0.0


def exponential(v: float, torques: Sequence[float], predictions: Sequence[float]) -> float:
    """Half a kick with the last torque continued to the middle of that half step, as the last two torques decay."""
    ratio = abs(torques[0] / torques[1]) if torques[1] else 1.0
    return v + 0.5 * torques[0] * sqrt(ratio) * sqrt(sqrt(ratio))


def _mean(key: str, label: str, formula: str, weights: tuple[float, ...], characteristic: str, method: str = "") -> Predictor:
    """A predictor of the kind :func:`weighted`."""
    constant = constant_of_weights(weights)
    return Predictor(key, label, formula, of_weights(weights), 2, constant, weighted(*weights), characteristic, method)


#: The predictors compared, by key. Registered methods use the first, the second and ``secant``.
PREDICTORS: dict[str, Predictor] = {
    p.key: p
    for p in (
        Predictor(
            "none",
            "none (SPIRAL)",
            "v",
            lambda v, torques, predictions: v,
            1,
            -0.5,
            lambda z: (1, z - 1),
            r"\lambda-1+z",
            "spiral_leapfrog",
        ),
        _mean(
            "last",
            "last torque",
            r"v+\frac12m_0",
            (1.0,),
            r"\lambda^2-(1-\frac32z)\lambda-\frac12z",
            "spiral_predicted_last",
        ),
        _mean(
            "mean",
            "mean of the last two torques",
            r"v+\frac14(m_0+m_1)",
            (0.5, 0.5),
            r"\lambda^3-(1-\frac54z)\lambda^2-\frac14z",
        ),
        _mean(
            "three",
            "mean of the last three torques",
            r"v+\frac1{40}(m_0+13m_1+6m_2)",
            (1 / 20, 13 / 20, 6 / 20),
            r"\lambda^4-(1-\frac{41}{40}z)\lambda^3+\frac3{10}z\lambda^2-\frac7{40}z\lambda-\frac3{20}z",
        ),
        # Adams and Bashforth's scheme of three steps: its second-order error constant vanishes.
        Predictor(
            "extrapolated",
            "extrapolated torque",
            r"v+\frac1{12}(11m_0-5m_1)",
            of_weights((11 / 6, -5 / 6)),
            3,
            -3 / 8,
            weighted(11 / 6, -5 / 6),
            r"\lambda^3-(1-\frac{23}{12}z)\lambda^2-\frac43z\lambda+\frac5{12}z",
        ),
        Predictor(
            "remembering",
            "last torque and a third of the last prediction",
            r"\frac43v-\frac23(v-m_0)+\frac13u_0",
            of_memory(1 / 3),
            2,
            2 / 3,
            remembering(1 / 3),
            r"\lambda^2-\frac43(1-z)\lambda+\frac13(1-2z)",
        ),
        Predictor(
            "exponential",
            "torque decaying as before",
            r"v+\frac12m_0|m_0/m_1|^{3/4}",
            exponential,
            2,
            1 / 24,
        ),
        Predictor(
            "secant_three_quarters",
            "secant, torque at three quarters",
            r"v+\frac18(m_0+3m)",
            of_secant(0.75),
            2,
            1 / 24,
            secant(0.75),
            r"(1+\frac38z)(\lambda^2-\lambda)+\frac98z\lambda-\frac18z",
        ),
        Predictor(
            "secant",
            "secant",
            r"v+\frac12m",
            of_secant(1.0),
            2,
            -1 / 12,
            secant(1),
            r"(1+\frac12z)\lambda-(1-\frac12z)",
            "spiral_predicted",
        ),
        # One corrector without a new torque. Under friction at one rate kappa is that rate, so that both are linear.
        Predictor(
            "corrected_torque",
            "last torque, corrected by the secant",
            r"v+\frac12(m_0-\kappa\dt\,(c_0-u_0))",
            of_corrected_torque,
            2,
            5 / 12,
            lambda z: (1, z - 1 - z * z / 4, -z * z / 4),
            r"\lambda^2-(1-z+\frac14z^2)\lambda-\frac14z^2",
        ),
        Predictor(
            "corrected_start",
            "secant from the corrected velocity",
            r"v+\frac12(m_0-\kappa\dt\,(u-c_0))",
            of_corrected_start,
            2,
            -1 / 12,
            lambda z: (1 + z / 2, z + z * z / 4 - 1, z * z / 4 - z / 2),
            r"(1+\frac12z)\lambda^2-(1-z-\frac14z^2)\lambda-\frac12z+\frac14z^2",
        ),
    )
}


def largest_root(predictor: Predictor, z: float) -> float:
    """The largest modulus of a root of the polynomial.

    Raises
    ------
    ValueError
        If the predictor has none.
    """
    if predictor.polynomial is None:
        raise ValueError(f"the predictor {predictor.key!r} is not linear and has no polynomial")
    return float(np.abs(np.roots(predictor.polynomial(z))).max())


def decay(predictor: Predictor, z: float, steps: int = STEPS) -> NDArray[np.float64]:
    """v at the half steps of the recurrence, (steps + 1,), begun on the exact motion with :data:`HISTORY` torques before it."""
    grow = np.exp(z * np.arange(1, HISTORY + 1))
    predictions, torques = list(grow * np.exp(-0.5 * z)), list(-z * grow * np.exp(-0.5 * z))
    v = np.empty(steps + 1)
    v[0] = 1.0
    for n in range(steps):
        u = predictor.predict(float(v[n]), torques, predictions)
        predictions, torques = [u, *predictions[:-1]], [-z * u, *torques[:-1]]
        v[n + 1] = v[n] - z * u
        # A run that grows without bound would overflow.
        if not abs(v[n + 1]) < 1e100:
            v[n + 2 :] = inf
            break
    return v


def _is_stable(predictor: Predictor, z: float) -> bool:
    if predictor.polynomial is not None:
        return largest_root(predictor, z) <= 1 + 1e-12
    v = np.abs(decay(predictor, z))
    return bool(v[-STEPS // 4 :].max() <= max(v[STEPS // 4 : STEPS // 2].max(), 1e-200))


def stability_limit(predictor: Predictor, tolerance: float = 1e-7) -> float:
    """The smallest z at which the recurrence grows; infinite if there is none up to :data:`LARGEST`."""
    grid = np.arange(1, round(LARGEST / 0.01) + 1) * 0.01
    low = 0.0
    for high in map(float, grid):
        if not _is_stable(predictor, high):
            while high - low > tolerance:
                middle = 0.5 * (low + high)
                low, high = (middle, high) if _is_stable(predictor, middle) else (low, middle)
            return high
        low = high
    return inf


def frame() -> pd.DataFrame:
    """The predictors with their polynomials, orders, error constants and stability limits, one row each."""
    return pd.DataFrame(
        [
            {
                "predictor": p.key,
                "label": p.label,
                "formula": p.formula,
                "characteristic": p.characteristic,
                "order": p.order,
                "error_constant": p.error_constant,
                "limit": stability_limit(p),
                "method": p.method,
            }
            for p in PREDICTORS.values()
        ]
    )


def coupled_decay(z: float, rates: Sequence[float], steps: int, seed: int, bodies: int = 1) -> NDArray[np.float64]:
    """The norm of v over a run of the secant predictor where friction couples everything, in units of its start.

    Friction is a full symmetric matrix with these rates in random directions, the same for every call with this seed. Each body
    of moment one has the secant of its own torque and angular velocity, as in the methods.

    Parameters
    ----------
    z : largest rate times dt
    rates : decay rates, three for each body
    steps, seed, bodies : number of steps, of the random directions and start, and of the bodies
    """
    random = np.random.default_rng(seed)
    axes = np.linalg.qr(random.standard_normal((len(rates), len(rates))))[0]
    matrix = z / max(rates) * axes @ np.diag(rates) @ axes.T
    u, rate = random.standard_normal(len(rates)), np.full((bodies, 1), HOLD)
    torque = -matrix @ u
    v = u - 0.5 * torque
    size = np.empty(steps + 1)
    size[0] = np.linalg.norm(v)
    for n in range(steps):
        new = u + ((v + 0.5 * torque - u).reshape(bodies, 3) / (1 + 0.5 * rate)).ravel()
        change, acted = (new - u).reshape(bodies, 3), -matrix @ new
        work = ((torque - acted).reshape(bodies, 3) * change).sum(1, keepdims=True)
        rate = np.maximum(work, 0.0) / ((change * change).sum(1, keepdims=True) + 1e-130)
        u, torque = new, acted
        v = v + torque
        size[n + 1] = np.linalg.norm(v)
    return np.asarray(size / size[0])
