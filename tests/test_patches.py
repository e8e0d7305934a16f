"""The patches that docs/patches offers to other codes: their own lines, evaluated, have the order that they promise."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import polhode
from polhode.compiling.plain import in_plain_python
from polhode.methods.plain_driver import plain_driver

PATCHES = sorted((Path(__file__).parents[1] / "docs" / "patches").glob("*.patch"))
#: A body, its start, a torque that is fixed in the lab, and how long it acts.
MOMENTS, OMEGA, TORQUE, END = np.array([0.8, 1.3, 1.9]), np.array([0.9, -0.7, 1.1]), np.array([0.3, -0.4, 0.5]), 1.6
STEPS = (40, 80, 160)


def lines_of(name, sign):
    """What a patch takes out or puts in, without comments."""
    text = next(path for path in PATCHES if path.stem == name).read_text(encoding="utf-8")
    rows = [row for row in text.splitlines() if row.startswith(sign) and row[:3] not in ("---", "+++")]
    return "\n".join(row[1:].partition("//")[0].strip() for row in rows).replace("->", ".")


def assigned(code, name):
    """The right side of an assignment, in C++ that Python reads as well."""
    return re.search(rf"{name}\s*\+?= (.*);", code)[1]


def order(errors):
    return np.log2(errors[0] / errors[-1]) / (len(errors) - 1)


def by_kernels(key, steps):
    """q and omega in the lab at END, by a method of ours."""
    body, dt = polhode.Body(tuple(MOMENTS)).coefficients(), END / steps

    def torque(t, q, omega, parameters):
        return tuple(rotation(q).T @ TORQUE)

    driver = plain_driver(polhode.methods[key], in_plain_python, torque, body, dt)
    state = driver.start((1.0, 0.0, 0.0, 0.0), tuple(OMEGA))
    for n in range(steps):
        state = driver.step(state, n)
    q, omega = (np.array(values) for values in driver.read(state, steps))
    return q, rotation(q) @ omega


@pytest.fixture(scope="module")
def exact():
    """By a method of fourth order in short steps."""
    return by_kernels("rkmk4", 1600)


def rotation(q):
    """The matrix that takes body to lab."""
    w, v = q[0], np.array(q[1:])
    cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


class Quaternionr:
    """What the lines of YADE do with Eigen's quaternions and matrices."""

    def __init__(self, numbers):
        self.numbers = np.asarray(numbers, float)

    def coeffs(self):
        return self.numbers

    def normalized(self):
        return Quaternionr(self.numbers / np.linalg.norm(self.numbers))

    def conjugate(self):
        return Quaternionr(self.numbers * [1, -1, -1, -1])

    def __mul__(self, vector):
        return rotation(self.numbers) @ vector


def turned(q, omega):
    """dq/dt, as DotQ."""
    w, v = q.numbers[0], q.numbers[1:]
    return Quaternionr(np.array([-v @ omega, *(w * omega + np.cross(v, omega))]) / 2)


def yade(sign, steps):
    """Orientation at the end and angular velocity half a step before, by leapfrogAsphericalRotate with the lines of a sign."""
    code, dt = lines_of("yade_fincham", sign), END / steps
    half, momentum, velocity = (assigned(code, name) for name in ("Q_half", "l_b_half", "state.angVel"))
    state = SimpleNamespace(ori=Quaternionr([1, 0, 0, 0]), angMom=MOMENTS * OMEGA - dt / 2 * TORQUE)
    for _ in range(steps):
        # The lines of YADE around those of the patch.
        to_body = state.ori.conjugate()
        dotQ_n = turned(state.ori, to_body * (state.angMom + dt / 2 * TORQUE) / MOMENTS)
        known = {"Quaternionr": Quaternionr, "state": state, "dt": dt, "dotQ_n": dotQ_n, "A": to_body}
        known["Q_half"] = eval(half, known)
        state.angMom = state.angMom + dt * TORQUE
        known["angVel_b_half"] = eval(momentum, known) / MOMENTS
        rate = turned(known["Q_half"], known["angVel_b_half"])
        state.ori = Quaternionr(state.ori.coeffs() + dt * rate.coeffs())
        state.angVel = eval(velocity, known)
        state.ori = state.ori.normalized()
    return state.ori.numbers, state.angVel


def test_yade_as_it_is_is_the_method_that_was_identified():
    assert np.abs(yade("-", 50)[0] - by_kernels("fincham1992_yade", 50)[0]).max() < 1e-13


@pytest.mark.parametrize(("sign", "least", "most"), [("-", 0.8, 1.2), ("+", 1.9, 2.2)])
def test_yade_gains_an_order(exact, sign, least, most):
    errors = [np.abs(yade(sign, steps)[0] - exact[0]).max() for steps in STEPS]
    assert least < order(errors) < most, errors


def test_the_velocity_of_yade_is_that_of_the_half_step(exact):
    """Read half a step before the end: what is left after half a step of it is of second order, and was of first."""
    q, omega = exact
    dts = [END / steps for steps in STEPS]
    spin = rotation(q).T @ omega
    rate = rotation(q) @ ((rotation(q).T @ TORQUE - np.cross(spin, MOMENTS * spin)) / MOMENTS)
    for sign, least, most in (("-", 0.8, 1.2), ("+", 1.9, 2.3)):
        off = [np.abs(yade(sign, steps)[1] + dt / 2 * rate - omega).max() for steps, dt in zip(STEPS, dts, strict=True)]
        assert least < order(off) < most, (sign, off)


def basilisk(steps, held):
    """The quaternion at the end by RK4 on modified Rodrigues parameters, the torque by the line of the patch or held."""
    product = assigned(lines_of("basilisk_torque", "+"), r"torqueExternalPntB_B").replace("*", "@")

    def torque(sigma):
        turn = SimpleNamespace(toRotationMatrix=lambda: rotation(quaternion(sigma)))
        return eval(product, {"sigmaBN": turn, "this": SimpleNamespace(extTorquePntB_N=TORQUE)})

    def rates(state, moment):
        sigma, omega = state[:3], state[3:]
        cross = np.cross(sigma, omega)
        turn = ((1 - sigma @ sigma) * omega + 2 * cross + 2 * sigma * (sigma @ omega)) / 4
        return np.array([*turn, *((moment - np.cross(omega, MOMENTS * omega)) / MOMENTS)])

    state, dt = np.array([0.0, 0.0, 0.0, *OMEGA]), END / steps
    for _ in range(steps):
        first = torque(state[:3])

        def slope(at, first=first):
            return rates(at, first if held else torque(at[:3]))

        k1 = slope(state)
        k2 = slope(state + dt / 2 * k1)
        k3 = slope(state + dt / 2 * k2)
        k4 = slope(state + dt * k3)
        state = state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return quaternion(state[:3])


def quaternion(sigma):
    square = sigma @ sigma
    return np.array([1 - square, *(2 * sigma)]) / (1 + square)


@pytest.mark.parametrize(("held", "least", "most"), [(True, 0.8, 1.2), (False, 3.8, 4.3)])
def test_basilisk_gains_three_orders(exact, held, least, most):
    errors = [np.abs(basilisk(steps, held) - exact[0]).max() for steps in STEPS[:2]]
    assert least < order(errors) < most, errors


@pytest.mark.parametrize("path", PATCHES, ids=lambda path: path.stem)
def test_a_patch_is_short_and_counts_its_lines(path):
    rows = path.read_text(encoding="utf-8").splitlines()
    heads = [i for i, row in enumerate(rows) if row.startswith("@@")]
    for i in heads:
        old, new = (int(n) for n in re.match(r"@@ -\d+,(\d+) \+\d+,(\d+) @@", rows[i]).groups())
        end = next((k for k in range(i + 1, len(rows)) if rows[k].startswith(("@@", "---"))), len(rows))
        signs = [row[:1] or " " for row in rows[i + 1 : end]]
        assert (signs.count(" ") + signs.count("-"), signs.count(" ") + signs.count("+")) == (old, new), rows[i]
    changed = [row for row in rows if row[:1] in ("-", "+") and row[:3] not in ("---", "+++")]
    assert 2 <= len(changed) <= 10
