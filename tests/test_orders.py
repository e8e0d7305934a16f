"""Measured global orders of every method, for each class of torque, against exact states found without this package.

A flipped sign or a wrong stage lowers an order on at least one of the bodies here; an order that is *lower* than a publication
says is just as much pinned down as one that is not.
"""

import numpy as np
import pytest
from conftest import every_method

import polhode
from polhode.algebra import metrics
from polhode.problems.problem import TORQUE_CLASSES
from polhode_study.run.check import exact_end

#: Orders (q, omega) by class of torque.
FIRST, SECOND, THIRD, FOURTH = (dict.fromkeys(TORQUE_CLASSES, (order, order)) for order in (1, 2, 3, 4))
#: Where the torque is handed an omega half a step or a whole step old.
SECOND_BUT_FRICTION = SECOND | {"velocity": (1, 1)}
FOURTH_BUT_FRICTION = FOURTH | {"velocity": (1, 1)}
#: Where one torque stands for the whole step and is not that of its middle.
FIRST_BUT_CONSTANT = FIRST | {"free": (2, 2), "constant": (2, 2)}
#: Where one torque is exact if it does not change.
SPIRAL = SECOND | {"free": (2, 3), "constant": (2, 3)}
EXPECTED = {
    "adams_bashforth2_barker": SECOND,
    "adams_bashforth2_buss": SECOND,
    "adams_bashforth3": THIRD,
    "adams_bashforth4": FOURTH,
    "buss2000": SECOND_BUT_FRICTION,
    "buss2000_delvalle2024": FIRST | {"free": (2, 2)},
    "calzavarini2010": SECOND,
    "calzavarini2010_mean": SECOND_BUT_FRICTION,
    "catto2015": FIRST,
    "cf4": FOURTH,
    "dlm1997": SECOND_BUT_FRICTION,
    "dlm1997_fasso": SECOND_BUT_FRICTION,
    "euler": FIRST,
    "exact_rotor": SECOND,
    # Where the torque does not depend on q in the lab frame, the corrector removes all of the error in dt^2.
    "exact_rotor_corrected": SECOND | {"lab": (4, 4)},
    "exact_rotor_dkd_corrected": SECOND | {"lab": (4, 4)},
    "fincham1992": SECOND_BUT_FRICTION,
    "fincham1992_delvalle2024": FIRST,
    "fincham1992_yade": FIRST,
    "implicit_midpoint": SECOND,
    "implicit_midpoint_iterated": SECOND,
    # Without a torque the momentum stands still and the rotation is the Runge-Kutta scheme.
    "johnson2008": SECOND | {"free": (4, 4)},
    "johnson2008_delvalle2024": FIRST | {"free": (4, 4)},
    "lacoursiere2006": FIRST,
    # Without commutators; where the torque does not depend on q, neither does omega.
    "lie_rk4_naive": SECOND | dict.fromkeys(("free", "constant", "time", "velocity"), (2, 4)),
    "magnus_adams4": FOURTH,
    "martys1999": SECOND_BUT_FRICTION,
    "moser_veselov": SECOND_BUT_FRICTION,
    # The free step is preprocessed; the torque enters by Strang splitting.
    "moser_veselov4": SECOND_BUT_FRICTION | {"free": (4, 4)},
    "munjiza2003": FIRST | {"free": (2, 2)},
    "no_squish": SECOND_BUT_FRICTION,
    "omelyan1998": SECOND_BUT_FRICTION,
    "omelyan1999_momentum": SECOND_BUT_FRICTION,
    "pcdm2013_lag": FIRST_BUT_CONSTANT,
    "pcdm2013_lead": FIRST_BUT_CONSTANT,
    "pcdm2013_mid": SECOND,
    "pcdm2016": SECOND,
    "pfc4": FIRST,
    "pfc4_delvalle2024": FIRST,
    "rescaled_momentum": FIRST,
    "richardson": SECOND_BUT_FRICTION,
    "rk4": FOURTH,
    "rkmk4": FOURTH,
    # Without the term of the rotation group.
    "rotor_flat_kick": SECOND_BUT_FRICTION,
    "rotor_forest_ruth": FOURTH_BUT_FRICTION,
    "rotor_gradient4": FOURTH_BUT_FRICTION,
    "rotor_lazy_kick": FOURTH_BUT_FRICTION,
    "rotor_modified_kick": FOURTH_BUT_FRICTION,
    "rotor_pefrl": FOURTH_BUT_FRICTION,
    "rotor_srkn6": FOURTH_BUT_FRICTION,
    "rotor_two_stage": SECOND_BUT_FRICTION,
    "rozmanov2010": SECOND_BUT_FRICTION,
    "scalar_factor": FIRST,
    "spiral_dkd": SPIRAL,
    "spiral_kdk": SPIRAL,
    "spiral_leapfrog": SPIRAL | {"velocity": (1, 1)},
    "spiral_omelyan": SECOND_BUT_FRICTION,
    "spiral_predicted": SPIRAL,
    "spiral_predicted_last": SPIRAL,
    "spiral_synchronous": FIRST | {"free": (2, 3), "constant": (2, 3)},
    "touma1994": SECOND_BUT_FRICTION,
    "verlet": SECOND_BUT_FRICTION,
    "verlet_delvalle2024": FIRST,
}
#: Better than the order of the class: under a torque about the axis of a cylinder, half kicks at both ends are exact for omega.
BETTER = {
    ("moser_veselov4", "constant"): (2, 4),
    ("exact_rotor_corrected", "constant"): (4, 2),
    ("exact_rotor_dkd_corrected", "constant"): (4, 2),
    ("rotor_flat_kick", "constant"): (4, 2),
}
#: Where a method is exact, and no order can be measured: (method, case) -> quantities with nothing but rounding at any step.
#: In the case "constant" the body is symmetric and the torque axial: its angular velocity turns by the mean of the axial one.
EXACT = {
    ("touma1994", "constant"): ("omega", "stored omega"),
}
#: Kicks around exact free motion.
for _key in (key for key in EXPECTED if key.startswith(("exact_rotor", "rotor_"))):
    EXACT[_key, "free"] = ("q", "omega", "stored omega")
    EXACT[_key, "constant"] = ("omega", "stored omega")
#: Where a term of higher order is as large as the leading one down to the round-off.
STEEPER = {(key, "constant", "q") for key in ("exact_rotor_corrected", "exact_rotor_dkd_corrected", "rotor_srkn6")}
STEPS = 10 * 2 ** np.arange(13)
FLOOR = 1e-10
#: Where longer steps are not a power law yet; steps as short as these are few, and leave less round-off.
FLOORS = {
    "magnus_adams4": 1e-11,
    **{(f"exact_rotor_{form}corrected", "lab"): 1e-12 for form in ("", "dkd_")},
    **{(f"exact_rotor_{form}corrected", "constant"): 3e-12 for form in ("", "dkd_")},
}
#: Around exact free motion few steps are good for many digits.
FEW_STEPS = STEPS // 5
for _key in (key for key in EXPECTED if key.startswith("rotor_")):
    FLOORS[_key, "constant"] = 1e-12
    if EXPECTED[_key]["state"] == (4, 4):
        FLOORS[_key] = 1.5e-13
# The difference of two torques rounds.
FLOORS |= {"rotor_modified_kick": 2e-12, "rotor_gradient4": 2e-12, ("rotor_srkn6", "constant"): 1.5e-13}
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


def fitted_order(steps, error, floor=FLOOR):
    """Least-squares slope of log error over log dt for the smallest steps above the round-off floor, and the worst residual."""
    below = np.flatnonzero(error <= floor)  # the rounding of many steps may exceed the floor again
    above = np.flatnonzero(error[: below[0] if below.size else None] > floor)
    assert above.size >= POINTS, error
    window = slice(above[-1] - POINTS + 1, above[-1] + 1)
    x, y = -np.log2(steps[window]), np.log2(error[window])
    slope, offset = np.polyfit(x, y, 1)
    return slope, np.abs(y - slope * x - offset).max()


def test_every_method_has_its_orders():
    assert list(EXPECTED) == list(polhode.methods)


@pytest.mark.parametrize("key", polhode.methods)
def test_declared_orders_are_the_measured_ones(key):
    assert {name: polhode.methods[key].orders(name) for name in TORQUE_CLASSES} == EXPECTED[key]


@pytest.mark.parametrize("name", ["free", "constant", "constant_asymmetric", "time", "lab", "orientation", "velocity"])
@every_method
def test_orders(key, name, cases):
    expected = BETTER.get((key, name), EXPECTED[key][cases[name].problem.torque_class])
    steps = FEW_STEPS if key.startswith("rotor_") else STEPS
    # The order is fitted to the four shortest steps above round-off: where the shortest are, longer ones are not needed.
    error = errors(cases[name], key, steps[7:], 1.0) if max(expected) <= 2 else np.zeros((1, 3))
    if (error <= FLOOR).any():
        error = errors(cases[name], key, steps, 1.0)
    else:
        steps = steps[7:]
    for quantity, column, order in (("q", 0, expected[0]), ("omega", 1, expected[1]), ("stored omega", 2, expected[1])):
        if quantity in EXACT.get((key, name), ()):
            assert error[:, column].max() < FLOOR / 10, quantity
            continue
        slope, residual = fitted_order(steps, error[:, column], FLOORS.get((key, name), FLOORS.get(key, FLOOR)))
        if (key, name, quantity) in STEEPER:
            assert order - 0.2 < slope < order + 1.0, f"{quantity}: order {slope:.3f}, expected {order} or somewhat more"
            continue
        assert slope == pytest.approx(order, abs=0.05 * order), f"{quantity}: order {slope:.3f}, expected {order}"
        assert residual < 0.05, f"{quantity}: not a power law, {residual}"


#: Methods whose first steps take several torques.
WITH_START = [key for key, method in polhode.methods.items() if getattr(method, "warm_up_steps", 0)]


@pytest.fixture(scope="module")
def ends():
    return {key: exact_end(polhode.problems[key]) for key in ("sinking_propeller", "coupled_cylinders")}


@pytest.mark.thorough
@pytest.mark.parametrize("key", WITH_START)
def test_orders_on_systems_of_bodies(key, ends):
    """As on one body: the bodies take the first steps together, with three more evaluations of all loads each."""
    for name, exact in ends.items():
        problem = polhode.problems[name]
        steps = (256, 512, 1024)
        errors = []
        for n in steps:
            run = polhode.simulate(problem, key, problem.horizon / n, samples=1)
            assert int(run.torque_evaluations) == 1 + n + 3 * polhode.methods[key].warm_up_steps
            errors.append([np.abs(run[quantity].values[-1] - exact[quantity]).max() for quantity in ("q", "omega")])
        for declared, error in zip(polhode.methods[key].orders("velocity"), np.transpose(errors), strict=True):
            assert np.log2(error[-2] / error[-1]) == pytest.approx(declared, abs=0.06), name
