"""Torques that users write: every kind of fault is a sentence at every door, and none gets as far as the compiler's message."""

import functools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polhode
from polhode.advice.cases import case_of_mapping, torque_of_formulas
from polhode.advice.errors import AdviceError
from polhode.compiling.trials import try_torque
from polhode.problems.problem import Problem
from polhode.references.dataset import reference_dataset

Q, W, P = (1.0, 0.0, 0.0, 0.0), (0.3, 0.1, 1.0), {"a": 1.0, "b": 2.0, "c": 3.0}
BODY = polhode.Body((1.0, 2.0, 2.5))


def problem(torque, **options):
    given = {"key": "n", "label": "n", "source": "test", "body": BODY, "omega0": W, "torque_class": "velocity", "horizon": 1.0}
    return Problem(torque=torque, parameters=P, **(given | options))


BODIES = polhode.Bodies([BODY.inertia], [Q], [W], [list(P.values())])
#: Where a torque of one's own comes in.
DOORS = {
    "simulate": lambda torque: polhode.simulate(problem(torque), "rk4", 0.1),
    "compile": lambda torque: problem(torque).compile(),
    "reference": lambda torque: reference_dataset(problem(torque), [0.5], 20),
    "simulate_many": lambda torque: polhode.simulate_many(BODIES, "euler", torque, 0.1, 10),
    "recommend": lambda torque: polhode.recommend(case=problem(torque), error=1e-3),
}


def refused(torque, *said, doors=DOORS):
    """The messages, all short, at every door."""
    for name in doors:
        with pytest.raises((TypeError, ValueError)) as caught:
            DOORS[name](torque)
        message = str(caught.value)
        assert len(message) < 400 and "\n" not in message and "numba" not in message.lower(), message
        for words in said:
            assert words in message, (name, message)


numbers = st.one_of(st.floats(-1e3, 1e3), st.integers(-9, 9))
#: What is no torque: of each kind that a function can return.
not_three_floats = st.one_of(
    st.none(),
    st.booleans(),
    st.text(max_size=5),
    numbers,
    st.complex_numbers(),
    st.lists(numbers, max_size=4),
    st.dictionaries(st.text(max_size=2), numbers, max_size=3),
    st.tuples(numbers, numbers),
    st.tuples(numbers, numbers, numbers, numbers),
    st.tuples(
        numbers, numbers, st.one_of(st.none(), st.booleans(), st.text(max_size=3), st.complex_numbers(), st.just((1.0,)))
    ),
    st.lists(numbers, min_size=3, max_size=3).map(lambda row: np.array(row, float)),
    st.lists(numbers, min_size=3, max_size=3).map(set),
    st.sampled_from([float("nan"), float("inf")]).map(lambda bad: (0.0, bad, 0.0)),
)


@pytest.mark.thorough
@settings(max_examples=50)
@given(not_three_floats, st.sampled_from(sorted(DOORS)))
def test_what_is_not_three_floats(value, door):
    refused(lambda t, q, omega, parameters: value, "torque returns", doors=[door])


@settings(max_examples=30)
@given(
    st.sampled_from(
        [ValueError, TypeError, KeyError, ZeroDivisionError, OverflowError, AssertionError, RecursionError, OSError]
    ),
    st.text(max_size=3000),
    st.sampled_from(sorted(DOORS)),
)
def test_a_torque_that_raises(kind, text, door):
    def torque(t, q, omega, parameters):
        if t >= 0.0:
            raise kind(text)
        return (0.0, 0.0, 0.0)

    with pytest.raises((TypeError, ValueError), match=f"torque raises {kind.__name__}") as caught:
        DOORS[door](torque)
    assert len(str(caught.value)) < 400


beyond = st.one_of(st.integers(3, 10**30), st.integers(-(10**30), -1))


@settings(max_examples=30)
@given(beyond, st.floats(0.0, 1.0), st.sampled_from(sorted(DOORS)))
def test_a_parameter_that_is_not_declared(index, since, door):
    """Also behind a branch that the first state does not take."""

    def torque(t, q, omega, p):
        return (p[index] if t >= since else 0.0, 0.0, 0.0)

    refused(torque, f"reads parameters[{index}]", "has 3 parameters", doors=[door])


@settings(max_examples=12)
@given(st.integers(0, 8).filter(lambda n: n != 4), st.booleans())
def test_another_number_of_arguments(count, keyword):
    names = [f"a{i}" for i in range(count)] + ["*", "k"] * keyword
    torque = eval(f"lambda {', '.join(names)}: (0.0, 0.0, 0.0)")
    refused(torque, "torque must take (t, q, omega, parameters), but takes")


class Called:
    def __call__(self, t, q, omega, parameters):
        return (0.0, 0.0, 0.0)

    def method(self, t, q, omega, parameters):
        return (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    "torque", [functools.partial(lambda t, q, omega, p, k: (k, k, k), k=1.0), Called(), Called().method, Called, max, np.cross]
)
def test_what_can_be_called_and_is_no_function(torque):
    refused(torque, "torque must be a function of its own")


@settings(max_examples=3)
@given(st.integers(20, 60), st.floats(0.5, 2.0))
def test_whole_numbers_that_overflow_when_compiled(power, factor):
    def torque(t, q, omega, p):
        ten = 10
        return (factor * omega[0] * ten**power, 0.0, 0.0)

    refused(torque, "compiled whole numbers overflow at 2^63", doors=["compile"])


def test_division_by_zero_off_the_motion_s_start_is_allowed():
    def torque(t, q, omega, p):
        return (1.0 / (t - 1.0), 0.0, 0.0)

    try_torque("here", torque, (), [(0.0, Q, W), (1.0, Q, W)])
    said = r"^here: torque raises ZeroDivisionError: .* at t = 1; it must be finite where the motion begins "
    said += r"\(test_trials\.py, line \d+\)$"
    with pytest.raises(ValueError, match=said):
        try_torque("here", torque, (), [(1.0, Q, W)])


def test_torques_that_serve_are_taken():
    for torque in (lambda t, q, omega, p: (0, 0, 1), lambda t, q, omega, p: (np.float64(1), p[2], 3)):
        assert np.isfinite(polhode.simulate(problem(torque), "rk4", 0.1)["omega"]).all()


def test_torque_classes_need_the_parameters_that_they_read():
    few = polhode.Bodies([BODY.inertia], [Q], [W], [[1.0]])
    with pytest.raises(ValueError, match=r"torque class 'constant': torque reads parameters\[1\], but has 1 parameter"):
        polhode.simulate_many(few, "euler", "constant", 0.1, 3)


def test_loads_of_systems():
    system = polhode.problems["coupled_cylinders"]

    def beyond(t, r, v, q, omega, parameters, force, torque):
        torque[0][0] = parameters[len(system.parameters)]

    def raises(t, r, v, q, omega, parameters, force, torque):
        torque[7][0] = 1.0

    def words(t, r, v, q, omega, parameters, force, torque):
        torque[0][0] = None

    for loads, said in ((beyond, "loads reads parameters"), (raises, "loads raises IndexError"), (words, "loads gives None")):
        for door in (lambda p: polhode.simulate(p, "euler", 0.1), lambda p: reference_dataset(p, [0.1], 20)):
            with pytest.raises(ValueError, match=said):
                door(replace(system, loads=loads))
    with pytest.raises(TypeError, match=r"loads must take \(t, r, v, .*\), but takes \(t, q\)"):
        replace(system, loads=lambda t, q: None)


# --- formulas ----------------------------------------------------------------------------------------------------------


def case(formula, **parameters):
    values = {"inertia": [1, 2, 2.5], "omega": list(W), "time": 1.0, "torque": [formula, "0", "0"], "parameters": parameters}
    return case_of_mapping(values)[0].starts[0]


atoms = st.one_of(
    st.sampled_from(
        ["t", "qx", "wx", "k", "pi", "2", "0", "1e300", "10**40", "", "q", "1j", "True", "'a'", "\u00b5", "\u0661"]
    ),
    st.integers(-(10**60), 10**60).map(str),
    st.floats().map(str),
    st.text(max_size=4),
)
formulas = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "**", "//", "%", "@", ","]), inner).map(" ".join),
        st.tuples(st.sampled_from(["sin", "sqrt", "exp", "cos", "open", "-", ""]), inner).map("{0[0]}({0[1]})".format),
        st.tuples(inner, st.integers(1, 3000)).map(lambda pair: "+".join([pair[0]] * pair[1])),
        st.tuples(inner, st.integers(1, 3000)).map(lambda pair: "(" * pair[1] + pair[0] + ")" * pair[1]),
    ),
    max_leaves=4,
)


@settings(max_examples=40)
@given(formulas)
def test_every_formula_is_a_torque_or_a_sentence(formula):
    try:
        of_formula = case(formula, k=2.0)
    except AdviceError as error:
        assert len(str(error)) < 400 and "Error(" not in str(error)
        return
    assert all(isinstance(x, float) and np.isfinite(x) for x in of_formula.torque(0.0, of_formula.q0, W, [2.0]))


@settings(max_examples=4)
@given(st.integers(19, 300), st.floats(0.1, 9.0))
def test_numbers_of_formulas_are_floats(power, factor):
    of_formula = case(f"{factor!r}*10**-{power}*10**{power}*wx + 2**63*0")
    assert of_formula.compiled_torque(0.0, Q, W, of_formula.parameter_array)[0] == pytest.approx(factor * W[0], rel=1e-12)


def test_a_product_of_a_negative_number_stays_a_product():
    torque, _ = torque_of_formulas(["(-2)**3 + (-qx)**2", 0, 0])
    assert torque(0.0, (0.0, 0.5, 0.0, 0.0), W, ()) == (-7.75, 0.0, 0.0)


@pytest.mark.parametrize("declared", ["\u00b5", "\u03bc"])
@pytest.mark.parametrize("used", ["\u00b5", "\u03bc"])
def test_the_micro_sign_of_keyboards_is_the_greek_letter(declared, used):
    of_formula = case(f"{used}*wx", **{declared: 4.0})
    assert of_formula.torque(0.0, Q, W, [4.0])[0] == 4.0 * W[0]
    mine = replace(problem(lambda t, q, omega, p: (p[0], 0.0, 0.0)), parameters={declared: 1.0})
    assert mine.with_parameters(**{used: 2.0}).parameters == {declared: 2.0}


def test_two_parameters_that_look_alike_are_refused():
    with pytest.raises(AdviceError, match="occurs twice"):
        case("wx", **{"\u00b5": 1.0, "\u03bc": 2.0})
