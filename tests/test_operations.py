"""Operations of a step: kernels counted by hand, steps counted by hand and by the driver, the table and its section."""

import math
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from rendered import root, whole_table

import polhode
from polhode.algebra import body, quaternion, vector
from polhode.compiling.kernel import kernel
from polhode.compiling.marching import Pauses
from polhode.compiling.operations import Counting, Operations, count, counting, on_counting, operations
from polhode.interface.storage import write_groups
from polhode.methods import one_body
from polhode.methods.protocol import OneTorque
from polhode_study.chapters import rendering
from polhode_study.chapters.times import frames as analysis
from polhode_study.gather import cost as cost_study
from polhode_study.inputs import Inputs, NotInRun

HOME = Path(__file__).parents[1]
Q, P, V = (1.0, 0.2, 0.3, 0.4), (0.1, 0.2, 0.3, 0.4), (0.3, 0.4, 0.5)
BODY = polhode.Body((1.0, 1.7, 2.3)).coefficients()
#: What the driver adds where it normalises: |q|^2 (4 and 3), a root, a reciprocal, four products.
NORMALISATION = Operations(additions=3, multiplications=8, divisions=1, square_roots=1)
#: The polynomials of cos_sinc: y^2 and y^4; eight products and eight sums each; two factors of a sign that is one.
COS_SINC = Operations(additions=16, multiplications=20, comparisons=1)


def plus(*parts: Operations) -> Operations:
    return Operations(**{name: sum(getattr(operations, name) for operations in parts) for name in asdict(Operations())})


# Kernels by hand


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        (quaternion.multiply, (Q, P), Operations(additions=12, multiplications=16)),
        (body.euler_equations, (V, V, BODY), Operations(additions=3, multiplications=9)),
        (quaternion.derivative, (Q, V), Operations(additions=8, multiplications=16)),
        (quaternion.increment, (0.1, Q, P), Operations(additions=4, multiplications=4)),
        (quaternion.normalise, (Q,), NORMALISATION),
        (quaternion.conjugate, (Q,), Operations(negations=3)),
        (quaternion.to_lab, (Q, V), Operations(additions=17, multiplications=24)),
        (quaternion.cos_sinc, (0.3,), COS_SINC),
        # h, h^2, |omega|^2 (3 and 2), their product; s; three components; the product of the quaternions.
        (quaternion.rotate, (Q, V, 0.1), plus(COS_SINC, Operations(additions=14, multiplications=26))),
        (vector.cross, (V, V), Operations(additions=3, multiplications=6)),
        (vector.axpy, (0.1, V, V), Operations(additions=3, multiplications=3)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_kernels_counted_by_hand(function, arguments, expected):
    counted = count(function, *arguments)
    assert counted == expected
    assert count(getattr(function, "py_func", function), *arguments) == expected, "compiled or not"
    assert counted.total == expected.additions + expected.multiplications + expected.divisions + expected.square_roots


def test_a_branch_that_is_taken_counts():
    reduced = count(quaternion.cos_sinc, 9.0)
    assert (reduced.square_roots, reduced.divisions) == (1, 1)
    assert reduced.total > COS_SINC.total


def test_values_are_those_of_floats():
    tally = Operations()
    rotated = on_counting(quaternion.rotate)(*counting((Q, V, 0.1), tally))
    assert tuple(map(float, rotated)) == quaternion.rotate(Q, V, 0.1)


def test_every_operation_of_a_float_counts():
    tally = Operations()
    x = Counting(3.0, tally)
    values = [x + 1, 1 + x, x - 1, 1 - x, 2 * x, x * 2, x / 2, 2 / x, -x, abs(x), x**3, x.sqrt()]
    assert [float(v) for v in values] == [4, 4, 2, -2, 6, 6, 1.5, 2 / 3, -3, 3, 27, math.sqrt(3)]
    assert [x < 1, x <= 1, x > 1, x >= 1, x == 1, x != 1] == [False, False, True, True, False, True]
    # The power is two products.
    assert tally == Operations(additions=4, multiplications=4, divisions=2, square_roots=1, negations=2, comparisons=6)


def test_what_does_not_vary_is_known():
    tally = Operations()
    dt, x = Counting(0.1, tally, varies=False), Counting(1.0, tally)
    (0.5 * dt) * dt + x * dt
    assert (tally.total, tally.constants) == (4, 2)


def test_what_cannot_be_counted_is_named():
    @kernel
    def exponential(x):
        return math.exp(x)

    with pytest.raises(ValueError, match=r"math\.exp cannot be counted, only sqrt can"):
        count(exponential, 1.0)
    with pytest.raises(ValueError, match=r"exponent 0\.5"):
        count(lambda x: x**0.5, 1.0)
    with pytest.raises(ValueError, match=r"pfc4_delvalle2024.*cannot be switched"):
        operations("pfc4_delvalle2024", normalise=True)
    with pytest.raises(KeyError, match="euler"):
        operations("eulr")


# Steps


def test_direct_euler_by_hand():
    # Euler's equations, omega, dq/dt, q.
    step = Operations(1, additions=3 + 3 + 8 + 4, multiplications=9 + 3 + 16 + 4)
    assert operations("euler", normalise=False) == step
    assert operations("euler") == operations("euler", normalise=True) == plus(step, NORMALISATION)
    assert operations("euler").total == 63


def test_spiral_by_hand():
    # Three times Euler's equations and six sums, with dt/4 and dt/6 twice each and 2 dt/3; then the rotation.
    kick = Operations(additions=3 * 3 + 6 * 3, multiplications=3 * 9 + 6 * 3 + 1, divisions=5)
    # The constants: those of the kick, and h and h^2 of the rotation.
    expected = plus(Operations(1, constants=8), kick, count(quaternion.rotate, Q, V, 0.1))
    assert operations("spiral_leapfrog") == expected


@pytest.mark.parametrize("key", polhode.methods)
def test_every_method_counts(key):
    method = polhode.methods[key]
    counted = operations(key)
    assert all(type(value) is int and value >= 0 for value in asdict(counted).values())
    assert counted.total > counted.constants
    assert min(counted.additions, counted.multiplications) > 0
    assert counted.torques == method.torques_per_step
    assert operations(method) == counted, "the same again"
    if method.normalisable:
        off, on = (operations(key, normalise=wanted) for wanted in (False, True))
        assert on == plus(off, NORMALISATION)
        assert counted == (on if method.normalises else off)


#: Methods that iterate until nothing changes: the state decides how often.
ITERATED = ("omelyan1999_momentum", "rozmanov2010")


@pytest.mark.parametrize("key", [key for key in polhode.methods if key not in ITERATED])
def test_the_state_decides_nothing(key):
    rng = np.random.default_rng(5)
    counted = operations(key)
    for steps in (1, 2, 5):
        q = np.array([3.0, *rng.uniform(-1, 1, 3)])
        q /= np.linalg.norm(q)
        assert operations(key, q0=tuple(q), omega0=tuple(rng.normal(size=3)), dt=1e-4, steps=steps) == counted


def test_a_step_beyond_a_quarter_turn_costs_more():
    assert operations("spiral_leapfrog", dt=4.0).total > operations("spiral_leapfrog").total


#: Every method, as declared and with the normalisation on and off where it can be switched.
SETTINGS = [
    (key, wish) for key in polhode.methods for wish in (None, True, False) if wish is None or polhode.methods[key].normalisable
]


@pytest.mark.parametrize(("key", "normalise"), SETTINGS)
def test_the_driver_does_the_same(key, normalise):
    """The driver itself, run on counting floats: what one step more adds, without the time it forms for the torque."""
    method = polhode.methods[key]
    totals = []
    for last in (3, 4):
        tally = Operations()
        q, omega, moment = (counting(values, tally) for values in ((0.9, 0.1, -0.3, 0.3), (0.9, -0.7, 1.1), (0.4, -0.5, 0.2)))
        constant, h = (counting(values, tally, varies=False) for values in (BODY, 1e-3))

        def torque(*arguments, tally=tally, moment=moment):
            tally.torques += 1
            return moment

        out = [np.empty((1, n), dtype=object) for n in (4, 3, 3)]
        drive, march = on_counting(one_body.drive), on_counting(method.march())
        work = np.empty((1, method.state_width), dtype=object), np.empty((3, 4), dtype=object)
        drive(
            march,
            *work,
            q,
            omega,
            constant,
            torque,
            (),
            h,
            method.normalisation(normalise),
            method.moves,
            np.array([last]),
            Pauses(),
            *out,
        )
        totals.append(tally)
    more = {name: value - asdict(totals[0])[name] for name, value in asdict(totals[1]).items()}
    expected = asdict(operations(key, normalise))
    # (n + torque_time) dt, or n dt: one product a step, of constants, as n does not count.
    expected["multiplications"] += 1
    expected["constants"] += 1
    if not isinstance(method, OneTorque):
        # The driver's time is made of dt alone, so that what a method adds to it seems constant, too.
        expected["constants"] = more["constants"]
    assert more == expected


# The table and its section


def counted(folder: Path, *keys: str) -> Inputs:
    """A run whose cost.nc holds the counts of these methods."""
    write_groups({"/": xr.Dataset(), "operations": cost_study.operation_counts(keys)}, folder / "cost.nc")
    write_groups({"/": root()}, folder / "single_body.nc")
    return Inputs(folder / "single_body.nc", cost=folder / "cost.nc")


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Inputs:
    return counted(tmp_path_factory.mktemp("run"), *polhode.methods)


def test_the_table_has_every_method(run, tmp_path):
    data = analysis.counts(run).set_index("method")
    assert set(data.index) == set(polhode.methods)
    assert data.relative["euler"] == 1 and data.total["spiral_leapfrog"] == operations("spiral_leapfrog").total
    switchable = data.total_normalised.notna()
    assert set(data.index[~switchable]) == {"pfc4_delvalle2024"}
    assert (data.total_normalised - data.total_left_alone)[switchable].eq(NORMALISATION.total).all()
    whole_table("operations", run, tmp_path)
    file = pd.read_csv(tmp_path / "one" / "operations.csv").set_index("method")
    assert set(file.index) == set(polhode.methods)
    names = ["torques", *analysis.OPERATIONS, "total", "constants", "total_normalised", "total_left_alone"]
    assert list(file.loc["euler", names]) == [1, 21, 40, 1, 1, 63, 0, 63, 50]


def test_a_plugin_that_cannot_be_counted_has_an_empty_row(monkeypatch, tmp_path):
    @kernel
    def after_torque(state, torque, inertia, dt):
        return (*state[:4], math.exp(state[4]), state[5], state[6])

    mine = replace(polhode.methods["euler"], key="mine", label="mine", after_torque=after_torque)
    monkeypatch.setattr(cost_study, "METHODS", {**polhode.methods, "mine": mine})
    inputs = counted(tmp_path, "euler", "spiral_leapfrog", "verlet", "mine")
    data, _ = rendering.table("operations", inputs)
    assert data.set_index("method").loc["mine", ["total", *analysis.OPERATIONS]].isna().all()


def test_the_table_is_that_of_the_file(run, tmp_path):
    """Nothing is counted again: what the file has is printed, and without a file there is no table."""
    data = run.cost("operations").copy(deep=True)
    data["total"].loc[{"integrator": "no_squish"}] = 4711
    write_groups({"/": xr.Dataset(), "operations": data}, tmp_path / "cost.nc")
    edited = Inputs(run.paths["single_body"], cost=tmp_path / "cost.nc")
    assert rendering.table("operations", edited)[0].set_index("method").total["no_squish"] == 4711
    with pytest.raises(NotInRun):
        analysis.counts(Inputs(tmp_path))
