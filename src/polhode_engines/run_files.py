"""Files with the run of one body, one row a step: what a code of one's own writes for :func:`polhode.identify`.

Tables (comma-separated values, columns between blanks, decimal commas with semicolons), NPZ and NPY, JSON, dumps of LAMMPS,
logs of YADE, attitude messages of CCSDS (AEM); compressed or not. Columns are known by their names
(:mod:`polhode_engines.run_columns`); without names they are t, q (4) and omega (3), or q and omega. Lines of comment may say
``inertia: 0.6 1 1.4``, ``torque: lab 0.1 0 0``, ``dt: 1e-6``, ``damping: 0.1``, ``every: 10``.
"""

import bz2
import contextlib
import csv
import gzip
import io
import json
import lzma
import math
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from polhode.interface.arguments import regular_file, shown
from polhode.interface.attitude_files import message_of
from polhode_engines.run_columns import ColumnLayout, RunFileError, column_of, layout, understands
from polhode_engines.run_numbers import (
    all_single,
    is_number,
    is_value,
    number,
    plain_unit,
    radians_of,
    rate_of,
    seconds_of,
    settings_of,
    times_of,
    unit_of,
)

__all__ = ["Rows", "RunFileError", "all_single", "of_arrays", "read_run", "settings_of"]

#: What a line of comment, an array or an entry may say besides the rows.
SETTINGS = ("inertia", "torque", "dt", "damping", "every")
SETTING = re.compile(
    rf"\b(?P<name>{'|'.join(SETTINGS)})\b\s*(?:[\[(](?P<unit>[^\[\]()\d]*)[\])])?\s*"
    r"(?:[:=]+\s*|\s(?=\s*[\[(]?[+-]?\.?\d|\s*(?:free|constant|lab|velocity)\b))(?P<value>.*?)"
    rf"(?=[,;\s]*\b(?:{'|'.join(SETTINGS)})\b\s*[:=]|$)",
    re.I,
)
COMMENTS = ("#", "%", "!", "//", "@")
#: A comment at the end of a row.
REMARK = re.compile(r"\s+(?:#|//)")
#: Beginnings of files that are no runs, and what to do.
FOREIGN = {
    b"\x89HDF": "an HDF5 file; write its arrays with numpy.savez",
    b"#ROSBAG": "a bag of ROS; write the topic with rostopic echo -b FILE -p TOPIC",
    b"SQLite format 3": "a database, such as a bag of ROS 2; write the topic as comma-separated values",
    b"ULog": "a ULog of PX4; write its topics as comma-separated values with ulog2csv",
    b"MATLAB": "a MAT file; write comma-separated values",
    b"PAR1": "a Parquet file; write comma-separated values",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it, or use gzip",
    b"<": "XML; write comma-separated values, of an attitude message the form with KEY = value",
    b"%PDF": "a PDF; write comma-separated values",
}
#: Orientations that differ, all in single precision: so many are no accident.
FEW_SINGLE = 4
#: The most bytes of a file, unpacked.
LARGEST_FILE = 2**30


@dataclass
class Rows:
    """The rows of a run as they are in a file.

    Parameters
    ----------
    t : (n,), in s if the unit is known, and None if there are no times
    q, spin : (n, 4), (n, 3), in the order and the frames of the file; spin in rad/s if its unit is known
    lines : (n,), the number of the line, or of the row where there are no lines
    q_unit, spin_unit, t_unit : the unit of the last printed place; 0 where numbers are exact
    is_single : whether all numbers are numbers of single precision
    scalar, quantity, frame : what names of columns say of conventions; empty where they say nothing
    settings : what lines of comment say
    steps : (n,) numbers of steps, where the file has them
    remarks : lines that are no rows, each named
    name, line_word : how to name the file and its lines
    time_unit, rate_unit : the units that names of columns say, in the words of the file; empty where they say none
    unread : names of columns that were not used
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
    time_unit: str = ""
    rate_unit: str = ""
    unread: list[str] = field(default_factory=list)


@dataclass
class RunTable:
    """Columns with names; each is a list of words as they are written, or an array.

    Parameters
    ----------
    name, line_word : how to name the file and its rows
    names : names of columns; empty if there are none
    columns : as many, of one length
    lines : numbers of the rows
    names_at : where the names are, for messages
    settings, remarks, scalar : as of :class:`Rows`
    """

    name: str
    names: list[str]
    columns: list[Any]
    lines: list[int]
    line_word: str = "line"
    names_at: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    scalar: str = ""

    def of_rows(self, numbers: Iterable[int]) -> "RunTable":
        """The table with the rows at these places, counted from 0, in this order."""
        places = list(numbers)
        columns = [column[places] if isinstance(column, np.ndarray) else [column[k] for k in places] for column in self.columns]
        return replace(self, columns=columns, lines=[self.lines[k] for k in places])


def read_run(path: str | Path, body: int | None = None, columns: str | Sequence[str] | None = None) -> Rows:
    """The run in a file, in whatever of the formats of this module.

    Parameters
    ----------
    body : the id of the body, in a dump or table with several
    columns : names of all columns in their order, instead of those in the file; ``-`` for one that is not to be read

    Raises
    ------
    RunFileError
        If the file does not exist or cannot be read, or there is no run in it.
    """
    try:
        file = regular_file("file", path)
        content = _unpacked(file)
    except (TypeError, ValueError, FileNotFoundError) as error:
        raise RunFileError(str(error)) from None
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or f"it is cut or damaged ({error})"
        raise RunFileError(f"{file} cannot be read: {reason}") from None
    name = str(file)
    names = [word.strip() for word in (columns.split(",") if isinstance(columns, str) else columns or ())]
    if content.startswith((b"PK\x03\x04", b"PK\x05\x06", b"\x93NUMPY")):
        table = _of_numpy(name, content)
    else:
        foreign = next((words for begin, words in FOREIGN.items() if content.lstrip().startswith(begin)), "")
        if foreign:
            raise RunFileError(f"{file} is {foreign}")
        text = _text(name, content)
        if text.lstrip()[:1] in ("{", "["):
            table = _of_json(name, text)
        else:
            lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
            beginning = [line.strip() for line in lines[:200]]
            if any(line.startswith("ITEM: TIMESTEP") for line in beginning):
                table = _of_dump(name, lines)
            elif any(line.startswith("CCSDS_AEM_VERS") for line in beginning):
                table = _of_attitude_message(name, lines)
            else:
                table = _of_lines(name, lines, names)
    return _rows(_renamed(table, names), body)


def _unpacked(file: Path) -> bytes:
    """The content of a file that may be compressed, whatever its name.

    Raises
    ------
    RunFileError, OSError, EOFError, zlib.error, lzma.LZMAError
        If it is too large, damaged or cut.
    """
    with file.open("rb") as opened:
        begin = opened.read(6)
        opened.seek(0)
        unpack: Callable[[Any], Any] = next(
            (
                module.open
                for magic, module in ((b"\x1f\x8b", gzip), (b"BZh", bz2), (b"\xfd7zXZ\x00", lzma))
                if begin.startswith(magic)  # type: ignore[attr-defined]
            ),
            lambda stream: stream,
        )
        content: bytes = unpack(opened).read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise RunFileError(f"{file} has more than {LARGEST_FILE >> 20} MiB; a few hundred rows are enough")
    return content


def _text(name: str, content: bytes) -> str:
    """The text of a file: UTF-8 or UTF-16, with a byte order mark or without, else Latin-1."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    elif content[1:200:2].count(0) > 0.8 * len(content[1:200:2]) and content[:200:2].count(0) == 0:
        encoding = "utf-16-le"
    else:
        encoding = "utf-8-sig"
        if b"\0" in content[:512]:
            raise RunFileError(
                f"{name} holds no text, NPZ, NPY or JSON (its byte {content.index(0)} is zero); write comma-separated values"
            )
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return content.decode("latin-1" if encoding == "utf-8-sig" else encoding, errors="replace")


def of_arrays(t: Any, q: Any, spin: Any, name: str = "the run") -> Rows:
    """A run in memory.

    Parameters
    ----------
    t : times of the rows (n,), numbers or dates, or the step, s
    q : quaternions (n, 4), in any convention
    spin : angular velocities or momenta (n, 3), in any unit and frame
    name : of the run, in messages

    Raises
    ------
    RunFileError
        For arrays of wrong or unequal shapes, or that hold no numbers, and for a ``t`` that is neither times nor a positive
        step.
    """
    arrays = {}
    for word, values, width in (("q", q, 4), ("omega", spin, 3)):
        array = numeric(f"{name}: {word}", values)
        if array.ndim != 2 or array.shape[1] != width:
            turned = "; transpose it" if array.ndim == 2 and array.shape[0] == width else ""
            raise RunFileError(f"{name}: {word} must have the shape (rows, {width}), got {array.shape}{turned}")
        arrays[word] = array
    count = len(arrays["q"])
    if t is None:
        raise RunFileError(f"{name}: t must be the times of the rows, or a step, got None")
    step = None if np.ndim(t) else numeric(f"{name}: t", t)
    times = None if step is not None else _array_of_times(f"{name}: t", t)
    if len(arrays["omega"]) != count or (times is not None and len(times) != count):
        counts = {"t": None if times is None else len(times), "q": count, "omega": len(arrays["omega"])}
        words = ", ".join(f"{word} has {length}" for word, length in counts.items() if length is not None)
        raise RunFileError(f"{name}: t, q and omega must have as many rows each; {words}")
    columns = [times] if times is not None else []
    for array in arrays.values():
        columns += list(array.T)
    names = [f"q[{k}]" for k in range(4)] + [f"omega[{k}]" for k in range(3)]
    table = RunTable(name, ["t"][: len(columns) - 7] + names, columns, list(range(count)), "row")
    rows = _rows(table, None)
    rows.quantity = ""
    if step is not None:
        if not (math.isfinite(step) and step > 0):
            raise RunFileError(f"{name}: t must be the times of the rows, or a positive step, got {shown(t)}")
        rows.settings["dt"] = repr(float(step))
    return rows


def numeric(name: str, values: Any) -> np.ndarray:
    """Real numbers as an array of floats of their own shape and precision; what a mask hides is NaN.

    Raises
    ------
    RunFileError
        If they are none; naming them.
    """
    try:
        array = np.ma.filled(values.astype(float), math.nan) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    except Exception:  # whatever an object of the user's raises when it is read
        raise RunFileError(f"{name} must be an array of numbers, got {shown(values)}") from None
    if array.dtype.kind not in "iuf":
        kinds = {"c": "complex numbers", "O": "objects", "U": "text", "S": "text", "b": "booleans", "M": "dates"}
        what = kinds.get(array.dtype.kind, str(array.dtype))
        raise RunFileError(f"{name} must hold real numbers, got {what}: {shown(values)}")
    return array if array.dtype.kind == "f" else array.astype(float)


def _array_of_times(name: str, values: Any) -> Any:
    """Times as an array, in s from the first one if they are dates; or as words."""
    try:
        array = np.asarray(values)
    except Exception:  # whatever an object of the user's raises when it is read
        raise RunFileError(f"{name} must be an array of times, got {shown(values)}") from None
    if array.ndim != 1:
        raise RunFileError(f"{name} must have the shape (rows,), got {array.shape}")
    if array.dtype.kind == "O":
        with contextlib.suppress(TypeError, ValueError):
            array = array.astype("datetime64[ns]") if len(array) and hasattr(array[0], "isoformat") else array
    if array.dtype.kind in "mM":
        ticks = array.astype("timedelta64[ns]" if array.dtype.kind == "m" else "datetime64[ns]")
        missing = np.isnat(ticks)
        start = ticks[~missing][:1]
        passed = ((ticks - start[0]) if len(start) else ticks - ticks) / np.timedelta64(1, "ns")
        return np.where(missing, math.nan, passed / 1e9)
    if array.dtype.kind in "US":
        words = [word.decode(errors="replace") if isinstance(word, bytes) else str(word) for word in array]
        if not any(map(is_value, words)):
            raise RunFileError(f"{name} must be an array of times, got text such as {shown(words[0] if words else '')}")
        return words
    return numeric(name, array)


def _of_numpy(name: str, content: bytes) -> RunTable:
    """Arrays of NumPy: those of NPZ by their names, or the columns of one of NPY."""
    try:
        data = np.load(io.BytesIO(content), allow_pickle=False)
        arrays = {"": data} if isinstance(data, np.ndarray) else {key: data[key] for key in data.files}
    except ValueError as error:
        if "pickle" in str(error).lower():
            raise RunFileError(f"{name} has an array of objects, which are not read; write arrays of numbers") from None
        raise RunFileError(f"{name} cannot be read: it is cut or damaged ({error})") from None
    except Exception as error:  # whatever NumPy and zipfile raise for what is damaged
        raise RunFileError(f"{name} cannot be read: it is cut or damaged ({str(error) or type(error).__name__})") from None
    if not all(isinstance(array, np.ndarray) for array in arrays.values()):
        raise RunFileError(f"{name} is an archive without arrays of NumPy; unpack it, and name the files in it")
    settings = _settings_in(name, {key: array for key, array in arrays.items() if key.lower() in SETTINGS})
    names: list[str] = []
    columns: list[Any] = []
    arrays = {key: array for key, array in arrays.items() if key.lower() not in SETTINGS}
    for key, array in list(arrays.items()):
        if array.dtype.names and array.ndim == 1:
            arrays |= {field: array[field] for field in array.dtype.names}
            del arrays[key]
    count = max((len(array) for array in arrays.values() if array.ndim), default=0)
    wide = [key for key, array in arrays.items() if array.ndim == 2 and array.shape[0] in (3, 4) and array.shape[1] == count]
    count = max((len(array) for array in arrays.values() if array.ndim and len(array) not in (3, 4)), default=count)
    for key, array in arrays.items():
        if (array.ndim == 2 and array.shape[0] in (3, 4) and array.shape[1] == count > 4) or (key in wide and count > 4):
            raise RunFileError(f"{name}: the array {key} has the shape {array.shape}; transpose it to (rows, {len(array)})")
        if array.ndim in (1, 2) and len(array) == count:
            parts = array.T if array.ndim == 2 else [array]
            names += [f"{key}[{k}]" if array.ndim == 2 else key for k in range(len(parts))] if key else []
            columns += list(parts)
    if any(len(array) != count for key, array in arrays.items() if array.ndim and _is_known(key)):
        lengths = ", ".join(f"{key} has {len(array)}" for key, array in arrays.items() if array.ndim)
        raise RunFileError(f"{name}: t, q and omega must have as many rows each; {lengths}")
    if "" not in arrays and not understands(names):
        raise RunFileError(f"{name} has the arrays {', '.join(arrays) or 'of nothing'}; write t, q and omega (or L)")
    return RunTable(name, names, columns, list(range(count)), "row", name, settings)


def _is_known(key: str) -> bool:
    """Whether an array or an entry of this name holds times, orientations or angular velocities."""
    return any(column_of(f"{key}{component}") for component in ("", "x"))


def _settings_in(name: str, values: Mapping[str, Any]) -> dict[str, str]:
    """Settings that are arrays or entries, as text."""
    settings = {}
    for key, value in values.items():
        words = [str(x) for x in np.ravel(np.asarray(value, dtype=object))] if not isinstance(value, str) else [value]
        settings[key.lower()] = " ".join(word.strip("[]") for word in words)
    return settings


def _of_json(name: str, text: str) -> RunTable:
    """JSON: an object of columns, a list of rows, or an object (or list) in each line. Numbers stay as they are written."""
    try:
        try:
            content = _json(text)
        except json.JSONDecodeError as error:
            return _of_json_lines(name, text, error)
    except RunFileError:
        raise
    except (RecursionError, ValueError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise RunFileError(f"{name} is no JSON that can be read: {reason}") from None
    settings: dict[str, str] = {}
    if isinstance(content, dict):
        settings = _settings_in(name, {key: content.pop(key) for key in list(content) if key.lower() in SETTINGS})
        if isinstance(content.get("columns"), list) and isinstance(content.get("data"), list):  # pandas, orient="split"
            content = [
                dict(zip(map(str, content["columns"]), row, strict=False)) for row in content["data"] if isinstance(row, list)
            ]
        tables = [key for key, value in content.items() if isinstance(value, list) and value and _is_row(value[0])]
        if len(tables) == 1:
            content = content[tables[0]]
    if isinstance(content, list):
        return _of_records(name, content, list(range(len(content))), "row", settings, [])
    columns = dict(_columns_of(content))
    count = max(map(len, columns.values()), default=0)
    uneven = {key: len(column) for key, column in columns.items() if len(column) != count}
    if any(map(_is_known, uneven)):
        lengths = ", ".join(f"{key} has {length}" for key, length in uneven.items())
        raise RunFileError(f"{name}: t, q and omega must have as many rows each; {lengths}, others {count}")
    records = [{key: column[k] for key, column in columns.items() if len(column) == count} for k in range(count)]
    return _of_records(name, records, list(range(count)), "row", settings, [])


def _is_row(value: Any) -> bool:
    """Whether an entry of a list is a row of a table: an object, or q and omega at least."""
    return isinstance(value, dict) or (isinstance(value, list) and len(value) >= 7)


def _json(text: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            twice = next(key for key in made if sum(key == other for other, _ in pairs) > 1)
            raise ValueError(f"it has {shown(twice)} twice")
        return made

    return json.loads(text, parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=unique)


def _of_json_lines(name: str, text: str, error: json.JSONDecodeError) -> RunTable:
    records: list[Any] = []
    places: list[int] = []
    remarks: list[str] = []
    settings: dict[str, str] = {}
    for place, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = _json(line)
        except json.JSONDecodeError:
            if len(records) < 2:
                raise RunFileError(f"{name} is no JSON: line {error.lineno}, column {error.colno}: {error.msg}") from None
            remarks.append(f"line {place}: no JSON ({shown(line.strip())})")
            continue
        if isinstance(record, dict) and set(map(str.lower, record)) <= set(SETTINGS):
            settings |= _settings_in(name, record)
        else:
            records.append(record)
            places.append(place)
    return _of_records(name, records, places, "line", settings, remarks)


def _columns_of(content: Any, path: str = "") -> Iterator[tuple[str, list[Any]]]:
    """The columns in an object, which may have objects in it."""
    for key, value in content.items():
        key = f"{path}.{key}" if path else str(key)
        if isinstance(value, dict) and value and all(number.isdigit() for number in value):  # pandas
            value = list(value.values())
        if isinstance(value, dict):
            yield from _columns_of(value, key)
        elif isinstance(value, list):
            yield key, value


def _of_records(
    name: str, records: Sequence[Any], places: list[int], line_word: str, settings: dict[str, str], remarks: list[str]
) -> RunTable:
    flat = [dict(_flat(record)) for record in records]
    names = list(dict.fromkeys(key for record in flat[:20] for key in record))
    columns = [[record.get(key, "") for record in flat] for key in names]
    if not flat:
        raise RunFileError(f"{name} has no rows; write one a step: t, q (4), omega (3)")
    has_names = any(isinstance(record, dict) for record in records)
    return RunTable(name, names if has_names else [], columns, places, line_word, name, settings, remarks)


def _flat(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """The numbers and words in an entry of JSON, with their paths; what is nested deeper than any message is left out."""
    if isinstance(value, dict | list) and depth > 20:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list):
        for k, inner in enumerate(value):
            yield from _flat(inner, f"{path}[{k}]", depth + 1)
    else:
        yield path, "" if value is None else str(value)


def _of_lines(name: str, lines: Sequence[str], given_names: Sequence[str]) -> RunTable:
    """Numbers in columns, with names in a line above or without."""
    settings: dict[str, tuple[str, int]] = {}
    remarks: list[str] = []
    split = _splitter(lines)
    above: list[tuple[int, str, bool]] = []
    rows: list[list[str]] = []
    places: list[int] = []
    names: list[str] = []
    names_at = ""
    for place, line in enumerate(lines, 1):
        text = line.strip(" \t\ufeff")
        is_comment = text.startswith(COMMENTS)
        text = text.lstrip("#%!/@ \t") if is_comment else REMARK.split(text)[0]
        if not text or "\0" in text:
            if "\0" in text:
                remarks.append(f"line {place}: null characters, as an interrupted write leaves them")
            continue
        words = split(text)
        if (
            not is_comment
            and len(words) > 1
            and 2 * sum(bool(word.strip("-")) and is_value(word) for word in words) >= len(words)
        ):
            if not rows and not given_names:
                names, names_at = _names(name, above, words, split)
            rows.append(words)
            places.append(place)
        elif setting := list(SETTING.finditer(text)):
            if is_comment or setting[0].start() == 0:
                _settle(name, place, setting, settings)
        elif not rows:
            above.append((place, text, is_comment))
        elif not is_comment or understands(_words_of_names(text, split)):
            again = _words_of_names(text, split)
            if names and again != names and understands(again):
                raise RunFileError(f"{name}: line {place} has other names of columns than {names_at}; write one run in a file")
            if again != names:
                remarks.append(f"line {place}: no numbers ({shown(text)})")
    if not rows:
        last = f"; line {above[-1][0]} is {shown(above[-1][1])}" if above else ""
        raise RunFileError(f"{name} has no rows of numbers{last}; write one row a step: t, q (4), omega (3)")
    names = list(given_names) or names
    widths = [len(words) for words in rows]
    width = len(names) or max(set(widths), key=widths.count)
    whole = []
    for words, place in zip(rows, places, strict=True):
        trimmed = words[:-1] if len(words) == width + 1 and not words[-1] else words
        if len(trimmed) == width:
            whole.append((trimmed, place))
        else:
            remarks.append(f"line {place}: {len(words)} values instead of {width}")
    if 2 * len(whole) < len(rows):
        raise RunFileError(
            f"{name}: {names_at or '--columns'} has {width} names, and line {places[0]} has {widths[0]} values; name all"
        )
    columns = [list(column) for column in zip(*(words for words, _ in whole), strict=True)]
    return RunTable(
        name,
        names,
        columns,
        [place for _, place in whole],
        names_at=f"{name}, {names_at}" if names_at else name,
        settings={key: value for key, (value, _) in settings.items()},
        remarks=remarks,
    )


def _settle(name: str, place: int, matches: Iterable[re.Match[str]], settings: dict[str, tuple[str, int]]) -> None:
    """Add what a line says to the settings.

    Raises
    ------
    RunFileError
        If an earlier line says something else.
    """
    for match in matches:
        key = match["name"].lower()
        value = match["value"].strip(" ,;\t\"'{}")
        value = f"{value} {match['unit'] or ''}".strip()
        if key in settings and settings[key][0] != value:
            earlier, line = settings[key]
            raise RunFileError(f"{name}: line {place} says {key}: {value}, and line {line} {key}: {earlier}; delete one")
        settings[key] = (value, place)


def _names(
    name: str, above: Sequence[tuple[int, str, bool]], row: Sequence[str], split: Callable[[str], list[str]]
) -> tuple[list[str], str]:
    """The names of columns in the lines above the first row, and the words for their line; empty if there are none.

    Raises
    ------
    RunFileError
        If there is a line of names that is not understood.
    """
    units: list[str] = []
    for place, text, is_comment in reversed(above):
        words = _words_of_names(text, split)
        if not units and words is not None and len(words) > 1 and all(map(_is_unit, words)):
            units = words
            continue
        if understands(words):
            if len(units) == len(words):
                words = [f"{word} [{unit}]" if unit.strip("-") else word for word, unit in zip(words, units, strict=True)]
            return words, f"line {place}"
        is_line_of_names = len(words) > 1 and (
            len(words) == len(row) and (not is_comment or bool(re.search(r"[,;\t|]", text)) or _has_known(words))
        )
        if is_line_of_names or (not is_comment and len(words) > 2 and re.search(r"[,;\t|]", text)):
            layout(f"{name}, line {place}", words)  # says what is missing
        if not is_comment and not is_line_of_names:
            continue
    return [], ""


def _has_known(words: Sequence[str]) -> bool:
    return words[0].lower() in ("t", "time")


def _is_unit(word: str) -> bool:
    plain = plain_unit(word.strip("[]()"))
    known = (seconds_of(plain), radians_of(plain), rate_of(plain))
    return plain in ("", "-", "1") or any(unit is not None for unit in known)


def _words_of_names(text: str, split: Callable[[str], list[str]]) -> list[str]:
    """The names in a line, which may be separated otherwise than the numbers, each with its unit."""
    if '"' not in text and not re.search(r"[,;\t|]", text):
        return re.sub(r"\s+(?=[\[(])", "", text).split()
    separator = next(mark for mark in (";", ",", "\t", "|", '"') if mark in text)
    if separator in '\t"':
        words = re.split(r"\t+", text) if separator == "\t" else text.split()
    else:
        words = next(csv.reader([text], delimiter=separator, skipinitialspace=True), [])
    words = [word.strip().strip("\"'") for word in words]
    while words and not words[-1]:
        words.pop()
    return words


def _splitter(lines: Sequence[str]) -> Callable[[str], list[str]]:
    """How lines fall into words: the separator, and the decimal mark, that make most numbers of them."""

    def splitter(separator: str | None, mark: str) -> Callable[[str], list[str]]:
        def split(text: str) -> list[str]:
            text = text.strip().strip("()") if separator is None else text.strip(" ")
            if separator is None:
                words = re.sub(r"(\d{4}-\d\d-\d\d) +(?=\d\d:)", r"\1T", re.sub(r"[()\[\]]", " ", text)).split()
            elif '"' in text:
                words = next(csv.reader([text], delimiter=separator, skipinitialspace=True), [])
            else:
                words = text.split(separator) if separator != "\t" else re.split(r"\t+", text)
            words = [word.strip().strip("\"'") for word in words]
            return [re.sub(r"^([+-]?\d*),(\d+)", r"\1.\2", word) for word in words] if mark == "," else words

        return split

    sample = [line.strip() for line in lines if re.search(r"\d", line) and not line.strip().startswith(COMMENTS)]
    sample = [line for line in (sample[:25] + sample[-25:]) if not SETTING.match(line)]
    best, chosen = -math.inf, splitter(",", ".")
    for separator, mark in ((";", "."), (";", ","), (",", "."), ("\t", "."), ("\t", ","), ("|", "."), (None, "."), (None, ",")):
        if separator and not any(separator in line for line in sample):
            continue
        split = splitter(separator, mark)
        score = 0
        for line in sample:
            numbers = [is_value(word) for word in split(line)]
            score += sum(numbers) - 2 * (len(numbers) - sum(numbers))
        if score > best:
            best, chosen = score, split
    return chosen


def _of_dump(name: str, lines: Sequence[str]) -> RunTable:
    """A dump of LAMMPS: the rows of all atoms or bodies, with their steps."""
    names: list[str] = []
    rows: list[list[str]] = []
    places: list[int] = []
    remarks: list[str] = []
    step, time, expects = "", "", ""
    for place, line in enumerate(lines, 1):
        if line.startswith("ITEM:"):
            expects = line.removeprefix("ITEM:").strip()
            if expects.startswith(("ATOMS", "ENTRIES")):
                words = expects.split()[1:]
                if names and words != names:
                    raise RunFileError(
                        f"{name}: line {place} has other names of columns than those above; write one run in a file"
                    )
                names = words
        elif not line.strip():
            continue
        elif expects == "TIMESTEP":
            step = line.strip()
            if not (math.isfinite(number(step)) and number(step).is_integer()):
                raise RunFileError(f"{name}, line {place}: the step must be a whole number, got {shown(step)}")
        elif expects == "TIME":
            time = line.strip()
        elif expects.startswith(("ATOMS", "ENTRIES")):
            words = line.split()
            if len(words) == len(names):
                rows.append([*words, step, time][: len(words) + 1 + bool(time)])
                places.append(place)
            else:
                remarks.append(f"line {place}: {len(words)} values instead of {len(names)}")
    if not rows:
        raise RunFileError(f"{name} has no rows of atoms; dump id, a quaternion (4) and an angular velocity or momentum (3)")
    columns = [list(column) for column in zip(*rows, strict=False)]
    extra = ["step", "t"][: len(columns) - len(names)]
    return RunTable(name, [*names, *extra], columns, places, names_at=name, remarks=remarks)


#: Types of attitudes of CCSDS 504.0-B that have what is needed.
WITH_RATES = ("QUATERNION/ANGVEL", "QUATERNION/RATE")


def _of_attitude_message(name: str, lines: Sequence[str]) -> RunTable:
    """An attitude ephemeris message (AEM) of CCSDS 504.0-B, version 1.0 or 2.0, with KEY = value."""
    try:
        values, rows, comments = message_of(name, lines)
    except ValueError as error:
        raise RunFileError(str(error)) from None
    settings: dict[str, tuple[str, int]] = {}
    for place, text in comments.items():
        _settle(name, place, SETTING.finditer(text), settings)
    kind = values.get("ATTITUDE_TYPE", "").upper()
    if kind not in WITH_RATES:
        raise RunFileError(
            f"{name} has the ATTITUDE_TYPE {kind or '(none)'}; needed are quaternions with angular velocities: "
            "QUATERNION/ANGVEL (version 1.0: QUATERNION/RATE)"
        )
    whole = {place: words for place, words in rows.items() if len(words) == 8}
    if not whole:
        raise RunFileError(f"{name} has no rows of 8 values between DATA_START and DATA_STOP")
    remarks = [f"line {place}: {len(words)} values instead of 8" for place, words in rows.items() if len(words) != 8]
    quaternions = {"LAST": ["qx", "qy", "qz", "qw"], "FIRST": ["qw", "qx", "qy", "qz"]}
    order = quaternions.get(values.get("QUATERNION_TYPE", "").upper(), ["q1", "q2", "q3", "q4"])
    columns = [list(column) for column in zip(*whole.values(), strict=True)]
    said = {key: value for key, (value, _) in settings.items()}
    return RunTable(name, ["utc", *order, "wx", "wy", "wz"], columns, list(whole), "line", name, said, remarks)


def _renamed(table: RunTable, names: Sequence[str]) -> RunTable:
    """The table with names that the user gives."""
    if not names:
        return table
    if len(names) != len(table.columns):
        raise RunFileError(
            f"{table.name} has {len(table.columns)} columns, and --columns names {len(names)}; name all in their order, - for "
            "one that is not to be read"
        )
    return replace(table, names=["" if name == "-" else name for name in names], names_at="--columns")


def _rows(table: RunTable, body: int | None) -> Rows:
    """The rows of a table, with quaternions, in the usual order of components where names say it."""
    where = table.names_at or table.name
    if table.names:
        places = layout(where, table.names)
    else:
        # Columns such as asleep, true or false, are no numbers.
        table = replace(table, columns=[column for column in table.columns if not _is_of_truths(column)])
        width = len(table.columns)
        if width not in (7, 8):
            raise RunFileError(
                f"{table.name}: {width} columns without names; write t, q (4), omega (3), or a first line with names "
                "(t,qw,qx,qy,qz,wx,wy,wz), or name the columns with --columns"
            )
        first = width - 7
        places = ColumnLayout(
            time=[0][:first], orientation=list(range(first, first + 4)), spin=list(range(first + 4, first + 7))
        )
    table = _of_body(table, places.body, body)
    table = _with_numbers(table, [*places.orientation, *places.spin], places.time)
    t, t_unit = _times(table, places)
    form, q, q_unit = _quaternions(table, places)
    spin, spin_unit, spin_single = _matrix(table, places.spin)
    if places.form != "quaternion":
        form = False
    elif not q_unit:
        spin_unit = 0.0  # a momentum that is constant may have few digits, however many are printed
    # A quaternion in single precision limits the rows, whatever the angular velocity is computed or divided in.
    is_single = form and (spin_single or all_single(spin, spin_unit) or len(np.unique(q, axis=0)) > FEW_SINGLE)
    if places.rate is not None and places.rate != 1.0:
        spin, spin_unit = spin * places.rate, spin_unit * places.rate
    steps = None
    if places.step is not None:
        column = table.columns[places.step]
        steps = np.asarray(column, float) if isinstance(column, np.ndarray) else np.array([number(word) for word in column])
    rows = Rows(
        t,
        q,
        spin,
        np.array(table.lines, int),
        q_unit,
        spin_unit,
        t_unit,
        is_single,
        places.scalar if places.form == "quaternion" else "first",
        places.quantity,
        places.frame,
        dict(table.settings),
        steps,
        list(table.remarks),
        table.name,
        table.line_word,
        places.time_unit,
        places.rate_unit,
        places.unread,
    )
    return _of_rows_that_count(rows)


def _is_of_truths(column: Any) -> bool:
    """Whether a column has nothing but true and false."""
    return not isinstance(column, np.ndarray) and {str(word).lower() for word in column} <= {"true", "false"}


def _of_body(table: RunTable, column: int | None, body: int | None) -> RunTable:
    """The rows of one body."""
    if column is None:
        if body is not None:
            raise RunFileError(f"{table.name} has no column with numbers of bodies (id); leave --body {body} out")
        return table
    keys = [str(key) for key in table.columns[column]]
    known = list(dict.fromkeys(keys))
    several = ", ".join(known[:8])
    if body is None and len(known) > 1:
        raise RunFileError(f"{table.name} has several bodies ({several}); choose one with --body, or dump a group of one")
    chosen = [k for k, key in enumerate(keys) if body is None or number(key) == body]
    if not chosen:
        raise RunFileError(f"{table.name} has no body {body}; it has {several}")
    return table.of_rows(chosen)


def _with_numbers(table: RunTable, columns: Sequence[int], times: Sequence[int]) -> RunTable:
    """The table without rows that have words where numbers should be, or no time; each is named."""
    bad: dict[int, str] = {}
    for column in columns:
        words = table.columns[column]
        if isinstance(words, np.ndarray):
            numeric(f"{table.name}: {table.names[column] if table.names else 'the array'}", words)
            continue
        bad |= {k: f"{shown(word)} is no number" for k, word in enumerate(words) if not is_number(word)}
    for column in times:
        words = table.columns[column]
        if isinstance(words, np.ndarray):
            values = _array_of_times(f"{table.name}: {table.names[column] if table.names else 't'}", words)
            table.columns[column] = words = values
        if isinstance(words, np.ndarray):
            bad |= {int(k): "the time is no finite number" for k in np.flatnonzero(~np.isfinite(words))}
        else:
            bad |= {k: f"{shown(word)} is no time" for k, word in enumerate(words) if not is_value(word)}
            bad |= {k: "the time is no finite number" for k, word in enumerate(words) if k not in bad and not _is_finite(word)}
    if len(bad) == len(table.lines) and bad:
        place = min(bad)
        raise RunFileError(f"{table.name} has no row of numbers; {table.line_word} {table.lines[place]}: {bad[place]}")
    remarks = [f"{table.line_word} {table.lines[k]}: {bad[k]}" for k in sorted(bad)]
    if not bad:
        return table
    return replace(table.of_rows(k for k in range(len(table.lines)) if k not in bad), remarks=[*table.remarks, *remarks])


def _is_finite(word: str) -> bool:
    return math.isfinite(number(word)) if is_number(word) else True


def _times(table: RunTable, places: ColumnLayout) -> tuple[np.ndarray | None, float]:
    if not places.time:
        return None, 0.0
    columns = [table.columns[place] for place in places.time]
    if len(columns) == 2:
        whole, rest = ([str(int(x)) if isinstance(x, np.number) else x for x in column] for column in columns)
        return times_of(
            [f"{word.split('.')[0]}.{nano.split('.')[0].zfill(9)}" for word, nano in zip(whole, rest, strict=True)], None
        )
    column = columns[0]
    if isinstance(column, np.ndarray):
        t = np.array(column, float)
        is_far = len(t) > 1 and abs(t[0]) > abs(t[-1] - t[0])
        unit = 2.0**-52 * abs(float(t[0])) if is_far else 0.0
        whole_numbers = column.dtype.kind in "iu"
        if is_far:
            t = np.array(column - column[0], float)
        factor = float(places.seconds or 1)
        return t * factor, (0.0 if whole_numbers else unit) * factor
    t, unit = times_of(column, places.seconds)
    if any(":" in word for word in column):
        places.time_unit = "s"
    return t, unit


def _matrix(table: RunTable, columns: Sequence[int]) -> tuple[np.ndarray, float, bool]:
    """Columns as an array (n, k), the unit of the last place, and whether they are of single precision by their type."""
    chosen = [table.columns[k] for k in columns]
    if all(isinstance(column, np.ndarray) for column in chosen):
        single = all(column.dtype == np.float32 for column in chosen)
        values = (
            np.column_stack([np.asarray(column, float) for column in chosen]) if len(chosen[0]) else np.empty((0, len(chosen)))
        )
        with np.errstate(invalid="ignore"):
            values = np.where(np.abs(values) <= 1e100, values, math.nan)
        half = any(column.dtype == np.float16 for column in chosen)  # as few digits as some that are printed
        return values, float(np.finfo(np.float16).eps) * float(np.nan_to_num(np.abs(values)).max(initial=0.0)) * half, single
    values = np.array([[number(word) for word in column] for column in chosen]).T
    return values, unit_of(word for column in chosen for word in column), False


def _quaternions(table: RunTable, places: ColumnLayout) -> tuple[bool, np.ndarray, float]:
    """Whether quaternions are of single precision, the quaternions (n, 4), and the unit of their last place."""
    values, unit, single = _matrix(table, places.orientation)
    if places.form == "quaternion":
        return single or all_single(values, unit), values, unit
    fine = np.isfinite(values).all(1)
    q = np.full((len(values), 4), math.nan)
    rough = max(unit, 2.0**-52)
    if places.form == "Euler angles":
        factor = places.angle or _angle_unit(table, places, values[fine])
        roll_pitch_yaw = values[fine] * factor
        q[fine] = Rotation.from_euler("ZYX", roll_pitch_yaw[:, ::-1]).as_quat()
        with np.errstate(all="ignore"):
            steepest = float(np.abs(np.cos(roll_pitch_yaw[:, 1])).min(initial=1.0))
        rough = max(unit * factor, 2.0**-52 * math.pi) / max(steepest, 1e-8)
    elif places.form == "MRP":
        q[fine] = Rotation.from_mrp(values[fine]).as_quat()
    else:
        q[fine] = Rotation.from_rotvec(values[fine]).as_quat()
    q = np.roll(q, 1, axis=1)
    signs = np.ones(int(fine.sum()))
    signs[1:] = np.where((q[fine][1:] * q[fine][:-1]).sum(1) < 0, -1.0, 1.0)
    q[fine] *= np.cumprod(signs)[:, None]
    return False, q, rough


def _angle_unit(table: RunTable, places: ColumnLayout, values: np.ndarray) -> float:
    """Degrees, if angles of a pitch are larger than a right angle in rad.

    Raises
    ------
    RunFileError
        If they may be of either unit.
    """
    if np.abs(values[:, 1]).max(initial=0.0) > 1.01 * math.pi / 2:
        return math.pi / 180
    names = ", ".join(table.names[k] for k in places.orientation)
    raise RunFileError(
        f"{table.names_at or table.name}: {names} may be degrees or radians; write the unit into the names, as roll_deg or "
        "roll_rad"
    )


def _of_rows_that_count(rows: Rows) -> Rows:
    """The rows whose quaternions have a length."""
    with np.errstate(all="ignore"):
        length = np.linalg.norm(rows.q, axis=1)
    zero = length == 0
    if zero.any() and not zero.all():
        rows.remarks += [f"{rows.line_word} {rows.lines[k]}: a quaternion of zeros" for k in np.flatnonzero(zero)]
        rows = replace(
            rows,
            t=None if rows.t is None else rows.t[~zero],
            q=rows.q[~zero],
            spin=rows.spin[~zero],
            lines=rows.lines[~zero],
            steps=None if rows.steps is None else rows.steps[~zero],
        )
    return rows
