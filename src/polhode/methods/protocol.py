"""The definition of a method: its kernels, split at the torque evaluation, and its declarations.

A step of a one-torque method is two kernels, with the single evaluation of the torque between them. The driver evaluates the
torque, so that such a method cannot do so twice even by mistake, and the many-body engine, which computes the torques of all
bodies together, can use the kernels unchanged.

The kernels of a :class:`OneTorque` method, all on tuples of floats (see :mod:`polhode.compiling.kernel`):

``start(q, omega, torque, body, dt) -> state``
    The state from which the first step begins, given the synchronous initial condition and the torque there.
    A leapfrog takes its hidden half step here.
``before_torque(state, body, dt) -> (state, q, omega)``
    The first part of a step, and the q and omega at which the torque is needed. It is needed at the time
    ``(n + torque_time) dt``, where n is the number of steps done before. The quaternion at the end of a step is not normalised
    here: a method declares whether it needs that, and the driver does it, so that each method runs with and without.
``after_torque(state, torque, body, dt) -> state``
    The rest of the step, given the torque in the body frame of the q just passed on.
``read(state, torque, body, dt) -> (q, omega)``
    Orientation and body angular velocity at the whole time ``n dt``. If ``torque_time`` is 0 the driver calls it between
    the two parts of the next step, with the torque at ``n dt``, so that a leapfrog can complete its half step without
    affecting the trajectory; otherwise it is called on the state at the end of the step, with zero torque.
``stored(state, body, dt) -> omega``
    The angular velocity carried by the method itself, at the time ``(n + stored_offset) dt``. Publications often compare this
    one; for synchronous methods it equals that of ``read``.

A method that needs torques of earlier steps declares ``warm_up_steps``: in so many first steps every driver takes q and omega
from a Runge-Kutta step with four torques (:mod:`polhode.methods.fourth_order_start`), and for several bodies r and v with
them. ``after_torque`` is called in these steps too, with the torque at their beginning, and what it writes behind q and omega
remains: the torques that the later steps need.

A problem of several bodies (:class:`polhode.problems.system.System`) uses these kernels with one state for each body, together
with the method's scheme for the centres of mass (:mod:`polhode.methods.translation`).

A :class:`SeveralTorques` method has ``start(q, omega, body) -> state``,
``step(state, t, dt, body, torque, parameters) -> state`` with the torque function itself, ``read`` and ``stored``;
it runs only in the single-body driver.

In SI units, or any others that fit together, the kernels and the functions that they are made of have these arguments and
results:

``q`` (4,)
    The orientation: a unit quaternion, scalar first, that takes body to lab.
``omega``, ``torque`` (3,)
    The angular velocity (rad/s) and the torque (N m), along the principal axes of the body. The torque of a
    :class:`SeveralTorques` is a function: ``torque(t, q, omega, parameters) -> (3,)``, N m, likewise.
``momentum`` (3,)
    The angular momentum (N m s): L in the lab frame or Pi in the body frame, as the module of the method says.
``state``
    A flat tuple of floats, as the module of the method describes it; q comes first unless that module says otherwise.
``body``
    Nine floats: the principal moments of inertia (kg m^2), their reciprocals, and the gyroscopic coefficients (Iy - Iz)/Ix,
    (Iz - Ix)/Iy and (Ix - Iy)/Iz (:meth:`polhode.algebra.body.Body.coefficients`). Behind them a method may find numbers of its
    own (:mod:`polhode.methods.numbered`).
``t``, ``dt``
    The time at which a step begins, and the time step, s.
``parameters`` (n,)
    The numbers of the problem, in SI units, which go to the torque as they are.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from polhode.algebra.body import Body
from polhode.compiling.kernel import compile_driver, is_kept
from polhode.interface.arguments import whole
from polhode.methods import checks, drivers, one_body, several_bodies
from polhode.methods.fourth_order_start import FURTHER_TORQUES
from polhode.methods.one_body import SOME_BODY, SOME_OMEGA, SOME_Q, SOME_TORQUE
from polhode.methods.processor import NO_MOVES, RUNGE_KUTTA_MOVES, Processor
from polhode.methods.translation import ADAMS, BY_TORQUE_TIME, Translation
from polhode.problems.problem import Case, Problem
from polhode.registry import LAST

_compiling = threading.RLock()


@dataclass(frozen=True, kw_only=True)
class Method(ABC):
    """The declarations of every method. The registry, figures, tables and documentation use nothing else.

    Parameters
    ----------
    key : str
        The name used in the configuration and in file names: letters without accents, digits and underscores.
    label : str
        The name in figures and tables, plain text without LaTeX. It is kept on one line, and truncated at 48 characters.
    short_label : str
        The name where space is limited; :attr:`label` if empty.
    other_names : tuple of str
        What else the same step is called; messages about an unknown method lead from there to the key.
    group : str
        The group in which figures and tables list it, one of :data:`polhode.methods.checks.GROUPS`.
    rank : int
        Its position within the group, from 0; methods of equal rank are listed in the order of their keys.
    source : str
        Publication and equation numbers.
    citation : str
        Keys in paper/refs.bib, comma-separated.
    order_q, order_omega : int
        Global order of orientation and angular velocity on smooth problems.
    order_exceptions : mapping
        The orders (q, omega) where they differ: torque class (:data:`polhode.problems.problem.TORQUE_CLASSES`) -> pair.
    published_order : str
        The order stated in the source, in our words; empty if it states none.
    starts, reads : str
        How the hidden half step is taken, and how q and omega are brought to the same whole time.
    normalises : bool
        Whether the quaternion is normalised every step.
    normalisable : bool
        Whether the driver normalises, so that it can be switched; False if the state does not begin with a quaternion.
    rotates_before_torque : bool
        Whether the quaternion advances in the part of the step before the torque.
    momentum_frame : "body" or "lab"
        The frame in which the method carries its angular velocity or momentum.
    engines : tuple of str
        ``single body``, ``many body``.
    variant_of : str
        For a variant that reproduces a publication's own code: the key of the method as described by its originators.
    published_error : "quaternion" or "matrix"
        The orientation error used in the publication of such a variant: :data:`polhode.algebra.metrics.PUBLISHED_ERRORS`.
    reconstruction : str
        Parts of the method that are ours, because the original was not available or leaves them open; one sentence, or empty.
    note : str
        Important information for users; one sentence.
    drifts : str
        Why the energy drifts in long conservative runs though small librations keep theirs; empty if nothing is known.
    omega_handed : str
        The angular velocity passed to a torque that depends on it, in a few words: ``half a step old``.
    processor : Processor, optional
        The change of variables around the steps (:mod:`polhode.methods.processor`): a map before the first step and its inverse
        at every output, which evaluate torques. The stored angular velocity is then that of the output.
    start, read, stored : kernels
        See the module's docstring.
    stored_offset : float
        Time of the stored angular velocity, in steps from the whole time: 0, -0.5 for a leapfrog, 0.5 for a method that is
        half a step ahead.

    Raises
    ------
    TypeError, ValueError
        If a declaration has a wrong type or an impossible value; the message names the method, the field and what to write.
    """

    key: str
    label: str
    short_label: str = ""
    other_names: tuple[str, ...] = ()
    group: str = checks.OTHERS
    rank: int = LAST
    source: str
    citation: str
    order_q: int
    order_omega: int
    order_exceptions: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    published_order: str = ""
    starts: str = "at once"
    reads: str = "synchronous"
    normalises: bool
    normalisable: bool = True
    rotates_before_torque: bool = False
    momentum_frame: str = "body"
    engines: tuple[str, ...] = ("single body", "many body")
    variant_of: str = ""
    published_error: str = "quaternion"
    reconstruction: str = ""
    note: str = ""
    drifts: str = ""
    omega_handed: str = ""
    processor: Processor | None = None
    start: Callable[..., Any] = field(repr=False)
    read: Callable[..., Any] = field(repr=False)
    stored: Callable[..., Any] = field(repr=False)
    stored_offset: float = 0.0

    torques_per_step: ClassVar[int]

    def __post_init__(self) -> None:
        checks.check_method(self)
        for name in ("label", "short_label"):
            object.__setattr__(self, name, checks.one_line(getattr(self, name)))

    def kernels(self) -> dict[str, tuple[str, ...]]:
        """The kernels of the method that the module's docstring explains: name -> names of the arguments, in order."""
        return {"read": ("state", "torque", "body", "dt"), "stored": ("state", "body", "dt")}

    @cached_property
    def moves(self) -> np.ndarray:
        """The rows (n, 3) of the passages that the drivers read, both maps of
        :meth:`polhode.methods.processor.Processor.moves`: drift, kick and the time of the kick, in steps; no rows without a
        processor.
        """
        return self.processor.moves() if self.processor else NO_MOVES

    @property
    def torques_per_output(self) -> int:
        """The number of torques that an output evaluates for the post-map of a processor; 0 without a processor."""
        return self.processor.torques if self.processor else 0

    def starting_torques(self, steps: int) -> int:
        """The number of torque evaluations, in a run of so many steps, beyond what its steps need: the pre-map of a processor
        has some.
        """
        return self.torques_per_output

    def without_passages(self) -> Self:
        """The method without the change of variables around its steps, and without other moves before the first step."""
        return replace(self, processor=None) if self.processor else self

    def orders(self, torque_class: str) -> tuple[int, int]:
        """The declared global orders of q and omega on smooth problems with a torque of this class.

        ``torque_class`` is one of :data:`polhode.problems.problem.TORQUE_CLASSES`; any other word has the orders of the method.
        """
        return self.order_exceptions.get(torque_class, (self.order_q, self.order_omega))

    def numbers_of(self, body: Body) -> tuple[float, ...]:
        """The numbers that the kernels find as ``body``: nine floats, :meth:`polhode.algebra.body.Body.coefficients`.

        A method with numbers of its own (:mod:`polhode.methods.numbered`) has them behind these.
        """
        return body.coefficients()

    def runs(self, problem: Case) -> bool:
        """Whether the method can run this problem: systems of bodies require a single evaluation of all loads per step."""
        return isinstance(problem, Problem)

    @abstractmethod
    def march(self) -> Callable[..., Any]:
        """The loop over the steps of one body, as plain Python around this method's kernels, not yet compiled.

        Its arguments are the arguments of ``march`` in :mod:`polhode.methods.one_body`.
        """

    @cached_property
    @abstractmethod
    def state_width(self) -> int:
        """The number of floats in a state of one body."""

    @abstractmethod
    def torques_in(self, steps: int) -> int:
        """The number of torque evaluations in a run of so many steps, without those that outputs need."""

    @cached_property
    def caution(self) -> str:
        """Why not to use the method for long conservative runs: ``damps librations``, ``heats librations`` or :attr:`drifts`;
        or empty.

        What it does to librations is found from the roots of its linearised step (:func:`polhode.methods.libration.caution`).
        """
        from polhode.methods.libration import caution  # which runs methods

        return self.drifts or caution(self)

    @cached_property
    def drivers(self) -> dict[str, Any]:
        """The drivers compiled so far, by the name of the function of this class that makes them (``march``, ``turn``).

        They are compiled again if this is emptied.
        """
        return {}

    @cached_property
    def parts(self) -> dict[tuple[bool, bool, bool], Any]:
        """What the many-body engine has compiled so far for the method: (whether it normalises, whether the law of force wants
        velocities, whether velocities are rescaled) -> its compiled functions.
        """
        return {}

    def compiled(self, driver: Callable[[], Callable[..., Any]], signature: Any) -> Callable[..., Any]:
        """The driver returned by ``driver()``, compiled once per process and stored under the name of ``driver``.

        Threads that request it simultaneously wait for the first.

        Parameters
        ----------
        driver : function () -> the loop over steps, as plain Python around this method's kernels
        signature : the Numba types of its arguments and of its result
        """
        name = driver.__name__
        if name not in self.drivers:
            with _compiling:
                if name not in self.drivers:
                    self.drivers[name] = compile_driver(driver(), signature, part=True)
        made: Callable[..., Any] = self.drivers[name]
        return made

    def compiled_march(self) -> Callable[..., Any]:
        """The loop over steps of :meth:`march`, compiled for :func:`polhode.methods.one_body.march_type`."""
        return self.compiled(self.march, one_body.march_type())

    def normalisation(self, wanted: bool | None) -> bool:
        """Whether the driver normalises, given the user's choice (None: as declared by the method).

        Raises
        ------
        ValueError
            If the user makes a choice and the method's normalisation cannot be switched.
        """
        if wanted is not None and not self.normalisable:
            raise ValueError(f"method {self.key}: its normalisation cannot be switched; leave out normalise")
        return self.normalisable and (self.normalises if wanted is None else wanted)

    def _loops(self, systems: bool) -> list[tuple[Callable[[], Callable[..., Any]], Any]]:
        """The arguments of :meth:`compiled` for what the method's runs need; for systems of bodies only on request."""
        return [(self.march, one_body.march_type())]

    def compile(self, systems: bool = False) -> None:
        """Compile the loop over steps and the driver of one body, so that the first run does not have to wait for them.

        Runs in pieces have another driver, and bodies with wheels may have another method; they are compiled when needed.
        ``systems`` is for methods that run several bodies, see :meth:`OneTorque.compile`.
        """
        one_body.driver(len(self.numbers_of(SOME_BODY)))
        for driver, signature in self._loops(systems):
            self.compiled(driver, signature)

    def is_kept(self, systems: bool = False) -> bool:
        """Whether :meth:`compile` with these ``systems`` would find the loops of the method on disk.

        They are in the cache (:mod:`polhode.compiling.cache`). The drivers, which methods share, are not looked for.
        """
        return all(is_kept(driver(), signature, part=True) for driver, signature in self._loops(systems))

    def integrate(
        self,
        q0: tuple[float, ...],
        omega0: tuple[float, ...],
        body: tuple[float, ...],
        torque: Callable[..., Any],
        parameters: np.ndarray,
        dt: float,
        sample_steps: np.ndarray,
        normalise: bool | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """Run to the last of ``sample_steps`` and read the body at each of them.

        Parameters
        ----------
        q0, omega0 : tuples of floats, (4,) and (3,)
            Initial orientation, a unit quaternion, scalar first, body to lab, and angular velocity in the body frame (rad/s).
        body : nine floats
            The coefficients of the inertia, see :meth:`polhode.algebra.body.Body.coefficients`.
        torque : compiled torque (t, q, omega, parameters) -> (3,)
            N m in the body frame, see :func:`polhode.compiling.kernel.compile_torque`.
        parameters : float array (n,) passed to the torque
        dt : time step in s
        sample_steps : int64 array (samples,)
            Ascending whole numbers of steps.
        normalise : whether the quaternion is normalised every step; None: as declared by the method

        Returns
        -------
        q (samples, 4), scalar first, body to lab; omega (samples, 3) at the same times and the omega that the method stores
        (samples, 3), both in rad/s, body frame; and the number of torque evaluations, without those that outputs need. Samples
        after a blow-up (a value that is not finite) are NaN.

        Raises
        ------
        ValueError
            If ``normalise`` is given and the method's normalisation cannot be switched.
        KeyboardInterrupt
            Or any exception from a signal handler: within a second, for any number of steps
            (:mod:`polhode.compiling.marching`).
        """
        return drivers.run(self, q0, omega0, body, torque, parameters, dt, sample_steps, normalise)


@dataclass(frozen=True, kw_only=True)
class OneTorque(Method):
    """A method with one torque evaluation per step; see the module's docstring for its kernels.

    Parameters
    ----------
    before_torque, after_torque : kernels
        The two parts of a step.
    torque_time : float
        When the torque is needed, in steps from the whole time at which the step begins: 0, 0.5 or 1.
    translation : Translation, optional
        The motion of centres of mass alongside the rotation; by default the scheme that needs the force at the same time,
        and for a method with ``warm_up_steps`` the one of fourth order that needs forces of earlier steps.
    warm_up_steps : int
        The number of first steps with four torques: the start of a multistep method. Such a method holds q and omega in the
        body frame at whole times, requests the torque there, and is read there.
    """

    before_torque: Callable[..., Any] = field(repr=False)
    after_torque: Callable[..., Any] = field(repr=False)
    torque_time: float = 0.0
    translation: Translation | None = None
    warm_up_steps: int = 0

    torques_per_step: ClassVar[int] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.check_one_torque(self)
        if self.translation is None:
            object.__setattr__(self, "translation", ADAMS if self.warm_up_steps else BY_TORQUE_TIME[self.torque_time])

    def kernels(self) -> dict[str, tuple[str, ...]]:
        """The kernels of the method that the module's docstring explains: name -> names of the arguments, in order."""
        return {
            "start": ("q", "omega", "torque", "body", "dt"),
            "before_torque": ("state", "body", "dt"),
            "after_torque": ("state", "torque", "body", "dt"),
            **super().kernels(),
        }

    def runs(self, problem: Case) -> bool:
        """True, since one-torque methods run every problem."""
        return True

    def _loops(self, systems: bool) -> list[tuple[Callable[[], Callable[..., Any]], Any]]:
        return [*super()._loops(systems), *([(self.turn, several_bodies.turn_type())] if systems else [])]

    def compile(self, systems: bool = False) -> None:
        """Compile the driver for one body, with ``systems`` also what several bodies with fixed centres of mass need.

        The scheme for centres that move, which methods share, is compiled in the first run that needs it.
        """
        super().compile(systems)
        if systems:
            several_bodies.driver()
            several_bodies.compiled_stay()

    def starting_torques(self, steps: int) -> int:
        """The number of torque evaluations, in a run of so many steps, beyond one a step: one at the start, and the torques of
        the warm-up and of the pre-map of a processor.
        """
        return 1 + FURTHER_TORQUES * min(steps, self.warm_up_steps) + super().starting_torques(steps)

    def torques_in(self, steps: int) -> int:
        """The number of torque evaluations in a run of so many steps, without those that outputs need."""
        return self.starting_torques(steps) + steps

    @cached_property
    def state_width(self) -> int:  # type: ignore[override]
        """The number of floats in a state of one body."""
        return one_body.width_of(self.start, SOME_Q, SOME_OMEGA, SOME_TORQUE, self.numbers_of(SOME_BODY), 1e-3)

    @cached_property
    def moves(self) -> np.ndarray:
        """The rows (n, 3) of the passages that the drivers read: drift, kick and the time of the loads, in steps, as for other
        methods; with ``warm_up_steps`` the rows are the stages of a Runge-Kutta step.
        """
        return RUNGE_KUTTA_MOVES if self.warm_up_steps else super().moves

    def without_passages(self) -> Self:
        """The method without the change of variables around its steps, and with one torque in every step from the first on."""
        return replace(super().without_passages(), warm_up_steps=0) if self.warm_up_steps else super().without_passages()

    def march(self) -> Callable[..., Any]:
        """The loop over the steps of one body, not yet compiled: :func:`polhode.methods.drivers.march_of_one_torque`."""
        return drivers.march_of_one_torque(self)

    def turn(self) -> Callable[..., Any]:
        """The function ``turn`` of :mod:`polhode.methods.several_bodies`, one part of a step for all bodies of a system, in
        plain Python.
        """
        return several_bodies.turn_of(self, self.state_width)

    def integrate_system(
        self,
        system: Any,
        dt: float,
        sample_steps: np.ndarray,
        normalise: bool | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
        """Run a :class:`polhode.problems.system.System` to the last of ``sample_steps`` and read all bodies at each of them.

        Parameters
        ----------
        system : System
        dt : time step in s
        sample_steps : int64 array (samples,)
            Ascending whole numbers of steps.
        normalise : whether the quaternions are normalised every step; None: as declared by the method

        Returns
        -------
        q (samples, bodies, 4), scalar first, body to lab; omega and the omega that the method stores, rad/s in the frames of
        the bodies; r (m) and v (m/s) in the lab frame, all four (samples, bodies, 3); and the number of evaluations of the
        loads, without those that outputs need. Samples after a blow-up (a value that is not finite) are NaN.

        Raises
        ------
        TypeError, ValueError
            If ``normalise`` is given and the method's normalisation cannot be switched, or the loads do not run or cannot be
            compiled.
        KeyboardInterrupt
            As of :meth:`integrate`.
        """
        return drivers.run_system(self, system, dt, sample_steps, normalise)


@dataclass(frozen=True, kw_only=True)
class SeveralTorques(Method):
    """A method with several torque evaluations per step; see the module's docstring for its kernels.

    Parameters
    ----------
    step : kernel
        One step; it calls the torque itself.
    evaluations_per_step : int
        The number of evaluations in a step.
    """

    step: Callable[..., Any] = field(repr=False)
    evaluations_per_step: int
    engines: tuple[str, ...] = ("single body",)

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(f"method {self.key}: evaluations_per_step", self.evaluations_per_step, least=1)

    def kernels(self) -> dict[str, tuple[str, ...]]:
        """The kernels of the method that the module's docstring explains: name -> names of the arguments, in order."""
        return {
            "start": ("q", "omega", "body"),
            "step": ("state", "t", "dt", "body", "torque", "parameters"),
            **super().kernels(),
        }

    @property
    def torques_per_step(self) -> int:  # type: ignore[override]
        """The number of torque evaluations per step."""
        return self.evaluations_per_step

    def torques_in(self, steps: int) -> int:
        """The number of torque evaluations in a run of so many steps, without those that outputs need."""
        return self.evaluations_per_step * steps + self.starting_torques(steps)

    @cached_property
    def state_width(self) -> int:  # type: ignore[override]
        """The number of floats in a state of one body."""
        return one_body.width_of(self.start, SOME_Q, SOME_OMEGA, self.numbers_of(SOME_BODY))

    def march(self) -> Callable[..., Any]:
        """The loop over the steps of one body, not yet compiled: :func:`polhode.methods.drivers.march_of_several_torques`."""
        return drivers.march_of_several_torques(self)
