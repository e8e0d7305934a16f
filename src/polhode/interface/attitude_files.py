r"""Files of attitudes: the Attitude Ephemeris Message of the CCSDS (504.0-B, quaternions as text, KVN), and tables.

In memory a quaternion is scalar first and takes the body to the lab, v_lab = q v_body q\*, as everywhere in polhode. Files
differ in both, and a wrong convention gives an attitude that looks right:

* *scalar first or last*: (q0, qx, qy, qz) or (qx, qy, qz, q0);
* *direction*: ``body_to_lab``, or ``lab_to_body``, the conjugate. Of a CCSDS message whose frame A is the reference and whose
  frame B is the body, A2B is the rotation by which the reference becomes the body (Q1 to Q3 along its axis), which as a
  quaternion is ``body_to_lab`` here; B2A, or the frames the other way round, is its conjugate. Of a version 2 without these
  keys A2B and scalar last are assumed.

A message may have several segments, of one object and in one convention (:data:`FOR_ALL`), each later than the one before; its
time is counted from its first row. The frame of reference is the lab, which is inertial: frames that turn (:data:`TURNING`) are
refused, and any other name is taken as it is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from polhode.algebra.quaternion import conjugate
from polhode.interface.arguments import array, shown, unit_quaternions

#: The conventions of a table.
ORDERS, DIRECTIONS = ("scalar_first", "scalar_last"), ("body_to_lab", "lab_to_body")
#: What version 2 of a message assumes where it lacks these keys.
USUAL = {"QUATERNION_TYPE": "LAST", "ATTITUDE_DIR": "A2B"}
#: How frames of a body begin in a message.
BODY = ("SC_BODY", "SC_", "BODY")
#: Frames that turn with the orbit or with the Earth: an attitude relative to one of these is none relative to the lab.
TURNING = ("LVLH", "VVLH", "RTN", "RSW", "QSW", "NSW", "TNW", "NTW", "VNC", "RIC", "SEZ", "ITRF", "GRC", "TDR", "ECEF", "WGS")
#: Keys that have one value in all segments of a message.
FOR_ALL = ("OBJECT_NAME", "OBJECT_ID", "REF_FRAME_A", "REF_FRAME_B", "ATTITUDE_DIR", "ATTITUDE_TYPE", "QUATERNION_TYPE")
#: The largest departure of a quaternion's length from 1 that counts as rounding of a file.
ROUNDING = 1e-4


@dataclass(frozen=True)
class Attitude:
    """Orientations at times.

    Parameters
    ----------
    times : array (n,)
        s, ascending.
    q : array (n, 4)
        Unit quaternions, scalar first, body to lab.
    epoch : str
        What t = 0 is, as a date and time of ISO 8601.
    name, frame, body_frame : str
        The object, the frame of reference and the body frame, as a message names them.
    """

    times: np.ndarray = field(repr=False)
    q: np.ndarray = field(repr=False)
    epoch: str = "2000-01-01T12:00:00"
    name: str = "SATELLITE"
    frame: str = "EME2000"
    body_frame: str = "SC_BODY_1"

    def __post_init__(self) -> None:
        times = array("times", self.times)
        if not (np.diff(times) > 0).all():
            raise ValueError("times must ascend")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "q", unit_quaternions("q", self.q))
        if len(self.q) != len(times):
            raise ValueError(f"q has {len(self.q)} rows for {len(times)} times")


def message_of(name: str, lines: Iterable[str]) -> tuple[dict[str, str], dict[int, list[str]], dict[int, str]]:
    """The values of a message's keys, in capitals, and by the numbers of their lines the words of its rows, and its comments.

    Of all segments, whatever the kind of attitudes; with what version 2 assumes (:data:`USUAL`).

    Raises
    ------
    ValueError
        That names the file, the line and what is wrong.
    """
    values: dict[str, str] = {}
    rows, comments, inside = dict[int, list[str]](), dict[int, str](), False
    for i, line in enumerate(lines, 1):
        text = line.strip()
        key, sign, value = (word.strip() for word in text.partition("="))
        key = key.upper()
        if key.startswith("COMMENT"):
            comments[i] = text[len("COMMENT") :].strip()
        elif key in ("DATA_START", "DATA_STOP"):
            inside = key == "DATA_START"
        elif inside and text:
            rows[i] = text.split()
        elif sign:
            if key in FOR_ALL and values.get(key, value) != value:
                raise ValueError(f"{name}, line {i}: {key} is {value} and was {values[key]}; write it into another file")
            values[key] = value
        elif key not in ("", "META_START", "META_STOP"):
            raise ValueError(f"{name}, line {i}: {shown(text)} is no line of an attitude ephemeris message")
    return (USUAL if values.get("CCSDS_AEM_VERS", "").startswith("2") else {}) | values, rows, comments


def read_aem(path: str | Path) -> Attitude:
    """The attitudes of a CCSDS message.

    Raises
    ------
    ValueError
        If it is no such message of quaternions, their lengths differ from 1 by more than :data:`ROUNDING`, the frame of
        reference turns, or times do not ascend; the message says what is wrong, and in which line where it is one line.
    OSError
        If the file cannot be read.
    """
    values, rows, _ = message_of(str(path), Path(path).read_text(encoding="utf-8").splitlines())
    if "CCSDS_AEM_VERS" not in values or not rows:
        raise ValueError(f"{path}: CCSDS_AEM_VERS or the lines after DATA_START are missing: no attitude ephemeris message")
    if values.get("ATTITUDE_TYPE") != "QUATERNION":
        raise ValueError(f"{path}: ATTITUDE_TYPE must be QUATERNION, got {values.get('ATTITUDE_TYPE')}")
    for key, allowed in (("QUATERNION_TYPE", ("FIRST", "LAST")), ("ATTITUDE_DIR", ("A2B", "B2A"))):
        if key not in values:
            raise ValueError(f"{path}: {key} is missing, which version 1 needs: {' or '.join(allowed)}")
        if values[key] not in allowed:
            raise ValueError(f"{path}: {key} must be {' or '.join(allowed)}, got {values[key]}")
    frames = values.get("REF_FRAME_A", ""), values.get("REF_FRAME_B", "")
    of_body = [name.startswith(BODY) for name in frames]
    if sum(of_body) != 1:
        raise ValueError(f"{path}: one of REF_FRAME_A and REF_FRAME_B must be the body frame (SC_BODY_1), got {frames}")
    reference = frames[of_body[0]]
    name, _, kind = reference.upper().partition("_")
    if name.rstrip("0123456789") in TURNING and kind != "INERTIAL":
        raise ValueError(
            f"{path}: REF_FRAME_{'AB'[of_body[0]]} = {reference} turns with the orbit or the Earth; polhode needs an attitude "
            "relative to an inertial frame, such as EME2000: convert it"
        )
    order = "scalar_first" if values["QUATERNION_TYPE"] == "FIRST" else "scalar_last"
    to_body = (values["ATTITUDE_DIR"] == "A2B") == of_body[1]
    (epoch, *_), *_ = rows.values()
    times, numbers = list[float](), list[list[float]]()
    for i, (time, *words) in rows.items():
        where = f"{path}, line {i}"
        times.append(_seconds(where, time, epoch))
        numbers.append(_floats(where, words, 4))
        if times[:-1] and times[-1] <= times[-2]:
            raise ValueError(f"{where}: {time} is not later than the row before; write each segment into another file")
    q = _scalar_first(np.array(numbers), order, "body_to_lab" if to_body else "lab_to_body", path)
    return Attitude(np.array(times), q, epoch, values.get("OBJECT_NAME", ""), reference, frames[not of_body[0]])


def write_aem(path: str | Path, attitude: Attitude, created: str | None = None) -> None:
    """Write a CCSDS message of version 1, whose keys name the convention: scalar last, from the reference (A) to the body (B).

    Times are rounded to nanoseconds.

    Parameters
    ----------
    created : date and time of the file; by default the epoch, so that equal attitudes make equal files

    Raises
    ------
    ValueError
        If the epoch is no date and time of ISO 8601.
    """
    stamps = [_stamp(attitude.epoch, t) for t in attitude.times]
    head = {
        "CCSDS_AEM_VERS": "1.0",
        "CREATION_DATE": created or attitude.epoch,
        "ORIGINATOR": "POLHODE",
        "META_START": "",
        "OBJECT_NAME": attitude.name,
        "OBJECT_ID": attitude.name,
        "REF_FRAME_A": attitude.frame,
        "REF_FRAME_B": attitude.body_frame,
        "ATTITUDE_DIR": "A2B",
        "TIME_SYSTEM": "UTC",
        "START_TIME": stamps[0],
        "STOP_TIME": stamps[-1],
        "ATTITUDE_TYPE": "QUATERNION",
        "QUATERNION_TYPE": "LAST",
        "META_STOP": "",
    }
    lines = [f"{key} = {value}" if value else key for key, value in head.items()]
    data = [f"{t} {x!r} {y!r} {z!r} {w!r}" for t, (w, x, y, z) in zip(stamps, attitude.q.tolist(), strict=True)]
    Path(path).write_text("\n".join([*lines, "DATA_START", *data, "DATA_STOP", ""]), encoding="utf-8")


def read_table(path: str | Path, order: str, direction: str) -> Attitude:
    """The attitudes of a table: a time in s and four numbers in each line, with commas or spaces; ``#`` begins a remark.

    A first line that begins with a letter is a line of heads, and is left out.

    Parameters
    ----------
    order, direction : one of :data:`ORDERS` and one of :data:`DIRECTIONS`; a table does not say them

    Raises
    ------
    ValueError
        If a line has other numbers, times do not ascend, lengths of quaternions differ from 1 by more than :data:`ROUNDING`, or
        a word is not one of these; the message says what is wrong, and in which line where it is one line.
    OSError
        If the file cannot be read.
    """
    rows = []
    for i, text in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        words = text.partition("#")[0].replace(",", " ").split()
        if words and not (i == 1 and words[0][0].isalpha()):
            rows.append(_floats(f"{path}, line {i}", words, 5))
            if rows[1:] and not rows[-1][0] > rows[-2][0]:
                raise ValueError(f"{path}, line {i}: the time {rows[-1][0]:g} s is not later than {rows[-2][0]:g} s before it")
    if not rows:
        raise ValueError(f"{path}: there is no line with a time and four numbers")
    numbers = np.array(rows)
    return Attitude(numbers[:, 0], _scalar_first(numbers[:, 1:], order, direction, path))


def write_table(path: str | Path, attitude: Attitude, order: str, direction: str) -> None:
    """Write a table with commas, a time (s) and four numbers in each line; the first line names the convention.

    ``order`` is one of :data:`ORDERS`, ``direction`` one of :data:`DIRECTIONS`; for another word it raises ValueError.
    """
    q = _turned(attitude.q, direction)
    names = ["q0", "qx", "qy", "qz"]
    columns = [0, 1, 2, 3] if _checked(order, ORDERS, "order") == "scalar_first" else [1, 2, 3, 0]
    lines = [f"# t in s, {', '.join(names[k] for k in columns)}; {order}, {direction}"]
    lines += [", ".join(map(repr, (t, *(row[k] for k in columns)))) for t, row in zip(attitude.times.tolist(), q, strict=True)]
    Path(path).write_text("\n".join([*lines, ""]), encoding="utf-8")


def _checked(word: str, known: Sequence[str], name: str) -> str:
    if word not in known:
        raise ValueError(f"{name} must be {' or '.join(known)}, got {shown(word)}")
    return word


def _turned(q: np.ndarray, direction: str) -> list[tuple[float, ...]]:
    """Rows of q, or of its conjugates."""
    rows = [tuple(row) for row in q.tolist()]
    return rows if _checked(direction, DIRECTIONS, "direction") == "body_to_lab" else [conjugate(row) for row in rows]  # type: ignore[arg-type]


def _scalar_first(numbers: np.ndarray, order: str, direction: str, path: str | Path) -> np.ndarray:
    """Unit quaternions of the convention in memory, (n, 4)."""
    q = numbers if _checked(order, ORDERS, "order") == "scalar_first" else numbers[:, [3, 0, 1, 2]]
    size = np.linalg.norm(q, axis=1)
    if (abs(size - 1) > ROUNDING).any():
        row = int(np.argmax(abs(size - 1)))
        raise ValueError(f"{path}: quaternion {row + 1} has the length {size[row]:.6g}, not 1")
    return np.array(_turned(q / size[:, None], direction))


def _floats(where: str, words: Iterable[str], count: int) -> list[float]:
    try:
        numbers = [float(word) for word in words]
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    if len(numbers) != count or not np.isfinite(numbers).all():
        raise ValueError(f"{where}: {count} finite numbers are expected, got {len(numbers)}")
    return numbers


def _parsed(where: str, stamp: str) -> tuple[datetime, float]:
    """A date of ISO 8601, or with the day of the year, to whole seconds, and the rest in s."""
    whole, _, rest = stamp.rstrip("Z").partition(".")
    for form in ("%Y-%m-%dT%H:%M:%S", "%Y-%jT%H:%M:%S"):
        try:
            return datetime.strptime(whole, form), float(f"0.{rest or 0}")
        except ValueError:
            continue
    raise ValueError(f"{where}: {shown(stamp)} is no time such as 2026-11-29T03:25:00.5")


def _seconds(where: str, stamp: str, epoch: str) -> float:
    (day, rest), (first, offset) = _parsed(where, stamp), _parsed(where, epoch)
    return (day - first).total_seconds() + (rest - offset)


def _stamp(epoch: str, t: float) -> str:
    """The time t (s) after the epoch, to nanoseconds."""
    day, rest = _parsed("epoch", epoch)
    nanoseconds = round((t + rest) * 1e9)
    whole, left = divmod(nanoseconds, 10**9)
    return f"{(day + timedelta(seconds=whole)).strftime('%Y-%m-%dT%H:%M:%S')}.{left:09d}"
