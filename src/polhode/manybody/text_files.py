"""Lines, numbers and columns of the text files of clumps and molecules."""

import re
from collections.abc import Callable
from pathlib import Path

from polhode.interface.arguments import shown

#: The number of a line, and the line.
Line = tuple[int, str]
#: Larger files are none of a clump or a molecule, bytes.
LARGEST_FILE = 200_000_000
#: A number with an exponent as Fortran (1.0D-3) or Mathematica (1.0*^-3) writes it.
EXPONENT = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:[dD]|\*\^)([+-]?[0-9]{1,4})")
#: How files of other formats begin, and their names.
OTHERS = {
    r"#\s*vtk DataFile|<\?xml.*\n?\s*<VTKFile|<VTKFile": "a VTK file",
    r"<": "an XML file",
    r"solid\b|facet\b": "an STL file",
    r"ply\s*\n": "a PLY file",
    r"(?:#.*\n)*(?:mtllib\b|v(?:\s+[-+.\d]+){3})": "an OBJ file",
    r"ITEM:": "a dump file of LAMMPS",
    r"HEADER|TITLE  |REMARK|COMPND|CRYST1|ATOM  |HETATM|MODEL ": "a PDB file",
    r"@<TRIPOS>|#.*\n(?:#.*\n)*\s*@<TRIPOS>": "a MOL2 file",
    r"data_|loop_": "a CIF file",
    r"(?:.*\n){1,3}\s*\d+\s+\d+\s.*V[23]000": "an SDF or MOL file",
    r".*\n\s*\d+\s*\n\s*\d+[A-Za-z]\w*\s+\w+\s+\d+\s": "a GRO file",
    r"\s*\d+ +\d+\s*\n\s*\S+(?:[ \t]+\S+){4}\s*\n": "a .sph file of SphereTree, whose spheres are levels of a tree",
}
#: A count with more digits is that of nothing which fits into a file.
COUNT_DIGITS = 9


def numbered_lines(path: Path, kind: str, form: str) -> list[Line]:
    """The lines of a text file, each with its number from 1.

    Messages say that the file holds a ``kind``, such as clump, and should have the form ``form``.

    Raises
    ------
    ValueError
        If the file is too large, or is not UTF-8 text.
    """
    if (size := path.stat().st_size) > LARGEST_FILE:
        raise ValueError(f"{kind} file {path} has {size:,} bytes, more than {LARGEST_FILE:,}; name a file of one {kind}")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{kind} file {path} is not UTF-8 text (byte {error.start} is {error.object[error.start]:#04x}); "
            f"save it as plain text, {form}"
        ) from None
    return list(enumerate(text.splitlines(), 1))


def refuse_others(path: Path, lines: list[Line], read: str) -> None:
    """Refuse a file that begins as one of :data:`OTHERS` does; ``read`` tells the reader which formats are read.

    Raises
    ------
    ValueError
        If it does, naming the format.
    """
    begin = "\n".join(line[:200] for _, line in lines[:10] if line.strip()) + "\n"
    if name := next((name for pattern, name in OTHERS.items() if re.match(pattern, begin)), None):
        raise ValueError(f"{path}: is {name}, which is not read; {read}")


def number_of(word: str) -> float | None:
    """The number that a word of a file is, perhaps with an exponent of Fortran or Mathematica, or None if it is no number.

    Words such as inf and nan are numbers.
    """
    if exponent := EXPONENT.fullmatch(word):
        word = f"{exponent[1]}e{exponent[2]}"
    try:
        return None if "_" in word else float(word)  # Python would ignore the _
    except ValueError:
        return None


def is_number(word: str) -> bool:
    """Whether a word of a file is a number, as for :func:`number_of`."""
    return number_of(word) is not None


def count_of(path: Path, place: int, word: str) -> int:
    """The count that a line has, which is a word of digits; ``place`` is the number of the line, for the message.

    Raises
    ------
    ValueError
        If the count has more digits than the count of a file can have.
    """
    if len(word.strip().lstrip("0")) > COUNT_DIGITS:
        raise ValueError(f"{path}, line {place}: {shown(word.strip())} is no count that a file can hold")
    return int(word)


def xyz_frame(path: Path, lines: list[Line], kind: str) -> tuple[str, list[Line]] | None:
    """The comment and the numbered lines of the one frame of an XYZ file, or None if the file is no XYZ file.

    ``kind`` is what the file holds, ``clump`` or ``molecule``.
    Files of QM9, whose comment begins with gdb, have three more lines after the atoms (frequencies, SMILES, InChI).

    Raises
    ------
    ValueError
        If the file has more or fewer lines than its first one says, or that says more than a file can have.
    """
    if len(lines) < 2 or not re.fullmatch(r"\s*\d+\s*", lines[0][1]):
        return None
    count, comment = count_of(path, *lines[0]), lines[1][1]
    data = [(place, line) for place, line in lines[2:] if line.strip()]
    if re.match(r"\s*gdb9?\s*[:\s]\s*\d", comment) and len(data) == count + 3:
        data = data[:count]
    if len(data) != count or not data:
        elements = {"clump": "spheres", "molecule": "sites"}[kind]
        raise ValueError(
            f"{path}: has {len(data)} lines for {count} {elements}; a {kind} file has one frame, whose line 1 is the number of "
            "lines from line 3 on, and line 2 a remark"
        )
    return comment, data


def xyz_columns(
    path: Path, comment: str, first: Line, known: Callable[[str], str | None], weighty: re.Pattern[str]
) -> list[str] | None:
    """The columns of an extended XYZ file by ``Properties=...`` in its second line, or None if that does not have it.

    Each column has the name that ``known`` gives it; one that is not read is ``""``.

    Parameters
    ----------
    comment : str
        The second line.
    first : Line
        The first sphere or site.
    known : function
        The name of a column that is read, or None.
    weighty : pattern
        Names of columns that may not be left unread.

    Raises
    ------
    ValueError
        If the list is broken, has more columns than the line has words, no positions, the same column twice, or one that may
        not be left unread.
    """
    properties = re.search(r'Properties="?([^\s"]+)', comment, re.IGNORECASE)
    if not properties:
        return None
    where, parts = f"{path}, line 2", properties[1].split(":")
    if len(parts) % 3 or not all(re.fullmatch(r"0*[1-9][0-9]{0,11}", size) for size in parts[2::3]):
        raise ValueError(f"{where}: {shown(properties[0])} is not a list of name:type:columns")
    fields = [(name, int(size)) for name, size in zip(parts[::3], parts[2::3], strict=True)]
    places = [name for name, size in fields if name.lower() in ("pos", "position", "positions") and size == 3]
    columns: list[tuple[str, int]] = []
    for name, size in fields:
        column = known(name) if size == 1 else None
        if name in places:
            columns += [(axis, 1) for axis in "xyz"]
        elif column is None and weighty.search(name.lower()):
            raise ValueError(
                f"{where}: the column {shown(name)} of {size} is not read, but may bear on the motion; take it out, or name it "
                "as one that is read"
            )
        elif places and column in ("x", "y", "z"):  # QUIP's Z is the atomic number
            columns.append(("", 1))
        else:
            columns.append((column or "", size))
    named = [column for column, _ in columns if column]
    if "x" not in named:
        raise ValueError(f"{where}: {shown(properties[0])} has no pos:R:3")
    if twice := sorted({column for column in named if named.count(column) > 1}):
        raise ValueError(f"{where}: two columns are the same, {', '.join(twice)}: {shown(properties[0])}")
    words, total = len(first[1].split()), sum(size for _, size in columns)
    if total > words:
        raise ValueError(f"{where}: {shown(properties[0])} has {total} columns, but line {first[0]} has {words} words")
    return [column for column, size in columns for _ in range(size)]
