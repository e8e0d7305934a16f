"""Variants of a method that differ in numbers only: one compiled loop serves them all.

To compile the loop of a method takes more than a second. A constant in a kernel is part of the code, so that each of its values
would be compiled again. The numbers of a :class:`NumberedOneTorque` or :class:`NumberedSeveralTorques` are handed to the loop
when it runs. Its kernels find them behind the nine numbers of the body (:meth:`polhode.algebra.body.Body.coefficients`):
``body[9]`` is the first. The bits are those of a kernel with constants. Such methods run on single bodies and on systems, not
on many bodies.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from polhode.algebra.body import Body
from polhode.methods.one_body import NUMBERS
from polhode.methods.protocol import Method, OneTorque, SeveralTorques


@dataclass(frozen=True, kw_only=True)
class _Numbered(Method):
    """A method with ``numbers``, a tuple of floats that its kernels find behind those of the body."""

    numbers: tuple[float, ...]

    def with_numbers(self, *numbers: float, **changes: Any) -> Self:
        """The same method with other numbers, as many as before; it shares what is compiled.

        ``changes`` are declarations that are not part of a compiled loop, such as ``translation``.
        """
        if len(numbers) != len(self.numbers):
            raise ValueError(f"method {self.key} has {len(self.numbers)} numbers, got {len(numbers)}")
        other = replace(self, numbers=tuple(float(x) for x in numbers), **changes)
        other.__dict__["drivers"] = self.drivers
        return other

    def numbers_of(self, body: Body) -> tuple[float, ...]:
        """The coefficients of the body, and behind them the numbers of the method."""
        return (*super().numbers_of(body), *self.numbers)

    def compiled(self, driver: Callable[[], Callable[..., Any]], signature: Any) -> Callable[..., Any]:
        """As for other methods, for a longer list of the numbers of a body."""
        return super().compiled(driver, self._longer(signature))

    def _loops(self, systems: bool) -> list[tuple[Callable[[], Callable[..., Any]], Any]]:
        return [(driver, self._longer(signature)) for driver, signature in super()._loops(systems)]

    def _longer(self, signature: Any) -> Any:
        """The signature with the numbers of the method behind the numbers of a body."""
        from numba import types

        from polhode.compiling.signatures import inertia_type

        longer = types.UniTuple(types.float64, NUMBERS + len(self.numbers))
        return signature.return_type(*(longer if kind == inertia_type else kind for kind in signature.args))

    def integrate(
        self, q0: tuple[float, ...], omega0: tuple[float, ...], body: tuple[float, ...], *others: Any, **options: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """As for other methods: ``body`` has the nine numbers of the body alone."""
        return super().integrate(q0, omega0, (*body, *self.numbers), *others, **options)


@dataclass(frozen=True, kw_only=True)
class NumberedOneTorque(_Numbered, OneTorque):
    """A method with one torque evaluation per step and numbers of its own."""


@dataclass(frozen=True, kw_only=True)
class NumberedSeveralTorques(_Numbered, SeveralTorques):
    """A method with several torque evaluations per step and numbers of its own."""


def numbered(method: OneTorque, *numbers: float, **changes: Any) -> NumberedOneTorque:
    """A method with one torque per step whose kernels read these numbers, for single bodies; not registered.

    Parameters
    ----------
    method : OneTorque
        Where the declarations come from that are not among the changes.
    numbers : float
        What the kernels find behind the nine numbers of the body, in the units that they expect.
    changes : other declarations, among them the kernels that read the numbers

    Raises
    ------
    TypeError, ValueError
        If a changed declaration has a wrong type or an impossible value.
    """
    declared = {field.name: getattr(method, field.name) for field in fields(method)}
    # The many-body engine hands its kernels the coefficients of the bodies alone.
    declared["engines"] = ("single body",)
    return NumberedOneTorque(**{**declared, **changes}, numbers=tuple(float(x) for x in numbers))
