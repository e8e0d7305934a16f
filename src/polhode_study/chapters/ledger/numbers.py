"""Numbers on verdicts, errata and the index of the sources."""

import numpy as np

from polhode_study.chapters.methods import frames as order_frames
from polhode_study.inputs import ERRATA_KINDS, Inputs
from polhode_study.judge.verdicts import ABOUT, COUNTED, ORDER_BAND, VERDICTS, by_ours
from polhode_study.report.formats import enumerated, plain
from polhode_study.report.latex import NOT_AVAILABLE, escape


def counts(inputs: Inputs) -> dict[str, str]:
    """Macros for the number of statements with each verdict, and the number of passages that need a correction."""
    rows = inputs.claim_rows
    # Questions of our own, which no publication answers, do not count among the statements.
    stated = rows[rows["kind"].isin(COUNTED)] if "kind" in rows else rows
    unmeasured = bool((rows["verdict"] == "not measured").any())
    verdicts = stated["verdict"].value_counts()
    ours = by_ours(stated)
    failed = stated["verdict"].isin([VERDICTS[kind][1] for kind in COUNTED])
    ordered = sorted(verdicts.items(), key=lambda item: (-int(item[1]), str(item[0])))
    kinds = [entry["kind"] for entry in inputs.errata_rows]
    errata = [entry for entry in inputs.errata_rows if entry["kind"] in ERRATA_KINDS]
    named = {
        "misprint": "Misprints",
        "discrepancy": "Discrepancies",
        "ambiguity": "Ambiguities",
        "inference": "Inferences",
        "convention": "Conventions",
    }
    return {
        "studyClaimCount": str(len(stated)),
        "studyExtensionCount": str(int((rows["kind"] == "extension").sum()) if "kind" in rows else 0),
        "studyConstructionCount": str(int((rows["kind"] == "construction").sum()) if "kind" in rows else 0),
        "studyClaimByOurs": str(int(ours.sum())),
        "studyClaimBySource": str(int((~ours).sum())),
        "studyClaimFailed": str(int(failed.sum())),
        "studyClaimFailedByOurs": str(int((failed & ours).sum())),
        "studyClaimVerdicts": enumerated((_counted(str(verdict), int(count)) for verdict, count in ordered), NOT_AVAILABLE),
        "studyUnmeasuredNote": r"\emph{Not measured} marks what a reduced run leaves out." if unmeasured else "",
        "studyErrataCount": str(len(errata)),
        "studyErrataToCheck": str(sum(entry["check"] == "pdf" for entry in errata)),
        "studyReadingCount": str(len(kinds) - len(errata)),
        **{f"study{name}": str(kinds.count(kind)) for kind, name in named.items()},
    }


#: What is said of one statement with a verdict, and of several.
VERBS = {"holds": ("holds", "hold"), "does not hold": ("does not hold", "do not hold")}


def _counted(verdict: str, count: int) -> str:
    """The number of statements with a verdict, as a part of a sentence about them."""
    single, several = VERBS.get(verdict, (f"is {verdict}", f"are {verdict}"))
    return escape(f"{count} {single if count == 1 else several}")


def tolerances(inputs: Inputs) -> dict[str, str]:
    """Macros for the tolerances of the verdicts, and for the fits of orders that support one of them."""
    orders = order_frames.orders(inputs)
    fits = np.concatenate([orders[f"{name}_order"].to_numpy(float) for name in order_frames.QUANTITIES])
    apart = np.abs(fits - np.rint(fits))[np.isfinite(fits)]
    rules = list(inputs.claim_rows.get("rule", []))
    return {
        "studyOrderBand": plain(ORDER_BAND),
        "studyAbout": rf"{100 * ABOUT:.0f}\,\%",
        "studyOrderFits": str(apart.size),
        "studyOrderFitsWithin": str(int((apart <= ORDER_BAND).sum())),
        "studyExceptionCount": str(rules.count("exception")),
    }


def index(inputs: Inputs) -> dict[str, str]:
    """Macros for the number of items of the sources that are covered here."""
    rows = inputs.source_rows
    return {
        "studySourceCount": str(len({row["source"] for row in rows})),
        "studySourceItems": str(len(rows)),
        "studySourceHere": str(sum(bool(row["here"]) and not row["missing"] for row in rows)),
    }
