"""A rigid clump: spheres fixed to each other, in the frame of its principal axes, with the mass properties of their union."""

from dataclasses import dataclass, field
from math import pi
from pathlib import Path

import numpy as np

from polhode.body import Body
from polhode.manybody import mass_properties

#: Products of inertia below this fraction of the moments count as none; what the columns leave of a symmetric clump is less.
SYMMETRIC = 1e-7
#: Centres that lie within this part of their length of one line are put on it.
STRAIGHT = 1e-9


@dataclass(frozen=True, eq=False)
class Clump:
    """Spheres in the principal frame of their union, centre of mass at the origin, the moments in ascending order.

    The body axis x is thus the long axis. Make one with :meth:`of_spheres`, :meth:`rod`, :meth:`dimer`, :meth:`sphere` or
    :meth:`from_file`.

    Parameters
    ----------
    key, label : str
        Name in files; name in figures.
    centres : array (n, 3)
        Centres of the spheres in the body frame, m.
    radii : array (n,)
        m
    volume : float
        Of the union, m^3.
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

        Centres on one line, up to a billionth of its length, are put on it: no contact gives such a rod a torque about it.

        Raises
        ------
        ValueError
            If there is no sphere, a number is not finite, a radius is not positive or the shapes do not agree.
        """
        centres, radii = np.array(centres, float, ndmin=2), np.array(radii, float, ndmin=1)
        if radii.ndim != 1 or len(radii) == 0 or centres.shape != (len(radii), 3):
            raise ValueError(
                f"clump {key!r}: centres must be (n, 3) and radii (n,) with n > 0, got {centres.shape}, {radii.shape}"
            )
        if not (np.isfinite(centres).all() and np.isfinite(radii).all() and (radii > 0).all()):
            raise ValueError(f"clump {key!r}: centres must be finite, and radii positive and finite")
        centres = _straightened(centres)
        mass = mass_properties.union(centres, radii)
        centred, inertia = centres - mass.centre, mass.inertia
        if not centres[:, 1:].any():
            # A body of revolution to the last bit; the columns leave round-off.
            centred[:, 1:] = 0.0
            inertia = np.diag([inertia[0, 0], *[(inertia[1, 1] + inertia[2, 2]) / 2] * 2])
        largest = np.abs(np.diag(inertia)).max()
        if np.abs(inertia - np.diag(np.diag(inertia))).max() <= SYMMETRIC * largest:
            # Already principal: exchange axes only, so that what lies on an axis stays on it to the last bit.
            order = np.argsort(np.diag(inertia), kind="stable")
            moments, axes = np.diag(inertia)[order], np.eye(3)[:, order]
        else:
            moments, axes = np.linalg.eigh(inertia)
        if np.linalg.det(axes) < 0:
            axes[:, 2] *= -1
        principal = np.ascontiguousarray(centred @ axes)
        principal.setflags(write=False)
        radii.setflags(write=False)
        x, y, z = (float(m) for m in moments)
        return cls(key, label or key, principal, radii, mass.volume, (x, y, z))

    @classmethod
    def sphere(cls, radius: float, key: str = "sphere") -> "Clump":
        """One sphere of this radius in m."""
        return cls.of_spheres(key, np.zeros((1, 3)), np.array([radius]))

    @classmethod
    def rod(cls, spheres: int, radius: float, spacing: float, key: str = "rod", label: str = "") -> "Clump":
        """Equal spheres in a row: their number, radius and the distance of neighbouring centres, m.

        Raises
        ------
        ValueError
            If there is no sphere, or radius or spacing is not positive.
        """
        if spheres < 1 or not radius > 0 or not spacing > 0:
            raise ValueError(
                f"rod {key!r}: needs a sphere, and positive radius and spacing; got {spheres!r}, {radius!r}, {spacing!r}"
            )
        centres = np.zeros((spheres, 3))
        centres[:, 0] = (np.arange(spheres) - (spheres - 1) / 2) * spacing
        return cls.of_spheres(key, centres, np.full(spheres, float(radius)), label)

    @classmethod
    def dimer(cls, first: float, second: float, distance: float, key: str = "dimer") -> "Clump":
        """Two spheres of radii ``first`` and ``second`` with their centres ``distance`` apart, m."""
        return cls.of_spheres(key, np.array([[0.0, 0.0, 0.0], [distance, 0.0, 0.0]]), np.array([first, second]))

    @classmethod
    def from_file(cls, path: str | Path, key: str = "", label: str = "", scale: float = 1.0) -> "Clump":
        """The clump of a text file with one sphere a line: x, y, z and radius, separated by blanks or commas.

        Parameters
        ----------
        path : path
            Empty lines and what follows a # do not count; one line of names at the top, without any number, is allowed.
        key, label : str
            The file's name by default.
        scale : float
            What one unit of the file is in m.

        Raises
        ------
        FileNotFoundError, ValueError
            If there is no such file, or a line is not four finite numbers with a positive radius; the message names the line.
        """
        path = Path(path)
        if not path.is_file():
            raise FileNotFoundError(f"clump file {path} does not exist")
        if not scale > 0:
            raise ValueError(f"clump file {path}: scale must be positive, got {scale!r}")
        rows: list[list[float]] = []
        first = True
        for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1):
            words = line.split("#")[0].replace(",", " ").replace(";", " ").split()
            if not words:
                continue
            names, first = first and not any(map(_is_number, words)), False
            if names:
                continue
            if len(words) != 4 or not all(map(_is_number, words)):
                raise ValueError(f"{path}, line {number}: expected four numbers x, y, z, r, got {line.strip()!r}")
            values = [float(word) for word in words]
            if not np.isfinite(values).all():
                raise ValueError(f"{path}, line {number}: x, y, z, r must be finite, got {line.strip()!r}")
            if values[3] <= 0:
                raise ValueError(f"{path}, line {number}: the radius r must be positive, got {values[3]!r}")
            rows.append(values)
        if not rows:
            raise ValueError(f"{path}: holds no sphere; write one a line: x y z r")
        table = np.array(rows) * scale
        return cls.of_spheres(key or path.stem, table[:, :3], table[:, 3], label)

    @property
    def reach(self) -> float:
        """Radius of a sphere about the centre of mass that holds the clump, m."""
        return float((np.linalg.norm(self.centres, axis=1) + self.radii).max())

    @property
    def along(self) -> float:
        """How far centres of spheres lie from the centre of mass along the long axis, m."""
        return float(np.abs(self.centres[:, 0]).max())

    @property
    def beside(self) -> float:
        """How far centres of spheres lie from the long axis, m."""
        return float(np.hypot(self.centres[:, 1], self.centres[:, 2]).max())

    @property
    def low(self) -> float:
        """Where the first sphere sits along the long axis, m."""
        return float(self.centres[:, 0].min())

    @property
    def high(self) -> float:
        """Where the last sphere sits along the long axis, m."""
        return float(self.centres[:, 0].max())

    @property
    def width(self) -> float:
        """Radius of the capsule about the long axis, between the first and the last sphere, that holds the clump, m."""
        return float((np.hypot(self.centres[:, 1], self.centres[:, 2]) + self.radii).max())

    @property
    def linear(self) -> bool:
        """Whether all spheres lie on one axis, so that contacts without friction give no torque about it."""
        return self.beside == 0.0

    @property
    def filling(self) -> float:
        """Volume of the union as a fraction of the sphere of radius :attr:`reach`."""
        return self.volume / (4 / 3 * pi * self.reach**3)

    def body(self, density: float) -> Body:
        """Mass and principal moments at a density in kg/m^3."""
        x, y, z = (density * moment for moment in self.inertia)
        return Body((x, y, z), density * self.volume)


def _straightened(centres: np.ndarray) -> np.ndarray:
    """The same centres (n, 3), along x if they lie on one line."""
    away = centres - centres[0]
    distances = np.linalg.norm(away, axis=1)
    length = distances.max()
    if length == 0.0:
        return np.zeros_like(centres)
    if not away[:, 1:].any():
        return np.column_stack([centres[:, 0], np.zeros((len(centres), 2))])
    direction = away[np.argmax(distances)] / length
    along = away @ direction
    if np.linalg.norm(away - np.outer(along, direction), axis=1).max() > STRAIGHT * length:
        return centres
    return np.column_stack([along, np.zeros((len(centres), 2))])


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
