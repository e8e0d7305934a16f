"""A rigid body: its principal moments of inertia, checked, and the kernels of Euler's equations."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from polhode.arguments import flag, positive, shown
from polhode.kernel import Inertia, Vector, kernel


@dataclass(frozen=True)
class Body:
    """Mass and principal moments of inertia of a rigid body.

    Parameters
    ----------
    inertia : (Ix, Iy, Iz)
        Principal moments in kg m^2, along the body axes x, y, z. Need not be distinct.
    mass : float
        Mass in kg; for a body that only rotates it can be left at 1.
    triangle : bool
        Whether the moments must be those of a body that can exist. A published test may use others, for which Euler's
        equations can still be solved.

    Raises
    ------
    TypeError, ValueError
        If a moment or the mass is not a number or not positive and finite, if a moment is so small or so different from the
        others that a quotient needed by the kernels is not finite, or if ``triangle`` is set and the moments violate the
        triangle inequality (no mass distribution has one principal moment larger than the sum of the other two).

    Examples
    --------
    >>> from polhode import Body
    >>> Body((1.0, 2.0, 2.5), mass=3.0).inertia
    (1.0, 2.0, 2.5)
    >>> Body((1.0, 2.0, 4.0))
    Traceback (most recent call last):
        ...
    ValueError: inertia (1.0, 2.0, 4.0) violates the triangle inequality: 4 exceeds the sum of the other two moments, 3; ...
    """

    inertia: tuple[float, float, float]
    mass: float = 1.0
    triangle: bool = True

    def __post_init__(self) -> None:
        try:
            given = tuple(self.inertia)
        except TypeError:
            given = ()
        if len(given) != 3 or isinstance(self.inertia, str):
            raise ValueError(f"inertia must be three principal moments (Ix, Iy, Iz), got {shown(self.inertia)}")
        moments = tuple(positive(f"inertia I{axis}", i, "kg m^2") for axis, i in zip("xyz", given, strict=True))
        object.__setattr__(self, "inertia", moments)
        object.__setattr__(self, "mass", positive("mass", self.mass, "kg"))
        flag("triangle", self.triangle)
        # Below about 6e-309 a reciprocal overflows; the motion would silently be NaN from the first step on.
        if not all(map(math.isfinite, (*self.coefficients(), 1 / self.mass, sum(moments)))):
            raise ValueError(
                f"mass {self.mass:g} and inertia {moments} are too small, too large or too unlike each other to compute with: "
                "1/m, 1/Ix, (Iy - Iz)/Ix and the like must be finite; take other units"
            )
        largest, total = max(moments), math.fsum(moments)
        # A flat body meets the bound exactly; round-off must not refuse it.
        if self.triangle and largest > (total - largest) * (1 + 1e-12):
            raise ValueError(
                f"inertia {self.inertia} violates the triangle inequality: {largest:g} exceeds the sum of the other two "
                f"moments, {total - largest:g}; no rigid body has such moments"
            )

    @classmethod
    def sphere(cls, radius: float, density: float) -> "Body":
        """A homogeneous sphere: radius in m, density in kg/m^3."""

        def made(radius: float, density: float) -> tuple[float, float, float, float]:
            mass = density * 4 / 3 * math.pi * radius**3
            moment = 2 / 5 * mass * radius**2
            return mass, moment, moment, moment

        return cls._of_shape("sphere", made, radius=radius, density=density)

    @classmethod
    def cylinder(cls, radius: float, height: float, density: float) -> "Body":
        """A homogeneous circular cylinder with its axis along x: radius and height in m, density in kg/m^3."""

        def made(radius: float, height: float, density: float) -> tuple[float, float, float, float]:
            mass = density * math.pi * radius**2 * height
            axial = mass * radius**2 / 2
            transverse = mass * (3 * radius**2 + height**2) / 12
            return mass, axial, transverse, transverse

        return cls._of_shape("cylinder", made, radius=radius, height=height, density=density)

    @classmethod
    def box(cls, a: float, b: float, c: float, density: float) -> "Body":
        """A homogeneous box with edges a, b, c along x, y, z in m, density in kg/m^3.

        Examples
        --------
        >>> Body.box(1.0, 2.0, 3.0, density=2.0)
        Body(inertia=(13.0, 10.0, 5.0), mass=12.0, triangle=True)
        """

        def made(a: float, b: float, c: float, density: float) -> tuple[float, float, float, float]:
            mass = density * a * b * c
            return mass, mass * (b**2 + c**2) / 12, mass * (c**2 + a**2) / 12, mass * (a**2 + b**2) / 12

        return cls._of_shape("box", made, a=a, b=b, c=c, density=density)

    @classmethod
    def _of_shape(cls, shape: str, made: Callable[..., tuple[float, float, float, float]], **sizes: float) -> "Body":
        """The body whose mass and moments ``made`` returns for these sizes."""
        units = {"density": "kg/m^3"}
        checked = {name: positive(name, value, units.get(name, "m")) for name, value in sizes.items()}
        try:
            mass, x, y, z = made(**checked)
            return cls((x, y, z), mass)
        except (OverflowError, ValueError) as error:
            said = ", ".join(f"{name} {value:g}" for name, value in checked.items())
            why = "its mass or its moments overflow" if isinstance(error, OverflowError) else error
            raise ValueError(f"no {shape} of {said} can be computed with (SI units): {why}") from None

    def coefficients(self) -> Inertia:
        """The numbers read by the kernels: (Ix, Iy, Iz, 1/Ix, 1/Iy, 1/Iz, (Iy-Iz)/Ix, (Iz-Ix)/Iy, (Ix-Iy)/Iz).

        The reciprocals and the gyroscopic coefficients are computed once, so that no step divides.

        Examples
        --------
        >>> Body((2.0, 2.0, 1.0)).coefficients()
        (2.0, 2.0, 1.0, 0.5, 0.5, 1.0, 0.5, -0.5, 0.0)
        """
        x, y, z = self.inertia
        return (x, y, z, 1 / x, 1 / y, 1 / z, (y - z) / x, (z - x) / y, (x - y) / z)


@kernel
def euler_equations(omega: Vector, torque: Vector, body: Inertia) -> Vector:
    """d(omega)/dt in the body frame: I^-1 (torque - omega x I omega), written out for principal axes."""
    return (
        torque[0] * body[3] + omega[1] * omega[2] * body[6],
        torque[1] * body[4] + omega[2] * omega[0] * body[7],
        torque[2] * body[5] + omega[0] * omega[1] * body[8],
    )


@kernel
def angular_momentum(omega: Vector, body: Inertia) -> Vector:
    """I omega, in the body frame."""
    return (body[0] * omega[0], body[1] * omega[1], body[2] * omega[2])


@kernel
def angular_velocity(momentum: Vector, body: Inertia) -> Vector:
    """I^-1 L, in the body frame."""
    return (body[3] * momentum[0], body[4] * momentum[1], body[5] * momentum[2])
