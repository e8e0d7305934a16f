"""A rigid clump: spheres fixed to each other, in the frame of its principal axes, with the mass properties of their union."""

from dataclasses import dataclass, field
from math import pi
from pathlib import Path

import numpy as np

from polhode.arguments import array, number, positive, shown, text, whole
from polhode.body import Body
from polhode.manybody import mass_properties

#: Products of inertia below this fraction of the moments count as zero; the columns leave less than that for a symmetric clump.
SYMMETRIC = 1e-7
#: Centres within this fraction of their extent of a straight line are moved onto it.
STRAIGHT = 1e-9
#: Decimal digits in which principal axes are computed before they are rounded.
DIGITS = 30
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
        Principal moments at density 1, m^5.
    """

    key: str
    label: str
    centres: np.ndarray = field(repr=False)
    radii: np.ndarray = field(repr=False)
    volume: float
    inertia: tuple[float, float, float]

    @classmethod
    def of_spheres(cls, key: str, centres: np.ndarray, radii: np.ndarray, label: str = "") -> "Clump":
        """The clump of spheres with centres (n, 3) and radii (n,) in m, in any frame.

        Centres that lie on a line to within a billionth of its length are put exactly on it, so that no contact exerts a
        torque about the axis of such a rod.

        Raises
        ------
        TypeError, ValueError
            If there is no sphere, a value is not finite, a radius is not positive, the array shapes do not match, or a length
            is so small or so large that mass and moments cannot be represented.
        """
        text("clump: key", key)
        text(f"clump {key!r}: label", label)
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
        if np.abs(low + high).max() / 2 > FAR * (high - low).max():
            centres = centres - (low + high) / 2
        centres = _straightened(centres)
        mass = mass_properties.union(centres, radii)
        centred, inertia = centres - mass.centre, mass.inertia
        if not centres[:, 1:].any():
            # Exactly a body of revolution; the columns leave round-off.
            centred[:, 1:] = 0.0
            inertia = np.diag([inertia[0, 0], *[(inertia[1, 1] + inertia[2, 2]) / 2] * 2])
        largest = np.abs(np.diag(inertia)).max()
        if np.abs(inertia - np.diag(np.diag(inertia))).max() <= SYMMETRIC * largest:
            # Already principal: only permute the axes, so that points on an axis stay exactly on it.
            order = np.argsort(np.diag(inertia), kind="stable")
            moments, axes = np.diag(inertia)[order], np.eye(3)[:, order]
        else:
            moments, axes = _principal_axes(inertia)
        if np.linalg.det(axes) < 0:
            axes[:, 2] *= -1
        principal = _turned(centred, axes)
        principal.setflags(write=False)
        radii.setflags(write=False)
        x, y, z = (float(m) for m in moments)
        if not (0 < x <= y <= z < float("inf") and 0 < mass.volume < float("inf")):
            raise ValueError(
                f"clump {key!r}: its volume, {mass.volume:g} m^3, or its moments, {x:g}, {y:g}, {z:g} m^5, are not positive; "
                "the spheres are too unlike each other or too far apart to compute with"
            )
        return cls(key, label or key, principal, radii, mass.volume, (x, y, z))

    @classmethod
    def sphere(cls, radius: float, key: str = "sphere") -> "Clump":
        """A single sphere of this radius in m."""
        text("clump: key", key)
        radius = positive(f"sphere {key!r}: radius", radius, "m")
        return cls.of_spheres(key, np.zeros((1, 3)), np.array([radius]))

    @classmethod
    def loaded_sphere(cls, radius: float, core: float, distance: float, ratio: float, key: str = "loaded sphere") -> "Clump":
        """A sphere with a heavy core inside, so that its centre of mass is not in its middle.

        A contact pushes towards the middle, and therefore turns the sphere. :attr:`volume` and :attr:`inertia` are those of
        the mass: the volume that the material of the shell would need for it.

        Parameters
        ----------
        radius, core, distance : float
            Radius of the sphere, radius of the core, and distance between their middles, m; the core lies within the sphere.
        ratio : float
            Density of the core over that of the rest, above 1.

        Raises
        ------
        TypeError, ValueError
            If a length is not positive, the core reaches out of the sphere, or the ratio is not above 1.
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
        centres.setflags(write=False)
        radii.setflags(write=False)
        return cls(key, key, centres, radii, volume, (about, across, across))

    @classmethod
    def rod(cls, spheres: int, radius: float, spacing: float, key: str = "rod", label: str = "") -> "Clump":
        """Equal spheres in a row: their number, their radius, and the distance between neighbouring centres, m.

        Raises
        ------
        TypeError, ValueError
            If there is no sphere, or radius or spacing is not positive.
        """
        text("clump: key", key)
        spheres = whole(f"rod {key!r}: spheres", spheres, least=1, most=1_000_000)
        radius, spacing = positive(f"rod {key!r}: radius", radius, "m"), positive(f"rod {key!r}: spacing", spacing, "m")
        centres = np.zeros((spheres, 3))
        centres[:, 0] = (np.arange(spheres) - (spheres - 1) / 2) * spacing
        return cls.of_spheres(key, centres, np.full(spheres, float(radius)), label)

    @classmethod
    def dimer(cls, first: float, second: float, distance: float, key: str = "dimer") -> "Clump":
        """Two spheres of radii ``first`` and ``second`` with their centres ``distance`` apart, m."""
        text("clump: key", key)
        first, second = positive(f"dimer {key!r}: first", first, "m"), positive(f"dimer {key!r}: second", second, "m")
        distance = number(f"dimer {key!r}: distance", distance, least=0.0, unit="m")
        return cls.of_spheres(key, np.array([[0.0, 0.0, 0.0], [distance, 0.0, 0.0]]), np.array([first, second]))

    @classmethod
    def from_file(cls, path: str | Path, key: str = "", label: str = "", scale: float = 1.0) -> "Clump":
        """The clump in a text file with one sphere per line: x, y, z and radius, separated by blanks, commas or semicolons.

        Parameters
        ----------
        path : path
            Empty lines and text after a # are ignored; one line of names without any number is allowed at the top.
        key, label : str
            The file's name by default.
        scale : float
            The unit of length of the file, in m.

        Raises
        ------
        FileNotFoundError, TypeError, ValueError
            If there is no such file, if it is not UTF-8 text, or if a line is not four finite numbers with a positive radius;
            the message names the line.
        """
        if not isinstance(path, str | Path):
            raise TypeError(f"path must be the path of a clump file, got {shown(path)}")
        path = Path(path)
        if not path.is_file():
            raise FileNotFoundError(f"clump file {path} does not exist")
        scale = positive(f"clump file {path}: scale", scale, "m")
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise ValueError(
                f"clump file {path} is not UTF-8 text (byte {error.start} is {error.object[error.start]:#04x}); "
                "save it as plain text, one sphere per line: x y z r"
            ) from None
        rows: list[list[float]] = []
        first = True
        for place, line in enumerate(lines, 1):
            words = line.split("#")[0].replace(",", " ").replace(";", " ").split()
            if not words:
                continue
            names, first = first and not any(map(_is_number, words)), False
            if names:
                continue
            if len(words) != 4 or not all(map(_is_number, words)):
                raise ValueError(f"{path}, line {place}: expected four numbers x, y, z, r, got {shown(line.strip())}")
            values = [float(word) for word in words]
            if not np.isfinite(values).all():
                raise ValueError(f"{path}, line {place}: x, y, z, r must be finite, got {shown(line.strip())}")
            if values[3] <= 0:
                raise ValueError(f"{path}, line {place}: the radius r must be positive, got {values[3]!r}")
            rows.append(values)
        if not rows:
            raise ValueError(f"{path}: holds no sphere; write one per line: x y z r")
        table = np.array(rows) * scale
        return cls.of_spheres(key or path.stem, table[:, :3], table[:, 3], label)

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
        """Position of the first sphere along the long axis, m."""
        return float(self.centres[:, 0].min())

    @property
    def high(self) -> float:
        """Position of the last sphere along the long axis, m."""
        return float(self.centres[:, 0].max())

    @property
    def width(self) -> float:
        """Radius of the capsule about the long axis, from the first to the last sphere, that encloses the clump, m."""
        return float((np.hypot(self.centres[:, 1], self.centres[:, 2]) + self.radii).max())

    @property
    def linear(self) -> bool:
        """Whether all spheres lie on one axis, so that frictionless contacts exert no torque about it."""
        return self.beside == 0.0

    @property
    def filling(self) -> float:
        """Volume of the union as a fraction of the sphere of radius :attr:`reach`."""
        return self.volume / (4 / 3 * pi * self.reach**3)

    def body(self, density: float) -> Body:
        """Mass and principal moments at a density in kg/m^3."""
        density = positive(f"clump {self.key!r}: density", density, "kg/m^3")
        x, y, z = (density * moment for moment in self.inertia)
        return Body((x, y, z), density * self.volume)


def _principal_axes(inertia: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Principal moments, ascending, and axes as columns, the largest component of each positive.

    Correctly rounded: those of LAPACK depend on the processor in their last digit, and a gas of clumps soon shows it.
    """
    import mpmath  # takes 0.1 s, and balls or rods do not need it

    with mpmath.workdps(DIGITS):
        moments, axes = mpmath.eigsy(mpmath.matrix(inertia.tolist()))
        found = np.array(axes.tolist(), float)
        moments = np.array(list(moments), float)
    order = np.argsort(moments, kind="stable")
    moments, found = moments[order], found[:, order]
    largest = found[np.abs(found).argmax(axis=0), range(3)]
    return moments, found * np.sign(largest)


def _turned(points: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """The components of points (n, 3) along axes, which are columns; BLAS rounds products otherwise on other processors."""
    x, y, z = points.T
    return np.ascontiguousarray(np.column_stack([x * a + y * b + z * c for a, b, c in axes.T]))


def _straightened(centres: np.ndarray) -> np.ndarray:
    """The centres (n, 3), moved onto the x axis if they lie on one line."""
    away = centres - centres[0]
    distances = np.linalg.norm(away, axis=1)
    length = distances.max()
    if length == 0.0:
        return np.zeros_like(centres)
    if not away[:, 1:].any():
        return np.column_stack([centres[:, 0], np.zeros((len(centres), 2))])
    direction = away[np.argmax(distances)] / length
    along = _turned(away, direction[:, None])[:, 0]
    if np.linalg.norm(away - np.outer(along, direction), axis=1).max() > STRAIGHT * length:
        return centres
    return np.column_stack([along, np.zeros((len(centres), 2))])


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return "_" not in word  # which Python would ignore
