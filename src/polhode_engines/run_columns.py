"""Names of columns in files of runs: those of one's own, of LAMMPS, YADE, ROS 1 and 2, PX4, ArduPilot, Basilisk and 42.

A name is a path (``field.orientation``), a quantity (``q``, ``omega``), a frame, a component (``x``, ``[0]``) and a unit
(``wx [deg/s]``, ``time_us``), most of which may be missing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from polhode.interface.arguments import shown
from polhode_engines.run_numbers import plain_unit, radians_of, rate_of, seconds_of


class RunFileError(ValueError):
    """A file that holds no run; the message names file and line, and says what to write."""


#: What quantities are called, without underscores.
TIMES = {
    *("t", "time", "times", "timestamp", "timestamps", "stamp", "utc", "datetime", "clock", "epoch", "elapsed", "elapsedtime"),
    *("simtime", "simulationtime", "timeboot", "timesinceboot", "met"),
}
QUANTITIES = {
    name: kind
    for kind, names in {
        "quaternion": "q quat quaternion quaternions ori orientation orient att attitude rot rotation e ep eulerparameter "
        "eulerparameters beta qbn qnb qn qb qib qbi",
        "angular velocity": "omega om w angvel angularvelocity angular angularrate angrate spin gyro gyr gyroscope gyrorad "
        "rate rates bodyrate bodyrates wbn wb wn rotationrate",
        "angular momentum": "l angmom am angularmomentum momentum h hvn",
        "MRP": "sigma mrp mrps",
        "rotation vector": "rotvec rotationvector",
        "vector": "xyz",
        "angle": "g",
    }.items()
    for name in names.split()
}
#: Names without a component: quantity, group, component, frame.
WHOLE = {
    **{
        f"{name}{end}": ("angular velocity", end, place, "body")
        for name, place in zip(("roll", "pitch", "yaw"), "xyz", strict=True)
        for end in ("speed", "rate")
    },
    **{name: ("angular velocity", "p", place, "body") for name, place in zip("pqr", "xyz", strict=True)},
    **{name: ("Euler angles", "roll", name, "") for name in ("roll", "pitch", "yaw")},
    "heading": ("Euler angles", "roll", "yaw", ""),
}
#: Names of times that are units.
UNIT_TIMES = {
    *(
        "sec",
        "secs",
        "second",
        "seconds",
        "msec",
        "milliseconds",
        "usec",
        "microseconds",
        "nsec",
        "nsecs",
        "nanosec",
        "nanosecs",
    ),
    *("nanoseconds", "hours", "days", "ms", "us", "ns"),
}
STEPS = {"step", "timestep", "iter", "iteration", "n", "nstep"}
BODIES = {"id", "body", "bodyid", "particle", "particleid", "atom", "atomid", "clumpid"}
#: Ends of names that say the frame.
FRAMES = {
    **dict.fromkeys(("body", "b", "bn_b", "bi_b", "ib_b"), "body"),
    **dict.fromkeys(("lab", "world", "space", "inertial", "global", "eci", "bn_n", "bi_i"), "lab"),
    **dict.fromkeys(("bn", "nb", "ib", "bi", "wb", "bw", "i2b", "b2i", "est", "true"), ""),
}
SCALARS = ("w", "s", "r", "real", "scalar")
#: Words behind a name, as in ``Q(1)_{ECI}`` of JSBSim, that say with respect to which axes a body turns; here those at rest.
AT_REST = ("eci", "inertial")
#: Words that stand for a sequence of angles that a name does not tell.
ANGLES = set(["phi", "theta", "psi", "euler", "eulerangles"])
NEEDED = (
    "needed are four of a quaternion (qw, qx, qy, qz) and three of an angular velocity (wx, wy, wz) or momentum (Lx, Ly, Lz)"
)
REMEDY = "rename the columns, or name all in their order: --columns t,qw,qx,qy,qz,wx,wy,wz"


@dataclass(frozen=True)
class ColumnName:
    """What a name says of a column; a field is empty if the name does not say it.

    Parameters
    ----------
    kind : "time", "step", "body", or what :data:`QUANTITIES` and :data:`WHOLE` call it
    group : what the names of the components of one vector have in common
    place : the component, such as "x" or "0"
    unit : as the name writes it
    frame : "body" or "lab"
    """

    kind: str
    group: str
    place: str = ""
    unit: str = ""
    frame: str = ""


@dataclass
class ColumnLayout:
    """Where the quantities of a run are in a table.

    Parameters
    ----------
    time : no, one, or two columns (s and ns)
    seconds, time_unit : the unit of time in s, and in words; None and empty if names do not say it
    orientation, form : columns, and "quaternion", "MRP", "rotation vector" or "Euler angles" (roll, pitch, yaw)
    angle : the unit of Euler angles in rad; None if names do not say it
    scalar : "first" if the columns of the quaternion are known to be scalar first
    spin, quantity, frame : columns of the angular velocity or momentum, which of both, and its frame; empty if not known
    rate, rate_unit : the unit of the angular velocity in rad/s, and in words; None and empty if names do not say it
    step, body : columns of the numbers of steps and bodies
    unread : names of all others
    """

    time: list[int] = field(default_factory=list)
    seconds: Decimal | None = None
    time_unit: str = ""
    orientation: list[int] = field(default_factory=list)
    form: str = "quaternion"
    angle: float | None = None
    scalar: str = ""
    spin: list[int] = field(default_factory=list)
    quantity: str = ""
    frame: str = ""
    rate: float | None = None
    rate_unit: str = ""
    step: int | None = None
    body: int | None = None
    unread: list[str] = field(default_factory=list)


def column_of(name: str) -> ColumnName | None:
    """What the name of a column says; None if it is not understood."""
    text = re.sub(r"[$\\]", "", name).strip(" \t\"'%#_").lower()
    unit = frame = axes = ""
    for inner in re.findall(r"\{([^{}]*)\}", text):
        is_place = bool(re.fullmatch(r"\d{1,2}|[wxyzsijk]", inner))
        text = re.sub(rf"_?\{{{re.escape(inner)}\}}", f"_{inner}" if is_place else "", text, count=1)
        axes = axes if is_place else f"{{{inner}}}"
    for inner in re.findall(r"[\[(]([^\[\]()]*)[\])]", text):
        is_apart = inner == "s" and not re.search(r"\w[\[(]s[\])]", text)  # t (s), but q[s]
        if re.fullmatch(r"\d{1,2}|[wxyzsijkr]", inner) and not is_apart:
            text = re.sub(rf"[\[(]{inner}[\])]", f"_{inner}", text, count=1)
            continue
        text = text.replace(f"[{inner}]", "").replace(f"({inner})", "")
        frame, unit = (FRAMES[inner], unit) if inner in FRAMES else (frame, inner.strip())
    text = re.sub(r"[/:.]+", ".", re.sub(r"[\s\-_]+", "_", text.strip())).strip("._")
    column = _matched(text, unit)
    if column is None and not unit:
        # A unit at the end of a name: wx_deg_s, time_us, TimeUS.
        for end in re.finditer(r"_?(?=[a-z])", text):
            unit = text[end.end() :]
            base = text[: end.start()]
            is_apart = end.group() == "_"
            known = (seconds_of(unit) is not None, rate_of(unit) is not None or radians_of(unit) is not None)
            if base and ((is_apart and any(known)) or (known[0] and len(unit) > 1)):
                column = _matched(base, unit)
                if column is not None and (column.kind == "time") == (known[0] and not known[1]):
                    break
                column = None
    if column is None:
        return None
    return ColumnName(column.kind, column.group + axes, column.place, column.unit, frame or column.frame)


def _matched(text: str, unit: str) -> ColumnName | None:
    """What a name in small letters without a unit says."""
    *path, last = text.split(".")
    last = last.lstrip("_") or last  # as JavaScript names what is private
    plain, above = last.replace("_", ""), ".".join(path)
    if plain in TIMES or (plain == "date" and not unit):
        nanoseconds = "ns" if plain == "stamp" and path[-1:] == ["header"] else ""
        return ColumnName("time", above, unit=unit or nanoseconds)
    if plain in ("mjd", "jd", "juliandate"):
        return ColumnName("time", above, unit=unit or "d")
    if plain in UNIT_TIMES and not unit:
        return ColumnName("time", f"{above}.stamp", unit=plain)
    if plain in STEPS or plain in BODIES:
        return ColumnName("step" if plain in STEPS else "body", above)
    if plain in WHOLE:
        kind, group, place, frame = WHOLE[plain]
        return ColumnName(kind, f"{above}.{group}", place, unit, frame)
    place_alone = re.fullmatch(r"[wxyzsijkr]|\d{1,2}|real|scalar", last)
    if place_alone and path:
        stem, place, above = path[-1], last, ".".join(path[:-1])
    elif match := re.fullmatch(r"(.+?)_?([wxyzsijkr]|(?<!\d)\d{1,2}|(?<=_)real|(?<=_)scalar)", last):
        stem, place = match[1], match[2]
    else:
        return None
    stem = re.sub(r"^[cvf]_", "", stem)
    frame = ""
    kind = QUANTITIES.get(stem.replace("_", ""), "")
    if not kind:
        for end, of_end in FRAMES.items():
            base = stem.removesuffix(end)
            if base != stem and (base.endswith("_") or len(end) > 2) and (kind := QUANTITIES.get(base.replace("_", ""), "")):
                frame = of_end
                break
    if kind == "angle":  # gx may be gravity
        kind = "angular velocity" if unit and rate_of(unit) is not None else ""
    place = str(int(place)) if place.isdigit() else place
    fits = "0123wxyzsijkr4" if kind == "quaternion" else "0123xyz"
    if not kind or (place not in fits and not (kind == "quaternion" and place in SCALARS)):
        return None
    return ColumnName(kind, f"{above}.{stem}", place, unit, frame)


def layout(where: str, names: Sequence[str]) -> ColumnLayout:
    """Where the quantities are among columns with these names; ``where`` names file and line in messages.

    Raises
    ------
    RunFileError
        If they are not there, stand there twice, or have an unknown unit; naming the columns.
    """
    columns = [column_of(name) for name in names]
    groups: dict[tuple[str, str, str], dict[str, int]] = {}
    for k, column in enumerate(columns):
        if column is None or not column.place:
            continue
        places = groups.setdefault((column.kind, column.group, column.frame), {})
        if column.place in places:
            raise RunFileError(
                f"{where}: columns {places[column.place] + 1} and {k + 1} are both {shown(names[k])}; rename or delete one"
            )
        places[column.place] = k
    made = ColumnLayout()
    header = Header(where, names, columns, groups)
    _orientation(header, made)
    _spin(header, made)
    _time(header, made)
    for kind in ("step", "body"):
        setattr(made, kind, next((k for k, column in enumerate(columns) if column and column.kind == kind), None))
    used = {*made.time, *made.orientation, *made.spin, made.step, made.body}
    made.unread = [name for k, name in enumerate(names) if k not in used and name]
    return made


def understands(names: Sequence[str]) -> bool:
    """Whether at least three of these words are names of components, so that they may be the head of a table."""
    return sum(bool(column and column.place) for column in map(column_of, names)) > 2


@dataclass(frozen=True)
class Header:
    """The names of the columns of a run, and what each of them says.

    Parameters
    ----------
    where : the file and its line, as messages name it
    names, columns : each name, and what it says; None for one that is not understood
    groups : kind, group and frame -> the columns of its components, by their places
    """

    where: str
    names: Sequence[str]
    columns: Sequence[ColumnName | None]
    groups: Mapping[tuple[str, str, str], dict[str, int]]

    def unit(self, order: Sequence[int]) -> str:
        """The unit of the components of a vector, as the first name writes it, empty if it does not; ``order``: their columns.

        Raises
        ------
        RunFileError
            If they have different units.
        """
        units = [column.unit for k in order if (column := self.columns[k])]
        if len({plain_unit(unit) for unit in units}) > 1:
            raise RunFileError(
                f"{self.where}: {', '.join(self.names[k] for k in order)} have different units; write all in one"
            )
        return units[0]

    def not_understood(self, what: str, kind: str) -> RunFileError:
        """An error, to be raised, of columns that hold no ``what``, such as the orientation.

        It names the components of this kind (as of :class:`ColumnName`) that there are, and says what to write.
        """
        some = [self.names[k] for key, places in self.groups.items() if key[0].startswith(kind) for k in places.values()]
        unread = [name for name, column in zip(self.names, self.columns, strict=True) if column is None and name]
        if some:
            rest = f" (not understood: {', '.join(shown(name) for name in unread[:8])})" if unread else ""
            return RunFileError(f"{self.where}: of the {what} there is only {', '.join(some[:8])}{rest}; {NEEDED}; {REMEDY}")
        bare = {re.sub(r"[^a-z]", "", re.sub(r"[\[(].*|_?(?:deg|rad)$", "", name.lower())) for name in unread}
        hint = ""
        if what == "orientation" and bare & ANGLES:
            hint = " (phi, theta, psi and the like may be angles of any sequence: write quaternions, or roll, pitch, yaw)"
        texts = ", ".join(shown(name).strip("'\"") for name in (unread or self.names)[:16])
        more = f" and {len(unread or self.names) - 16} more" if len(unread or self.names) > 16 else ""
        return RunFileError(f"{self.where}: the columns {texts}{more} are not understood as {what}{hint}; {NEEDED}; {REMEDY}")


def _orientation(header: Header, made: ColumnLayout) -> None:
    where, names, groups = header.where, header.names, header.groups
    quaternions = {key: order for key, places in groups.items() if key[0] == "quaternion" and (order := _quaternion(places))}
    at_rest = [key for key in quaternions if key[1].endswith(tuple(f"{{{word}}}" for word in AT_REST))]
    complete = [(key[0], *quaternions[key]) for key in (at_rest if len(at_rest) == 1 else quaternions)]
    if not complete:
        others = ("MRP", "rotation vector", "Euler angles")
        complete = [
            (key[0], vector, "first") for key, places in groups.items() if key[0] in others and (vector := _vector(places))
        ]
    if len(complete) > 1:
        several = "; ".join(", ".join(names[k] for k in order) for _, order, _ in complete[:4])
        raise RunFileError(
            f"{where} has several orientations ({several}); delete all but one, or name the columns with --columns"
        )
    if not complete:
        raise header.not_understood("orientation", "quaternion")
    made.form, made.orientation, made.scalar = complete[0]
    if made.form == "Euler angles":
        unit = header.unit(made.orientation)
        made.angle = radians_of(unit) if unit else None
        if unit and made.angle is None:
            raise RunFileError(
                f"{where}: the unit {shown(unit)} of {names[made.orientation[0]]} is not known; write deg or rad"
            )


def _spin(header: Header, made: ColumnLayout) -> None:
    where, names, columns, groups = header.where, header.names, header.columns, header.groups
    for kind in ("angular velocity", "angular momentum", "vector"):
        complete = {key: order for key, places in groups.items() if key[0] == kind and (order := _vector(places))}
        if kind == "angular velocity" and len(complete) > 1:
            complete = {key: order for key, order in complete.items() if key[1] != ".p"} or complete
        named = {key: order for key, order in complete.items() if kind == "vector" and re.search("angular|gyro", key[1])}
        complete = named or complete
        frames = {key: order for key, order in complete.items() if key[2] == "body"}
        if len({key[1] for key in complete}) > 1 and len(frames) == 1 and len(complete) == 2:
            complete = frames
        path = _path(columns[made.orientation[0]])
        beside = {key: order for key, order in complete.items() if key[1].rpartition(".")[0] == path}
        complete = beside if len(beside) == 1 else complete
        if len({key[1] for key in complete}) > 1:
            several = "; ".join(", ".join(names[k] for k in order) for order in list(complete.values())[:4])
            raise RunFileError(
                f"{where} has several vectors ({several}) that may be the {kind}; delete all but one, or name the columns "
                "with --columns"
            )
        if complete:
            key = next((key for key in complete if key[2] != "lab"), next(iter(complete)))
            made.spin, made.frame = complete[key], key[2]
            made.quantity = "angular momentum" if kind == "angular momentum" else "angular velocity"
            unit = header.unit(made.spin)
            if unit and kind != "angular momentum":
                made.rate, made.rate_unit = rate_of(unit), plain_unit(unit)
                if made.rate is None:
                    raise RunFileError(
                        f"{where}: the unit {shown(unit)} of {names[made.spin[0]]} is not known; write rad/s, deg/s or no unit"
                    )
            elif columns[made.spin[0]].group.endswith(("gyro_rad", "gyrorad")):  # type: ignore[union-attr]
                made.rate, made.rate_unit = 1.0, "rad/s"
            return
    raise header.not_understood("angular velocity", "angular")


def _time(header: Header, made: ColumnLayout) -> None:
    names, columns = header.names, header.columns
    known = [(k, column) for k, column in enumerate(columns) if column and column.kind == "time"]
    whole = [(k, c) for k, c in known if c.unit in ("sec", "secs", "seconds", "s") and c.group.endswith(".stamp")]
    for k, column in whole:
        rest = [j for j, other in known if other.group == column.group and other.unit.startswith(("nano", "ns"))]
        if len(rest) == 1:
            made.time, made.seconds, made.time_unit = [k, rest[0]], Decimal(1), "s"
            return
    # The stamp of the measurement before the time at which a logger received it.
    ordered = sorted(known, key=lambda pair: "header" not in pair[1].group)
    for k, column in ordered[:1]:
        unit = column.unit
        if not unit and names[k].lstrip("\"' ").startswith("__time"):
            unit = "s"
        if not unit and any(name.startswith("field.") for name in names):
            unit = "ns"  # rostopic echo -p
        made.time, made.seconds, made.time_unit = [k], seconds_of(unit), plain_unit(unit)
        if unit and made.seconds is None:
            raise RunFileError(
                f"{header.where}: the unit {shown(unit)} of {names[k]} is not known; write s, ms, us, ns, min, h or d, or "
                "no unit"
            )


def _quaternion(places: Mapping[str, int]) -> tuple[list[int], str] | None:
    """Columns of a quaternion in order, and "first" if the scalar is known to be first; None if some are missing."""
    for scalar in (*SCALARS, "0"):
        for vector in ("xyz", "ijk"):
            if scalar in places and all(place in places for place in vector):
                return [places[scalar], *(places[place] for place in vector)], "first"
    for digits in ("0123", "1234"):
        if all(place in places for place in digits) and len(places) == 4:
            return [places[place] for place in digits], ""
    return None


def _vector(places: Mapping[str, int]) -> list[int]:
    """Columns of a vector in order; none if some are missing."""
    for components in ("xyz", "012", "123", ("roll", "pitch", "yaw")):
        if all(place in places for place in components) and len(places) == 3:
            return [places[place] for place in components]
    return []


def _path(column: ColumnName | None) -> str:
    return column.group.rpartition(".")[0] if column else ""
