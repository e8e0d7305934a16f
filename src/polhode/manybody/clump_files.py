"""Files of spheres as other programs write them: centres, radii and, if the file has them, masses of one clump.

Read are tables of numbers with named columns in any order, YADE's text exports with a clump number, molecule files of LAMMPS
(native and JSON), cluster files (``.clu``) of Kratos, and extended XYZ as OVITO writes it. The table without names has x, y, z
and the radius, as the multisphere files of LIGGGHTS do.
"""

import re
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from polhode.interface.arguments import shown
from polhode.manybody import lammps_files
from polhode.manybody.mass_properties import MassProperties, union
from polhode.manybody.text_files import Line, is_number, number_of, numbered_lines, refuse_others, xyz_columns, xyz_frame

#: Names of columns in lower case, without blanks, dots and underscores.
NAMES = {
    "x": ("x", "xc", "cx", "posx", "positionx", "coordx", "centerx", "centrex"),
    "y": ("y", "yc", "cy", "posy", "positiony", "coordy", "centery", "centrey"),
    "z": ("z", "zc", "cz", "posz", "positionz", "coordz", "centerz", "centrez"),
    "r": ("r", "rad", "radius", "radii"),
    "d": ("d", "dia", "diam", "diameter", "diameters"),
    "m": ("m", "mass", "masses"),
    "clump": ("clumpid", "clump", "clusterid", "cluster", "mol", "molecule", "moleculeid", "moleculeidentifier"),
    "": ("", "id", "index", "nr", "no", "type", "sphere", "sphereid", "particle", "particleid", "particleidentifier"),
}
KNOWN = {alias: name for name, aliases in NAMES.items() for alias in aliases}
#: Columns of extended XYZ that bear on mass or shape: not to be left unread.
WEIGHTY = re.compile(r"mass|dens|rho|inert|shape|radi|diam|axes|weight|volume")
#: What is said of a file that is none of these.
READ = (
    "read are x y z r in this order, named columns (x, y, z, and r, radius or diameter; mass; clumpId), LAMMPS molecule files, "
    "Kratos .clu, and extended XYZ"
)
COUNTS = {4: "four", 5: "five", 6: "six", 7: "seven"}
#: Units of length (m) and mass (kg) of LAMMPS' systems, which JSON files name; those of ``lj`` are any.
UNITS = {"si": (1.0, 1.0), "cgs": (1e-2, 1e-3), "micro": (1e-6, 1e-15), "nano": (1e-9, 1e-21)}
UNITS |= dict.fromkeys(("real", "metal"), (1e-10, 1e-3 / 6.02214076e23))
#: Units that names of columns say, in m and kg.
PREFIXES = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "µm": 1e-6, "μm": 1e-6, "nm": 1e-9, "kg": 1.0, "g": 1e-3, "mg": 1e-6}
#: Radius and diameter of a sphere that has both may differ by this fraction.
ROUNDED = 1e-3
#: The symmetry of more spheres takes hours to find.
MOST_SPHERES = 20_000


class SphereTable(NamedTuple):
    """Rows of numbers under names of :data:`NAMES`, with where each stands; and what LAMMPS' file declares of the whole."""

    names: Sequence[str]
    rows: list[tuple[str, list[float]]]
    molecule: lammps_files.Template | None = None


class Spheres(NamedTuple):
    """The spheres of a clump in the frame of its file.

    Parameters
    ----------
    centres, radii : arrays (n, 3) and (n,)
        m
    masses : array (n,), optional
        kg
    declared : MassProperties, optional
        Mass, centre of mass and inertia that the file declares.
    """

    centres: np.ndarray
    radii: np.ndarray
    masses: np.ndarray | None = None
    declared: MassProperties | None = None


def read(path: Path, clump: int | None = None, scale: float = 1.0, mass_scale: float = 1.0) -> Spheres:
    """The spheres in a file.

    Parameters
    ----------
    path : path
        The file.
    clump : int, optional
        The number of the clump, if the file has several.
    scale, mass_scale : float
        Units of length and mass of the file, m and kg.

    Raises
    ------
    FileNotFoundError, ValueError
        If there is no such file, it is none of the formats, it holds no sphere or too many, it holds several clumps and
        ``clump`` is none of them, it has no numbers of clumps and ``clump`` is given, or a value is impossible; the message
        names the line.
    """
    lines = numbered_lines(path, "clump", "one sphere per line: x y z r")
    table = next(filter(None, (reader(path, lines, scale, mass_scale) for reader in (_kratos, _lammps, _xyz))), None)
    if table is None:
        refuse_others(path, lines, READ)
        table = _columns(path, lines, scale, mass_scale)
    if not table.rows:
        raise ValueError(f"{path}: holds no sphere; write one per line: x y z r ({READ})")
    if len(table.rows) > MOST_SPHERES:
        raise ValueError(f"{path}: holds {len(table.rows)} spheres, more than {MOST_SPHERES:,}; take fewer and larger ones")
    spheres, numbers, masses = [], [], []
    for place, values in table.rows:
        row = dict(zip(table.names, values, strict=True))
        if not np.isfinite(values).all():
            named = ", ".join(name for name in table.names if name)
            raise ValueError(f"{path}, {place}: {named} must be finite, got {[row[n] for n in table.names if n]}")
        if "r" in row and "d" in row and not abs(2 * row["r"] - row["d"]) <= ROUNDED * abs(row["d"]):
            raise ValueError(f"{path}, {place}: the radius {row['r']!r} and the diameter {row['d']!r} contradict each other")
        if "r" not in row:
            row["r"] = row["d"] / 2
        if row["r"] <= 0:
            raise ValueError(f"{path}, {place}: the radius r must be positive, got {row['r']!r}")
        if "m" in row and row["m"] <= 0:
            raise ValueError(f"{path}, {place}: the mass must be positive, got {row['m']!r}")
        spheres.append([row[name] for name in "xyzr"])
        numbers.append(row.get("clump", 0.0))
        masses.append(row.get("m", 0.0))
    scaled = np.array(spheres) * scale
    chosen = np.array(numbers) == clump if clump is not None else np.full(len(scaled), True)
    known = sorted(set(numbers)) if "clump" in table.names else []
    if (clump is None and len(known) > 1) or not chosen.any():
        several = ", ".join(f"{number:g}" for number in known)
        said = (
            f"holds {len(known)} clumps, numbers {shown(several)[1:-1]}; choose one with clump="
            if known
            else "has no clump numbers; take clump= away"
        )
        raise ValueError(f"{path}: {said}" + (f"; {clump} is none of them" if clump is not None and known else ""))
    centres, radii = scaled[chosen, :3], scaled[chosen, 3]
    weights = np.array(masses)[chosen] * mass_scale if "m" in table.names else None
    declared = _declared(table.molecule, centres, radii, weights, scale, mass_scale) if table.molecule else None
    return Spheres(centres, radii, weights, declared)


def _declared(
    molecule: lammps_files.Template,
    centres: np.ndarray,
    radii: np.ndarray,
    masses: np.ndarray | None,
    scale: float,
    mass_scale: float,
) -> MassProperties | None:
    """The mass properties that a file of LAMMPS declares of the whole, if it does."""
    path, values = molecule.path, molecule.declared
    if not values:
        return None
    if len(molecule.sections["Coords"]) != len(radii):
        raise ValueError(f"{path}: {', '.join(values)} is that of several clumps; write a file for each")
    if ("com" in values) != ("inertia" in values):
        raise ValueError(
            f"{path}: declares {', '.join(values)}, but com and inertia belong together; add the other, or take it out"
        )
    whole = union(centres, radii)
    mass = values["mass"][0] * mass_scale if "mass" in values else None if masses is None else float(masses.sum())
    if mass is None:
        raise ValueError(f"{path}: declares com and inertia, but no mass; add a line such as '2.5 mass', or the section Masses")
    if mass <= 0:
        raise ValueError(f"{path}: the mass must be positive, got {mass!r}")
    if "com" not in values:
        if masses is None:
            return MassProperties(whole.volume, whole.centre, whole.inertia * (mass / whole.volume), mass)
        if abs(mass - masses.sum()) > ROUNDED * mass:
            raise ValueError(f"{path}: declares a mass of {mass:g} kg, its Masses add up to {masses.sum():g}; take one out")
        return None
    centre = np.array(values["com"]) * scale
    xx, yy, zz, xy, xz, yz = (value * mass_scale * scale**2 for value in values["inertia"])
    low, high = (centres - radii[:, None]).min(0), (centres + radii[:, None]).max(0)
    reach = (np.linalg.norm(centres - centre, axis=1) + radii).max()
    if (centre < low).any() or (centre > high).any():
        raise ValueError(f"{path}: com {values['com']} lies outside the spheres; it is in the frame of Coords")
    if max(xx, yy, zz) > mass * reach**2:
        raise ValueError(
            f"{path}: inertia {values['inertia']} is more than any mass of {mass:g} kg within the spheres has; it is Ixx Iyy "
            "Izz Ixy Ixz Iyz about com"
        )
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    least, _, largest = moments = np.linalg.eigvalsh(tensor)
    if least <= 0 or 2 * largest > moments.sum() * (1 + ROUNDED):
        raise ValueError(
            f"{path}: inertia {values['inertia']} is that of no body: its principal moments are {shown(moments.tolist())}"
        )
    return MassProperties(whole.volume, centre, tensor, mass)


def _columns(path: Path, lines: list[Line], scale: float, mass_scale: float) -> SphereTable:
    """A table of numbers, with or without a line of names."""
    names: list[str] = []
    where = 0
    data: list[Line] = []
    for place, line in lines:
        content, _, remark = line.partition("#")
        if content.strip():
            if not data and not names and not any(map(is_number, re.split(r"[\s,;]+", content.strip()))):
                names, where = _words(content), place
            else:
                data.append((place, content))
        elif remark and not data and not names:
            # YADE writes "#format x_y_z_r_clumpId", numpy.savetxt "# x y z r"; any other remark is one.
            words = remark.replace("_", " ").split()[1:] if remark.startswith("format ") else _words(remark)
            if {"x", "y", "z"} <= {_known(word) for word in words}:
                names, where = words, place
    if not data:
        return SphereTable(list("xyzr"), [])
    columns = _named(path, where, names, scale, mass_scale) if names else list("xyzr")
    return SphereTable(columns, _numbers(path, data, columns))


def _words(line: str) -> list[str]:
    """The names of columns; pandas leaves that of the index empty."""
    separators = r"[,;\t]" if re.search(r"[,;\t]", line.strip()) else r"\s+"
    return [word.strip().strip("\"'") for word in re.split(separators, line.strip())]


def _known(word: str) -> str | None:
    """The name of :data:`NAMES` that a column has."""
    return KNOWN.get(re.sub(r"[\s._-]|[\[(].*[\])]", "", word.lower()))


def _named(path: Path, place: int, words: list[str], scale: float, mass_scale: float) -> list[str]:
    """The names of the columns, each at most once."""
    columns: list[str] = []
    units: dict[str, tuple[str, str]] = {}
    for word in words:
        name = _known(word)
        if name is None:
            delete = "give masses in its place" if WEIGHTY.search(word.lower()) else "delete others"
            raise ValueError(
                f"{path}, line {place}: unknown column {shown(word)}; name the columns x, y, z, and r, radius or diameter, and "
                f"mass, {delete}, and begin a remark with #"
            )
        if name and name in columns:
            raise ValueError(f"{path}, line {place}: two columns are {name}: {shown(', '.join(words))}")
        columns.append(name)
        if unit := re.search(r"[\[(]\s*(\w+)\s*[\])]", word):
            units[name] = (unit[1], word)
    for names, si, passed, argument in ((list("xyzrd"), "m", scale, "scale"), (["m"], "kg", mass_scale, "mass_scale")):
        written: dict[str, str] = {}
        for name in filter(units.__contains__, names):
            written.setdefault(*units[name])
        if len(written) > 1:
            raise ValueError(
                f"{path}, line {place}: columns are in different units: {shown(', '.join(written.values()))[1:-1]}"
            )
        for symbol, word in written.items():
            if symbol != si and passed == 1.0:
                raise ValueError(
                    f"{path}, line {place}: column {shown(word)} is not in {si}; pass the unit in {si} as {argument}="
                )
            if symbol in PREFIXES and abs(passed / PREFIXES[symbol] - 1) > ROUNDED:
                raise ValueError(
                    f"{path}, line {place}: column {shown(word)} contradicts {argument}={passed:g}, the unit of the file in "
                    f"{si}; pass {argument}={PREFIXES[symbol]:g}"
                )
    missing = [name for name in "xyz" if name not in columns]
    if missing or not {"r", "d"} & set(columns):
        lacking = f"column {missing[0]}" if missing else "column of radii (r or radius, d or diameter)"
        raise ValueError(f"{path}, line {place}: there is no {lacking} among {shown(', '.join(words))[1:-1]}")
    return columns


def _numbers(path: Path, data: list[Line], columns: Sequence[str]) -> list[tuple[str, list[float]]]:
    """The numbers of the lines, a column each; commas separate them, or are decimal commas where that is the only way."""

    def separated(line: str) -> list[str]:
        return line.replace(",", " ").replace(";", " ").split()

    def with_decimal_commas(line: str) -> list[str]:
        return line.replace(",", ".").replace(";", " ").split()

    def fits(split: Callable[[str], list[str]]) -> bool:
        return all(len(words := split(line)) == len(columns) and all(map(is_number, words)) for _, line in data)

    semicolons = any(";" in line for _, line in data)
    split = with_decimal_commas if (semicolons or not fits(separated)) and fits(with_decimal_commas) else separated
    rows = []
    for place, line in data:
        words = split(line)
        # Columns that are not read may hold words.
        numbers = [number_of(word) if name else 0.0 for word, name in zip(words, columns, strict=False)]
        values = [number for number in numbers if number is not None]
        if not len(values) == len(words) == len(columns):
            said = ", ".join(name or "(not read)" for name in columns)
            hint = (
                "; write one sphere per line: break the line after every four numbers"
                if list(columns) == list("xyzr") and len(words) > 4 and len(words) % 4 == 0 and all(map(is_number, words))
                else "; name the columns in the first line, such as x y z r clumpId"
                if list(columns) == list("xyzr") and len(words) > 4 and len(words) == len(split(data[0][1]))
                else f"; {READ}"
                if place == data[0][0] and list(columns) == list("xyzr")
                else ""
            )
            count = COUNTS.get(len(columns), str(len(columns)))
            raise ValueError(f"{path}, line {place}: expected {count} numbers {said}, got {shown(line.strip())}{hint}")
        rows.append((f"line {place}", values))
    return rows


def _kratos(path: Path, lines: list[Line], scale: float, mass_scale: float) -> SphereTable | None:
    """The block of centres and radii in a cluster file of Kratos."""
    inside, blocks, data, others = False, 0, list[Line](), list[str]()
    for place, line in lines:
        content = line.split("//")[0].strip()
        if re.fullmatch(r"begin\s+centers_and_radii", content, re.IGNORECASE):
            if blocks or inside:
                raise ValueError(f"{path}, line {place}: a second block centers_and_radii; a clump file has one")
            inside, blocks = True, 1
        elif re.match(r"end\s+centers_and_radii", content, re.IGNORECASE):
            inside = False
        elif inside and content:
            data.append((place, content))
        elif re.match(r"volume|inertia", content, re.IGNORECASE):
            others.append(content)
    if inside:
        raise ValueError(f"{path}: the block centers_and_radii has no end")
    if blocks and others:
        warnings.warn(
            f"{path}: {', '.join(others)[:80]} of the file is not read; the union of its spheres counts", stacklevel=5
        )
    return SphereTable(list("xyzr"), _numbers(path, data, "xyzr")) if blocks else None


def _lammps(path: Path, lines: list[Line], scale: float, mass_scale: float) -> SphereTable | None:
    """The atoms of a molecule file of LAMMPS: Coords, Diameters, and Masses if there are any."""
    molecule = lammps_files.template(path, lines)
    if molecule is None:
        return None
    for name in ("Coords", "Diameters"):
        if name not in molecule.sections:
            raise ValueError(f"{path}: a LAMMPS molecule without the section {name}; a clump needs Coords and Diameters")
    if molecule.units and molecule.units != "lj":
        if molecule.units not in UNITS:
            raise ValueError(f"{path}: has the units {shown(molecule.units)}; read are {', '.join(UNITS)} and lj")
        weighty = "Masses" in molecule.sections or molecule.declared
        for name, unit, passed in zip(("scale", "mass_scale"), UNITS[molecule.units], (scale, mass_scale), strict=True):
            if abs(passed / unit - 1) > ROUNDED and (name == "scale" or weighty):
                raise ValueError(f"{path}: has the units {molecule.units}; pass {name}={unit:.9g}, got {passed:g}")
    names, columns = list("xyz"), [molecule.values("Coords")]
    for section, name in (("Diameters", "d"), ("Masses", "m"), ("Molecules", "clump")):
        if section in molecule.sections:
            columns.append(molecule.values(section))
            names.append(name)
    rows = [(f"atom {i}", [x for _, values in atom for x in values]) for i, atom in enumerate(zip(*columns, strict=True), 1)]
    return SphereTable(names, rows, molecule)


def _xyz(path: Path, lines: list[Line], scale: float, mass_scale: float) -> SphereTable | None:
    """One frame of an extended XYZ file: the number of spheres, ``Properties=...``, then the spheres."""
    frame = xyz_frame(path, lines, "clump")
    if frame is None:
        return None
    comment, data = frame
    columns = xyz_columns(path, comment, data[0], _known, WEIGHTY)
    if columns is None:
        raise ValueError(f"{path}, line 2: an XYZ file without radii; a clump needs Properties=pos:R:3:radius:R:1")
    if "r" not in columns and "d" not in columns:
        raise ValueError(f"{path}, line 2: {shown(comment.strip())} has no radius:R:1")
    return SphereTable(columns, _numbers(path, data, columns))
