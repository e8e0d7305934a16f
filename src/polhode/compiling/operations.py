"""Floating-point operations of one step, counted from the kernels: a cost independent of any particular machine.

The kernels of a method run once as plain Python on floats that count. Operations are counted as written in the kernels:

* An expression counts each time it is written. ``0.5 * dt`` does not change from step to step, and a compiler computes it once
  before the loop: :attr:`Operations.constants` is the number of such operations. Further simplifications by a compiler (of a
  product written twice, or the coefficient 1 of Runge-Kutta) are not taken into account.
* Operations on constants alone (``2.0 / 3.0``) do not count, nor does unpacking a state or assembling one.
* Comparisons and changes of sign are counted separately and are not part of the total.
* A branch counts as taken at a small step, from an orientation near that of the lab: ``cos_sinc`` below a quarter turn, where
  it need not reduce its argument, and in PFC4 as published the quaternion from the trace of the matrix. Nothing else depends
  on the state.
* The step is one of those that make up a run: the first steps of a method that starts with several torques are not counted.
* A torque counts as one evaluation, without its own operations. Computing the time of the torque counts if the method does
  it, as Runge-Kutta does, but not if the driver does.

Reading the state is not part of the step.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from polhode.algebra.body import Body
from polhode.compiling.plain import plain_copy
from polhode.methods import METHODS
from polhode.methods.plain_driver import plain_driver
from polhode.methods.protocol import Method, OneTorque


@dataclass
class Operations:
    """Number of operations of each kind; a subtraction counts as an addition.

    ``constants`` is the number of all arithmetic operations that involve only the time step and the body.
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
        """The number of additions, multiplications, divisions and square roots, each counted as one."""
        return self.additions + self.multiplications + self.divisions + self.square_roots


class Counting:
    """A float whose arithmetic is recorded in a tally; with plain numbers it combines like a float.

    Parameters
    ----------
    value : float
    tally : Operations
        Where operations are recorded.
    varies : bool
        Whether the value changes from step to step; if so, values computed from it do too.
    """

    __slots__ = ("tally", "value", "varies")

    def __init__(self, value: float, tally: Operations, varies: bool = True) -> None:
        self.value = value
        self.tally = tally
        self.varies = varies

    def __float__(self) -> float:
        return self.value

    def _made(self, value: float, *others: Any) -> "Counting":
        """The result of an arithmetic operation."""
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
        """The square root of the value, which counts as an operation."""
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
        If it uses a function of ``math`` other than the square root, the cost of which is unknown here.
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

    Raises
    ------
    ValueError
        If it uses a function of ``math`` other than the square root, or a power that is not a whole positive number.

    Examples
    --------
    >>> from polhode import quaternion
    >>> count(quaternion.multiply, (1.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)).multiplications
    16
    """
    tally = Operations()
    on_counting(function)(*counting(arguments, tally))
    return tally


def counting(value: Any, tally: Operations, varies: bool = True) -> Any:
    """A float, or all floats in nested tuples, as :class:`Counting`, which adds to ``tally`` what is done with them.

    ``varies``: whether the values change from step to step.
    """
    if isinstance(value, tuple):
        return tuple(counting(v, tally, varies) for v in value)
    return Counting(float(value), tally, varies)


#: State at which a step is counted: a body without symmetry, rotated and spinning about no particular axis.
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
    """The operations of one step of a method, counted as described in the module's docstring.

    Parameters
    ----------
    method : str or Method
        A key (see ``print(polhode.methods)``) or an object of your own.
    normalise : bool, optional
        Whether the driver normalises the quaternion every step; by default as the method declares.
    q0, omega0, dt : (4,), (3,) and a number
        Initial unit quaternion, body to lab; initial angular velocity in the body frame, rad/s; length of the step, s. They
        affect only branches.
    steps : int
        The step is counted after this number of steps, so that the history of a method that keeps one is available; those of a
        warm-up come before and are not counted among them.

    Raises
    ------
    KeyError
        If there is no method with this key.
    ValueError
        If the method's normalisation cannot be switched and ``normalise`` asks for it, or if a kernel calls a function that
        cannot be counted.

    Examples
    --------
    >>> operations("euler", normalise=False).total
    50
    """
    if isinstance(method, str):
        method = METHODS[method]
    assert isinstance(method, Method)
    tally = Operations()
    q, omega, moment = (counting(values, tally) for values in (q0, omega0, _TORQUE))
    body, h = (counting(values, tally, varies=False) for values in (_BODY, dt))

    def torque(*arguments: Any) -> Any:
        tally.torques += 1
        return moment

    driver = plain_driver(method, on_counting, torque, body, h, normalise=normalise, clock=lambda t: Counting(t, tally))
    state = driver.start(q, omega)
    done = steps + (method.warm_up_steps if isinstance(method, OneTorque) else 0)
    for n in range(done):
        state = driver.step(state, n)
    before = replace(tally)
    driver.step(state, done)
    return Operations(**{f.name: getattr(tally, f.name) - getattr(before, f.name) for f in fields(tally)})
