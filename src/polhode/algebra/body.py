"""A rigid body: its principal moments of inertia, checked, and the kernels of Euler's equations."""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from polhode.algebra.quaternion import of_axes, to_body
from polhode.compiling.kernel import Inertia, Quaternion, Vector, kernel
from polhode.interface.arguments import flag, is_ordered, number, positive, shown, vector

#: Data are rounded: moments may violate the triangle inequality, and a tensor its symmetry, by this fraction.
ROUNDED = 1e-3
#: Round-off of numbers that were computed: a smaller deviation is not worth a warning.
ROUND_OFF = 1e-12
#: Decimal digits in which principal axes are computed before they are rounded.
DIGITS = 30


class Wheel(NamedTuple):
    """A wheel in a body: its axis in the body frame, and its angular momentum, moment times speed in the body (N m s).

    ``inertia`` is its moment about the axis, kg m^2; 0 if only the momentum was given.
    """

    axis: tuple[float, float, float]
    momentum: float
    inertia: float = 0.0


@dataclass(frozen=True)
class Body:
    """Mass and principal moments of inertia of a rigid body.

    Parameters
    ----------
    inertia : (Ix, Iy, Iz)
        Principal moments in kg m^2, along the body axes x, y, z. Need not be distinct. A tensor with products of inertia goes
        to :meth:`from_tensor`, which also returns the rotation to its principal axes.
    mass : float
        Mass in kg; for a body that only rotates it can be left at 1.
    triangle : bool
        Whether the moments must be those of a body that can exist. A published test may use others, for which Euler's
        equations can still be solved.
    wheels : sequence of (axis, momentum) or (axis, inertia, speed)
        Wheels whose speed in the body motors hold: the axis in the body frame, of any length, and the angular momentum about it
        in N m s, or the moment in kg m^2 and the speed in rad/s. ``inertia``: moments of the body with its wheels locked.

    Warns
    -----
    UserWarning
        If the moments violate the triangle inequality by less than a thousandth, as those of a flat body with four digits may.

    Raises
    ------
    TypeError, ValueError
        If a moment or the mass is not a number or not positive and finite, if a moment is so small or so different from the
        others that a quotient needed by the kernels is not finite, if ``triangle`` is set and the moments violate the triangle
        inequality by more (no mass distribution has one principal moment larger than the sum of the other two), if a tensor has
        products of inertia, or if a wheel has no axis or an impossible number.

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
    wheels: tuple[Wheel, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "wheels", _wheels(self.wheels))
        moments = _moments(self.inertia)
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
        excess = largest / (total - largest) - 1
        # A flat body meets the bound exactly; round-off must not refuse it.
        if not self.triangle or excess <= ROUND_OFF:
            return
        said = (
            f"inertia {self.inertia} violates the triangle inequality: {largest:g} exceeds the sum of the other two "
            f"moments, {total - largest:g}"
        )
        if excess > ROUNDED:
            raise ValueError(
                f"{said}; no rigid body has such moments. To compute with them all the same: triangle=False (in a file "
                "triangle: false)"
            )
        warnings.warn(f"{said}, by {excess:.1g} of it; taken for rounding", stacklevel=3)

    @classmethod
    def from_tensor(cls, tensor: Any, mass: float = 1.0, triangle: bool = True, wheels: Any = ()) -> "tuple[Body, Quaternion]":
        """The body with an inertia tensor about its centre of mass, and the rotation from its axes to those of the tensor.

        The rotation is a unit quaternion r. A vector given in the axes of the tensor, such as omega or a torque, has the
        components ``polhode.algebra.quaternion.to_body(r, v)`` in those of the body, and ``to_lab(r, v)`` takes it back. An
        orientation q of the tensor's axes is the orientation ``multiply(q, r)`` of the body.

        Parameters
        ----------
        tensor : array (3, 3), six numbers, or three moments
            kg m^2. Six numbers are Ixx, Iyy, Izz, Ixy, Ixz, Iyz, the order of LAMMPS (``fix rigid ... infile``, molecule
            files) and of MuJoCo's ``fullinertia``. LIGGGHTS prints Iyz before Ixz, URDF the rows. As in all of these Ixy is
            the element of the tensor, **minus** the integral of x y; CAD programs may print it with a plus.
        mass, triangle, wheels :
            As for a :class:`Body`; axes of wheels in the axes of the tensor.

        Returns
        -------
        body, rotation : Body, (r0, rx, ry, rz)
            Moments in ascending order; of a diagonal tensor in their own order, with r = (1, 0, 0, 0). r is scalar first.

        Raises
        ------
        TypeError, ValueError
            If it is no tensor, not symmetric, or that of no body; a tensor that is symmetric to a thousandth only is made so,
            with a warning.

        Examples
        --------
        >>> from polhode.algebra.quaternion import to_body
        >>> body, rotation = Body.from_tensor([[2.0, -0.5, 0.0], [-0.5, 2.0, 0.0], [0.0, 0.0, 3.0]])
        >>> body.inertia
        (1.5, 2.5, 3.0)
        >>> [round(x, 12) for x in to_body(rotation, (1.0, 1.0, 0.0))]  # the axis of the smallest moment
        [1.414213562373, 0.0, 0.0]
        """
        if _are_moments(tensor):
            return cls(tensor, mass, triangle, wheels), (1.0, 0.0, 0.0, 0.0)
        rows = _tensor(tensor)
        if not _products(rows):
            return cls((rows[0][0], rows[1][1], rows[2][2]), mass, triangle, wheels), (1.0, 0.0, 0.0, 0.0)
        moments, axes = principal_axes(rows)
        # Of a linear rotor rounded numbers leave a moment that is not quite zero, perhaps below it.
        moments = [0.0 if -ROUNDED * moments[-1] <= moment <= 1e-14 * moments[-1] else moment for moment in moments]
        rotation = of_axes(axes)
        turned = tuple(wheel._replace(axis=to_body(rotation, wheel.axis)) for wheel in _wheels(wheels))
        return cls((moments[0], moments[1], moments[2]), mass, triangle, turned), rotation

    @classmethod
    def sphere(cls, radius: float, density: float) -> "Body":
        """A homogeneous sphere: radius in m, density in kg/m^3.

        Raises
        ------
        TypeError, ValueError
            If a size or the density is not a positive, finite number, or mass or moments cannot be computed with.
        """

        def made(radius: float, density: float) -> tuple[float, float, float, float]:
            mass = density * 4 / 3 * math.pi * radius**3
            moment = 2 / 5 * mass * radius**2
            return mass, moment, moment, moment

        return cls._of_shape("sphere", made, radius=radius, density=density)

    @classmethod
    def cylinder(cls, radius: float, height: float, density: float) -> "Body":
        """A homogeneous circular cylinder with its axis along x: radius and height in m, density in kg/m^3.

        Raises
        ------
        TypeError, ValueError
            If a size or the density is not a positive, finite number, or mass or moments cannot be computed with.
        """

        def made(radius: float, height: float, density: float) -> tuple[float, float, float, float]:
            mass = density * math.pi * radius**2 * height
            axial = mass * radius**2 / 2
            transverse = mass * (3 * radius**2 + height**2) / 12
            return mass, axial, transverse, transverse

        return cls._of_shape("cylinder", made, radius=radius, height=height, density=density)

    @classmethod
    def box(cls, a: float, b: float, c: float, density: float) -> "Body":
        """A homogeneous box with edges a, b, c along x, y, z in m, density in kg/m^3.

        Raises
        ------
        TypeError, ValueError
            If a size or the density is not a positive, finite number, or mass or moments cannot be computed with.

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

    def with_free_wheels(self, omega: Any) -> "tuple[Body, Quaternion]":
        """The body whose wheels turn as their motors drive them, and the rotation from its axes to the axes of this body.

        A motor changes the momentum that a wheel has about its axis, J (speed + a . omega), at the rate of its torque. Body and
        wheels have the momentum I omega + h with the sum h of these momenta, and in I no wheel counts about its axis, so that
        the triangle inequality is not asked of it. A wheel that was given by its momentum alone has no moment J.

        Parameters
        ----------
        omega : (wx, wy, wz)
            Angular velocity of the body, rad/s, at which the wheels have their speeds.

        Returns
        -------
        body, rotation : Body, (r0, rx, ry, rz)
            As of :meth:`from_tensor`.

        Raises
        ------
        TypeError, ValueError
            If omega is no vector, or the wheels have larger moments than the body with them.

        Examples
        --------
        >>> body, _ = Body((1.0, 2.0, 2.5), wheels=[((0, 2, 0), 0.5, 30.0)]).with_free_wheels((0.0, 4.0, 0.0))
        >>> body.inertia, body.wheel_momentum
        ((1.0, 1.5, 2.5), (0.0, 17.0, 0.0))
        """
        spin = vector("omega", omega, 3)
        rows = [[moment if j == k else 0.0 for k in range(3)] for j, moment in enumerate(self.inertia)]
        wheels = []
        for wheel in self.wheels:
            a = [x / math.hypot(*wheel.axis) for x in wheel.axis]
            turning = math.fsum(x * w for x, w in zip(a, spin, strict=True))
            wheels.append(Wheel((a[0], a[1], a[2]), wheel.momentum + wheel.inertia * turning))
            rows = [[rows[j][k] - wheel.inertia * a[j] * a[k] for k in range(3)] for j in range(3)]
        try:
            return Body.from_tensor(rows, self.mass, False, wheels)
        except ValueError as error:
            raise ValueError(f"inertia must include the wheels; without them about their axes: {error}") from None

    @property
    def wheel_momentum(self) -> Vector:
        """The angular momentum h of the wheels in the body frame, N m s; with the body it is I omega + h.

        Examples
        --------
        >>> Body((1.0, 2.0, 2.5), wheels=[((0.0, 2.0, 0.0), 0.01, 300.0)]).wheel_momentum
        (0.0, 3.0, 0.0)
        """
        sizes = [wheel.momentum / math.hypot(*wheel.axis) for wheel in self.wheels]
        x, y, z = (math.fsum(size * wheel.axis[k] for size, wheel in zip(sizes, self.wheels, strict=True)) for k in range(3))
        return (x, y, z)

    @property
    def nutation(self) -> float:
        r"""The rate at which a body at rest with wheels nutates, rad/s: :math:`\sqrt{h\cdot Ih/(I_xI_yI_z)}`, 0 without wheels.

        For a wheel along y it is h/sqrt(Ix Iz).

        Examples
        --------
        >>> round(Body((0.007, 0.035, 0.036), wheels=[((0, 1, 0), 0.005)]).nutation, 4)
        0.315
        """
        x, y, z = self.inertia
        return math.sqrt(sum(i * h * h for i, h in zip(self.inertia, self.wheel_momentum, strict=True)) / x / y / z)

    def coefficients(self) -> Inertia:
        """The numbers read by the kernels: (Ix, Iy, Iz, 1/Ix, 1/Iy, 1/Iz, (Iy-Iz)/Ix, (Iz-Ix)/Iy, (Ix-Iy)/Iz).

        Moments are in kg m^2, reciprocals in 1/(kg m^2); the last three, the gyroscopic coefficients, have no unit. Reciprocals
        and coefficients are computed once, so that no step divides.

        Examples
        --------
        >>> Body((2.0, 2.0, 1.0)).coefficients()
        (2.0, 2.0, 1.0, 0.5, 0.5, 1.0, 0.5, -0.5, 0.0)
        """
        return coefficients_of(self.inertia)


def coefficients_of(moments: Any) -> Inertia:
    """The numbers of a body that the kernels read, from its principal moments: :meth:`Body.coefficients`.

    ``moments`` (3,) in kg m^2 -> nine numbers: three moments, three inverses (1/(kg m^2)), three ratios.
    """
    x, y, z = moments
    return (x, y, z, 1 / x, 1 / y, 1 / z, (y - z) / x, (z - x) / y, (x - y) / z)


def _wheels(given: Any) -> tuple[Wheel, ...]:
    """The wheels of a body, each checked."""
    if not is_ordered(given):
        raise TypeError(f"wheels must be a list of (axis, momentum) or (axis, inertia, speed), got {shown(given)}")
    wheels = []
    for i, values in enumerate(given):
        where = f"wheels[{i}]"
        if isinstance(values, Wheel):
            wheels.append(values)
            continue
        if not is_ordered(values) or len(values) not in (2, 3):
            raise TypeError(f"{where} must be (axis, momentum in N m s) or (axis, inertia, speed), got {shown(values)}")
        axis = vector(f"{where}: axis", values[0], 3)
        if not any(axis):
            raise ValueError(f"{where}: axis must not be zero")
        inertia = 0.0
        if len(values) == 2:
            momentum = number(f"{where}: momentum", values[1], unit="N m s")
        else:
            inertia = positive(f"{where}: inertia", values[1], "kg m^2")
            momentum = inertia * number(f"{where}: speed", values[2], unit="rad/s")
        if not math.isfinite(momentum):
            raise ValueError(f"{where}: its angular momentum, inertia times speed, is not finite")
        wheels.append(Wheel((axis[0], axis[1], axis[2]), momentum, inertia))
    return tuple(wheels)


def _are_moments(inertia: Any) -> bool:
    """Whether this is no attempt at a tensor."""
    return not is_ordered(inertia) or (
        len(inertia) not in (6, 9) and not any(isinstance(row, Sequence) or getattr(row, "ndim", 0) for row in inertia)
    )


def _products(rows: list[list[float]]) -> bool:
    return any(rows[i][j] for i in range(len(rows)) for j in range(i))


def _moments(inertia: Any) -> tuple[float, ...]:
    """Three principal moments, each positive; also from a diagonal tensor."""
    if not _are_moments(inertia):
        rows = _tensor(inertia)
        if _products(rows):
            said = ", ".join(f"{moment:.6g}" for moment in principal_axes(rows)[0])
            raise ValueError(
                f"inertia has products of inertia; its principal moments are {said}. Body.from_tensor(...) returns the body "
                "and the rotation to its axes, with which omega and torque must be turned"
            )
        inertia = [rows[i][i] for i in range(3)]
    given = tuple(inertia) if is_ordered(inertia) else ()
    if len(given) != 3:
        raise ValueError(f"inertia must be three principal moments (Ix, Iy, Iz), got {shown(inertia)}")
    for axis, moment in zip("xyz", given, strict=True):
        try:
            positive(f"inertia I{axis}", moment, "kg m^2")
        except ValueError as error:
            raise ValueError(f"{error}{_of_zero_moments(given)}") from None
    return tuple(float(moment) for moment in given)


def _of_zero_moments(moments: tuple[Any, ...]) -> str:
    """What to do about moments of zero, by their pattern, as the end of a message."""
    try:
        moments = tuple(number("inertia", moment) for moment in moments)
    except (TypeError, ValueError):
        return ""
    zero = [axis for axis, moment in zip("xyz", moments, strict=True) if moment == 0]
    others = [moment for moment in moments if moment != 0]
    if not zero or not all(moment > 0 for moment in others):
        return ""
    if len(zero) == 1 and math.isclose(*others, rel_tol=ROUNDED):
        return (
            f". A linear rotor: write a small moment, such as {1e-12 * max(others):g}, and no spin and no torque about its "
            f"axis (omega_{zero[0]} = 0); its axis then moves as the rotor does, except with methods that keep the angular "
            "momentum in the lab (Fincham, Buss, Johnson)"
        )
    if len(zero) == 1:
        return ". Where one moment is zero all mass is on that axis, and the other two are equal"
    if len(zero) == 2:
        half = f"{others[0] / 2:g}"
        disc = ", ".join(half if moment == 0 else f"{others[0]:g}" for moment in moments)
        return (
            f". A body that only turns in its plane: write the moments of a disc, ({disc}), and no spin and no torque about "
            f"{' and '.join(zero)} (omega_{zero[0]} = omega_{zero[1]} = 0); these two moments then have no effect"
        )
    return ". A point has no orientation"


def _tensor(tensor: Any) -> list[list[float]]:
    """The rows of a symmetric tensor: given as such, as six numbers in the order of LAMMPS, or as nine."""
    lengths = [len(row) if hasattr(row, "__len__") and not isinstance(row, str) else 0 for row in tensor]
    if lengths not in ([0] * 6, [0] * 9, [3] * 3):
        raise ValueError(
            "inertia must be three principal moments, a tensor of 3 x 3, or six numbers Ixx, Iyy, Izz, Ixy, Ixz, Iyz; "
            f"got {shown(tensor)}"
        )
    flat = [number("inertia", item, unit="kg m^2") for row in tensor for item in (row if any(lengths) else [row])]
    if len(flat) == 6:
        xx, yy, zz, xy, xz, yz = flat
        flat = [xx, xy, xz, xy, yy, yz, xz, yz, zz]
    rows = [flat[:3], flat[3:6], flat[6:]]
    skew, largest = max(abs(rows[i][j] - rows[j][i]) for i in range(3) for j in range(i)), max(map(abs, flat))
    if skew > ROUNDED * largest:
        raise ValueError(f"inertia must be a symmetric tensor; Ixy, Iyx and the like differ by {skew:g} kg m^2 in {rows}")
    if skew > ROUND_OFF * largest:
        warnings.warn(f"inertia is a symmetric tensor to {skew / largest:.1g} only; the means are taken", stacklevel=4)
    return [[(rows[i][j] + rows[j][i]) / 2 for j in range(3)] for i in range(3)]


def principal_axes(tensor: Any) -> tuple[list[float], list[list[float]]]:
    """Principal moments, ascending, and the principal axes of a symmetric tensor: an axis a column, a right-handed frame.

    ``tensor`` (3, 3) and moments (3) in kg m^2; axes (3, 3) without a unit.

    The largest component of each axis but the last is positive. Correctly rounded: those of LAPACK depend on the processor in
    their last digit, and a gas of clumps soon shows it.
    """
    rows = [[float(x) for x in row] for row in tensor]
    moments = [row[k] for k, row in enumerate(rows)]
    if _products(rows) or len(set(moments)) < len(moments):
        import mpmath  # takes 0.1 s

        with mpmath.workdps(DIGITS):
            values, vectors = mpmath.eigsy(mpmath.matrix(rows))
            moments, columns = [float(x) for x in values], [[float(x) for x in vectors[:, k]] for k in range(len(values))]
    else:
        columns = [[float(i == k) for i in range(len(rows))] for k in range(len(rows))]
    axes = []
    for k in sorted(range(len(moments)), key=moments.__getitem__):
        sign = math.copysign(1.0, max(columns[k], key=abs))
        axes.append([sign * x + 0.0 for x in columns[k]])
    if len(axes) == 3:
        (a, b, c), (d, e, f), g = axes
        if (b * f - c * e) * g[0] + (c * d - a * f) * g[1] + (a * e - b * d) * g[2] < 0:
            axes[2] = [-x + 0.0 for x in g]
    return sorted(moments), [list(row) for row in zip(*axes, strict=True)]


@kernel
def euler_equations(omega: Vector, torque: Vector, body: Inertia) -> Vector:
    """d(omega)/dt in the body frame: I^-1 (torque - omega x I omega), written out for principal axes.

    ``omega`` (3,) in rad/s and ``torque`` (3,) in N m, body frame -> (3,) in rad/s^2. ``body`` has the numbers of
    :meth:`Body.coefficients`.
    """
    return (
        torque[0] * body[3] + omega[1] * omega[2] * body[6],
        torque[1] * body[4] + omega[2] * omega[0] * body[7],
        torque[2] * body[5] + omega[0] * omega[1] * body[8],
    )


@kernel
def angular_momentum(omega: Vector, body: Inertia) -> Vector:
    """I omega, in the body frame. ``omega`` (3,) in rad/s -> (3,) in N m s.

    ``body`` has the numbers of :meth:`Body.coefficients`.
    """
    return (body[0] * omega[0], body[1] * omega[1], body[2] * omega[2])


@kernel
def angular_velocity(momentum: Vector, body: Inertia) -> Vector:
    """I^-1 L, in the body frame. ``momentum`` (3,) in N m s -> (3,) in rad/s.

    ``body`` has the numbers of :meth:`Body.coefficients`.
    """
    return (body[3] * momentum[0], body[4] * momentum[1], body[5] * momentum[2])
