"""Floating-point operations of one step, counted from the kernels: what a method costs on no machine in particular.

A method's kernels run once as plain Python on floats that count. Counted is what stands in the kernels, as it stands there:

* An expression counts each time it is written. ``0.5 * dt`` does not change from step to step, and a compiler forms it once
  before the loop: :attr:`Operations.constants` says how many of the operations are of this kind. What a compiler merges
  or leaves out beyond that (a product written twice, the coefficient 1 of Runge-Kutta) it is not told.
* Operations on numbers alone (``2.0 / 3.0``) do not count, nor does taking a state apart or putting one together.
* Comparisons and changes of sign count apart: they are no part of the total.
* A branch counts as it is taken at a small step, from an orientation near that of the lab: ``cos_sinc`` below a quarter
  turn, where it need not reduce its argument, and in PFC4 as published the quaternion from the trace of the
  matrix. Nothing else depends on the state.
* A torque counts as one evaluation and by none of its operations. The time at which it is wanted counts where the method
  forms it, as Runge-Kutta does, not where the driver does.

Reading the state is no part of the step.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from polhode import quaternion
from polhode.body import Body
from polhode.methods.protocol import Method, OneTorque, SeveralTorques
from polhode.plain import plain_copy
from polhode.registry import catalogue


@dataclass
class Operations:
    """How often each kind of operation happens; a subtraction is an addition.

    ``constants`` are those among all the arithmetic that involve the time step and the body alone.
    """

    torques: int = 0
    additions: int = 0
    multiplications: int = 0
    divisions: int = 0
    square_roots: int = 0
    constants: int = 0
    negations: int = 0
    comparisons: int = 0

    @property
    def total(self) -> int:
        """All arithmetic: additions, multiplications, divisions and square roots, each as one."""
        return self.additions + self.multiplications + self.divisions + self.square_roots


class Counting:
    """A float whose arithmetic is noted in a tally; with plain numbers it combines like a float.

    Parameters
    ----------
    value : float
    tally : Operations
        Where operations are noted.
    varies : bool
        Whether it changes from step to step; what is made of it then does, too.
    """

    __slots__ = ("tally", "value", "varies")

    def __init__(self, value: float, tally: Operations, varies: bool = True) -> None:
        self.value = value
        self.tally = tally
        self.varies = varies

    def __float__(self) -> float:
        return self.value

    def _made(self, value: float, *others: Any) -> "Counting":
        """The result of an operation of arithmetic."""
        varies = self.varies or any(isinstance(other, Counting) and other.varies for other in others)
        self.tally.constants += not varies
        return Counting(value, self.tally, varies)

    def __add__(self, other: Any) -> "Counting":
        self.tally.additions += 1
        return self._made(self.value + float(other), other)

    def __sub__(self, other: Any) -> "Counting":
        self.tally.additions += 1
        return self._made(self.value - float(other), other)

    def __rsub__(self, other: Any) -> "Counting":
        self.tally.additions += 1
        return self._made(float(other) - self.value, other)

    def __mul__(self, other: Any) -> "Counting":
        self.tally.multiplications += 1
        return self._made(self.value * float(other), other)

    def __truediv__(self, other: Any) -> "Counting":
        self.tally.divisions += 1
        return self._made(self.value / float(other), other)

    def __rtruediv__(self, other: Any) -> "Counting":
        self.tally.divisions += 1
        return self._made(float(other) / self.value, other)

    def __pow__(self, exponent: int) -> "Counting":
        if not (isinstance(exponent, int) and exponent > 0):
            raise ValueError(f"a power with the exponent {exponent!r} cannot be counted, only whole positive ones can")
        result = self
        for _ in range(exponent - 1):
            result = result * self
        return result

    def __abs__(self) -> "Counting":
        self.tally.negations += 1
        return Counting(abs(self.value), self.tally, self.varies)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> "Counting":
        self.tally.negations += 1
        return Counting(-self.value, self.tally, self.varies)

    def sqrt(self) -> "Counting":
        """The square root."""
        self.tally.square_roots += 1
        return self._made(math.sqrt(self.value))

    def _compared(self, answer: bool) -> bool:
        self.tally.comparisons += 1
        return answer

    def __lt__(self, other: Any) -> bool:
        return self._compared(self.value < float(other))

    def __le__(self, other: Any) -> bool:
        return self._compared(self.value <= float(other))

    def __gt__(self, other: Any) -> bool:
        return self._compared(self.value > float(other))

    def __ge__(self, other: Any) -> bool:
        return self._compared(self.value >= float(other))

    def __eq__(self, other: object) -> bool:
        return self._compared(self.value == float(other))  # type: ignore[arg-type]

    def __ne__(self, other: object) -> bool:
        return self._compared(self.value != float(other))  # type: ignore[arg-type]

    __hash__ = None  # type: ignore[assignment]


def on_counting(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a kernel, compiled or not, that runs on :class:`Counting` floats, with all kernels it calls.

    Raises
    ------
    ValueError
        If it uses a function of ``math`` other than the square root: what that costs is not known here.
    """
    lack = "math.{name} cannot be counted, only {known} can; kernels call nothing else of math"
    converted: Callable[..., Any] = plain_copy(function, {math.sqrt: _square_root}, lack)
    return converted


def _square_root(x: Any) -> Any:
    return x.sqrt() if isinstance(x, Counting) else math.sqrt(x)


def count(function: Callable[..., Any], *arguments: Any) -> Operations:
    """The operations of one call of a kernel.

    Parameters
    ----------
    function : kernel
        Compiled or plain; it may call other kernels.
    arguments : floats and tuples of floats, of any depth

    Examples
    --------
    >>> count(quaternion.multiply, (1.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)).multiplications
    16
    """
    tally = Operations()
    on_counting(function)(*counting(arguments, tally))
    return tally


def counting(value: Any, tally: Operations, varies: bool = True) -> Any:
    """A float, or all floats of a nest of tuples, as :class:`Counting`."""
    if isinstance(value, tuple):
        return tuple(counting(v, tally, varies) for v in value)
    return Counting(float(value), tally, varies)


#: Where the step is counted: a body without symmetry, turned and spinning about no axis in particular.
_BODY = Body((1.0, 1.7, 2.3)).coefficients()
_Q0 = (0.9, 0.1, -0.3, 0.3)
_OMEGA0 = (0.9, -0.7, 1.1)
_TORQUE = (0.4, -0.5, 0.2)
_DT = 1e-3


def operations(
    method: str | Method,
    normalise: bool | None = None,
    *,
    q0: tuple[float, ...] = _Q0,
    omega0: tuple[float, ...] = _OMEGA0,
    dt: float = _DT,
    steps: int = 2,
) -> Operations:
    """The operations of one step of a method, see the text of this module for what counts.

    Parameters
    ----------
    method : str or Method
        A key (see ``print(polhode.methods)``) or an object of your own.
    normalise : bool, optional
        Whether the driver normalises the quaternion every step; by default as the method declares.
    q0, omega0, dt : where to start and how far to step. They decide nothing but branches.
    steps : int
        The step that is counted is the one after so many others, so that a history is there if the method keeps one.

    Raises
    ------
    ValueError
        If the method's normalisation cannot be switched and ``normalise`` asks for it, or if a kernel calls a function that
        cannot be counted.

    Examples
    --------
    >>> operations("euler", normalise=False).total
    50
    """
    if isinstance(method, str):
        method = catalogue("polhode.methods")[method]
    assert isinstance(method, Method)
    normalise = method._normalise(normalise)
    tally = Operations()
    q, omega, moment = (counting(values, tally) for values in (q0, omega0, _TORQUE))
    body, h = (counting(values, tally, varies=False) for values in (_BODY, dt))

    def torque(*arguments: Any) -> Any:
        tally.torques += 1
        return moment

    normalised = on_counting(quaternion.normalise)
    if isinstance(method, OneTorque):
        before_torque, after_torque = on_counting(method.before_torque), on_counting(method.after_torque)
        first = normalise and method.rotates_before_torque
        state = on_counting(method.start)(q, omega, moment, body, h)

        def step(state: Any, t: Any) -> Any:
            state, *at = before_torque(state, body, h)
            if first:
                state = normalised(state[:4]) + state[4:]
            state = after_torque(state, torque(t, *at), body, h)
            return normalised(state[:4]) + state[4:] if normalise and not first else state

    else:
        assert isinstance(method, SeveralTorques)
        whole = on_counting(method.step)
        state = on_counting(method.start)(q, omega, body)

        def step(state: Any, t: Any) -> Any:
            state = whole(state, t, h, body, torque, ())
            return normalised(state[:4]) + state[4:] if normalise else state

    for n in range(steps):
        state = step(state, Counting(n * dt, tally))
    before = replace(tally)
    step(state, Counting(steps * dt, tally))
    return Operations(**{f.name: getattr(tally, f.name) - getattr(before, f.name) for f in fields(tally)})
