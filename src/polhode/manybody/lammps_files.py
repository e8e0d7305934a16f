"""Molecule files of LAMMPS, native and JSON: what they say of their atoms, and of the body as a whole.

The native format has a title, header lines such as ``3 atoms``, and sections of lines that begin with the number of an atom
(the page "molecule" of the manual of LAMMPS). The JSON format has the same sections as data blocks. A section
that is not known, or that stands twice, is an error: it could bear on the mass or the shape.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from polhode.interface.arguments import shown
from polhode.manybody.text_files import Line, count_of, number_of
from polhode.registry import nearest

#: Header keywords of the native format, which end their line, and how many numbers come before them.
HEADER = {"atoms": 1, "bonds": 1, "angles": 1, "dihedrals": 1, "impropers": 1, "fragments": 1, "body": 2, "mass": 1, "com": 3}
HEADER |= {"inertia": 6}
#: Sections with a line for each atom, the keys of their blocks in JSON, and the columns after the number of the atom.
PER_ATOM = {
    "Coords": ("coords", ("x", "y", "z")),
    "Types": ("types", ("type",)),
    "Molecules": ("molecules", ("molecule-id",)),
    "Charges": ("charges", ("charge",)),
    "Diameters": ("diameters", ("diameter",)),
    "Masses": ("masses", ("mass",)),
    "Dipoles": ("dipoles", ("mux", "muy", "muz")),
}
#: Sections, and keys in JSON, that mean nothing for a rigid body.
IGNORED: tuple[str, ...] = (
    "Fragments",
    "Bonds",
    "Angles",
    "Dihedrals",
    "Impropers",
    "Special Bond Counts",
    "Special Bonds",
    "Shake Flags",
)
IGNORED += ("Shake Atoms", "Shake Bond Types")
IGNORED_KEYS = ("schema", "title", "fragments", "bonds", "angles", "dihedrals", "impropers", "special", "shake")
#: What is declared of the body as a whole: name, key in JSON, and how many numbers.
DECLARED = {"mass": ("masstotal", 1), "com": ("com", 3), "inertia": ("inertia", 6)}


@dataclass(frozen=True)
class AtomRow:
    """The words of an atom in a section, the number of the atom first, and where they stand in the file."""

    where: str
    words: list[str]


@dataclass
class Template:
    """A molecule file: the number of atoms, the rows of each section of :data:`PER_ATOM`, and what is declared of the body.

    Numbers are in the units of the file, which ``units`` names as LAMMPS does, or which are not known if it is empty.
    ``declared`` has the names of :data:`DECLARED`.
    """

    path: Path
    count: int
    sections: dict[str, list[AtomRow]] = field(default_factory=dict)
    declared: dict[str, tuple[float, ...]] = field(default_factory=dict)
    units: str = ""

    def refuse(self, sections: Mapping[str, str]) -> None:
        """Refuse sections that cannot be read; the values of the mapping say why.

        Raises
        ------
        ValueError
            If the file has one of these sections; naming it.
        """
        for name, why in sections.items():
            if name in self.sections:
                raise ValueError(f"{self.path}: the section {name} {why}")

    def values(self, section: str) -> list[tuple[str, list[Any]]]:
        """Where each atom stands in a section, and its numbers (of Types its word), in the order of the atoms.

        The numbers belong to the columns in :data:`PER_ATOM`, and are in the units of the file.

        Raises
        ------
        ValueError
            If an atom is missing or stands twice, or a word is no finite number.
        """
        columns = PER_ATOM[section][1]
        rows: dict[int, tuple[str, list[Any]]] = {}
        for row in self.sections[section]:
            where, numbers = f"{self.path}, {row.where}, section {section}", [number_of(word) for word in row.words]
            words = section == "Types"
            if len(numbers) != 1 + len(columns) or None in (numbers[:1] if words else numbers):
                said = " ".join(("number of the atom", *columns))
                raise ValueError(f"{where}: expected {said}, got {shown(' '.join(row.words))}")
            if not np.isfinite([x for x in numbers if x is not None]).all():
                raise ValueError(f"{where}: numbers must be finite, got {shown(' '.join(row.words))}")
            atom = numbers[0]
            if atom is None or not 1 <= atom <= self.count or atom != int(atom) or int(atom) in rows:
                raise ValueError(
                    f"{where}: the atoms are numbered from 1 to {self.count}, each once, got {shown(row.words[0])[1:-1]}"
                )
            rows[int(atom)] = row.where, list(row.words[1:]) if words else list(numbers[1:])
        if len(rows) != self.count:
            raise ValueError(f"{self.path}: the section {section} has {len(rows)} lines for {self.count} atoms")
        return [rows[atom] for atom in sorted(rows)]

    def column(self, section: str) -> list[float] | None:
        """The numbers of a section of one column, in the units of the file and in the order of the atoms.

        None if the file has no such section. It raises the errors of :meth:`values`.
        """
        return [values[0] for _, values in self.values(section)] if section in self.sections else None


def template(path: Path, lines: Sequence[Line]) -> Template | None:
    """The molecule in a file of LAMMPS with these lines, or None if the file is no such file; ``path`` is for messages.

    Raises
    ------
    ValueError
        If the file is one, but broken; the message names the line, section or key.
    """
    first = next((line.lstrip()[:1] for _, line in lines if line.strip()), "")
    if first in ("{", "["):
        return _json(path, "\n".join(line for _, line in lines))
    return _native(path, lines)


def _native(path: Path, lines: Sequence[Line]) -> Template | None:
    # The first line is a title.
    bare = [(place, line.split("#")[0].strip()) for place, line in lines[1:]]
    counts = [(place, line.split()[0]) for place, line in bare if re.fullmatch(r"\d+\s+atoms", line)]
    if not counts:
        return None
    if any(re.fullmatch(r"Atoms|[xyz]lo [xyz]hi|.*\satom types", line) for _, line in bare):
        raise ValueError(f"{path}: is a data file of LAMMPS (read_data); write its molecule as a molecule file, with Coords")
    molecule = Template(path, count_of(path, *counts[0]))
    section, seen = "", set[str]()
    for place, line in bare:
        words = line.split()
        if not words:
            continue
        if re.fullmatch(r"[A-Z][A-Za-z ]*", line):
            section = " ".join(words)
            _once(f"{path}, line {place}", f"section {section}", seen)
            if section in PER_ATOM or section.startswith("Body "):
                molecule.sections[section] = []
            elif section not in IGNORED:
                known = nearest(section, [*PER_ATOM, *IGNORED], 0.7)
                raise ValueError(f"{path}, line {place}: unknown section {shown(section)}; {known}")
        elif not section:
            name = words[-1]
            if len(words) != HEADER.get(name, -1) + 1 or any(number_of(word) is None for word in words[:-1]):
                raise ValueError(
                    f"{path}, line {place}: is no header line of a molecule file, got {shown(line)}; put a title into the "
                    "first line, and remarks after #"
                )
            _once(f"{path}, line {place}", f"header line {name}", seen)
            if name in DECLARED:
                molecule.declared[name] = _finite(f"{path}, line {place}: {name}", words[:-1], DECLARED[name][1])
            elif name == "body":
                molecule.sections["body"] = []
        elif section in molecule.sections:
            molecule.sections[section].append(AtomRow(f"line {place}", words))
    molecule.refuse({"body": "(a body particle) is not read", "Body Integers": "is not read", "Body Doubles": "is not read"})
    return molecule


def _json(path: Path, text: str) -> Template:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = set[str]()
        for key, _ in pairs:
            _once(f"{path}", f"key {shown(key)}", keys)
        return dict(pairs)

    try:
        # Numbers stay the words that they are in the file.
        values = json.loads(text, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}, line {error.lineno}: is no JSON: {error.msg}") from None
    except RecursionError:
        raise ValueError(f"{path}: is nested too deeply for a molecule file of LAMMPS") from None
    kind = (values.get("application"), values.get("format"), values.get("revision")) if isinstance(values, dict) else ()
    if kind != ("LAMMPS", "molecule", "1"):
        said = ", ".join(shown(word) for word in kind) if any(word is not None for word in kind) else ""
        raise ValueError(
            f"{path}: of JSON only molecule files of LAMMPS are read: application 'LAMMPS', format 'molecule', revision 1"
            + (f"; got {said}" if said else "")
        )
    blocks = {key: section for section, (key, _) in PER_ATOM.items()} | {"molecule": "Molecules"}
    names = {key: name for name, (key, _) in DECLARED.items()}
    molecule = Template(path, 0)
    for key, value in values.items():
        if key in blocks:
            molecule.sections[blocks[key]] = _block(path, key, value, PER_ATOM[blocks[key]][1])
        elif key in names:
            size = DECLARED[names[key]][1]
            words = [value] if size == 1 else value
            molecule.declared[names[key]] = _finite(f"{path}: {key}", words, size)
        elif key == "units":
            if not isinstance(value, str):
                raise ValueError(f"{path}: units must be a word, got {shown(value)}")
            molecule.units = value
        elif key not in ("application", "format", "revision", *IGNORED_KEYS):
            known = nearest(key, [*blocks, *names, *IGNORED_KEYS], 0.7) if key != "body" else "body particles are not read"
            raise ValueError(f"{path}: the key {shown(key)} is not read; {known}")
    if not molecule.sections.get("Coords"):
        raise ValueError(f"{path}: a LAMMPS molecule without coords")
    molecule.count = len(molecule.sections["Coords"])
    return molecule


def _block(path: Path, key: str, block: Any, columns: tuple[str, ...]) -> list[AtomRow]:
    """The rows of a data block, their columns in the order of the native format."""
    expected = ["atom-id", *columns]
    order, data = (block.get("format"), block.get("data")) if isinstance(block, dict) else (None, None)
    if not isinstance(order, list) or not all(isinstance(x, str) for x in order) or sorted(order) != sorted(expected):
        raise ValueError(f"{path}, {key}: expected a block with the format {expected}, got {shown(order or block)}")
    if not isinstance(data, list):
        raise ValueError(f"{path}, {key}: expected data, a list of rows {expected}, got {shown(data)}")
    rows = []
    for number, row in enumerate(data, 1):
        if not isinstance(row, list) or len(row) != len(order) or not all(isinstance(word, str) for word in row):
            raise ValueError(f"{path}, {key}, row {number}: expected {' '.join(order)}, got {shown(row)}")
        rows.append(AtomRow(f"{key}, row {number}", [row[order.index(name)] for name in expected]))
    return rows


def _finite(where: str, words: Any, size: int) -> tuple[float, ...]:
    """So many finite numbers."""
    numbers = [number_of(word) for word in words if isinstance(word, str)] if isinstance(words, list) else []
    values = [x for x in numbers if x is not None and np.isfinite(x)]
    if len(values) != size or len(words) != size:
        raise ValueError(f"{where} must be {size} finite number{'s' * (size > 1)}, got {shown(words)}")
    return tuple(values)


def _once(where: str, what: str, seen: set[str]) -> None:
    if what in seen:
        raise ValueError(f"{where}: the {what} stands twice; keep one of them")
    seen.add(what)
