"""Measured global orders of every method, for each class of torque, against exact states found without this package.

A flipped sign or a wrong stage lowers an order on at least one of the bodies here; an order that is *lower* than a publication
says is just as much pinned down as one that is not.
"""

import numpy as np
import pytest

import polhode
from polhode import metrics

#: (order of q, order of omega) by class of torque: constant in the body frame, given function of time in the body frame,
#: function of the orientation (heavy top), function of the angular velocity (friction).
#: Only methods that evaluate the torque with a synchronous omega keep their order under friction.
FIRST = {"constant": (1, 1), "time": (1, 1), "orientation": (1, 1), "velocity": (1, 1)}
SECOND_BUT_FRICTION = {"constant": (2, 2), "time": (2, 2), "orientation": (2, 2), "velocity": (1, 1)}
EXPECTED = {
    "buss2000": SECOND_BUT_FRICTION,
    "buss2000_delvalle2024": FIRST,
    "euler": FIRST,
    "fincham1992": SECOND_BUT_FRICTION,
    "fincham1992_delvalle2024": FIRST,
    "johnson2008": {"constant": (2, 2), "time": (2, 2), "orientation": (2, 2), "velocity": (2, 2)},
    "johnson2008_delvalle2024": FIRST,
    "omelyan1998": SECOND_BUT_FRICTION,
    "pfc4": FIRST,
    "rk4": {"constant": (4, 4), "time": (4, 4), "orientation": (4, 4), "velocity": (4, 4)},
    "spiral_leapfrog": {"constant": (2, 3), "time": (2, 2), "orientation": (2, 2), "velocity": (1, 1)},
    "spiral_omelyan": SECOND_BUT_FRICTION,
    "spiral_synchronous": {"constant": (2, 3), "time": (1, 1), "orientation": (1, 1), "velocity": (1, 1)},
    "verlet": SECOND_BUT_FRICTION,
    "verlet_delvalle2024": FIRST,
}
STEPS = 10 * 2 ** np.arange(14)
FLOOR = 1e-10
POINTS = 4


def errors(case, method, steps, t_end):
    """Relative L1 errors of q, of omega and of the stored omega at its own time, one row for each number of steps."""
    rows = []
    for n in steps:
        run = polhode.simulate(case.problem, method, t_end / n, t_end, samples=1)
        q, omega = case.exact(t_end)
        rows.append(
            (
                metrics.orientation_l1(run.q.values[-1], q),
                metrics.relative_l1(run.omega.values[-1], omega),
                metrics.relative_l1(run.stored_omega.values[-1], case.exact(t_end + float(run.stored_offset) * t_end / n)[1]),
            )
        )
    return np.array(rows)


def fitted_order(steps, error):
    """Least-squares slope of log error over log dt for the smallest steps above the round-off floor, and the worst residual."""
    above = np.flatnonzero(error > FLOOR)
    assert above.size >= POINTS, error
    window = slice(above[-1] - POINTS + 1, above[-1] + 1)
    x, y = -np.log2(steps[window]), np.log2(error[window])
    slope, offset = np.polyfit(x, y, 1)
    return slope, np.abs(y - slope * x - offset).max()


def test_every_method_has_its_orders():
    assert list(EXPECTED) == polhode.methods.keys()


@pytest.mark.parametrize("key", polhode.methods)
def test_declared_orders_are_those_for_a_constant_body_torque(key):
    method = polhode.methods[key]
    assert (method.order_q, method.order_omega) == EXPECTED[key]["constant"]


@pytest.mark.parametrize("name", ["constant", "constant_asymmetric", "time", "orientation", "velocity"])
@pytest.mark.parametrize("key", polhode.methods)
def test_orders(key, name, cases):
    error = errors(cases[name], key, STEPS, 1.0)
    expected = EXPECTED[key][name.split("_")[0]]
    for quantity, column, order in (("q", 0, expected[0]), ("omega", 1, expected[1]), ("stored omega", 2, expected[1])):
        slope, residual = fitted_order(STEPS, error[:, column])
        assert slope == pytest.approx(order, abs=0.05 * order), f"{quantity}: order {slope:.3f}, expected {order}"
        assert residual < 0.05, f"{quantity}: not a power law, {residual}"
