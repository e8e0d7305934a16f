"""Verdicts on the statements of the publications, from the measurements of a run: claims.yaml of the chapters -> claims.csv.

A claim says in our words what a publication states. It names a measure, its problem (``problem:``, by default that of del
Valle et al. 2024), the published number and the kind of comparison: ``equal``, ``at least``, ``at most``, or ``within`` (a
ratio between 1/published and published). A measure that the run cannot supply (a problem, a method or a target left out of the
configuration) gives the verdict "not measured". ``published`` is the number that is printed, in quotes with the digits it is
printed with ("23/19" is a quotient of two).

``kind`` is a number (reproduced or not), a statement (holds or not), a construction (holds by the way it is programmed) or an
extension (our own question, which no source answers; not counted). ``threshold`` says whose number decides: ``source`` (the
default), printed there or meant literally, or ``ours``, by which a statement without a number is read. ``show``: print the
evidence for the statement. ``reason``: why a statement fails, if we know. ``undecided``: why no measurement of ours decides it,
whatever comes out: the scheme is not printed, the words name no measure, or one glyph of a conversion decides.

The tolerance of a verdict follows from a rule (:data:`RULES`), not from the number that was found. The default of a number to
be reproduced is ``printed``, half a unit of its last digit; orders of magnitude are in decades, and so within half of one.
``percent_of``: the error is printed in per cent of this number, which is rounded too. The default of everything else is
``exact``. ``tolerance`` is set by hand, relative; it is an error without ``exception``, the reason why no rule serves.
"""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from math import inf, isnan, nan
from pathlib import Path
from typing import Any

import pandas as pd

from polhode.interface.reading import load_yaml
from polhode.interface.storage import write_text
from polhode.interface.table import csv
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.judge.measured import Measure, Measured

COLUMNS = [
    *("id", "source", "kind", "location", "statement", "note", "published", "threshold", "measured", "low", "high"),
    *("comparison", "rule", "tolerance", "verdict", "evidence"),
]


#: Verdicts by the kind of a claim: confirmed, not confirmed, or undecided. An extension is a question of ours that no
#: publication answers; what holds by construction is not a finding. Neither counts among the statements of the publications.
VERDICTS: dict[str, tuple[str, str, str]] = {
    "number": ("reproduced", "not reproduced", "undecided"),
    "statement": ("holds", "does not hold", "undecided"),
    "construction": ("by construction", "does not hold", "undecided"),
    "extension": ("ours: holds", "ours: does not hold", "ours: undecided"),
}


COUNTED = ("number", "statement")


#: An order is an integer, from which a fit over a run departs. This band contains the fits of methods whose order is known
#: and excludes the half-integer orders between them; it is the same for all.
ORDER_BAND = 0.1


#: The relative tolerance implied by "about", "around" or "approximately" before a number.
ABOUT = 0.2


def by_ours(rows: pd.DataFrame) -> pd.Series:
    """Whether a number of ours decided: a threshold by which we read the words, or a tolerance set by hand."""
    none = pd.Series("", rows.index)
    return (rows.get("threshold", none) == "ours") | (rows.get("rule", none) == "exception")


def half_unit(printed: str) -> float:
    """Half a unit of the last printed digit of a number.

    Examples
    --------
    >>> half_unit("0.63"), half_unit("8"), half_unit("4.85e-06")
    (0.005, 0.5, 5e-09)
    """
    exponent = Decimal(printed).as_tuple().exponent
    assert isinstance(exponent, int)
    return float(Decimal(5).scaleb(exponent - 1))


def number_of(published: str | float) -> float:
    """A published number, or the quotient of two that are printed (``"23/19"``)."""
    above, _, below = str(published).partition("/")
    return float(above) / float(below or 1)


def rounding(published: str) -> float:
    """The uncertainty due to rounding of a printed number, or of the quotient of two.

    Examples
    --------
    >>> rounding("0.63"), round(rounding("23/19"), 3)
    (0.005, 0.06)
    """
    above, _, below = published.partition("/")
    if not below:
        return half_unit(published)
    top, bottom = float(above) + half_unit(above), float(below) - half_unit(below)
    return top / bottom - number_of(published)


#: Rule of a claim -> the tolerance that it derives from the printed number, in its unit.
RULES: dict[str, Callable[[str], float]] = {
    # The uncertainty of the printed number due to rounding. Orders of magnitude are whole decades: half of one.
    "printed": rounding,
    "order": lambda printed: ORDER_BAND,
    "about": lambda printed: ABOUT * abs(number_of(printed)),
    # A bound, a count, a fraction, or a threshold of ours.
    "exact": lambda printed: 0.0,
}


#: Required and optional fields of an entry of the file.
REQUIRED = ("id", "source", "location", "statement", "kind", "published", "comparison", "measure", "arguments")


OPTIONAL = ("problem", "threshold", "rule", "percent_of", "tolerance", "exception", "show", "reason", "undecided")


#: Whose number decides a claim: one that the source prints or means literally, or one by which we read its words.
THRESHOLDS = ("source", "ours")


def load(path: str | Path) -> list[dict[str, Any]]:
    """The entries of a file of claims, checked; each with its ``rule`` and, in the unit of ``published``, its ``tolerance``.

    Without ``rule:`` a printed number to be reproduced is judged by its printed digits, and everything else exactly. A number
    printed in per cent of another printed number (``percent_of:``) is known no better than that one. A tolerance set by hand
    is relative, and needs a reason in ``exception:``.

    Raises
    ------
    ValueError
        If an entry lacks a field, has an unknown one, repeats an id, or has a tolerance without a reason; the message names
        file and entry.
    """
    entries: list[dict[str, Any]] = []
    for number, entry in enumerate(load_yaml(path), 1):
        where = f"{path}: entry {number} ({entry.get('id', 'without id')})"
        if missing := [name for name in REQUIRED if name not in entry]:
            raise ValueError(f"{where}: {', '.join(missing)} is missing")
        if unknown := sorted(set(entry) - {*REQUIRED, *OPTIONAL}):
            raise ValueError(f"{where}: unknown field {', '.join(unknown)}; known are {', '.join((*REQUIRED, *OPTIONAL))}")
        if any(entry["id"] == other["id"] for other in entries):
            raise ValueError(f"{where}: the id is taken by an earlier entry")
        if entry["kind"] not in VERDICTS:
            raise ValueError(f"{where}: unknown kind {entry['kind']!r}; known are {', '.join(VERDICTS)}")
        if entry.get("threshold", THRESHOLDS[0]) not in THRESHOLDS:
            raise ValueError(f"{where}: unknown threshold {entry['threshold']!r}; known are {', '.join(THRESHOLDS)}")
        try:
            rule, tolerance = _tolerance(entry)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from error
        entries.append(entry | {"rule": rule, "tolerance": tolerance})
    return entries


def _tolerance(entry: Mapping[str, Any]) -> tuple[str, float]:
    """The rule of a claim and its tolerance in the unit of the published number."""
    ours, published = entry.get("threshold") == "ours", entry["published"]
    by_hand = float(entry.get("tolerance", 0.0))
    if ("exception" in entry) != bool(by_hand):
        raise ValueError("a tolerance set by hand needs its reason, 'exception', and an exception its tolerance")
    if by_hand:
        if "rule" in entry:
            raise ValueError(f"the rule {entry['rule']!r} derives the tolerance; leave out 'tolerance' or 'rule'")
        return "exception", by_hand * abs(number_of(published))
    default = "printed" if entry["kind"] == "number" and entry["comparison"] == "equal" else "exact"
    rule = entry.get("rule", default)
    if rule not in RULES:
        raise ValueError(f"unknown rule {rule!r}; known are {', '.join(RULES)}")
    if ours and rule not in ("exact", "order"):
        raise ValueError(f"the rule {rule!r} applies to printed numbers only, not to a threshold of ours")
    if rule == "printed" and not isinstance(published, str):
        raise ValueError(f"published: write {published!r} in quotes, as it is printed, so that its digits are kept")
    whole = str(entry.get("percent_of", ""))
    return rule, RULES[rule](str(published)) + (100 * half_unit(whole) / abs(float(whole)) if whole else 0.0)


def accepted(comparison: str, published: float, tolerance: float) -> tuple[float, float]:
    """The range of measured numbers that confirm the published one.

    Parameters
    ----------
    comparison : str
        ``equal``, ``at least``, ``at most``, or ``within``: of a ratio, between 1/published and published.
    published, tolerance : float
        In the same unit.

    Raises
    ------
    ValueError
        If ``comparison`` is none of these.
    """
    ranges = {
        "equal": (published - tolerance, published + tolerance),
        "at least": (published - tolerance, inf),
        "at most": (-inf, published + tolerance),
        "within": (1 / published if published else nan, published),
    }
    if comparison not in ranges:
        raise ValueError(f"unknown comparison {comparison!r}; use 'equal', 'at least', 'at most' or 'within'")
    return ranges[comparison]


def verdict(comparison: str, published: float, measured: Measured, tolerance: float) -> bool | None:
    """Whether the measured number confirms the published one; None if its interval does not decide.

    With an interval, it is confirmed if the whole interval is accepted, and not confirmed if none of it is.
    """
    lowest, highest = accepted(comparison, published, tolerance)
    if isnan(measured.low) and isnan(measured.high):
        return bool(lowest <= measured.value <= highest)
    if lowest <= measured.low and measured.high <= highest:
        return True
    if measured.high < lowest or measured.low > highest:
        return False
    return None


def judged(inputs: Inputs, claims: str | Path, measures: Mapping[str, Measure]) -> list[dict[str, Any]]:
    """A row of :data:`COLUMNS` for every claim of the YAML file ``claims``.

    Parameters
    ----------
    inputs : the run and the published numbers; a claim without a problem is about that of ``inputs``
    measures : the measures that a claim can name

    Raises
    ------
    ValueError
        If a claim does not satisfy :func:`load`, or names an unknown measure or comparison; the message names the claim.
    """
    return [_row(claim, inputs.of(claim.get("problem", inputs.problem)), measures) for claim in load(claims)]


def write_verdicts(rows: Iterable[Mapping[str, Any]], output: str | Path) -> None:
    """Write such rows as a table."""
    write_text(output, csv(pd.DataFrame(list(rows), columns=COLUMNS)))


def _row(claim: dict[str, Any], results: Inputs, measures: Mapping[str, Measure]) -> dict[str, Any]:
    if claim["measure"] not in measures:
        raise ValueError(f"claim {claim['id']}: unknown measure {claim['measure']!r}; known are {', '.join(measures)}")
    row = {name: claim[name] for name in ("id", "source", "kind", "location", "statement", "published", "comparison", "rule")}
    row |= {"note": claim.get("exception", ""), "threshold": claim.get("threshold", THRESHOLDS[0])}
    row |= {"tolerance": _rounded(claim["tolerance"]), "low": nan, "high": nan}
    try:
        measured = Measured(*measures[claim["measure"]](results, **claim["arguments"]))
        borne_out = verdict(claim["comparison"], number_of(claim["published"]), measured, claim["tolerance"])
    except NotInRun as missing:
        return row | {"measured": nan, "verdict": "not measured", "evidence": str(missing)}
    except ValueError as error:
        raise ValueError(f"claim {claim['id']}: {error}") from error
    words = VERDICTS[claim["kind"]]
    evidence, reason = measured.evidence, claim.get("reason", "")
    why = claim.get("undecided", "")
    if why:
        borne_out = None
    elif borne_out is None:
        evidence = why = f"{evidence}: the interval does not decide"
    # An undecided verdict must come with its reason.
    if why or claim.get("show"):
        row["note"] = "; ".join(text for text in (row["note"], why or evidence) if text)
    if borne_out is False and reason:
        evidence = f"{evidence}; {reason}"
    row |= {name: _rounded(getattr(measured, name)) for name in ("low", "high")}
    word = words[2] if borne_out is None else words[not borne_out]
    return row | {"measured": _rounded(measured.value), "verdict": word, "evidence": evidence}


def _rounded(value: float) -> float:
    """The value rounded to six digits, a precision sufficient for every quantity here."""
    return float(f"{value:.6g}")
