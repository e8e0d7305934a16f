"""Files of spheres as other programs write them: centres and radii of one clump.

Read are tables of numbers with named columns in any order, YADE's text exports with a clump number, molecule files of LAMMPS,
cluster files (``.clu``) of Kratos, and extended XYZ as OVITO writes it. The table without names has x, y, z and the radius, as
the multisphere files of LIGGGHTS do.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from polhode.interface.arguments import shown

#: Names of columns in lower case, without blanks, dots and underscores.
NAMES = {
    "x": ("x", "xc", "cx", "posx", "positionx", "coordx", "centerx", "centrex"),
    "y": ("y", "yc", "cy", "posy", "positiony", "coordy", "centery", "centrey"),
    "z": ("z", "zc", "cz", "posz", "positionz", "coordz", "centerz", "centrez"),
    "r": ("r", "rad", "radius", "radii"),
    "d": ("d", "dia", "diam", "diameter", "diameters"),
    "clump": ("clumpid", "clump", "clusterid", "cluster", "mol", "molecule", "moleculeid", "moleculeidentifier"),
    "": ("", "id", "index", "nr", "no", "type", "sphere", "sphereid", "particle", "particleid", "particleidentifier"),
}
KNOWN = {alias: name for name, aliases in NAMES.items() for alias in aliases}
#: What is said of a file that is none of these.
READ = (
    "read are x y z r in this order, named columns (x, y, z, and r, radius or diameter; clumpId), LAMMPS molecule files, "
    "Kratos .clu, and extended XYZ"
)
COUNTS = {4: "four", 5: "five", 6: "six", 7: "seven"}

#: The number of a line, and the line.
Line = tuple[int, str]


class Table(NamedTuple):
    """Rows of numbers under names of :data:`NAMES`, with the number of each line."""

    names: Sequence[str]
    rows: list[tuple[int, list[float]]]


def read(path: Path, clump: int | None = None, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Centres (n, 3) and radii (n,) in m of the spheres in a file.

    Parameters
    ----------
    path : path
        The file.
    clump : int, optional
        The number of the clump, if the file has several.
    scale : float
        Unit of length of the file, m.

    Raises
    ------
    ValueError
        If the file is none of the formats, or a value cannot be; the message names the line.
    """
    lines = numbered_lines(path, "clump", "one sphere per line: x y z r")
    table = next(filter(None, (reader(path, lines, scale) for reader in (_kratos, _lammps, _xyz))), None)
    table = table or _columns(path, lines, scale)
    if not table.rows:
        raise ValueError(f"{path}: holds no sphere; write one per line: x y z r ({READ})")
    spheres = []
    numbers = []
    for place, values in table.rows:
        row = dict(zip(table.names, values, strict=True))
        if "r" not in row:
            row["r"] = row["d"] / 2
        four = [row[name] for name in "xyzr"]
        if not np.isfinite(four).all():
            raise ValueError(f"{path}, line {place}: x, y, z, r must be finite, got {four}")
        if row["r"] <= 0:
            raise ValueError(f"{path}, line {place}: the radius r must be positive, got {row['r']!r}")
        spheres.append(four)
        numbers.append(row.get("clump", 0.0))
    scaled = np.array(spheres) * scale
    chosen = np.array(numbers) == clump if clump is not None else np.full(len(scaled), True)
    known = sorted(set(numbers)) if "clump" in table.names else []
    if (clump is None and len(known) > 1) or not chosen.any():
        several = ", ".join(f"{number:g}" for number in known)
        said = f"holds {len(known)} clumps, numbers {several}; choose one with clump=" if known else "has no clump numbers"
        raise ValueError(f"{path}: {said}" + (f"; {clump} is none of them" if clump is not None and known else ""))
    return scaled[chosen, :3], scaled[chosen, 3]


def numbered_lines(path: Path, kind: str, wanted: str) -> list[Line]:
    """The lines of a text file, which holds a ``kind`` and should have the form ``wanted``."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{kind} file {path} is not UTF-8 text (byte {error.start} is {error.object[error.start]:#04x}); "
            f"save it as plain text, {wanted}"
        ) from None
    return list(enumerate(text.splitlines(), 1))


def _columns(path: Path, lines: list[Line], scale: float) -> Table:
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
        return Table(list("xyzr"), [])
    columns = _named(path, where, names, scale) if names else list("xyzr")
    return Table(columns, _numbers(path, data, columns))


def _words(line: str) -> list[str]:
    """The names of columns; pandas leaves that of the index empty."""
    separators = r"[,;\t]" if re.search(r"[,;\t]", line.strip()) else r"\s+"
    return [word.strip().strip("\"'") for word in re.split(separators, line.strip())]


def _known(word: str) -> str | None:
    """The name of :data:`NAMES` that a column has."""
    return KNOWN.get(re.sub(r"[\s._-]|[\[(].*[\])]", "", word.lower()))


def _named(path: Path, place: int, words: list[str], scale: float) -> list[str]:
    """The names of the columns, each at most once."""
    columns: list[str] = []
    for word in words:
        name = _known(word)
        if name is None:
            raise ValueError(
                f"{path}, line {place}: unknown column {shown(word)}; name the columns x, y, z, and r, radius or diameter, "
                "delete others, and begin a remark with #"
            )
        if name and name in columns:
            raise ValueError(f"{path}, line {place}: two columns are {name}: {', '.join(words)}")
        unit = re.search(r"[\[(]\s*(\w+)\s*[\])]", word)
        if name in list("xyzrd") and unit and unit[1] != "m" and scale == 1.0:
            raise ValueError(f"{path}, line {place}: column {word!r} is not in m; pass the unit in m as scale=")
        columns.append(name)
    missing = [name for name in "xyz" if name not in columns]
    if missing or not {"r", "d"} & set(columns):
        lacking = f"column {missing[0]}" if missing else "column of radii (r or radius, d or diameter)"
        raise ValueError(f"{path}, line {place}: there is no {lacking} among {', '.join(words)}")
    return columns


def _numbers(path: Path, data: list[Line], columns: Sequence[str]) -> list[tuple[int, list[float]]]:
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
        good = len(words) == len(columns) and all(is_number(w) for w, name in zip(words, columns, strict=True) if name)
        if not good:
            said = ", ".join(name or "(not read)" for name in columns)
            hint = (
                "; name the columns in the first line, such as x y z r clumpId"
                if list(columns) == list("xyzr") and len(words) > 4 and len(words) == len(split(data[0][1]))
                else f"; {READ}"
                if place == data[0][0] and list(columns) == list("xyzr")
                else ""
            )
            count = COUNTS.get(len(columns), str(len(columns)))
            raise ValueError(f"{path}, line {place}: expected {count} numbers {said}, got {shown(line.strip())}{hint}")
        rows.append((place, [float(w) if name else 0.0 for w, name in zip(words, columns, strict=True)]))
    return rows


def _kratos(path: Path, lines: list[Line], scale: float) -> Table | None:
    """The block of centres and radii in a cluster file of Kratos."""
    inside, data, ended = False, [], True
    for place, line in lines:
        content = line.split("//")[0].strip()
        if re.fullmatch(r"begin\s+centers_and_radii", content, re.IGNORECASE):
            inside, ended = True, False
        elif re.match(r"end\s+centers_and_radii", content, re.IGNORECASE):
            inside, ended = False, True
        elif inside and content:
            data.append((place, content))
    if not ended:
        raise ValueError(f"{path}: the block centers_and_radii has no end")
    return Table(list("xyzr"), _numbers(path, data, "xyzr")) if data else None


def _lammps(path: Path, lines: list[Line], scale: float) -> Table | None:
    """The sections Coords and Diameters of a molecule file of LAMMPS."""
    count, sections = lammps_sections(lines)
    if count is None:
        return None
    values: dict[str, dict[float, list[float]]] = {}
    places: dict[float, int] = {}
    for name, columns in (("Coords", ("id", "x", "y", "z")), ("Diameters", ("id", "d"))):
        if name not in sections:
            raise ValueError(f"{path}: a LAMMPS molecule without the section {name}; a clump needs Coords and Diameters")
        rows = _numbers(path, sections[name], columns)
        values[name] = {row[0]: row[1:] for _, row in rows}
        places |= {row[0]: place for place, row in rows}
        if len(values[name]) != count or len(rows) != count:
            raise ValueError(f"{path}: the section {name} has {len(rows)} lines for {count} atoms, or a number twice")
    if set(values["Coords"]) != set(values["Diameters"]):
        raise ValueError(f"{path}: Coords and Diameters number their atoms differently")
    return Table(["x", "y", "z", "d"], [(places[i], row + values["Diameters"][i]) for i, row in values["Coords"].items()])


def lammps_sections(lines: list[Line]) -> tuple[int | None, dict[str, list[Line]]]:
    """The number of atoms and the sections of a molecule file of LAMMPS, whose first line is a title; no number in others."""
    bare = [(place, line.split("#")[0].strip()) for place, line in lines[1:]]
    count = next((int(line.split()[0]) for _, line in bare if re.fullmatch(r"\d+\s+atoms", line)), None)
    sections: dict[str, list[Line]] = {}
    section = ""
    for place, line in bare:
        if re.fullmatch(r"[A-Z][A-Za-z ]*", line):
            section = line
            sections[section] = []
        elif line and section:
            sections[section].append((place, line))
    return count, sections


def _xyz(path: Path, lines: list[Line], scale: float) -> Table | None:
    """One frame of an extended XYZ file: the number of spheres, ``Properties=...``, then the spheres."""
    if len(lines) < 2 or not re.fullmatch(r"\s*\d+\s*", lines[0][1]):
        return None
    count = int(lines[0][1])
    columns = xyz_columns(path, lines[1][1], _known)
    if columns is None:
        raise ValueError(f"{path}, line 2: an XYZ file without radii; a clump needs Properties=pos:R:3:radius:R:1")
    if "r" not in columns and "d" not in columns:
        raise ValueError(f"{path}, line 2: {shown(lines[1][1].strip())} has no radius:R:1")
    data = [(place, line) for place, line in lines[2:] if line.strip()]
    if len(data) != count:
        raise ValueError(f"{path}: has {len(data)} lines for {count} spheres; a clump file has one frame")
    return Table(columns, _numbers(path, data, columns))


def xyz_columns(path: Path, comment: str, known: Callable[[str], str | None]) -> list[str] | None:
    """What ``known`` calls the columns of an extended XYZ file by ``Properties=...`` in its second line, if that has it."""
    properties = re.search(r'Properties="?([^\s"]+)', comment, re.IGNORECASE)
    if not properties:
        return None
    parts = properties[1].split(":")
    columns: list[str] = []
    for name, size in zip(parts[::3], parts[2::3], strict=False):
        if not size.isdigit():
            raise ValueError(f"{path}, line 2: {properties[0]!r} is not a list of name:type:columns")
        if name.lower() in ("pos", "position") and size == "3":
            columns += list("xyz")
        else:
            columns += [known(name) or ""] if size == "1" else [""] * int(size)
    if "x" not in columns:
        raise ValueError(f"{path}, line 2: {properties[0]!r} has no pos:R:3")
    return columns


def is_number(word: str) -> bool:
    """Whether a word of a file is a number."""
    try:
        float(word)
    except ValueError:
        return False
    return "_" not in word  # which Python would ignore
