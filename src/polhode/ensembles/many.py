"""Run one method on many bodies, each with its own moments, start and parameters of the torque.

One compiled loop over bodies calls the loop of one body, which it is handed with the functions of the method. It is therefore
compiled once for all methods, and a body has the bits that :func:`polhode.simulate` gives it alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import types

from polhode.algebra.body import Body, coefficients_of
from polhode.compiling.kernel import compile_driver
from polhode.compiling.marching import Pauses
from polhode.compiling.signatures import float_type, pause_type, samples_type, steps_type, torque_type
from polhode.compiling.trials import compiled_torque, states_of, try_torque
from polhode.ensembles.classes import CLASSES, TorqueClass
from polhode.interface.arguments import array, is_ordered, positive, shown, switch, unit_quaternions, whole
from polhode.methods import METHODS, one_body
from polhode.methods.protocol import Method
from polhode.registry import nearest
from polhode.simulate import MOST_STEPS

if TYPE_CHECKING:
    import xarray as xr

_rows = types.Array(types.float64, 2, "C")
_tables = types.Array(types.float64, 3, "C")
_SIGNATURE = types.void(
    types.FunctionType(one_body.drive_type()),
    types.FunctionType(one_body.march_type()),
    *(_rows,) * 5,
    torque_type,
    _rows,
    float_type,
    types.boolean,
    samples_type,
    steps_type,
    pause_type,
    *(_tables,) * 3,
)


@dataclass(frozen=True)
class Bodies:
    """Many independent bodies, one row each.

    Parameters
    ----------
    moments : array (n, 3)
        Principal moments of inertia, kg m^2.
    q0 : array (n, 4)
        Initial orientations, unit, body to lab. Those that are unit to single precision only are divided by their norms.
    omega0 : array (n, 3)
        Initial angular velocities in the body frames, rad/s.
    parameters : array (n, k), optional
        The numbers that the torque reads.
    triangle : bool
        Whether the moments must be those of bodies that can exist.

    Raises
    ------
    TypeError, ValueError
        If an array has a wrong shape or a value that no body can have; the message names it.
    """

    moments: np.ndarray
    q0: np.ndarray
    omega0: np.ndarray
    parameters: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    triangle: bool = True

    def __post_init__(self) -> None:
        for name, columns in (("moments", 3), ("q0", 4), ("omega0", 3), ("parameters", None)):
            given = getattr(self, name)
            if name == "parameters" and is_ordered(given) and len(given) == 0:
                given = np.empty((len(self.moments), 0))
            where = f"bodies: {name}"
            object.__setattr__(self, name, unit_quaternions(where, given) if name == "q0" else array(where, given, columns))
        count = len(self.moments)
        for name in ("q0", "omega0", "parameters"):
            if len(getattr(self, name)) != count:
                raise ValueError(f"bodies: {name} has {len(getattr(self, name))} rows for {count} bodies")
        if count == 0:
            raise ValueError("bodies: there must be at least one")
        for i, (x, y, z) in enumerate(self.moments):
            try:
                Body((float(x), float(y), float(z)), triangle=self.triangle)
            except ValueError as error:
                raise ValueError(f"bodies: moments[{i}]: {error}") from None

    def __len__(self) -> int:
        return len(self.moments)

    def coefficients(self) -> np.ndarray:
        """The numbers that the kernels read, (n, 9): :meth:`polhode.algebra.body.Body.coefficients` of each body in a row."""
        return np.column_stack(coefficients_of(self.moments.T))


def _run_all(  # type: ignore[no-untyped-def]
    drive,
    march,
    states,
    reading,
    q0,
    omega0,
    bodies,
    torque,
    parameters,
    dt,
    normalise,
    moves,
    sample_steps,
    pause,
    q_out,
    omega_out,
    stored_out,
):
    """Run the loop of one body on one body after the other."""
    for i in range(q0.shape[0]):
        drive(
            march,
            states,
            reading,
            (q0[i, 0], q0[i, 1], q0[i, 2], q0[i, 3]),
            (omega0[i, 0], omega0[i, 1], omega0[i, 2]),
            (
                bodies[i, 0],
                bodies[i, 1],
                bodies[i, 2],
                bodies[i, 3],
                bodies[i, 4],
                bodies[i, 5],
                bodies[i, 6],
                bodies[i, 7],
                bodies[i, 8],
            ),
            torque,
            parameters[i],
            dt,
            normalise,
            moves,
            sample_steps,
            pause,
            q_out[i],
            omega_out[i],
            stored_out[i],
        )


@cache
def _compiled() -> Callable[..., Any]:
    """The loop over bodies; it takes the driver of any method."""
    return compile_driver(_run_all, _SIGNATURE)


def march(
    bodies: Bodies,
    method: Method,
    torque: Callable[..., Any],
    dt: float,
    sample_steps: np.ndarray,
    normalise: bool | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Run a method on all bodies, with one step size.

    The bits are those of :meth:`polhode.methods.protocol.Method.integrate` on each body.

    Parameters
    ----------
    bodies : n bodies
    method : the method
    torque : compiled torque, see :func:`polhode.compiling.kernel.compile_torque`
    dt : time step, s
    sample_steps : (samples,) ascending numbers of steps after which the state is read, int64
    normalise : whether the quaternion is normalised every step; by default as the method declares

    Returns
    -------
    q (n, samples, 4), unit quaternions, body to lab; omega, and the omega that the method stores, (n, samples, 3) in the body
    frame, rad/s. NaN after a blow-up.
    """
    run = _compiled()
    shape = len(bodies), len(sample_steps)
    q = np.full((*shape, 4), np.nan)
    omega, stored = np.full((*shape, 3), np.nan), np.full((*shape, 3), np.nan)
    # A torque reads at least one number, as those of a problem.
    parameters = np.column_stack([bodies.parameters, np.zeros(len(bodies))])
    pauses = Pauses()
    run(
        one_body.driver(),
        method.compiled_march(),
        np.zeros((1, method.state_width)),
        np.zeros((3, 4)),
        bodies.q0,
        bodies.omega0,
        bodies.coefficients(),
        torque,
        np.ascontiguousarray(parameters),
        float(dt),
        method.normalisation(normalise),
        method.moves,
        np.ascontiguousarray(sample_steps, dtype=np.int64),
        pauses,
        q,
        omega,
        stored,
    )
    pauses.end()
    return q, omega, stored


def simulate_many(
    bodies: Bodies,
    method: str | Method,
    torque: str | TorqueClass | Callable[..., Any],
    dt: float,
    steps: int | Sequence[int],
    *,
    normalise: bool | None = None,
) -> "xr.Dataset":
    """Integrate many independent bodies with one method and one step size, for statistics over bodies.

    Every body runs as :func:`polhode.simulate` would run it, with the same bits, in one compiled loop.

    Parameters
    ----------
    bodies : Bodies
        Moments (n, 3), initial orientations (n, 4) and angular velocities (n, 3), parameters of the torque (n, k).
    method : str or Method
        Its key, or an object of your own.
    torque : str, TorqueClass or function
        The key of a torque class (``polhode.ensembles.CLASSES``), such a class, or a function (t, q, omega, parameters) ->
        (tx, ty, tz), as for a :class:`polhode.problems.problem.Problem`: in the body frame, in plain arithmetic.
    dt : float
        Time step in s.
    steps : int, or ascending whole numbers
        The number of steps, or those after which all bodies are read.
    normalise : bool, optional
        Whether the quaternion is normalised every step; by default as the method declares.

    Returns
    -------
    xarray.Dataset
        ``q`` (body, quaternion), ``omega`` and ``stored_omega`` (body, axis), read as by :func:`polhode.simulate`, and
        ``diverged`` (body), whether the run blew up, its states then being NaN. If several numbers of steps are given, there is
        a dimension ``time`` (s) after ``body``.

    Raises
    ------
    KeyError, TypeError, ValueError
        If an argument is not as described; the message names it.

    Examples
    --------
    >>> import polhode
    >>> tops = polhode.ensembles.draw(100).bodies("state")
    >>> coarse, fine = (polhode.simulate_many(tops, "spiral_leapfrog", "state", 0.1 / k, 50 * k) for k in (1, 10))
    >>> change = abs(coarse["omega"] - fine["omega"]).max("axis")
    >>> coarse["omega"].shape, bool(change.median() < 0.02)
    ((100, 3), True)
    """
    import xarray as xr  # imported here because the jobs of a study need only march

    if not isinstance(bodies, Bodies):
        raise TypeError(f"bodies must be a polhode.ensembles.Bodies, got {shown(bodies)}")
    if isinstance(method, str):
        method = METHODS[method]
    if not isinstance(method, Method):
        raise TypeError(f"method must be a key or a polhode Method, got {shown(method)}")
    dt = positive("dt", dt, "s")
    several = is_ordered(steps)
    each: Any = steps if several else [steps]
    wanted = [whole("steps", n, least=0) for n in each]
    if not wanted or sorted(set(wanted)) != wanted or wanted[-1] > MOST_STEPS:
        raise ValueError(f"steps must be a number of steps, or several in ascending order, got {shown(steps)}")
    at = np.array(wanted, dtype=np.int64)
    q, omega, stored = march(
        bodies, method, _compiled_torque(torque, bodies, float(at[-1] * dt)), dt, at, switch("normalise", normalise)
    )
    diverged = ~np.isfinite(q).all(axis=(1, 2))
    turning = {"long_name": "angular velocity in the body frame", "units": "rad s-1", "symbol": "omega"}
    carried = {**turning, "long_name": "angular velocity as the method carries it, at time + stored_offset * dt"}
    data = xr.Dataset(
        {
            "q": (
                ("body", "time", "quaternion"),
                q,
                {"long_name": "orientation, body to lab", "units": "1", "symbol": "q"},
            ),
            "omega": (("body", "time", "axis"), omega, turning),
            "stored_omega": (("body", "time", "axis"), stored, carried),
            "diverged": ("body", diverged, {"long_name": "whether the run blew up"}),
        },
        {
            "time": ("time", at * dt, {"long_name": "time", "units": "s", "symbol": "t"}),
            "quaternion": ("quaternion", ["0", "x", "y", "z"], {"long_name": "quaternion component"}),
            "axis": ("axis", ["x", "y", "z"], {"long_name": "axis"}),
        },
        {"method": method.key, "dt": dt, "dt_units": "s", "stored_offset": method.stored_offset},
    )
    return data if several else data.isel(time=0)


def _compiled_torque(torque: Any, bodies: Bodies, time: float) -> Callable[..., Any]:
    """The torque, compiled, if it can read the parameters of these bodies; it is tried on the first."""
    if isinstance(torque, str):
        if torque not in CLASSES:
            raise KeyError(f"unknown torque class {torque!r}; {nearest(torque, list(CLASSES))}")
        torque = CLASSES[torque]
    states = states_of(bodies.q0[0], bodies.omega0[0], time or 1.0)
    parameters = bodies.parameters[0].tolist()
    if isinstance(torque, TorqueClass):
        try_torque(f"torque class {torque.key!r}", torque.torque, parameters, states, lenient=True)
        compiled: Callable[..., Any] = torque.compiled_torque
        return compiled
    if not callable(torque):
        raise TypeError(
            f"torque must be the key of a torque class or a function (t, q, omega, parameters), got {shown(torque)}"
        )
    tried: Callable[..., Any] = compiled_torque("bodies", torque, parameters, states)
    return tried
