"""Dual numbers: a value and its derivatives, on which kernels run as plain Python and give the Jacobian of their result."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polhode.compiling.plain import plain_copy


class Dual:
    """A number and its derivatives with respect to the variables of a problem; plain numbers act as constants.

    Comparisons use only the value. Rounding by adding and subtracting a large number, with which ``cos_sinc`` reduces its
    argument, cannot be differentiated and must not be reached.

    Parameters
    ----------
    value : float
    gradient : array (variables,)
        The derivatives, in the unit of the value by the unit of each variable.
    """

    __slots__ = ("gradient", "value")

    def __init__(self, value: float, gradient: NDArray[np.float64]) -> None:
        self.value = value
        self.gradient = gradient

    def __float__(self) -> float:
        return self.value

    def __add__(self, other: Any) -> "Dual":
        if isinstance(other, Dual):
            return Dual(self.value + other.value, self.gradient + other.gradient)
        return Dual(self.value + other, self.gradient)

    __radd__ = __add__

    def __neg__(self) -> "Dual":
        return Dual(-self.value, -self.gradient)

    def __sub__(self, other: Any) -> "Dual":
        if isinstance(other, Dual):
            return Dual(self.value - other.value, self.gradient - other.gradient)
        return Dual(self.value - other, self.gradient)

    def __rsub__(self, other: Any) -> "Dual":
        return Dual(other - self.value, -self.gradient)

    def __mul__(self, other: Any) -> "Dual":
        if isinstance(other, Dual):
            return Dual(self.value * other.value, self.value * other.gradient + other.value * self.gradient)
        return Dual(self.value * other, other * self.gradient)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Dual":
        if isinstance(other, Dual):
            ratio = self.value / other.value
            return Dual(ratio, (self.gradient - ratio * other.gradient) / other.value)
        return Dual(self.value / other, self.gradient / other)

    def __rtruediv__(self, other: Any) -> "Dual":
        ratio = other / self.value
        return Dual(ratio, -ratio / self.value * self.gradient)

    def sqrt(self) -> "Dual":
        """The square root, a dual number with the derivative of the root; the value must be positive."""
        root = math.sqrt(self.value)
        return Dual(root, 0.5 / root * self.gradient)

    def __lt__(self, other: Any) -> bool:
        return self.value < float(other)

    def __le__(self, other: Any) -> bool:
        return self.value <= float(other)

    def __gt__(self, other: Any) -> bool:
        return self.value > float(other)

    def __ge__(self, other: Any) -> bool:
        return self.value >= float(other)


def on_duals(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a kernel, compiled or not, that runs on :class:`Dual` numbers and plain ones, with all kernels it calls.

    Raises
    ------
    ValueError
        If it uses a function of ``math`` other than the square root.
    """
    lack = "math.{name} has no derivative here, only {known} has; kernels call nothing else of math"
    converted: Callable[..., Any] = plain_copy(function, {math.sqrt: _square_root}, lack)
    return converted


def _square_root(x: Any) -> Any:
    return x.sqrt() if isinstance(x, Dual) else math.sqrt(x)


def values_and_derivatives(numbers: tuple[Any, ...], variables: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The values (n,) of n duals or plain numbers, and their derivatives (n, variables); plain numbers are constants.

    ``variables`` is the length of the gradients.
    """
    nothing = np.zeros(variables)
    gradients = [x.gradient if isinstance(x, Dual) else nothing for x in numbers]
    return np.array([float(x) for x in numbers]), np.array(gradients)
