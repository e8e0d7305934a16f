"""Files of molecules as other programs write them: XYZ with charges, and molecule files of LAMMPS.

XYZ has the number of sites in its first line and a comment in its second, which may name the columns of the others as
``Properties=species:S:1:pos:R:3:charge:R:1`` (extended XYZ). Without that a line is ``name x y z`` with the charge q, with q
and the mass, with q, epsilon and sigma, or with q, mass, epsilon and sigma. Of a molecule file of LAMMPS the sections Coords,
Types, Charges and Masses are read; bonds and the like have no meaning for a rigid molecule, and mass, com and inertia follow
from the sites.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from polhode.interface.arguments import number, shown, vector
from polhode.manybody.clump_files import Line, is_number, lammps_sections, numbered_lines, xyz_columns
from polhode.registry import nearest

#: Columns of extended XYZ, in lower case, also as ASE calls them.
NAMES = {
    "name": ("species", "name", "element", "symbol", "symbols", "type"),
    **{axis: (axis,) for axis in "xyz"},
    "charge": ("charge", "charges", "q", "initial_charges"),
    "mass": ("mass", "masses"),
    "epsilon": ("epsilon",),
    "sigma": ("sigma",),
}
KNOWN = {alias: name for name, aliases in NAMES.items() for alias in aliases}
#: The columns of a plain XYZ file after the name and x, y, z, by their number.
PLAIN = (
    (),
    ("charge",),
    ("charge", "mass"),
    ("charge", "epsilon", "sigma"),
    ("charge", "mass", "epsilon", "sigma"),
)
#: Standard atomic weights, abridged to five digits; CIAAW (2021).
WEIGHTS = {
    **{"H": 1.008, "He": 4.0026, "Li": 6.94, "Be": 9.0122, "B": 10.81, "C": 12.011, "N": 14.007, "O": 15.999, "F": 18.998},
    **{"Ne": 20.180, "Na": 22.990, "Mg": 24.305, "Al": 26.982, "Si": 28.085, "P": 30.974, "S": 32.06, "Cl": 35.45},
    **{"Ar": 39.95, "K": 39.098, "Ca": 40.078, "Ti": 47.867, "Cr": 51.996, "Mn": 54.938, "Fe": 55.845, "Co": 58.933},
    **{"Ni": 58.693, "Cu": 63.546, "Zn": 65.38, "Ge": 72.630, "As": 74.922, "Se": 78.971, "Br": 79.904, "Kr": 83.798},
    **{"Ag": 107.87, "Cd": 112.41, "Sn": 118.71, "I": 126.90, "Xe": 131.29, "Pt": 195.08, "Au": 196.97, "Hg": 200.59},
}


@dataclass
class _Site:
    """A site in a file: the line, its name, and the numbers that the file has for it."""

    place: int
    name: str
    numbers: dict[str, float]


def read(path: Path, lennard_jones: Mapping[Any, Any] | None, masses: Mapping[Any, Any] | None) -> dict[str, Any]:
    """Names, positions, masses, charges, epsilon and sigma of the sites in a file, as ``Molecule.of_sites`` takes them.

    Parameters
    ----------
    path : path
        The file.
    lennard_jones : mapping, optional
        Pairs (epsilon, sigma) by the name of a site, or by its type in LAMMPS; others have those of the file, or none.
    masses : mapping, optional
        Masses by name or type; others have those of the file, or of their element.

    Raises
    ------
    ValueError
        If the file is none of the formats, or a value cannot be; the message names the line or section.
    """
    lines = numbered_lines(path, "molecule", "the number of sites, a comment, and one site per line: name x y z charge")
    sites = _xyz(path, lines) or _lammps(path, lines)
    if not sites:
        raise ValueError(
            f"{path}: is no file of a molecule; read are XYZ, which begins with the number of sites, and molecule files of "
            "LAMMPS, which have a line such as '3 atoms' and the sections Coords, Types and Charges"
        )
    names = [site.name for site in sites]
    pairs = {
        name: vector(f"{path}: lennard_jones[{name!r}]", pair, 2)
        for name, pair in _by_name(path, "lennard_jones", lennard_jones, names).items()
    }
    weights = {
        name: number(f"{path}: masses[{name!r}]", mass, least=0.0)
        for name, mass in _by_name(path, "masses", masses, names).items()
    }
    if lennard_jones is None and not any("epsilon" in site.numbers for site in sites):
        raise ValueError(
            f"{path}: has no Lennard-Jones parameters; pass lennard_jones={{{names[0]!r}: (epsilon, sigma)}}, or {{}} for none"
        )
    for site in sites:
        mass = weights.get(site.name, site.numbers.get("mass", WEIGHTS.get(site.name.rstrip("0123456789"))))
        if mass is None:
            raise ValueError(
                f"{path}, line {site.place}: has no mass, and {site.name!r} is no element of the table; pass "
                f"masses={{{site.name!r}: ...}}, 0 for a massless site"
            )
        site.numbers["mass"] = mass
        if site.name in pairs:
            site.numbers["epsilon"], site.numbers["sigma"] = pairs[site.name]
    columns = {key: np.array([site.numbers.get(key, 0.0) for site in sites]) for key in ("charge", "epsilon", "sigma", "mass")}
    return {
        "names": names,
        "positions": np.array([[site.numbers[axis] for axis in "xyz"] for site in sites]),
        "masses": columns["mass"],
        "charges": columns["charge"],
        "epsilon": columns["epsilon"],
        "sigma": columns["sigma"],
    }


def _by_name(path: Path, argument: str, values: Mapping[Any, Any] | None, names: list[str]) -> dict[str, Any]:
    """The entries of an argument by the name of a site, each of which there must be."""
    if values is not None and not isinstance(values, Mapping):
        raise TypeError(f"{argument} must be a mapping from the names of sites, got {shown(values)}")
    by_name = {str(key): value for key, value in (values or {}).items()}
    for name in by_name:
        if name not in names:
            raise ValueError(f"{path}: {argument} has {name!r}, but no site is called so; {nearest(name, sorted(set(names)))}")
    return by_name


def _numbers(path: Path, line: Line, columns: list[str], words: list[str], where: str = "") -> dict[str, float]:
    """The numbers in a line, by column; those without a name are not read."""
    if len(words) != len(columns) or not all(is_number(word) for word, column in zip(words, columns, strict=True) if column):
        said = " ".join(column or "(not read)" for column in columns)
        raise ValueError(f"{path}, line {line[0]}{where}: expected {said}, got {shown(line[1].strip())}")
    numbers = {column: float(word) for word, column in zip(words, columns, strict=True) if column}
    if not np.isfinite(list(numbers.values())).all():
        raise ValueError(f"{path}, line {line[0]}{where}: numbers must be finite, got {shown(line[1].strip())}")
    return numbers


def _xyz(path: Path, lines: list[Line]) -> list[_Site] | None:
    """The sites of an XYZ file of one frame."""
    if len(lines) < 2 or not re.fullmatch(r"\s*\d+\s*", lines[0][1]):
        return None
    data = [(place, line) for place, line in lines[2:] if line.strip()]
    if len(data) != int(lines[0][1]) or not data:
        raise ValueError(f"{path}: has {len(data)} lines for {lines[0][1].strip()} sites; a molecule file has one frame")
    columns = xyz_columns(path, lines[1][1], lambda name: KNOWN.get(name.lower()))
    if columns is None:
        further = len(data[0][1].split()) - 4
        if not 0 <= further < len(PLAIN):
            raise ValueError(
                f"{path}, line {data[0][0]}: expected name x y z, with charge, charge mass, charge epsilon sigma, or charge "
                f"mass epsilon sigma, got {shown(data[0][1].strip())}"
            )
        columns = ["name", *"xyz", *PLAIN[further]]
    if "name" not in columns:
        raise ValueError(f"{path}, line 2: the columns have no name of the site (species:S:1)")
    named = [column for column in columns if column]
    if len(set(named)) < len(named):
        raise ValueError(f"{path}, line 2: two columns are the same: {' '.join(sorted(named))}")
    first = columns.index("name")
    columns[first] = ""
    rows = [(line[0], line[1].split(), _numbers(path, line, columns, line[1].split())) for line in data]
    return [_Site(place, words[first], numbers) for place, words, numbers in rows]


def _lammps(path: Path, lines: list[Line]) -> list[_Site] | None:
    """The sites of a molecule file of LAMMPS, whose first line is a title."""
    count, sections = lammps_sections(lines)
    if count is None:
        return None
    wanted = {"Coords": list("xyz"), "Types": [""], "Charges": ["charge"], "Masses": ["mass"]}
    sites: dict[int, _Site] = {}
    for section, columns in wanted.items():
        if section not in sections:
            if section == "Coords":
                raise ValueError(f"{path}: a LAMMPS molecule without the section Coords")
            continue
        numbers_of_atoms = set()
        for line in sections[section]:
            words = line[1].split()
            numbers = _numbers(path, line, ["number of the atom", *columns], words, f", section {section}")
            atom = numbers.pop("number of the atom")
            if not 1 <= atom <= count or atom != int(atom) or atom in numbers_of_atoms:
                raise ValueError(
                    f"{path}, line {line[0]}, section {section}: the atoms are numbered from 1 to {count}, each once, got "
                    f"{words[0]}"
                )
            numbers_of_atoms.add(atom)
            site = sites.setdefault(int(atom), _Site(line[0], words[0], {}))
            site.numbers |= numbers
            site.name = words[1] if section == "Types" else site.name
        if len(numbers_of_atoms) != count:
            raise ValueError(f"{path}: the section {section} has {len(numbers_of_atoms)} lines for {count} atoms")
    return [sites[atom] for atom in sorted(sites)]
