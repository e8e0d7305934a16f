"""A rigid molecule: sites with masses, charges and Lennard-Jones parameters, in the frame of their principal axes."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from polhode.algebra.body import Body, principal_axes
from polhode.algebra.quaternion import of_axes
from polhode.compiling.kernel import Quaternion
from polhode.interface.arguments import array, is_ordered, regular_file, shown, text, unit_quaternion, vector
from polhode.manybody import molecule_files, symmetry, units

#: Sites within this fraction of their extent of a straight line are moved onto it: files often have three or four digits.
STRAIGHT = 5e-3
#: Moments that agree to this fraction are equal.
EQUAL = 1e-9
#: How much moments and centre of mass may differ from those of the sites; a moment below this fraction of the mass times the
#: square of the extent is none.
SLIGHT = 1e-6
#: How far a total charge may be from a whole number: partial charges often have three or four digits.
WHOLE = 5e-3
#: Range of the largest length and the largest mass that can be computed with.
SMALLEST, LARGEST = 1e-50, 1e50


@dataclass(frozen=True, eq=False)
class Molecule:
    """Sites fixed to each other, in their principal frame, the centre of mass at the origin, the moments in ascending order.

    Make one with :meth:`of_sites` or :meth:`from_file`. Lengths, masses, charges and energies are in the units of the system
    named ``units``.

    Of the body axes x and y the largest component, in the frame in which the sites were given, is positive; z completes a
    right-handed frame. Where two or three moments are equal, the axes lie as near to those given as they can. SPC/E water,
    given with its plane in xy and the hydrogens towards +y, thus has x across (from one hydrogen to the other), y along the
    bisector towards the hydrogens, and z normal to the plane.

    **Massless sites** act on others and carry what acts on them to the molecule, but do not move its centre of mass and have no
    part in its moments.

    **Linear molecules.** Sites on a line are put exactly on the x axis, which points as in the file if it is the x axis there,
    and otherwise from the first site to the one furthest from it. The moment about this axis is zero. No torque acts about it
    and the molecule has no spin there, so the value given to that moment does not change the motion: :meth:`body` makes it that
    of the others. A body with three equal moments has no gyroscopic term, omega x I omega = 0. Therefore every method runs a
    linear molecule, also those that divide by each moment, and none is distinguished by how it treats the gyroscopic term: what
    remains is how it turns the orientation and where in the step it takes the torque. A start must have omega_x = 0. Most
    methods keep it zero. ``dlm1997`` and ``no_squish``, which turn about one axis after the other, let a spin about x creep in,
    of the order of the square of the angle per step; those that keep the angular momentum in the lab (``fincham1992``,
    ``buss2000``, ``calzavarini2010``), ``munjiza2003`` and ``pfc4_delvalle2024`` do so too.

    **A single atom**, or sites that all lie at its place, is a molecule with three degrees of freedom and no rotation; its
    moments too are arbitrary, and :meth:`body` makes them mass times unit length squared.

    Parameters
    ----------
    key, label : str
        Name in files; name in figures.
    names : sequence of n strings
        Names of the sites, such as chemical symbols.
    sites : array (n, 3)
        Places in the body frame.
    masses, charges, epsilon, sigma : array (n,)
        ``epsilon`` is the depth of the Lennard-Jones potential between two such sites, zero for none; ``sigma`` its zero.
    units : str
        ``real``: Angstrom, g/mol, elementary charges, kcal/mol; ``lj``: reduced. See :mod:`polhode.manybody.units`.
    inertia : (Ix, Iy, Iz)
        Principal moments, mass times length squared, ascending; (0, I, I) for a linear molecule, zeros for an atom.
    centre_of_mass : (x, y, z)
        Where the centre of mass lies in the frame in which the sites were given.
    rotation : (q0, qx, qy, qz)
        Unit quaternion from body axes to those in which the sites were given. A molecule with this orientation, ``q``, and its
        centre of mass at :attr:`centre_of_mass` stands as in its file; ``polhode.algebra.quaternion.to_body(rotation, v)``
        turns a vector of the file's frame, and ``multiply(q, rotation)`` is the orientation of the body where that of the
        file's frame is q.
    source : str
        Where the parameters come from.

    Raises
    ------
    TypeError, ValueError
        If a value cannot be that of a molecule; the message names it.
    """

    key: str
    label: str
    names: tuple[str, ...]
    sites: np.ndarray = field(repr=False)
    masses: np.ndarray = field(repr=False)
    charges: np.ndarray = field(repr=False)
    epsilon: np.ndarray = field(repr=False)
    sigma: np.ndarray = field(repr=False)
    units: str
    inertia: tuple[float, float, float]
    centre_of_mass: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rotation: Quaternion = (1.0, 0.0, 0.0, 0.0)
    source: str = ""

    def __post_init__(self) -> None:
        values = {name: getattr(self, name) for name in ("sites", "masses", "charges", "epsilon", "sigma")}
        where, checked = _checked(self.key, self.label, self.names, self.units, values)
        text(f"{where}: source", self.source)
        sites, masses = checked["sites"], checked["masses"]
        moments = vector(f"{where}: inertia", self.inertia, 3)
        extent = float(np.abs(sites).max())
        if np.abs((masses[:, None] * sites).sum(0)).max() > SLIGHT * extent * masses.sum():
            raise ValueError(f"{where}: the centre of mass of its sites must be the origin; Molecule.of_sites puts it there")
        wrong = np.abs(_tensor(sites, masses) - np.diag(moments)).max()
        if wrong > SLIGHT * max(moments) or list(moments) != sorted(moments):
            raise ValueError(
                f"{where}: inertia must be the principal moments of its sites, in ascending order, got {moments}; "
                "Molecule.of_sites finds them and turns the sites into this frame"
            )
        least = SLIGHT * masses.sum() * extent**2
        if (moments[0] <= least and sites[:, 1:].any()) or (moments[2] <= least and sites.any()):
            away = int(np.argmax((sites[:, 1:] ** 2).sum(1) if moments[2] > least else (sites**2).sum(1)))
            raise ValueError(
                f"{where}: its masses lie {'on a line' if moments[2] > least else 'in one place'}, or nearly so, but site "
                f"{away + 1} ({checked['names'][away]}) does not; nothing resists the torque on it: give it more mass"
            )
        checked |= {
            "inertia": moments,
            "centre_of_mass": vector(f"{where}: centre_of_mass", self.centre_of_mass, 3),
            "rotation": unit_quaternion(f"{where}: rotation", self.rotation),
        }
        for name, value in checked.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)
        self.body()

    @classmethod
    def of_sites(
        cls,
        key: str,
        positions: Any,
        masses: Any,
        charges: Any = None,
        epsilon: Any = None,
        sigma: Any = None,
        names: Sequence[str] | None = None,
        label: str = "",
        units: str = "real",
        source: str = "",
    ) -> "Molecule":
        """The molecule of sites with positions (n, 3) in any frame.

        Parameters
        ----------
        key, label, source : str
            Name in files; name in figures (the key by default); where the parameters come from.
        positions : array (n, 3)
            Where the sites are, in Angstrom or in the reduced unit of length.
        masses, charges, epsilon, sigma : array (n,)
            See :class:`Molecule`. Charges and Lennard-Jones parameters are zero by default.
        names : sequence of n strings, optional
            By default the number of each site, from 1.
        units : str
            ``real`` or ``lj``.

        Raises
        ------
        TypeError, ValueError
            If there is no site or none has a mass, a value is not finite, a mass or epsilon is negative, sigma is not positive
            where epsilon is, array shapes do not match, or a site lies beside the line of a molecule whose masses are on one.
        """
        values = {"positions": positions, "masses": masses, "charges": charges, "epsilon": epsilon, "sigma": sigma}
        checked = _checked(key, label, names, units, values)[1]
        positions, masses = checked["positions"], checked["masses"]
        first = positions[0]
        sites, start, line = symmetry.straightened(positions - first, STRAIGHT)
        origin = (masses[:, None] * sites).sum(0) / masses.sum()
        sites = sites - origin
        tensor = _tensor(sites, masses)
        if sites[:, 1:].any():
            moments, axes = _frame(tensor)
        else:
            moments, axes = (0.0, float(tensor[1, 1]), float(tensor[1, 1])), np.eye(3)
        centre = first + start + symmetry.turned(origin[None], line.T)[0]
        return cls(
            key,
            label or key,
            checked["names"],
            symmetry.turned(sites, axes),
            masses,
            checked["charges"],
            checked["epsilon"],
            checked["sigma"],
            units,
            moments,
            tuple(centre.tolist()),
            of_axes(symmetry.turned(line, axes).tolist()),
            source,
        )

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        key: str = "",
        label: str = "",
        units: str = "real",
        lennard_jones: Mapping[Any, Any] | None = None,
        masses: Mapping[Any, Any] | None = None,
        columns: str | Sequence[str] | None = None,
    ) -> "Molecule":
        """The molecule in an XYZ file with charges, or in a molecule file of LAMMPS, native or JSON.

        Parameters
        ----------
        path : path
            See :mod:`polhode.manybody.molecule_files` for the columns and sections that are read.
        key, label : str
            Name in files, by default the file's name; name in figures, by default the key.
        units : str
            The units of its numbers, ``real`` or ``lj``.
        lennard_jones : mapping, optional
            Pairs (epsilon, sigma) by the name of a site, or by its type in LAMMPS' file, which has none; ``{}`` if no site has
            a Lennard-Jones potential.
        masses : mapping, optional
            Masses by name or type, which go before those of the file. Without either they are those of the elements.
        columns : str or sequence of strings, optional
            The names of the columns of an XYZ file that does not name them: ``"name x y z charge"``, with ``-`` for a column
            that is not to be read.

        Warns
        -----
        UserWarning
            If the charges of a molecule in ``real`` units do not add up to a whole number.

        Raises
        ------
        FileNotFoundError, TypeError, ValueError
            If there is no such file, if it has none of these formats, or if a value is impossible; the message names file, line
            and section.
        """
        file = regular_file("molecule path", path)
        sites = molecule_files.read(file, lennard_jones, masses, columns, units)
        try:
            molecule = cls.of_sites(file.stem if key == "" else key, **sites, label=label, units=units)
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from None
        charge = float(molecule.charges.sum())
        if units == "real" and abs(charge - round(charge)) > WHOLE:
            warnings.warn(
                f"{file}: its charges add up to {charge:.6g}, which is no whole number; are they charges?", stacklevel=2
            )
        return molecule

    @property
    def mass(self) -> float:
        """Mass of all sites, in the molecule's unit of mass (g/mol for real units)."""
        return float(self.masses.sum())

    @property
    def linear(self) -> bool:
        """Whether all sites lie on the x axis, not all in one place: no torque acts about it."""
        return self.inertia[0] == 0 < self.inertia[2]

    @property
    def degrees_of_freedom(self) -> int:
        """The number of degrees of freedom: 6; 5 of a linear molecule, 3 of an atom."""
        return 6 if self.inertia[0] > 0 else 5 if self.linear else 3

    @property
    def reach(self) -> float:
        """Largest distance from the centre of mass of a site that has a charge or a Lennard-Jones potential.

        It is in the molecule's unit of length, and 0 if there is no such site.
        """
        acting = (self.charges != 0) | (self.epsilon > 0)
        return float(np.sqrt((self.sites[acting] ** 2).sum(1)).max(initial=0.0))

    def body(self) -> Body:
        """Mass and principal moments in the units of the molecule; moments without an effect are filled in (see the class).

        Raises
        ------
        ValueError
            If mass or moments are too small or too large to compute with.
        """
        x, y, z = self.inertia if self.inertia[0] > 0 else (self.inertia[2] or self.mass,) * 3
        try:
            return Body((x, y, z), self.mass)
        except ValueError as error:
            raise ValueError(f"molecule {self.key!r}: {error}") from None


def _checked(key: str, label: str, names: Any, system: str, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """What messages call the molecule, and its names and numbers, which are checked; the first are the places of the sites."""
    where = f"molecule {text('molecule: key', key, empty=False)!r}"
    text(f"{where}: label", label)
    if text(f"{where}: units", system) not in units.SYSTEMS:
        raise ValueError(f"{where}: units must be one of {', '.join(units.SYSTEMS)}, got {shown(system)}")
    (place, places), *others = given.items()
    numbers = {place: array(f"{where}: {place}", places, columns=3)}
    count = len(numbers[place])
    for name, values in others:
        numbers[name] = np.zeros(count) if values is None and name != "masses" else array(f"{where}: {name}", values)
    if not is_ordered(names) and names is not None:
        raise TypeError(f"{where}: names must be a sequence of strings, got {shown(names)}")
    tags = range(1, count + 1) if names is None else (text(f"{where}: names[{k}]", name) for k, name in enumerate(names))
    checked: dict[str, Any] = {**numbers, "names": tuple(map(str, tags))}
    for name, values in checked.items():
        if len(values) != count or count == 0:
            raise ValueError(f"{where}: {name} must have an entry for each of {count} sites, got {len(values)}")
    for name in ("masses", "epsilon", "sigma"):
        if (numbers[name] < 0).any():
            raise ValueError(f"{where}: {name} must not be negative, got {float(numbers[name].min())!r}")
    if not numbers["masses"].any():
        raise ValueError(f"{where}: at least one site must have a mass")
    for name in (place, "masses"):
        largest = np.abs(numbers[name]).max()
        if largest and not SMALLEST <= largest <= LARGEST:
            raise ValueError(
                f"{where}: {name} up to {largest:g} cannot be computed with; they must lie between {SMALLEST:g} and {LARGEST:g}"
            )
    if (bare := np.flatnonzero((numbers["epsilon"] > 0) & (numbers["sigma"] == 0))).size:
        raise ValueError(f"{where}: site {bare[0] + 1} ({checked['names'][bare[0]]}) has an epsilon, but its sigma is zero")
    return where, checked


def _tensor(sites: np.ndarray, masses: np.ndarray) -> np.ndarray:
    """Inertia tensor (3, 3) of point masses about the origin."""
    x, y, z = sites.T
    tensor = [[y * y + z * z, -x * y, -x * z], [-x * y, x * x + z * z, -y * z], [-x * z, -y * z, x * x + y * y]]
    return np.array([[(masses * entry).sum() for entry in row] for row in tensor])


def _frame(tensor: np.ndarray) -> tuple[tuple[float, float, float], np.ndarray]:
    """Principal moments, ascending, and axes as the columns of a rotation (3, 3); moments that agree are made equal."""
    (x, y, z), rows = principal_axes(tensor)
    axes = np.array(rows)
    if z - x <= EQUAL * z:
        return ((x + y + z) / 3,) * 3, np.eye(3)
    if z - y <= EQUAL * z:
        return (x, (y + z) / 2, (y + z) / 2), np.column_stack([axes[:, 0], symmetry.across(axes[:, 0])])
    if y - x <= EQUAL * z:
        axis = axes[:, 2] * np.sign(axes[np.abs(axes[:, 2]).argmax(), 2])
        return ((x + y) / 2, (x + y) / 2, z), np.column_stack([symmetry.across(axis), axis])
    return (x, y, z), axes
