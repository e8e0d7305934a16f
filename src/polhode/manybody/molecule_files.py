"""Files of molecules as other programs write them: XYZ with charges, and molecule files of LAMMPS, native and JSON.

XYZ has the number of sites in its first line and a comment in its second. A line is ``name x y z``, or has further columns that
have names: as ``Properties=species:S:1:pos:R:3:charge:R:1`` in the second line (extended XYZ), as a list of all columns there,
``name x y z charge mass``, or as an argument. Columns without names are forces in one file and charges in the next: they are an
error. Files of QM9 have the partial charges of Mulliken. Of a molecule file of LAMMPS the sections Coords, Types, Charges and
Masses are read; bonds and the like have no meaning for a rigid molecule, and mass, com and inertia must be those of the sites.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from polhode.interface.arguments import is_ordered, number, shown, text, vector
from polhode.manybody import lammps_files
from polhode.manybody.text_files import Line, is_number, number_of, numbered_lines, refuse_others, xyz_columns, xyz_frame
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
#: Columns that may not be left unread, since they bear on mass or forces.
WEIGHTY = re.compile(r"mass|charg|weight|eps|sig|dipol|^q$|^q_|_q$")
#: What is said of a file that is none of these.
READ = (
    "read are XYZ, which begins with the number of sites, and molecule files of LAMMPS: JSON, or with a line such as '3 atoms' "
    "and the sections Coords, Types and Charges"
)
#: The columns of a plain XYZ file, and those of QM9, whose last is the charge of Mulliken.
PLAIN = ["name", *"xyz"]
QM9 = [*PLAIN, "charge"]
#: Declared mass, centre of mass and inertia may differ from those of the sites by this fraction.
ROUNDED = 1e-3
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
    """A site in a file: its line or row, its name, and the numbers that the file has for it."""

    place: str
    name: str
    numbers: dict[str, float]


def read(
    path: Path,
    lennard_jones: Mapping[Any, Any] | None,
    masses: Mapping[Any, Any] | None,
    columns: str | Sequence[str] | None = None,
    units: str = "real",
) -> dict[str, Any]:
    """The sites in a file, as a dict of the arguments of :meth:`polhode.manybody.Molecule.of_sites`.

    Of n sites it has the list ``names`` and the arrays ``positions`` (n, 3) and ``masses``, ``charges``, ``epsilon`` and
    ``sigma`` (n,), in the units of the file.

    Parameters
    ----------
    path : path
        The file.
    lennard_jones : mapping, optional
        Pairs (epsilon, sigma) by the name of a site, or by its type in LAMMPS; others have those of the file, or none.
    masses : mapping, optional
        Masses by name or type; others have those of the file, or of their element.
    columns : str or sequence of strings, optional
        Names of the columns of an XYZ file that does not name them; ``-`` for one that is not to be read.
    units : str
        The units of the molecule, which those that a JSON file names must be.

    Raises
    ------
    TypeError, ValueError
        If the file is none of the formats, an argument does not fit it, a site has no mass, no site has Lennard-Jones
        parameters and ``lennard_jones`` is None, or a value is impossible; the message names the line, the section or the
        argument.
    """
    lines = numbered_lines(path, "molecule", "the number of sites, a comment, and one site per line: name x y z")
    frame = xyz_frame(path, lines, "molecule")
    template = None if frame else lammps_files.template(path, lines)
    if template and columns is not None:
        raise ValueError(f"{path}: is a molecule file of LAMMPS, whose sections have names; take columns= away")
    sites = _xyz(path, *frame, columns) if frame else _lammps(template, units) if template else []
    if not sites:
        refuse_others(path, lines, READ)
        place, line = next(((place, line) for place, line in lines if line.strip()), (1, ""))
        said = f"begins with {shown(line.strip())}" if line else "is empty"
        raise ValueError(f"{path}, line {place}: {said}, so it is no file of a molecule; {READ}")
    names = [site.name for site in sites]
    if template and "Types" not in template.sections:
        by_type = ["lennard_jones"] if lennard_jones is None or lennard_jones else []
        by_type += ["masses"] if masses or "Masses" not in template.sections else []
        if by_type:
            others = {"lennard_jones": "pass {} where no site has a Lennard-Jones potential", "masses": "add Masses"}
            raise ValueError(
                f"{path}: has no section Types, by which {by_type[0]}= names the sites; add it, or {others[by_type[0]]}"
            )
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
                f"{path}, {site.place}: has no mass, and {site.name!r} is no element of the table; pass "
                f"masses={{{site.name!r}: ...}}, 0 for a massless site"
            )
        site.numbers["mass"] = mass
        if site.name in pairs:
            site.numbers["epsilon"], site.numbers["sigma"] = pairs[site.name]
    arrays = {key: np.array([site.numbers.get(key, 0.0) for site in sites]) for key in ("charge", "epsilon", "sigma", "mass")}
    positions = np.array([[site.numbers[axis] for axis in "xyz"] for site in sites])
    if template:
        _check_declared(template, positions, arrays["mass"])
    return {
        "names": names,
        "positions": positions,
        "masses": arrays["mass"],
        "charges": arrays["charge"],
        "epsilon": arrays["epsilon"],
        "sigma": arrays["sigma"],
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


def _numbers(path: Path, line: Line, columns: list[str], words: list[str]) -> dict[str, float]:
    """The numbers in a line, by column; columns without a name are not read."""
    read = [(column, word) for column, word in zip(columns, words, strict=False) if column and column != "name"]
    wrong = next((f"; {column} is {shown(word)}" for column, word in read if not is_number(word)), "")
    if len(words) != len(columns) or wrong:
        said = " ".join(column or "-" for column in columns)
        raise ValueError(f"{path}, line {line[0]}: expected {shown(said)[1:-1]}, got {shown(line[1].strip())}{wrong}")
    numbers = {column: number_of(word) or 0.0 for column, word in read}
    if not np.isfinite(list(numbers.values())).all():
        raise ValueError(f"{path}, line {line[0]}: numbers must be finite, got {shown(line[1].strip())}")
    return numbers


def _known(name: str) -> str | None:
    return KNOWN.get(name.lower())


def _xyz(path: Path, comment: str, data: list[Line], chosen: str | Sequence[str] | None) -> list[_Site]:
    """The sites of an XYZ file of one frame."""
    columns = xyz_columns(path, comment, data[0], _known, WEIGHTY)
    if columns is not None and chosen is not None:
        raise ValueError(f"{path}, line 2: names the columns itself ({shown(comment.strip())}); take columns= away")
    if columns is None:
        columns = _plain(path, comment, data[0], chosen)
    if "name" not in columns:
        raise ValueError(f"{path}, line 2: the columns have no name of the site (species:S:1)")
    first = columns.index("name")
    rows = [(line[0], line[1].split(), _numbers(path, line, columns, line[1].split())) for line in data]
    return [_Site(f"line {place}", words[first], numbers) for place, words, numbers in rows]


def _plain(path: Path, comment: str, first: Line, chosen: str | Sequence[str] | None) -> list[str]:
    """The columns of an XYZ file without ``Properties``: those of an argument or the comment, else ``name x y z`` alone."""
    width = len(first[1].split())
    if width < len(PLAIN):
        raise ValueError(f"{path}, line {first[0]}: expected name x y z between blanks, got {shown(first[1].strip())}")
    if chosen is not None:
        names = text("columns", chosen).split() if isinstance(chosen, str) or not is_ordered(chosen) else list(chosen)
        columns = ["" if name == "-" else _known(text("columns", name)) for name in names]
        for name, column in zip(names, columns, strict=True):
            if column is None:
                known = nearest(name, list(dict.fromkeys(KNOWN.values())))
                raise ValueError(f"columns has {shown(name)}, which is not read; write - for it, or {known}")
        named = [column for column in columns if column]
        if len(columns) != width or not set(PLAIN) <= set(named) or len(set(named)) < len(named):
            raise ValueError(
                f"columns must name the {width} columns of {path}, among them name, x, y and z, each once; got {shown(names)}"
            )
        return [column or "" for column in columns]
    # A comment that lists all columns by names that are read, perhaps after a title and a colon.
    words = comment.rpartition(":")[2].replace(",", " ").split()
    named = [column for word in words if (column := _known(word))]
    if len(named) == len(words) == width and set(PLAIN) <= set(named) and len(set(named)) == width:
        return named
    if width == len(PLAIN):
        return list(PLAIN)
    if width == len(QM9) and comment.split()[:1] in (["gdb"], ["gdb9"]):
        return list(QM9)
    further = width - len(PLAIN)
    hyphens = " ".join(["-"] * further)
    raise ValueError(
        f"{path}, line {first[0]}: has {further} column{'s' * (further > 1)} without a name after x y z, got "
        f"{shown(first[1].strip())}; name them in line 2, such as Properties=species:S:1:pos:R:3:forces:R:3, or with "
        f"columns='name x y z {hyphens}' (- is not read; charge, mass, epsilon and sigma are)"
    )


def _lammps(template: lammps_files.Template, units: str) -> list[_Site]:
    """The sites of a molecule file of LAMMPS."""
    path = template.path
    if "Coords" not in template.sections:
        raise ValueError(f"{path}: a LAMMPS molecule without the section Coords")
    template.refuse(
        {
            "Diameters": "makes spheres of the atoms, with moments of their own; Clump.from_file reads them",
            "Dipoles": "is not read; give the charges of a dipole as sites",
        }
    )
    systems = {"real": "real", "metal": "real", "lj": "lj"}
    if template.units and systems.get(template.units) != units:
        raise ValueError(
            f"{path}: has the units {shown(template.units)}, which are not units={units!r}; read are real, metal (with the "
            "lengths, masses and charges of real) and lj"
        )
    if len({values[0] for _, values in template.values("Molecules")} if "Molecules" in template.sections else ()) > 1:
        raise ValueError(f"{path}: holds several molecules, see the section Molecules; write a file for each")
    sites = [
        _Site(place, str(atom), dict(zip("xyz", values, strict=True)))
        for atom, (place, values) in enumerate(template.values("Coords"), 1)
    ]
    for section, name in (("Types", ""), ("Charges", "charge"), ("Masses", "mass")):
        if section in template.sections:
            for site, (_, values) in zip(sites, template.values(section), strict=True):
                if name:
                    site.numbers[name] = values[0]
                else:
                    site.name = values[0]
    return sites


def _check_declared(template: lammps_files.Template, positions: np.ndarray, masses: np.ndarray) -> None:
    """Refuse mass, com and inertia that are not those of the sites, which move the molecule."""
    total = masses.sum()
    if not total > 0:
        return
    com = (masses[:, None] * positions).sum(0) / total
    x, y, z = (positions - com).T
    inertia = (y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z)
    extent = float(np.abs(positions - com).max())
    for name, of_sites, size in (
        ("mass", np.array([total]), total),
        ("com", com, extent),
        ("inertia", np.array([(masses * entry).sum() for entry in inertia]), total * extent**2),
    ):
        declared = template.declared.get(name)
        if declared is not None and np.abs(np.array(declared) - of_sites).max() > ROUNDED * size:
            raise ValueError(
                f"{template.path}: declares {name} {' '.join(f'{x:g}' for x in declared)}, its sites have "
                f"{' '.join(f'{x:g}' for x in of_sites)}; the sites count: take it out, or mend their masses"
            )
