"""Test whether a step is a symplectic map: its Jacobian, without finite differences, against the canonical form.

A point of phase space is an orientation and the angular momentum Pi in the body frame, its neighbours are q (1, xi/2) and
Pi + eta. In these coordinates the canonical form, minus the differential of <Pi, xi>, is

    W((xi1, eta1), (xi2, eta2)) = <xi1, eta2> - <xi2, eta1> + <Pi, xi1 x xi2>

(Abraham and Marsden 1978, Sec. 4.4, in body coordinates). A step z -> z' is symplectic if W' of the images of two neighbours is
W of the two. The Jacobian comes from the method's own kernels on dual numbers (:mod:`polhode.algebra.dual`), so that the defect
of a symplectic step is rounding.

The (q, Pi) of a method can be understood in two ways, and a map may be symplectic in one and not in the other:

* ``carried``: what the state holds, for a leapfrog q at the whole time and Pi half a step earlier. Its kick and its drift
  act on these in turn.
* ``read``: the output, both at the whole time. For a leapfrog that is the step seen through its half kick.

A method whose step depends on more than q and Pi is not a map of phase space. Whether it does is found by running it: from
the state after a step, and from one that ``start`` makes for the same q and Pi.
"""

from collections.abc import Sequence
from contextlib import suppress
from math import nan, pi
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from polhode.algebra.body import angular_momentum
from polhode.algebra.dual import Dual, on_duals, values_and_derivatives
from polhode.algebra.quaternion import to_body, to_lab
from polhode.fits.canonical_form import READINGS, ROUNDING
from polhode.interface.arrays import about
from polhode.methods import METHODS
from polhode.methods.plain_driver import plain_driver
from polhode.methods.protocol import Method
from polhode.problems import single_body
from polhode.problems.problem import Problem
from polhode.references import taylor
from polhode_study.run.making import Settings

Matrix = NDArray[Any]

#: Problems whose torque has a potential, and numbers of steps per horizon: 0.8 rad per step and finer.
PROBLEMS = ("free_asymmetric_top", "heavy_top", "asymmetric_heavy_top")
DIVISIONS = (32, 64, 128, 256, 512, 1024)
#: Positions of the step along the exact motion, in horizons; the largest defect counts.
PLACES = (0.0, 0.31, 0.77)
DIGITS = 20
#: Iterations that find the start of a given point; each doubles the digits.
NEWTON = 6


class PhasePoint(NamedTuple):
    """Orientation (unit, body to lab) and angular momentum in the body frame, kg m^2/s; arrays (4,) and (3,)."""

    q: Matrix
    momentum: Matrix


def hat(v: Sequence[float] | Matrix) -> Matrix:
    """The matrix of the vector product with v on the left."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def canonical_form(momentum: Matrix) -> Matrix:
    """W at a point with this angular momentum as a matrix (6, 6): W(a, b) = a . W b, a = (xi, eta)."""
    unit = np.eye(3)
    return np.block([[-hat(momentum), unit], [-unit, np.zeros((3, 3))]])


def defect(jacobian: Matrix, before: Matrix, after: Matrix) -> float:
    """Deviation of a map from symplecticity: the largest entry of D^T W' D - W, with momenta in units of their initial size.

    Parameters
    ----------
    jacobian : (6, 6), of (xi, eta)
    before, after : angular momenta at the point and at its image
    """
    size = float(np.linalg.norm(before))
    scale = np.array([1.0] * 3 + [size] * 3)
    apart = jacobian.T @ canonical_form(after) @ jacobian - canonical_form(before)
    return float(np.abs(scale[:, None] * apart * scale).max() / size)


class Stepper:
    """One method on one problem at one time step: how points become states, evolve and are read out.

    Parameters
    ----------
    method : Method
    problem : Problem
        Its torque depends only on the orientation.
    dt : time step in s
    """

    def __init__(self, method: Method, problem: Problem, dt: float) -> None:
        # Steps that are taken once at the start of a run are not the map in question.
        method = method.without_passages()
        self.method, self.dt = method, dt
        self.body = problem.body.coefficients()
        torque, parameters = on_duals(problem.torque), tuple(problem.parameters.values())
        self.driver = plain_driver(method, on_duals, torque, self.body, dt, parameters)
        self.into_body, self.momentum_of = on_duals(to_body), on_duals(angular_momentum)

    def started(self, q: Matrix, omega: Matrix) -> Any:
        """The state made of a unit quaternion and a synchronous angular velocity, as duals of xi and I d(omega).

        Raises
        ------
        ValueError
            If a step rotates the body by more than half a turn: there the kernels round, which has no derivative.
        """
        if float(np.linalg.norm(omega)) * self.dt > pi:
            raise ValueError(f"a step of {self.dt:g} s turns the body by more than half a turn; take a smaller one")
        by_xi, by_momentum = 0.5 * _times(q) @ _VARIABLES[:3], np.array(self.body[3:6]) * _VARIABLES[3:].T
        return self.driver.start(
            tuple(Dual(float(x), row) for x, row in zip(q, by_xi, strict=True)),
            tuple(Dual(float(x), row) for x, row in zip(omega, by_momentum.T, strict=True)),
        )

    def moved(self, state: Any, n: int) -> Any:
        """The state one step later, after n steps."""
        return self.driver.step(state, n)

    def seen(self, state: Any, n: int, reading: str) -> tuple[PhasePoint, Matrix]:
        """The point that a state after n steps represents in a reading, and the derivatives (6, 6) of its (xi, eta)."""
        q, omega = self.driver.read(state, n)
        if reading == "read":
            momentum = self.momentum_of(omega, self.body)
        elif self.method.momentum_frame == "lab" and self.method.normalisable:
            momentum = self.into_body(q, state[4:7])
        else:
            momentum = self.momentum_of(self.driver.stored(state), self.body)
        q, dq = values_and_derivatives(q, 6)
        momentum, dp = values_and_derivatives(momentum, 6)
        # q need not have norm one.
        return PhasePoint(q, momentum), np.vstack([2 * _times(q).T @ dq / (q @ q), dp])


#: The derivatives of (xi, eta) with respect to themselves.
_VARIABLES = np.eye(6)


def _times(q: Matrix) -> Matrix:
    """The matrix (4, 3) of v -> q (0, v)."""
    return np.array([[-q[1], -q[2], -q[3]], [q[0], -q[3], q[2]], [q[3], q[0], -q[1]], [-q[2], q[1], q[0]]])


def step_defects(stepper: Stepper, q: Matrix, omega: Matrix) -> tuple[float, ...]:
    """:func:`defect` in each of :data:`READINGS` of the step from the state that ``start`` makes of q and omega."""
    state = stepper.started(q, omega)
    later = stepper.moved(state, 0)
    defects = []
    for reading in READINGS:
        before, made = stepper.seen(state, 0, reading)
        after, moved = stepper.seen(later, 1, reading)
        # D(seen . step . start) = D(step, as seen) D(seen . start)
        defects.append(defect(np.linalg.solve(made.T, moved.T).T, before.momentum, after.momentum))
    return tuple(defects)


def memory(stepper: Stepper, q: Matrix, omega: Matrix, reading: str) -> float:
    """The dependence of a step on more than the q and Pi of a reading: the distance between two steps from the same point.

    Relative to a step. One begins with the state after a step, the other with the state that ``start`` makes for the same q
    and Pi, found by Newton's iteration.
    """
    left = stepper.moved(stepper.started(q, omega), 0)
    target, _ = stepper.seen(left, 0, reading)
    inverse = np.array(stepper.body[3:6])
    guess = target.q / np.linalg.norm(target.q), inverse * target.momentum
    for _ in range(NEWTON):
        point, derivatives = stepper.seen(stepper.started(*guess), 0, reading)
        xi_eta = np.linalg.solve(derivatives, _difference(point, target))
        turned = guess[0] + 0.5 * _times(guess[0]) @ xi_eta[:3]
        guess = turned / np.linalg.norm(turned), guess[1] + inverse * xi_eta[3:]
    made = stepper.started(*guess)
    ends = [stepper.seen(stepper.moved(state, 0), 1, reading)[0] for state in (left, made)]
    scale = np.array([1.0] * 3 + [1 / np.linalg.norm(target.momentum)] * 3)
    step = np.linalg.norm(scale * _difference(target, ends[0]))
    return float(np.linalg.norm(scale * _difference(ends[1], ends[0])) / step)


def _difference(first: PhasePoint, other: PhasePoint) -> Matrix:
    """(xi, eta) from one point to a nearby one."""
    q = other.q / np.linalg.norm(other.q)
    turn = 2 * _times(first.q).T @ q / np.linalg.norm(first.q)
    return np.concatenate([turn * np.sign(first.q @ q), other.momentum - first.momentum])


def symplecticity(settings: Settings) -> xr.Dataset:
    """The defect of one step of every method in both readings, over the time step; and the effect of iterated constraints."""
    methods, problems = {key: METHODS[key] for key in settings["methods"]}, settings.get("problems", PROBLEMS)
    shape = len(methods), len(problems), len(READINGS), len(DIVISIONS)
    defects, remembered = np.full(shape, nan), np.full(shape[:2], nan)
    dts = np.full((len(problems), len(DIVISIONS)), nan)
    for j, key in enumerate(problems):
        problem = single_body(key)
        places = exact_places(problem)
        dts[j] = problem.horizon / np.array(DIVISIONS)
        for i, method in enumerate(methods.values()):
            # A user's own kernel may contain operations without a derivative here.
            with suppress(ValueError, ArithmeticError, np.linalg.LinAlgError):
                steppers = [Stepper(method, problem, float(dt)) for dt in dts[j]]
                remembered[i, j] = max(memory(steppers[0], *places[0], reading) for reading in READINGS)
                if remembered[i, j] < ROUNDING:
                    for n, stepper in enumerate(steppers):
                        defects[i, j, :, n] = np.max([step_defects(stepper, *place) for place in places], axis=0)
    powers = np.apply_along_axis(lambda row: power(np.array(DIVISIONS), row), -1, defects)
    dims = ("integrator", "problem", "reading")
    iterated = [constrained_step(n) for n in ITERATIONS]
    return xr.Dataset(
        {
            "defect": (
                (*dims, "division"),
                defects,
                about("defect over one step; NaN: the step is not a map of q and Pi"),
            ),
            "power": (dims, powers, about("power of dt with which the defect falls; NaN where it is rounding")),
            "memory": (dims[:2], remembered, about("share of a step that depends on more than q and Pi")),
            "dt": (("problem", "division"), dts, about("step size", "s")),
            "constraint_defect": ("iterations", [x.defect for x in iterated], about("defect of a step of RATTLE")),
            "constraint_return": ("iterations", [x.returned for x in iterated], about("distance after a return")),
            "constraint_error": ("iterations", [x.constraint for x in iterated], about("largest entry of R^T R - 1")),
        },
        {
            "integrator": list(methods),
            "problem": list(problems),
            "reading": list(READINGS),
            "division": list(DIVISIONS),
            "iterations": ("iterations", list(ITERATIONS), about("iterations of the constraint")),
        },
        {"constraint_problem": CONSTRAINED, "constraint_division": CONSTRAINED_DIVISION, "rounding": ROUNDING},
    )


def exact_places(problem: Problem) -> list[tuple[Matrix, Matrix]]:
    """q and omega of the exact motion at :data:`PLACES`, in double precision."""
    states = taylor.solve(problem, [place * problem.horizon for place in PLACES], DIGITS)
    return [(np.array(q, float), np.array(omega, float)) for q, omega in states]


def power(divisions: NDArray[np.int64], row: Matrix) -> float:
    """The exponent of the time step between the two finest steps whose defect exceeds rounding; NaN if there are none."""
    clear = np.flatnonzero(row > ROUNDING)
    if clear.size < 2:
        return nan
    first, second = clear[-2:]
    return float(np.log(row[first] / row[second]) / np.log(divisions[second] / divisions[first]))


# The effect of iterations that impose a constraint: RATTLE on the nine components of the rotation matrix.

#: The body, its time step, and the numbers of iterations of the multipliers.
CONSTRAINED, CONSTRAINED_DIVISION, ITERATIONS = "free_asymmetric_top", 64, (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)


class Constrained(NamedTuple):
    """One step with this many iterations: its defect, how far a step back ends from the start, and the constraint error."""

    defect: float
    returned: float
    constraint: float


def rattle(r: Any, p: Any, second: Matrix, dt: float, iterations: int) -> tuple[Any, Any]:
    """A step of RATTLE for a free body: Andersen (1983), on rotation matrices as McLachlan and Scovel (1995).

    The kinetic energy is tr(p S^-1 p^T)/2 with p = dr/dt S. Symmetric multipliers enforce r^T r = 1; they are found by the
    iteration of SHAKE, and those of the momenta directly.

    Parameters
    ----------
    r, p : matrices (..., 3, 3), real or complex
    second : diagonal of S, the second moments of mass about the planes through the centre, kg m^2
    """
    weights = 1 / second[:, None] + 1 / second
    multipliers = np.zeros_like(p)
    for _ in range(iterations):
        moved = r + dt * (p - r @ multipliers) / second
        multipliers = multipliers + (np.swapaxes(moved, -1, -2) @ moved - np.eye(3)) / (dt * weights)
    p = p - r @ multipliers
    r = r + dt * p / second
    along = np.swapaxes(r, -1, -2) @ p / second
    return r, p - r @ ((along + np.swapaxes(along, -1, -2)) / weights)


def constrained_step(iterations: int) -> Constrained:
    """RATTLE from the start of :data:`CONSTRAINED` with this many iterations of its constraint."""
    problem = single_body(CONSTRAINED)
    dt = problem.horizon / CONSTRAINED_DIVISION
    moments, omega = np.array(problem.body.inertia), np.array(problem.omega0)
    second = moments.sum() / 2 - moments
    r = np.array([on_duals(to_lab)(problem.q0, row) for row in np.eye(3)]).T
    p = r @ hat(omega) * second
    # Complex step: the imaginary part carries a derivative, one for each component of (xi, eta).
    turns = np.array([hat(row[:3]) for row in _VARIABLES])
    spins = np.array([hat(row[3:] / moments) for row in _VARIABLES])
    dr, dp = r @ turns, (r @ turns @ hat(omega) + r @ spins) * second
    new_r, new_p = rattle(r + 1e-30j * dr, p + 1e-30j * dp, second, dt, iterations)
    size = float(np.linalg.norm(moments * omega))
    scale = np.array([1.0] * 3 + [size] * 3)
    apart = _pairing(new_r.imag / 1e-30, new_p.imag / 1e-30) - _pairing(dr, dp)
    r1, p1 = new_r[0].real, new_p[0].real
    r2, p2 = rattle(r1, -p1, second, dt, iterations)
    returned = max(np.abs(r2 - r).max(), np.abs(p2 + p).max() / size)
    return Constrained(
        float(np.abs(scale[:, None] * apart * scale).max() / size), float(returned), float(np.abs(r1.T @ r1 - np.eye(3)).max())
    )


def _pairing(dr: Matrix, dp: Matrix) -> Matrix:
    """The canonical form of nine coordinates and their momenta on all pairs of these vectors (n, 3, 3)."""
    product: Matrix = np.einsum("aij,bij->ab", dr, dp)
    return product - product.T
