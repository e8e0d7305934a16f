"""Single changes to published methods: a choice, the number of iterations, a part left out."""

from dataclasses import fields, replace
from functools import cache
from math import nan
from typing import Any

import numpy as np
import xarray as xr

from polhode.algebra import metrics
from polhode.algebra.body import angular_velocity, euler_equations
from polhode.algebra.quaternion import derivative, increment, normalise, rotate, scaled, to_body, to_lab
from polhode.algebra.vector import add, axpy, cross, dot, scale
from polhode.compiling.kernel import kernel
from polhode.fits import laws
from polhode.fits.orders import fit_order
from polhode.interface.arrays import about
from polhode.methods import (
    METHODS,
    fincham1992,
    fincham1992_delvalle2024,
    fincham1992_yade,
    johnson2008,
    johnson2008_delvalle2024,
    omelyan1998,
    pfc4_delvalle2024,
    spiral_leapfrog,
    verlet,
)
from polhode.methods.johnson2008_delvalle2024 import runge_kutta
from polhode.methods.numbered import NumberedOneTorque, NumberedSeveralTorques, numbered
from polhode.methods.protocol import Method, OneTorque
from polhode.methods.states import omega_of_momentum
from polhode.simulate import simulate
from polhode_study.run.check import DIGITS, exact_end, fincham_normalised, problem_of
from polhode_study.run.ensemble import method_dataset
from polhode_study.run.ensemble_states import states_dataset
from polhode_study.run.making import Settings

#: The run for single changes to the published methods: their test, with steps that divide its time.
VARIANT_PROBLEM, VARIANT_DIVISIONS = "spiral_cylinder", tuple(2**k for k in range(6, 18))


def published_variants(settings: Settings) -> xr.Dataset:
    """The published methods with one choice changed at a time, q and omega at the end: errors over dt, and the orders."""
    problem = problem_of(VARIANT_PROBLEM)
    variants = _variants()
    q, omega = (values[0] for values in problem.exact([problem.horizon], DIGITS))
    divisions = settings.get("divisions", VARIANT_DIVISIONS)
    dts = problem.horizon / np.array(divisions)
    errors = np.full((len(variants), 2, len(dts)), nan)
    orders = np.full((len(variants), 2), nan)
    for i, (_, _, method) in enumerate(variants.values()):
        for k, dt in enumerate(dts):
            run = simulate(problem, method, float(dt), samples=1)
            errors[i, 0, k] = metrics.orientation_l1(run.q.values[-1], q)
            errors[i, 1, k] = metrics.relative_l1(run.omega.values[-1], omega)
        orders[i] = [fit_order(dts, row, problem.horizon).order for row in errors[i]]
    dims = ("variant", "quantity")
    return xr.Dataset(
        {
            "error": ((*dims, "division"), errors, about("relative L1 error at the end")),
            "order": (dims, orders, about("fitted order")),
            "dt": ("division", dts, about("step size", "s")),
            "base": ("variant", [base for base, _, _ in variants.values()], {"long_name": "method that is changed"}),
            "description": ("variant", [text for _, text, _ in variants.values()], {"long_name": "description of the change"}),
        },
        {"variant": list(variants), "quantity": ["q", "omega"], "division": list(divisions)},
        {"problem": problem.key},
    )


def _variants() -> dict[str, tuple[str, str, Method]]:
    """Name -> (the published method that is modified, description of the change, the method)."""
    johnson, fincham, pfc4 = "johnson2008_delvalle2024", "fincham1992_delvalle2024", "pfc4_delvalle2024"
    return {
        johnson: (johnson, "as published", johnson2008_delvalle2024.METHOD),
        "averaged": (johnson, "the torques of both ends averaged", _johnson(linear=False, averaged=True)),
        "linear": (johnson, "the momentum linear over the stages of the rotation", _johnson(linear=True, averaged=False)),
        "both": (johnson, "both of these", _johnson(linear=True, averaged=True)),
        "averaged_again": (
            johnson,
            "averaged; the rotation done again with the mean momentum",
            _johnson(False, True, again=True),
        ),
        "johnson2008": (johnson, "both; the rotation done again with the mean torque", johnson2008.METHOD),
        fincham: (fincham, "as published", fincham1992_delvalle2024.METHOD),
        "half_step_as_it_is": (fincham, "the half-step quaternion not normalised, as in YADE", _fincham_of_yade()),
        "half_step_matrix": (fincham, "the momentum turned with the normalised half-step quaternion", fincham_normalised()),
        "fincham1992": (fincham, "both: turned with it, not normalised, as by Fincham", fincham1992.METHOD),
        pfc4: (pfc4, "as published", pfc4_delvalle2024.METHOD),
        "columns": (pfc4, "Gram-Schmidt on the columns (the axes of the body)", _pfc4_by_columns()),
        "pfc4": (pfc4, "half kicks at both ends and an exact rotation, as in MercuryDPM", METHODS["pfc4"]),
    }


def _johnson(linear: bool, averaged: bool, again: bool = False) -> NumberedSeveralTorques:
    """Johnson's method as published, with parts of the predictor-corrector of the angular momentum.

    Parameters
    ----------
    linear : whether the momentum varies over the stages of the rotation, driven by the torque at the start of the step
    averaged : whether the momentum advances by the mean of the torques at both ends instead of that at the end
    again : whether the rotation is repeated with the mean momentum of the step
    """
    return _johnson_with_weights().with_numbers(linear, *((0.5, 0.5) if averaged else (0.0, 1.0)), again)


@cache
def _johnson_with_weights() -> NumberedSeveralTorques:
    """Johnson's method; its numbers are the parameters of :func:`_johnson`, for the torques their two weights."""

    @kernel
    def step(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
        slope, first, last, again = body[9], body[10], body[11], body[12]
        q, momentum = state[:4], state[4:7]
        old = to_lab(q, torque(t, q, omega_of_momentum(state, body), parameters))
        turned = normalise(runge_kutta(q, momentum, scale(slope, old), body, dt))
        omega = angular_velocity(to_body(turned, axpy(dt, old, momentum)), body)
        new = to_lab(turned, torque(t + dt, turned, omega, parameters))
        mean = axpy(first, old, scale(last, new))
        if again != 0.0:
            turned = runge_kutta(q, axpy(0.5 * dt, mean, momentum), scale(0.0, mean), body, dt)
        return turned + axpy(dt, mean, momentum)

    declared = {field.name: getattr(johnson2008.METHOD, field.name) for field in fields(johnson2008.METHOD)}
    return NumberedSeveralTorques(**{**declared, "key": "johnson_changed", "step": step}, numbers=(0.0, 0.0, 1.0, 0.0))


def _fincham_of_yade() -> Method:
    """Fincham as published, except that the half-step quaternion is not normalised: the step of YADE."""
    return replace(fincham1992_delvalle2024.METHOD, key="fincham_yade", after_torque=fincham1992_yade.after_torque)


def _pfc4_by_columns() -> Method:
    """PFC4 as published, except that Gram-Schmidt acts on the axes of the body."""

    @kernel
    def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
        x, y, z, omega = state[:3], state[3:6], state[6:9], state[9:12]
        omega = pfc4_delvalle2024.kick(x, y, z, omega, pfc4_delvalle2024.from_body(x, y, z, torque), body, dt)
        x, y, z = axpy(dt, cross(omega, x), x), axpy(dt, cross(omega, y), y), axpy(dt, cross(omega, z), z)
        x, y, z = pfc4_delvalle2024.orthonormal(x, y, z)
        return x + y + z + omega

    return replace(pfc4_delvalle2024.METHOD, key="pfc4_columns", after_torque=after_torque)


#: Numbers of sweeps of the iterations for the angular velocity; the last counts as converged.
SWEEPS = (1, 2, 3, 12)
SWEPT_PROBLEM, SWEPT_DIVISIONS = "spiral_cylinder", (128, 256, 512, 1024, 2048, 4096, 8192)
#: The run over which the energy is followed, that of the free top among the long runs of the default study, and its samples.
SWEPT_TOP, SWEPT_DT, SWEPT_STEPS, SWEPT_SAMPLES = "free_asymmetric_top", 0.01, 1_000_000, 200


def sweeps(settings: Settings) -> xr.Dataset:
    """Three schemes with several numbers of iterations for the angular velocity: errors at the end, and drift of the energy.

    Those of Omelyan and of velocity Verlet solve the trapezoidal rule, in one step or in two halves, the fixed point of PFC4
    the implicit Euler scheme. ``energy_change``: largest relative change of the energy of a free top in the last tenth of a
    long run, as in the table of the long runs.
    """
    problem = problem_of(SWEPT_PROBLEM)
    # Velocity Verlet only as it is run and converged.
    made = {
        "omelyan1998": (omelyan_with, SWEEPS),
        "fixed_point": (fixed_point_with, SWEEPS),
        "verlet": (verlet_with, SWEEPS[2:]),
    }
    exact = exact_end(problem)
    dts = problem.horizon / np.array(settings.get("divisions", SWEPT_DIVISIONS))
    error = np.full((len(made), len(SWEEPS), 2, len(dts)), nan)
    change = np.full(error.shape[:2], nan)
    for i, (make, counts) in enumerate(made.values()):
        for j, count in enumerate(SWEEPS):
            if count not in counts:
                continue
            method = make(count)
            for k, dt in enumerate(dts):
                run = simulate(problem, method, float(dt), samples=1)
                error[i, j, 0, k] = metrics.orientation_l1(run.q.values[-1], exact["q"])
                error[i, j, 1, k] = metrics.relative_l1(run.omega.values[-1], exact["omega"])
            if "divisions" not in settings:
                energy = simulate(problem_of(SWEPT_TOP), method, SWEPT_DT, SWEPT_DT * SWEPT_STEPS, SWEPT_SAMPLES).energy.values
                change[i, j] = np.abs(energy / energy[0] - 1)[-SWEPT_SAMPLES // 10 :].max()
    return xr.Dataset(
        {
            "error": (("integrator", "sweeps", "quantity", "dt"), error, about("relative L1 error at the end")),
            "energy_change": (("integrator", "sweeps"), change, about("relative change of the energy of a free top")),
        },
        {
            "integrator": list(made),
            "sweeps": list(SWEEPS),
            "quantity": ["q", "omega"],
            "dt": ("dt", dts, about("step size", "s")),
        },
        {"problem": problem.key, "top": SWEPT_TOP, "top_dt": SWEPT_DT, "top_dt_units": "s", "top_steps": SWEPT_STEPS},
    )


def omelyan_with(count: int) -> NumberedOneTorque:
    """Omelyan's scheme with this many iterations per step; with three it is the registered method."""
    return _omelyan().with_numbers(count)


@cache
def _omelyan() -> NumberedOneTorque:
    """Omelyan's scheme; its number is that of the iterations."""

    @kernel
    def kick(omega: Any, torque: Any, body: Any, dt: Any) -> Any:
        old = euler_equations(omega, torque, body)
        new = axpy(dt, old, omega)
        for _ in range(int(body[9]) - 1):
            new = axpy(0.5 * dt, add(old, euler_equations(new, torque, body)), omega)
        return new

    @kernel
    def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
        q, omega = state[:4], state[4:7]
        omega = kick(omega, torque, body, dt)
        a = (0.0625 * dt * dt) * dot(omega, omega)
        turned = increment(dt, derivative(q, omega), scaled(1.0 - a, q))
        return scaled(1.0 / (1.0 + a), turned) + omega

    @kernel
    def read(state: Any, torque: Any, body: Any, dt: Any) -> Any:
        return state[:4], kick(state[4:7], torque, body, 0.5 * dt)

    return numbered(omelyan1998.METHOD, 3, key="omelyan1998_iterated", after_torque=after_torque, read=read)


def verlet_with(count: int) -> NumberedOneTorque:
    """Velocity Verlet with this many iterations for its second half kick; with three it is the registered method."""
    return _verlet().with_numbers(count)


@cache
def _verlet() -> NumberedOneTorque:
    """Velocity Verlet; its number is that of the iterations."""

    @kernel
    def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
        omega = state[4:7]
        new = omega
        for _ in range(int(body[9])):
            new = axpy(0.5 * dt, euler_equations(new, torque, body), omega)
        return state[:4] + new + torque

    return numbered(verlet.METHOD, 3, key="verlet_iterated", after_torque=after_torque)


def fixed_point_with(count: int) -> NumberedOneTorque:
    """SPIRAL with the fixed point of PFC4 (Eq. B.16, in the body frame) for its angular velocity, with this many sweeps."""
    return _fixed_point().with_numbers(count)


@cache
def _fixed_point() -> NumberedOneTorque:
    """SPIRAL with the fixed point of PFC4; its number is that of the sweeps."""

    @kernel
    def kick(omega: Any, torque: Any, body: Any, dt: Any) -> Any:
        new = omega
        for _ in range(int(body[9])):
            new = axpy(dt, euler_equations(new, torque, body), omega)
        return new

    return numbered(with_kick("fixed_point", kick), 1)


def with_kick(key: str, kick: Any) -> OneTorque:
    """SPIRAL with another kernel for its angular velocity."""

    @kernel
    def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
        return q + kick(omega, torque, body, -0.5 * dt)

    @kernel
    def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
        q, omega = state[:4], state[4:7]
        omega = kick(omega, torque, body, dt)
        return rotate(q, omega, dt) + omega

    @kernel
    def read(state: Any, torque: Any, body: Any, dt: Any) -> Any:
        return state[:4], kick(state[4:7], torque, body, 0.5 * dt)

    return replace(spiral_leapfrog.METHOD, key=key, start=start, after_torque=after_torque, read=read)


#: Fincham's scheme with and without the half-step quaternion: the free top, with enough steps to see its energy change.
INTERPOLATED_PROBLEM, INTERPOLATED_DT, INTERPOLATED_STEPS, INTERPOLATED_SAMPLES = "free_asymmetric_top", 0.01, 100_000, 100
#: A sphere under a torque of the time, for SPIRAL with the plain kick; the step of Seelen et al. (2016), Sec. 3.2.
SPHERE_PROBLEM, SPHERE_DT = "exponential_sphere", 1e-4
#: Random bodies under smooth torques, for multistep methods without their start: number, seed, times and steps in radians.
STARTED_BODIES, STARTED_SEED, STARTED_CLASSES = 32, 2026, ("time", "lab", "state")
STARTED_RADIANS, STARTED_STEPS = (2.0, 4.0, 8.0, 16.0), tuple(2.0**-k for k in range(10))
#: The error per radian for which steps are counted there.
STARTED_TARGET = 1e-4


STARTED_ABOUT = about("steps per radian that Magnus-Adams 4 with this start, or another method, needs for the target")


def started() -> xr.DataArray:
    """Steps per radian of Magnus-Adams 4 with four torques in the first steps and with one, and of other methods.

    Over start, torque_class and body, for an error of :data:`STARTED_TARGET` per radian (:mod:`polhode.fits.laws`).
    """
    whole, others = METHODS["magnus_adams4"], ("spiral_leapfrog", "exact_rotor")
    assert isinstance(whole, OneTorque)
    methods = {"four torques": whole, "one torque": whole.without_passages(), **{key: METHODS[key] for key in others}}
    exact = states_dataset(STARTED_BODIES, STARTED_SEED, STARTED_CLASSES, STARTED_RADIANS)
    runs = [method_dataset(method, exact, STARTED_STEPS).expand_dims(integrator=[name]) for name, method in methods.items()]
    steps = laws.steps_per_radian(xr.concat(runs, "integrator"), (STARTED_TARGET,))["steps"].isel(target=0, drop=True)
    steps = steps.reset_coords(drop=True).rename(integrator="start").transpose("start", "torque_class", "body")
    about = {"start": "torques in the first steps of Magnus-Adams 4, or another method", "torque_class": "class of torque"}
    return steps.assign_coords({name: (name, steps[name].values, {"long_name": text}) for name, text in about.items()})


def simplified(settings: Settings) -> xr.Dataset:
    """Schemes without one of their parts: those that del Valle et al. (2024) praise or call superfluous, and a start.

    ``energy_change``: of Fincham's original leapfrog, as published, and without the half-step quaternion. ``sphere_q``,
    ``sphere_omega``: the difference of SPIRAL with a plain kick of omega from SPIRAL on a sphere, over the run.
    ``steps_per_radian``: :func:`started`.
    """

    @kernel
    def without_half_step(state: Any, torque: Any, body: Any, dt: Any) -> Any:
        q, momentum = state[:4], state[4:7]
        momentum = axpy(dt, to_lab(q, torque), momentum)
        omega = angular_velocity(to_body(q, momentum), body)
        return increment(dt, derivative(q, omega), q) + momentum + omega

    @kernel
    def plain_kick(omega: Any, torque: Any, body: Any, dt: Any) -> Any:
        return axpy(dt, angular_velocity(torque, body), omega)

    plain = replace(fincham1992.METHOD, key="fincham_without_half_step", after_torque=without_half_step)
    variants = {"meant": fincham1992.METHOD, "published": fincham1992_delvalle2024.METHOD, "without": plain}
    problem, samples = problem_of(INTERPOLATED_PROBLEM), settings.get("samples", INTERPOLATED_SAMPLES)
    end = INTERPOLATED_DT * (INTERPOLATED_STEPS // INTERPOLATED_SAMPLES) * samples
    energies = [simulate(problem, m, INTERPOLATED_DT, end, samples).energy.values for m in variants.values()]
    change = np.abs(np.array(energies) / energies[0][0] - 1)
    sphere = problem_of(SPHERE_PROBLEM)
    two = [simulate(sphere, m, SPHERE_DT) for m in (spiral_leapfrog.METHOD, with_kick("spiral_plain_kick", plain_kick))]
    q, omega = (np.abs(two[1][name].values - two[0][name].values).max() for name in ("q", "omega"))
    largest = np.abs(two[0].omega.values).max()
    return xr.Dataset(
        {
            "energy_change": (("variant", "sample"), change, about("relative change of the energy")),
            "sphere_q": ((), q, about("largest difference of a component of q")),
            "sphere_omega": ((), omega / largest, about("largest difference of omega, relative to its largest value")),
            **({} if "samples" in settings else {"steps_per_radian": started().assign_attrs(STARTED_ABOUT)}),
        },
        {"variant": list(variants)},
        {
            "problem": problem.key,
            "dt": INTERPOLATED_DT,
            "steps": INTERPOLATED_STEPS,
            "sphere": sphere.key,
            "sphere_dt": SPHERE_DT,
            "target": STARTED_TARGET,
            "seed": STARTED_SEED,
        },
    )
