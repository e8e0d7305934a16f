"""Files with the run of one body, one row a step: what a code of one's own writes for :func:`polhode.identify`.

Comma-separated values or columns between blanks, NPZ, dumps of LAMMPS and logs of YADE (``plot.saveDataTxt``, compressed or
not). Columns are known by their names; without names they are t, q (4) and omega (3), or q and omega. Lines of comment may say
``inertia: 0.6 1 1.4``, ``torque: lab 0.1 0 0``, ``dt: 1e-6``, ``damping: 0.1``, ``every: 10``.
"""

import bz2
import gzip
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from polhode.interface.arguments import shown

#: Names of columns.
TIME = re.compile(r"(t|time)\b.*", re.I)
STEP = re.compile(r"(step|timestep|iter|iteration|n)", re.I)
ORIENTATION = re.compile(r"(?:[cvf]_)?(?:q|quat|quaternion|ori|orientation|e)[_.\[]?([0-4wxyzsijkr])\]?", re.I)
SPIN = re.compile(
    r"(?:[cvf]_)?(?P<what>omega|om|w|ang_?vel|angularvelocity|spin|l|ang_?mom|am|momentum|h)"
    r"_?(?P<frame>body|lab)?[_.\[]?(?P<place>[0-3xyz])\]?",
    re.I,
)
MOMENTA = ("l", "angmom", "ang_mom", "am", "momentum", "h")
SCALARS = {"w", "s", "r"}
#: What a line of comment may say.
SETTING = re.compile(r"(inertia|torque|dt|damping|every)\s*[:=\s]\s*(.+)", re.I)
COMMENTS = "#%!/"
#: Significant digits of numbers in double and in single precision.
DIGITS_OF_DOUBLES, DIGITS_OF_SINGLES = 17, 9
#: The names of arrays in NPZ files.
ARRAYS = {"t": ("t", "time"), "q": ("q", "quat", "quaternion", "orientation"), "omega": ("omega", "w", "angvel")}


class RunFileError(ValueError):
    """A file that holds no run; the message names file and line, and says what to write."""


@dataclass
class Rows:
    """The rows of a run as they are in a file.

    Parameters
    ----------
    t : (n,), or None if there are no times
    q, spin : (n, 4), (n, 3), in the order and the frames of the file
    lines : (n,), the number of the line, or of the row where there are no lines
    q_unit, spin_unit, t_unit : the unit of the last printed place; 0 where numbers are exact
    is_single : whether all numbers are numbers of single precision
    scalar, quantity, frame : what names of columns say of conventions; empty where they say nothing
    settings : what lines of comment say
    steps : (n,) numbers of steps, where the file has them
    remarks : lines that are no rows, each named
    name, line_word : how to name the file and its lines
    """

    t: np.ndarray | None
    q: np.ndarray
    spin: np.ndarray
    lines: np.ndarray
    q_unit: float = 0.0
    spin_unit: float = 0.0
    t_unit: float = 0.0
    is_single: bool = False
    scalar: str = ""
    quantity: str = ""
    frame: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    steps: np.ndarray | None = None
    remarks: list[str] = field(default_factory=list)
    name: str = ""
    line_word: str = "line"


def read_run(path: str | Path, body: int | None = None) -> Rows:
    """The run in a file.

    Parameters
    ----------
    body : the id of the body, in a dump with several

    Raises
    ------
    RunFileError
        If there is no run in it.
    """
    path = Path(path)
    try:
        if path.suffix == ".npz":
            return _of_arrays(path)
        content = path.read_bytes()
        content = {".gz": gzip.decompress, ".bz2": bz2.decompress}.get(path.suffix, bytes)(content)
        lines = content.decode(errors="replace").splitlines()
    except (OSError, EOFError) as error:
        raise RunFileError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if any(line.startswith("ITEM: TIMESTEP") for line in lines[:50]):
        return _of_dump(path, lines, body)
    return _of_columns(path, lines)


def of_arrays(t: Any, q: Any, spin: Any, name: str = "the run") -> Rows:
    """A run in memory.

    Raises
    ------
    RunFileError
        For arrays of wrong shapes.
    """
    arrays = {}
    for word, values, width in (("q", q, 4), ("omega", spin, 3)):
        try:
            arrays[word] = np.asarray(values)
            single = arrays[word].dtype == np.float32
            arrays[word] = arrays[word].astype(float)
        except (TypeError, ValueError):
            raise RunFileError(f"{name}: {word} must be an array of numbers, got {shown(values)}") from None
        if arrays[word].ndim != 2 or arrays[word].shape[1] != width:
            raise RunFileError(f"{name}: {word} must have the shape (rows, {width}), got {arrays[word].shape}")
    count = len(arrays["q"])
    times = None if t is None or np.ndim(t) == 0 else np.asarray(t, float)
    if len(arrays["omega"]) != count or (times is not None and times.shape != (count,)):
        raise RunFileError(f"{name}: t, q and omega must have as many rows each")
    rows = Rows(times, arrays["q"], arrays["omega"], np.arange(count), name=name, line_word="row")
    rows.is_single = single or all_single(np.hstack([rows.q, rows.spin]), 0.0)
    if t is not None and np.ndim(t) == 0:
        rows.settings["dt"] = repr(float(t))
    return rows


def _of_arrays(path: Path) -> Rows:
    with np.load(path) as data:
        names = {name.lower(): name for name in data.files}

        def named(words: Sequence[str]) -> str:
            return next((names[word] for word in words if word in names), "")

        spin, momentum = named(ARRAYS["omega"]), named(MOMENTA)
        if not named(ARRAYS["q"]) or not (spin or momentum):
            raise RunFileError(f"{path} has the arrays {', '.join(data.files)}; write t, q and omega (or L)")
        rows = of_arrays(
            data[named(ARRAYS["t"])] if named(ARRAYS["t"]) else None,
            data[named(ARRAYS["q"])],
            data[spin or momentum],
            str(path),
        )
        rows.quantity = "angular velocity" if spin else "angular momentum"
        for word in ("inertia", "torque", "dt", "damping", "every"):
            if word in names:
                rows.settings[word] = " ".join(str(x) for x in np.atleast_1d(data[names[word]]))
    return rows


def _of_columns(path: Path, lines: Sequence[str]) -> Rows:
    """Numbers in columns, with names in a line above or without."""
    names: list[str] = []
    settings: dict[str, str] = {}
    numbers: list[list[str]] = []
    places: list[int] = []
    remarks: list[str] = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        comment = text.startswith(tuple(COMMENTS))
        text = text.lstrip(COMMENTS + " ") if comment else text
        if not text:
            continue
        words = _words(text)
        if not comment and all(map(_is_number, words)):
            numbers.append(words)
            places.append(number)
        elif setting := SETTING.fullmatch(text):
            settings[setting[1].lower()] = setting[2].strip()
        elif not numbers and any(ORIENTATION.fullmatch(word) for word in words):
            names = words
        elif not comment and numbers:
            remarks.append(f"line {number}: no numbers ({shown(text)})")
    if not numbers:
        raise RunFileError(f"{path} has no rows of numbers; write one row a step: t, q (4), omega (3)")
    widths = [len(words) for words in numbers]
    width = len(names) or max(set(widths), key=widths.count)
    for words, number in zip(numbers, places, strict=True):
        if len(words) != width:
            remarks.append(f"line {number}: {len(words)} values instead of {width}")
    columns = _columns(path, names, width)
    whole = [(words, number) for words, number in zip(numbers, places, strict=True) if len(words) == width]
    return _rows(str(path), columns, names, whole, settings, remarks)


def _of_dump(path: Path, lines: Sequence[str], body: int | None) -> Rows:
    """A dump of LAMMPS: the rows of one atom or body."""
    names: list[str] = []
    steps: list[int] = []
    rows: dict[str, list[tuple[list[str], int]]] = {}
    at: dict[str, list[int]] = {}
    expects = ""
    for number, line in enumerate(lines, 1):
        if line.startswith("ITEM:"):
            expects = line.removeprefix("ITEM:").strip()
            if expects.startswith(("ATOMS", "ENTRIES")):
                names = expects.split()[1:]
        elif expects == "TIMESTEP":
            steps.append(int(line))
        elif expects.startswith(("ATOMS", "ENTRIES")):
            words = line.split()
            key = words[names.index("id")] if "id" in names else "1"
            rows.setdefault(key, []).append((words, number))
            at.setdefault(key, []).append(steps[-1])
    known = ", ".join(list(rows)[:8])
    if body is None and len(rows) > 1:
        raise RunFileError(f"{path} has several bodies ({known}); choose one with --body, or dump a group of one")
    key = str(body) if body is not None else next(iter(rows), "")
    if key not in rows:
        raise RunFileError(f"{path} has no body {key}; it has {known}")
    columns = _columns(path, names, len(names))
    table = _rows(str(path), columns, names, rows[key], {}, [])
    table.steps = np.array(at[key])
    return table


def _columns(path: Path, names: Sequence[str], width: int) -> dict[str, list[int]]:
    """Where t, step, q and spin are, by names, or by their usual order."""
    if not names:
        if width not in (7, 8):
            raise RunFileError(
                f"{path}: {width} columns without names; write t, q (4), omega (3), or a first line with names: "
                "t,qw,qx,qy,qz,wx,wy,wz"
            )
        first = width - 7
        return {"t": [0][:first], "q": list(range(first, first + 4)), "spin": list(range(first + 4, first + 7))}
    columns: dict[str, list[int]] = {"t": [], "q": [], "spin": [], "step": []}
    for place, name in enumerate(names):
        kinds = {"t": TIME, "q": ORIENTATION, "spin": SPIN, "step": STEP}
        kind = next((kind for kind, pattern in kinds.items() if pattern.fullmatch(name)), "")
        if kind:
            columns[kind].append(place)
    if len(columns["spin"]) == 6:  # angular velocity and momentum
        columns["spin"] = columns["spin"][:3]
    if len(columns["q"]) != 4 or len(columns["spin"]) != 3:
        raise RunFileError(
            f"{path} has the columns {', '.join(names)}; needed are four of a quaternion (qw, qx, qy, qz) and three of an "
            "angular velocity (wx, wy, wz) or momentum (Lx, Ly, Lz)"
        )
    return columns


def _rows(
    name: str,
    columns: dict[str, list[int]],
    names: Sequence[str],
    rows: Sequence[tuple[list[str], int]],
    settings: dict[str, str],
    remarks: list[str],
) -> Rows:
    """The rows in these columns, in the usual order of components where names say it."""
    q_columns, spin_columns = columns["q"], columns["spin"]
    scalar = quantity = frame = ""
    if names:
        suffixes = [match[1].lower() for place in q_columns if (match := ORIENTATION.fullmatch(names[place]))]
        if SCALARS & set(suffixes):
            scalar = "first"
            vector = sorted((suffix, place) for suffix, place in zip(suffixes, q_columns, strict=True) if suffix not in SCALARS)
            q_columns = [
                next(place for suffix, place in zip(suffixes, q_columns, strict=True) if suffix in SCALARS),
                *(place for _, place in vector),
            ]
        elif all(suffix.isdigit() for suffix in suffixes):
            q_columns = [place for _, place in sorted(zip(suffixes, q_columns, strict=True))]
        matches = [match for place in spin_columns if (match := SPIN.fullmatch(names[place]))]
        spin_columns = [
            place for _, place in sorted((m["place"].lower(), p) for m, p in zip(matches, spin_columns, strict=True))
        ]
        quantity = "angular momentum" if matches[0]["what"].lower() in MOMENTA else "angular velocity"
        frame = (matches[0]["frame"] or "").lower()
    texts = (
        [[words[place] for place in q_columns] for words, _ in rows],
        [[words[p] for p in spin_columns] for words, _ in rows],
    )
    q, spin = (np.array([[_number(word) for word in row] for row in text]) for text in texts)
    t = steps = None
    t_unit = 0.0
    for place in columns.get("t", [])[:1]:
        words = [words[place] for words, _ in rows]
        t, t_unit = np.array([_number(word) for word in words]), unit_of(words)
    for place in columns.get("step", [])[:1]:
        steps = np.array([_number(words[place]) for words, _ in rows])
    q_unit, spin_unit = (unit_of([word for row in text for word in row]) for text in texts)
    if not q_unit:
        spin_unit = 0.0  # a momentum that is constant may have few digits, however many are printed
    single = all_single(q, q_unit) and all_single(spin, spin_unit)
    lines = np.array([number for _, number in rows])
    return Rows(t, q, spin, lines, q_unit, spin_unit, t_unit, single, scalar, quantity, frame, settings, steps, remarks, name)


def unit_of(words: Sequence[str]) -> float:
    """The unit of the last printed place of the largest of these numbers; 0 if they have all digits of double precision."""
    digits, power = 0, -400
    for word in words:
        mantissa = re.split("[eEdD]", word)[0].lstrip("+-")
        figures = mantissa.replace(".", "").lstrip("0")
        value = abs(_number(word))
        if "." not in word and "e" not in word.lower():
            continue  # a whole number is exact
        digits = max(digits, len(figures))
        if value and math.isfinite(value):
            power = max(power, math.floor(math.log10(value)))
    if digits >= DIGITS_OF_DOUBLES - 1 or power == -400:
        return 0.0
    return float(10.0 ** (power - digits + 1))


def all_single(values: np.ndarray, unit: float) -> bool:
    """Whether all of these are numbers of single precision, as far as the unit of the last place shows it."""
    fine = values[np.isfinite(values)]
    if not fine.size or unit > 10.0 ** (1 - DIGITS_OF_SINGLES) * 10 * np.abs(fine).max():
        return False
    with np.errstate(over="ignore"):
        rounded = fine.astype(np.float32)
    return bool((np.abs(fine - rounded) <= 0.51 * unit).all()) and not bool((fine == np.round(fine)).all())


def _words(text: str) -> list[str]:
    words = re.split(r"[,;]", text) if re.search("[,;]", text) else text.split()
    return [word.strip().strip('"') for word in words if word.strip()]


def _is_number(word: str) -> bool:
    return not math.isnan(_number(word)) or word.lower().lstrip("+-") == "nan" or set(word) == {"*"}


def _number(word: str) -> float:
    """A number as C, Fortran and Python write it; NaN if it is none."""
    try:
        return float(re.sub("[dD]", "e", word) if word[-1:].isdigit() else word)
    except ValueError:
        return math.nan


def settings_of(text: str) -> Iterator[float]:
    """The numbers in a setting."""
    for word in re.split(r"[,;\s]+", text.strip("()[] ")):
        yield _number(word)
