"""An answer: a method, a step, how it is known, and with what interval; in words and for machines."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from operator import attrgetter
from textwrap import wrap
from typing import Any

from polhode.interface.table import Column, Table

#: Width of the text, columns.
WIDTH = 100
#: How many methods the table shows.
SHOWN = 5
#: A method slower by less than this fraction counts as equally good.
CLOSE = 0.1


def known_as(key: str, label: str = "") -> str:
    """The label of a method and, in brackets, the other names that users of codes know, if there are any.

    ``key`` is the key of the method, which stands for an unknown one; ``label`` replaces the label of the registry.
    """
    from polhode.methods import METHODS

    label = label or (METHODS[key].label if key in METHODS else key)
    others = METHODS[key].other_names if key in METHODS else ()
    return f"{label} ({', '.join(others)})" if others else label


def joined_names(names: Sequence[str]) -> str:
    """Names of methods one after the other in one text, with semicolons if one has a comma of its own."""
    return ("; " if any(", " in name for name in names) else ", ").join(names)


def _lines(text: str) -> list[str]:
    """A text in lines; an option such as ``--bath nose-hoover`` is not divided at a hyphen."""
    return wrap(text, WIDTH, break_on_hyphens=False)


def names_on_lines(before: str, names: Sequence[str], after: str = "", lines: int = 2) -> str:
    """A sentence with the names of methods between two texts: as many as fit on so many lines, and how many more there are.

    A line has :data:`WIDTH` columns. If not even the first name fits, the sentence has the number of methods.
    """
    for number in range(len(names), 0, -1):
        more = f" and {len(names) - number} more" if number < len(names) else ""
        text = f"{before}{joined_names(names[:number])}{more}{after}."
        if len(wrap(text, WIDTH)) <= lines:
            return text
    return f"{before}{len(names)} methods{after}."


@dataclass(frozen=True)
class Choice:
    """One method with the step that it needs.

    Parameters
    ----------
    method, label : key and name
    dt : time step, s
    steps : steps of the run; None where there is no run
    torques : torque evaluations of the run; None where there is no run
    seconds : time of the run, s, or of one second of the motion of a satellite; None where it is not known
    relative : time relative to the recommended method, the cost in the table; None where times are not compared
    error : the error with this step, of orientation in rad, of omega relative; None where it follows from a law
    mark : what else must be said, in a word or two
    usual : length of the steps that take most of the time, s, where steps end at edges of the torque and most are shorter than
        ``dt``, the longest; else None
    """

    method: str
    label: str
    dt: float
    steps: int | None = None
    torques: int | None = None
    seconds: float | None = None
    relative: float | None = None
    error: float | None = None
    mark: str = ""
    usual: float | None = None


@dataclass(frozen=True)
class Recommendation:
    """The method and the step for a question; printing it gives the answer in words.

    Parameters
    ----------
    question : str
        What was asked, in words.
    best : Choice
        The recommended method, and its step.
    sentence : str
        The recommendation in a sentence.
    serves : str
        For which cases the step is sufficient, in a sentence.
    costs : str
        What it costs, in a sentence.
    notes : list of str
        What a user must know besides, in sentences.
    changes : list of str
        What would change the answer.
    interval : (float, float)
        Between these (s) lies the step in most comparable cases; ``interval_means`` says which.
    interval_means : str
        What the interval is, in a sentence.
    alternatives : list of Choice
        The methods that were considered, by the time they take; one that is preferred, such as the method of a code, is first.
    evidence : list of str
        How the answer is known.
    remarks : list of str
        What else the user should know.
    confirmed : bool
        False if the time was over before a step of a motion, and all finer ones tried, were shown to meet the error; else True,
        also of answers that rest on no run of the motion itself.
    error : float
        The error to stay below: of bodies the angle in rad and relative in omega, of contacts relative, of a liquid its drift
        in kT per degree of freedom and ns, or in the baths langevin and v-rescale the bias in K.
    kind : str
        What the answer rests on: "runs", "laws", "satellites", "contacts", "impacts", "bulk" or "liquid".
    asked : dict
        The question as data: name of an argument -> value.
    shown : int
        The number of alternatives in the table, if there are so many.
    """

    question: str
    best: Choice
    sentence: str
    interval: tuple[float, float]
    interval_means: str
    alternatives: list[Choice]
    evidence: list[str]
    error: float
    kind: str
    asked: dict[str, Any]
    remarks: list[str] = field(default_factory=list)
    shown: int = SHOWN
    serves: str = ""
    costs: str = ""
    notes: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    confirmed: bool = True

    @property
    def method(self) -> str:
        """The key of the recommended method."""
        return self.best.method

    @property
    def dt(self) -> float:
        """The recommended step, s."""
        return self.best.dt

    def to_json(self, **options: Any) -> str:
        """The answer as a text of JSON; options as of :func:`json.dumps`. Numbers that are not finite are null.

        It has ``method``, ``label``, ``dt`` (s) and ``steps`` of the best choice, then the fields of this class by their names,
        but ``kind`` as ``known_from`` and ``asked`` as ``question``, and without the question in words, ``sentence`` and
        ``shown``.
        """
        content = {
            "method": self.best.method,
            "label": self.best.label,
            "dt": self.best.dt,
            "steps": self.best.steps,
            "confirmed": self.confirmed,
            "interval": self.interval,
            "interval_means": self.interval_means,
            "serves": self.serves,
            "costs": self.costs,
            "notes": self.notes,
            "changes": self.changes,
            "error": self.error,
            "known_from": self.kind,
            "question": self.asked,
            "best": asdict(self.best),
            "alternatives": [asdict(choice) for choice in self.alternatives],
            "evidence": self.evidence,
            "remarks": self.remarks,
        }
        return json.dumps(_finite(content), **{"indent": 2, "allow_nan": False, **options})

    def __str__(self) -> str:
        return "\n".join([*self._first(), "How it is known, what would change it, and other methods: `why`."])

    def _first(self) -> list[str]:
        """What to do, for whom it holds, and what it costs, as lines."""
        return [line for text in (self.sentence, self.serves, self.costs, *self.notes) if text for line in _lines(text)]

    def why(self) -> str:
        """The whole answer as lines of text: also what would change it, other methods, and how it is known."""
        close = [
            choice.label
            for choice in self.alternatives
            if self.kind == "runs"
            and choice.method != self.method
            and choice.relative is not None
            and choice.relative < 1 + CLOSE
        ]
        remarks = list(self.remarks)
        if close:
            also = joined_names(close[:4]) + (" and others" if len(close) > 4 else "")
            remarks.insert(0, f"Within {CLOSE:.0%} of it, an order that another processor may reverse: {also}.")
        changes = [f"Would change the answer: {'; '.join(self.changes)}."] if self.changes else []
        lines = self._first()
        lines += [line for text in [*changes, "", f"{self.question}.", *remarks] for line in _lines(text) or [""]]
        lines += ["", table(self.alternatives[: self.shown], self.kind == "liquid"), "", "How this is known:"]
        for reason in [*self.evidence, self.interval_means]:
            lines += wrap(reason, WIDTH, initial_indent="* ", subsequent_indent="  ")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self.why())}</pre>"


def table(choices: Sequence[Choice], femtoseconds: bool = False) -> str:
    """The choices as a table in plain text, steps in s or fs; columns that none of them has are left out."""

    def known(form: Callable[[Any], str]) -> Callable[[Any], str]:
        return lambda value: "" if value is None else form(value)

    columns = [
        Column("method", lambda choice: f"{choice.label} ({choice.method})"),
        Column("dt", lambda choice: choice.dt * 1e15 if femtoseconds else choice.dt, ".4g", "r", "fs" if femtoseconds else "s"),
        Column("steps", attrgetter("steps"), known(str), "r"),
        Column("torques", attrgetter("torques"), known(str), "r"),
        Column("time", attrgetter("seconds"), known(duration), "r"),
        Column("cost", attrgetter("relative"), known("{:.2f}".format), "r"),
        Column("", attrgetter("mark")),
    ]
    return Table(choices, columns).text(indent="  ", rule=False)


def duration(seconds: float) -> str:
    """A time given in s as a text with its unit, three digits, such as ``12.5 ms``."""
    for limit, factor, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "us"), (1.0, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def price_in_words(price: float, unit: float | None = None) -> str:
    """The price of a torque, in steps of direct Euler, in words; ``unit`` is the time of such a step, s."""
    if price == 0:
        return "a torque that costs next to nothing"
    about = "" if unit is None else f" ({duration(price * unit)})"
    return f"a torque that costs {price:g} step{'' if price == 1 else 's'} of direct Euler{about}"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value
