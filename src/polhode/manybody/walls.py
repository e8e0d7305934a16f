"""Walls that move: a drum that turns, and the shaking of all walls together."""

from dataclasses import dataclass
from math import pi

import numpy as np

from polhode.interface.arguments import number, positive, shown, vector

AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Drum:
    """A hollow cylinder in which the clumps are, about an axis through the origin.

    Its ends are the two planes of the box across the axis, at rest; the other four are left out.

    Parameters
    ----------
    radius : float
        m
    rate : float
        Angular velocity about the axis, rad/s.
    axis : "x", "y" or "z"

    Raises
    ------
    TypeError, ValueError
        If a value is impossible; the message says which.
    """

    radius: float
    rate: float
    axis: str = "y"

    def __post_init__(self) -> None:
        positive("drum: radius", self.radius, "m")
        number("drum: rate", self.rate, unit="rad/s")
        if self.axis not in AXES:
            raise ValueError(f"drum: axis must be 'x', 'y' or 'z', got {shown(self.axis)}")


@dataclass(frozen=True)
class Shaking:
    r"""The motion of all walls, :math:`A \hat e \sin 2 \pi f t` from the middle position.

    Parameters
    ----------
    amplitude : float
        A, m.
    frequency : float
        f, Hz.
    direction : (x, y, z)
        Of any length.

    Raises
    ------
    TypeError, ValueError
        If a value is impossible; the message says which.
    """

    amplitude: float
    frequency: float
    direction: tuple[float, float, float] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        positive("shaking: amplitude", self.amplitude, "m")
        positive("shaking: frequency", self.frequency, "Hz")
        object.__setattr__(self, "direction", vector("shaking: direction", self.direction, 3))
        if not any(self.direction):
            raise ValueError("shaking: direction must not be zero")

    @property
    def motion(self) -> tuple[float, ...]:
        """Amplitude along x, y and z, m, and angular frequency, rad/s: four numbers."""
        along = self.amplitude * np.array(self.direction) / np.linalg.norm(self.direction)
        return (*map(float, along), 2 * pi * self.frequency)
