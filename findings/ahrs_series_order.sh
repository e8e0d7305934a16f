#!/usr/bin/env bash
# AHRS, AngularRate: orientation from angular rates, by a series in the angle turned.
# Guess: with order=2 the series is more accurate than with order=1; both approach the closed form.
# What happens: the powers in the series are taken element by element and not of the matrix, so the second-order series has about
# twice the error of the first-order series. The closed form is of first order too if the rates change, because each step uses the rate at
# its end. Exact motion: a free body, SciPy's DOP853 at 1e-12.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q ahrs==0.4.0 "numpy<3" scipy
"$folder/env/bin/python" - <<'PYTHON'
import numpy as np
from ahrs.filters import AngularRate
from importlib.metadata import version
from scipy.integrate import solve_ivp

INERTIA = np.array([0.6, 1.0, 1.4])


def rate(t, y):
    q, w = y[:4], y[4:]
    return [*(0.5 * np.array([-q[1:] @ w, *(q[0] * w + np.cross(q[1:], w))])), *(-np.cross(w, INERTIA * w) / INERTIA)]


exact = solve_ivp(rate, (0, 10), [1, 0, 0, 0, 0.48, 0.36, 0.8], "DOP853", rtol=1e-12, atol=1e-12, dense_output=True).sol
print("ahrs", version("ahrs"), "- error of the orientation after 10 s, rad")
errors = {}
for frequency in (20, 40, 80):
    times = np.arange(10 * frequency + 1) / frequency
    rates = exact(times)[4:].T
    for name, settings in {"closed": {}, "series, order 1": dict(method="series", order=1), "series, order 2": dict(method="series", order=2)}.items():
        q = AngularRate(gyr=rates, frequency=frequency, q0=[1.0, 0, 0, 0], **settings).Q[-1]
        errors[name, frequency] = 2 * np.arccos(min(1.0, abs(q @ exact(10.0)[:4])))
        print(f"{frequency} Hz, {name}: {errors[name, frequency]:.5f}")
worse = errors["series, order 2", 40] / errors["series, order 1", 40]
order = np.log2(errors["closed", 20] / errors["closed", 80]) / 2
print(f"order 2 has {worse:.2f} times the error of order 1; the closed form converges with order {order:.2f}")
assert 1.5 < worse < 2.5, "the series has changed"
assert 0.9 < order < 1.1, "the closed form has changed"
PYTHON
