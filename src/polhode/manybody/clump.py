"""A rigid clump: spheres fixed to each other, in the frame of its principal axes, with the mass properties of their union, or
of spheres with masses of their own."""

from dataclasses import dataclass, field
from math import pi
from pathlib import Path

import numpy as np

from polhode.algebra.body import Body, principal_axes
from polhode.algebra.quaternion import of_axes
from polhode.compiling.kernel import Quaternion
from polhode.interface.arguments import array, number, positive, regular_file, shown, text, vector, whole
from polhode.manybody import clump_files, mass_properties, symmetry

#: Spheres that a rotation or reflection maps onto each other within this fraction of the clump's extent count as symmetric:
#: coordinates in files often have four digits.
SYMMETRIC = 5e-4
#: Within this fraction of the extent or more, spheres that are not alike would count as symmetric.
LARGEST_TOLERANCE = 0.05
#: Range of usable lengths, m: a moment is of the fifth power.
SMALLEST, LARGEST = 1e-50, 1e50
#: A clump further from the origin than this many times its size is first moved there, or round-off would swamp its moments.
FAR = 100.0


@dataclass(frozen=True, eq=False)
class Clump:
    """Spheres in the principal frame of their union, centre of mass at the origin, the moments in ascending order.

    The body axis x is thus the long axis. Make one with :meth:`of_spheres`, :meth:`rod`, :meth:`dimer`, :meth:`sphere`,
    :meth:`loaded_sphere` or :meth:`from_file`.

    Parameters
    ----------
    key, label : str
        Name in files; name in figures.
    centres : array (n, 3)
        Centres of the spheres in the body frame, m.
    radii : array (n,)
        m
    volume : float
        Volume of the union, m^3.
    inertia : (Ix, Iy, Iz)
        Principal moments at density 1, m^5, ascending; in kg m^2 of a clump with a mass.
    centre_of_mass : (x, y, z)
        Where the centre of mass lies in the frame in which the spheres were given, m.
    rotation : (q0, qx, qy, qz)
        Unit quaternion from body axes to those in which the spheres were given. A clump with this orientation, ``q``, and its
        centre of mass at :attr:`centre_of_mass` stands as in its file; ``polhode.algebra.quaternion.to_body(rotation, v)``
        turns a vector of the file's frame, and ``multiply(q, rotation)`` is the orientation of the body where that of the
        file's frame is q.
    mass : float, optional
        kg, of a clump whose spheres have masses of their own. The density of its material then does not change its mass or its
        moments; it still sets the Rayleigh step of a scene.

    Raises
    ------
    TypeError, ValueError
        If a value cannot be that of a clump; the message names it.
    """

    key: str
    label: str
    centres: np.ndarray = field(repr=False)
    radii: np.ndarray = field(repr=False)
    volume: float
    inertia: tuple[float, float, float]
    centre_of_mass: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rotation: Quaternion = (1.0, 0.0, 0.0, 0.0)
    mass: float | None = None

    def __post_init__(self) -> None:
        text("clump: key", self.key)
        where = f"clump {self.key!r}"
        text(f"{where}: label", self.label)
        centres, radii = array(f"{where}: centres", self.centres, columns=3), array(f"{where}: radii", self.radii)
        if len(radii) == 0 or len(centres) != len(radii) or not (radii > 0).all():
            raise ValueError(f"{where}: there must be a positive radius for each centre, got {len(centres)} and {shown(radii)}")
        moments = vector(f"{where}: inertia", self.inertia, 3)
        volume = positive(f"{where}: volume", self.volume, "m^3")
        mass = None if self.mass is None else positive(f"{where}: mass", self.mass, "kg")
        try:
            Body((moments[0], moments[1], moments[2]), mass or volume)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        if list(moments) != sorted(moments):
            raise ValueError(
                f"{where}: inertia must be in ascending order, the long axis first, got {moments}; Clump.of_spheres turns the "
                "spheres into this frame"
            )
        rotation = vector(f"{where}: rotation", self.rotation, 4)
        if abs(sum(x * x for x in rotation) - 1) > 1e-12:
            raise ValueError(f"{where}: rotation must be a unit quaternion, got {rotation}")
        for values in (centres, radii):
            values.setflags(write=False)
        checked = {"centres": centres, "radii": radii, "volume": volume, "inertia": moments, "rotation": rotation, "mass": mass}
        checked["centre_of_mass"] = vector(f"{where}: centre_of_mass", self.centre_of_mass, 3)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of_spheres(
        cls,
        key: str,
        centres: np.ndarray,
        radii: np.ndarray,
        label: str = "",
        tolerance: float = SYMMETRIC,
        masses: np.ndarray | None = None,
    ) -> "Clump":
        """The clump of spheres with centres (n, 3) and radii (n,) in m, in any frame.

        Moments that the symmetry of the spheres makes equal are equal to the last bit: those across the axis of a ring, all
        three of a cube. Centres that lie on a line to within a billionth of its length are put exactly on it, so that no
        contact exerts a torque about the axis of such a rod.

        Parameters
        ----------
        key, label : str
            Name in files; name in figures.
        tolerance : float
            Fraction of the clump's extent within which a rotation or reflection must map the spheres onto each other to count
            as a symmetry, at most 0.05. The default is that of coordinates with four digits.
        masses : array (n,), optional
            kg. Each sphere then has its own mass m, and 2/5 m r^2 about its middle, as in ``fix rigid`` of LAMMPS; overlaps are
            not corrected. By default the clump has one density, and overlaps count once.

        Raises
        ------
        TypeError, ValueError
            If there is no sphere, a value is not finite, a radius or a mass is not positive, the array shapes do not match, or
            a length or a mass is so small or so large that mass and moments cannot be represented.
        """
        return cls._of(key, centres, radii, label, tolerance, masses)

    @classmethod
    def _of(
        cls,
        key: str,
        centres: np.ndarray,
        radii: np.ndarray,
        label: str,
        tolerance: float,
        masses: np.ndarray | None = None,
        declared: mass_properties.MassProperties | None = None,
    ) -> "Clump":
        """:meth:`of_spheres`; mass, centre of mass and inertia that were ``declared`` go before those of the spheres."""
        text("clump: key", key)
        text(f"clump {key!r}: label", label)
        tolerance = number(f"clump {key!r}: tolerance", tolerance, least=0.0)
        if tolerance > LARGEST_TOLERANCE:
            raise ValueError(
                f"clump {key!r}: tolerance is a fraction of the extent, at most {LARGEST_TOLERANCE:g}, got {tolerance:g}"
            )
        centres, radii = array(f"clump {key!r}: centres", centres, columns=3), array(f"clump {key!r}: radii", radii)
        if len(radii) == 0 or len(centres) != len(radii):
            raise ValueError(
                f"clump {key!r}: centres must be (n, 3) and radii (n,) with n > 0, got {centres.shape}, {radii.shape}"
            )
        if not (radii > 0).all():
            raise ValueError(f"clump {key!r}: radii must be positive, got {float(radii.min())!r}")
        if radii.min() < SMALLEST or max(radii.max(), np.abs(centres).max()) > LARGEST:
            raise ValueError(
                f"clump {key!r}: radii of {radii.min():g} to {radii.max():g} m, up to {np.abs(centres).max():g} m away, "
                f"cannot be computed with: lengths must lie between {SMALLEST:g} and {LARGEST:g} m; see the unit (scale)"
            )
        low, high = (centres - radii[:, None]).min(0), (centres + radii[:, None]).max(0)
        if masses is not None:
            masses = array(f"clump {key!r}: masses", masses)
            if len(masses) != len(radii) or not (masses >= SMALLEST).all() or masses.max() > LARGEST:
                raise ValueError(
                    f"clump {key!r}: masses must be positive, one for each of {len(radii)} spheres, from {SMALLEST:g} to "
                    f"{LARGEST:g} kg; got {shown(masses.tolist())}"
                )
        far = np.abs(low + high).max() / 2 > FAR * (high - low).max()
        middle = (low + high) / 2 if far else np.zeros(3)
        centres, start, line = symmetry.straightened(centres - middle)
        if declared is not None:
            place = symmetry.turned((declared.centre - middle - start)[None], line)[0]
            tensor = symmetry.turned(symmetry.turned(declared.inertia, line).T, line)
            mass = mass_properties.MassProperties(declared.volume, place, tensor, declared.mass)
            alike = symmetry.Symmetry(place, np.eye(3), np.empty((3, 0)), 0)
        else:
            mass = mass_properties.union(centres, radii)
            if masses is not None:
                mass = mass_properties.of_masses(centres, radii, masses, mass.volume)
            alike = symmetry.of_spheres(centres, radii, tolerance, masses)
        origin = alike.centre + symmetry.turned((mass.centre - alike.centre)[None], alike.fixed)[0]
        moments, axes = _frame(mass.inertia, alike)
        principal = symmetry.turned(centres - origin, axes)
        x, y, z = (float(m) for m in moments)
        if not (0 < x <= y <= z < float("inf") and 0 < mass.volume < float("inf")):
            raise ValueError(
                f"clump {key!r}: its volume, {mass.volume:g} m^3, or its moments, {x:g}, {y:g}, {z:g} m^5, are not positive; "
                "the spheres are too unlike each other or too far apart to compute with"
            )
        centre = middle + start + symmetry.turned(origin[None], line.T)[0]
        rotation = of_axes(symmetry.turned(line, axes).tolist())
        return cls(key, label or key, principal, radii, mass.volume, (x, y, z), tuple(centre.tolist()), rotation, mass.mass)

    @classmethod
    def sphere(cls, radius: float, key: str = "sphere") -> "Clump":
        """A single sphere of this radius in m.

        Raises
        ------
        TypeError, ValueError
            If the radius is no number from :data:`SMALLEST` to :data:`LARGEST`, or the key is no text.
        """
        text("clump: key", key)
        radius = positive(f"sphere {key!r}: radius", radius, "m")
        return cls.of_spheres(key, np.zeros((1, 3)), np.array([radius]))

    @classmethod
    def loaded_sphere(cls, radius: float, core: float, distance: float, ratio: float, key: str = "loaded sphere") -> "Clump":
        """A sphere with a heavy core inside, so that its centre of mass is not in its middle.

        A contact pushes towards the middle, and therefore turns the sphere. The core lies on the body axis x, on its positive
        side. :attr:`volume` and :attr:`inertia` belong to the mass: the volume that the material of the shell would need for
        it.

        Parameters
        ----------
        radius, core, distance : float
            Radius of the sphere, radius of the core, and distance between their middles, m; the core lies within the sphere.
        ratio : float
            Density of the core over that of the rest, above 1.

        Raises
        ------
        TypeError, ValueError
            If a length is not positive, the core reaches out of the sphere, the ratio is not above 1, one of these numbers is
            below :data:`SMALLEST` or above :data:`LARGEST`, or the key is no text.
        """
        text("clump: key", key)
        where = f"loaded sphere {key!r}"
        radius, core = positive(f"{where}: radius", radius, "m"), positive(f"{where}: core", core, "m")
        distance, ratio = positive(f"{where}: distance", distance, "m"), number(f"{where}: ratio", ratio)
        if core + distance > radius * (1 + 1e-12):
            raise ValueError(f"{where}: core {core:g} m at distance {distance:g} m reaches out of the sphere of {radius:g} m")
        if min(core, distance) < SMALLEST or max(radius, ratio) > LARGEST:
            raise ValueError(
                f"{where}: radius, core, distance and ratio cannot be computed with: they must lie between {SMALLEST:g} and "
                f"{LARGEST:g}"
            )
        if ratio <= 1:
            raise ValueError(f"{where}: ratio must be above 1, got {ratio!r}; without a heavy core use Clump.sphere")
        whole_sphere, excess = 4 / 3 * pi * radius**3, 4 / 3 * pi * core**3 * (ratio - 1)
        volume = whole_sphere + excess
        shift = excess * distance / volume  # of the centre of mass, from the middle towards the core
        about = 0.4 * (whole_sphere * radius**2 + excess * core**2)
        across = about + whole_sphere * shift**2 + excess * (distance - shift) ** 2  # the parallel-axis theorem
        centres, radii = np.array([[-shift, 0.0, 0.0]]), np.array([radius])
        return cls(key, key, centres, radii, volume, (about, across, across))

    @classmethod
    def rod(cls, spheres: int, radius: float, spacing: float, key: str = "rod", label: str = "") -> "Clump":
        """Equal spheres in a row: their number, their radius (m), and the distance between neighbouring centres (m).

        Raises
        ------
        TypeError, ValueError
            If there is no sphere or more than a million, radius or spacing is not positive, a length cannot be computed with
            (:meth:`of_spheres`), or key or label is no text.
        """
        text("clump: key", key)
        spheres = whole(f"rod {key!r}: spheres", spheres, least=1, most=1_000_000)
        radius, spacing = positive(f"rod {key!r}: radius", radius, "m"), positive(f"rod {key!r}: spacing", spacing, "m")
        centres = np.zeros((spheres, 3))
        centres[:, 0] = (np.arange(spheres) - (spheres - 1) / 2) * spacing
        return cls.of_spheres(key, centres, np.full(spheres, float(radius)), label)

    @classmethod
    def dimer(cls, first: float, second: float, distance: float, key: str = "dimer") -> "Clump":
        """Two spheres of radii ``first`` and ``second`` with their centres ``distance`` apart, m.

        Raises
        ------
        TypeError, ValueError
            If a radius is not positive, the distance is negative, a length cannot be computed with (:meth:`of_spheres`), or the
            key is no text.
        """
        text("clump: key", key)
        first, second = positive(f"dimer {key!r}: first", first, "m"), positive(f"dimer {key!r}: second", second, "m")
        distance = number(f"dimer {key!r}: distance", distance, least=0.0, unit="m")
        return cls.of_spheres(key, np.array([[0.0, 0.0, 0.0], [distance, 0.0, 0.0]]), np.array([first, second]))

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        key: str = "",
        label: str = "",
        scale: float = 1.0,
        clump: int | None = None,
        tolerance: float = SYMMETRIC,
        mass_scale: float = 1.0,
    ) -> "Clump":
        """The clump in a text file with one sphere per line: x, y, z and radius, separated by blanks, commas or semicolons.

        Columns in another order have names in the first line: x, y, z, r or radius or diameter, mass, clumpId. Molecule files
        of LAMMPS, native or JSON, cluster files of Kratos (``.clu``) and extended XYZ (OVITO) are read as well. Spheres with
        masses are those of :meth:`of_spheres`; what a file of LAMMPS declares as mass, com and inertia goes before them.

        Parameters
        ----------
        path : path
            Empty lines and text after a # are ignored, but for names of columns as YADE and NumPy write them.
        key, label : str
            Name in files, by default the file's name; name in figures, by default the key.
        scale : float
            The unit of length of the file, in m.
        clump : int, optional
            The number of the clump in a file that has several.
        tolerance : float
            See :meth:`of_spheres`.
        mass_scale : float
            The unit of mass of the file, in kg.

        Raises
        ------
        FileNotFoundError, TypeError, ValueError
            If there is no such file, if it is not UTF-8 text or has none of these formats, or if a value is impossible; the
            message names the line.
        """
        path = regular_file("clump path", path)
        scale = positive(f"clump file {path}: scale", scale, "m")
        mass_scale = positive(f"clump file {path}: mass_scale", mass_scale, "kg")
        number_in_file = None if clump is None else whole(f"clump file {path}: clump", clump)
        spheres = clump_files.read(path, number_in_file, scale, mass_scale)
        key = path.stem if key == "" else key
        try:
            return cls._of(key, spheres.centres, spheres.radii, label, tolerance, spheres.masses, spheres.declared)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    @property
    def reach(self) -> float:
        """Radius of the sphere about the centre of mass that encloses the clump, m."""
        return float((np.linalg.norm(self.centres, axis=1) + self.radii).max())

    @property
    def along(self) -> float:
        """Largest distance of a sphere's centre from the centre of mass along the long axis, m."""
        return float(np.abs(self.centres[:, 0]).max())

    @property
    def beside(self) -> float:
        """Largest distance of a sphere's centre from the long axis, m."""
        return float(np.hypot(self.centres[:, 1], self.centres[:, 2]).max())

    @property
    def low(self) -> float:
        """The lowest coordinate of a sphere's centre along the body axis x, from the centre of mass, m; usually negative."""
        return float(self.centres[:, 0].min())

    @property
    def high(self) -> float:
        """The highest coordinate of a sphere's centre along the body axis x, from the centre of mass, m."""
        return float(self.centres[:, 0].max())

    @property
    def width(self) -> float:
        """Radius of the capsule about the body axis x, from :attr:`low` to :attr:`high`, that encloses the clump, m."""
        return float((np.hypot(self.centres[:, 1], self.centres[:, 2]) + self.radii).max())

    @property
    def linear(self) -> bool:
        """Whether all spheres lie on one axis, so that frictionless contacts exert no torque about it."""
        return self.beside == 0.0

    @property
    def filling(self) -> float:
        """:attr:`volume` as a fraction of the volume of the sphere of radius :attr:`reach`, without a unit."""
        return self.volume / (4 / 3 * pi * self.reach**3)

    @property
    def solid_volume(self) -> float:
        """Volume of the union, also of a loaded sphere, m^3."""
        return min(self.volume, float((4 / 3 * pi * self.radii**3).sum()))

    def body(self, density: float) -> Body:
        """Mass (kg) and principal moments (kg m^2) at a density (kg/m^3), which has no effect if the clump has a :attr:`mass`.

        Raises
        ------
        TypeError, ValueError
            If the density is no positive number, or mass or moments are too small or too large to compute with.
        """
        density = positive(f"clump {self.key!r}: density", density, "kg/m^3")
        if self.mass is not None:
            return Body(self.inertia, self.mass)
        x, y, z = (density * moment for moment in self.inertia)
        return Body((x, y, z), density * self.volume)


def _frame(inertia: np.ndarray, alike: symmetry.Symmetry) -> tuple[np.ndarray, np.ndarray]:
    """Principal moments (3,), ascending, and axes as the columns of a rotation (3, 3); what symmetry makes equal is equal.

    Among equal moments the frame is that of the given coordinates, as far as the axis leaves it free.
    """
    if alike.equal == 3:
        return np.full(3, np.trace(inertia) / 3), np.eye(3)
    if alike.axes.shape[1] == 0:
        moments, axes = map(np.array, principal_axes(inertia))
    else:
        axes = alike.axes if alike.axes.shape[1] == 3 else np.column_stack([alike.axes, symmetry.across(alike.axes[:, 0])])
        # The components along the axes; BLAS rounds products otherwise on other processors.
        inertia = symmetry.turned(symmetry.turned(inertia, axes).T, axes)
        moments = np.diag(inertia).copy()
        if alike.equal == 2:
            moments[1:] = (np.trace(inertia) - moments[0]) / 2
        elif alike.axes.shape[1] == 1:
            moments[1:], plane = principal_axes(inertia[1:, 1:])
            axes[:, 1:] = symmetry.turned(axes[:, 1:], np.array(plane))
        order = np.argsort(moments, kind="stable")
        moments, axes = moments[order], axes[:, order]
        axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), range(3)])
    if np.linalg.det(axes) < 0:
        axes[:, 2] *= -1
    return moments, axes
