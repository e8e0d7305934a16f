"""Numbers on the bed of grains."""

from collections import Counter

from polhode.study.inputs import Inputs
from polhode.study.report.formats import enumerated, labels_of, plain
from polhode.study.report.latex import NOT_AVAILABLE, decimal, escape
from polhode.study.themes.bed import analysis
from polhode.study.themes.bed.analysis import COMPARED, SPLIT, Verdict


def bed(inputs: Inputs) -> dict[str, str]:
    """Macros for the experiment, the verdicts on steps and on methods, the steps that are safe, and the closure."""
    data = analysis.data_of(inputs)
    divisions, labels = analysis.coarser(data), labels_of(data)
    by_step = {division: analysis.verdicts_of_step(data, division) for division in divisions}
    alone = {division: analysis.leaving_alone(data, division) for division in divisions}
    steps = {  # with whatever leaves the scatter with one method
        division: by_step[division] | {name: Verdict.LEAVES for _, name in alone[division]} for division in divisions
    }
    every = [*divisions, int(data["division"].values[-1])]
    by_method = {division: analysis.verdicts_of_methods(data, division) for division in every}
    left = {
        division: sorted({key for (key, _), verdict in verdicts.items() if verdict is Verdict.LEAVES}, key=list(labels).index)
        for division, verdicts in by_method.items()
    }
    counts = Counter(verdict for division in every[1:] for verdict in by_method[division].values())
    read_off = [name for name in COMPARED if name not in SPLIT]
    closure = 100 * abs(data["closure"]).mean("seed").max("integrator")
    result = {
        "studyBedGrains": str(int(data.attrs["clumps"])),
        "studyBedSeeds": str(data.sizes["seed"]),
        "studyBedMethods": str(len(labels)),
        "studyBedMethodNames": enumerated(map(escape, labels.values())),
        "studyBedContactTime": decimal(1e3 * float(data.attrs["contact_time"]), 3),
        "studyBedEnd": plain(float(data["time"].values[-1])),
        "studyBedFriction": plain(float(data.attrs["friction"])),
        "studyBedRestitution": plain(float(data.attrs["restitution"])),
        "studyBedCoarsest": str(every[0]),
        "studyBedFinest": str(every[-1]),
        "studyBedLost": str(int(data["lost"].sum())),
        "studyBedRuns": str(data["lost"].size),
        "studyBedSafeReadOff": safe(steps, read_off, {Verdict.WITHIN, Verdict.UNDECIDED}),
        "studyBedShownReadOff": safe(steps, read_off, {Verdict.WITHIN}),
        "studyBedSafe": safe(steps, list(COMPARED), {Verdict.WITHIN, Verdict.UNDECIDED}),
        "studyBedShown": safe(steps, list(COMPARED), {Verdict.WITHIN}),
        "studyBedLeaveCoarsest": leaving(by_step[every[0]]),
        "studyBedReadOffAloneCoarsest": enumerated(
            f"{escape(labels[key])} ({COMPARED[name].name})" for key, name in alone[every[0]] if name in read_off
        ),
        "studyBedMethodsLeaveCoarsest": enumerated(escape(labels[key]) for key in left[every[0]]),
        "studyBedMethodsLeaveFiner": enumerated(
            rf"{escape(labels[key])} at $T/{division}$" for division in every[1:] for key in left[division]
        ),
        "studyBedPairsFiner": str(sum(counts.values())),
        "studyBedPairsFinerLeave": str(counts[Verdict.LEAVES]),
        "studyBedPairsFinerWithin": str(counts[Verdict.WITHIN]),
        "studyBedPairsFinerUndecided": str(counts[Verdict.UNDECIDED]),
        "studyBedClosureCoarsest": decimal(float(closure[0]), 1),
        "studyBedClosureFinest": decimal(float(closure[-1]), 2),
        "studyBedMade": decimal(100 * float(data["made"].isel(division=-1).mean()), 1),
    }
    for name in SPLIT:
        for step, division in {"Coarsest": 0, "Finest": -1}.items():
            share = 100 * float(data[name].isel(division=division).mean())
            result[f"studyBed{name.capitalize()}{step}"] = decimal(share, 1)
    return result


def safe(by_step: dict[int, dict[str, Verdict]], names: list[str], allowed: set[Verdict]) -> str:
    """The longest step, as T over a number, from which on all verdicts on ``names`` are ``allowed``."""
    answer = NOT_AVAILABLE
    for division in reversed(by_step):
        if any(by_step[division][name] not in allowed for name in names):
            break
        answer = rf"$T/{division}$"
    return answer


def leaving(verdicts: dict[str, Verdict]) -> str:
    """What leaves the scatter, in words."""
    return enumerated(COMPARED[name].name for name, verdict in verdicts.items() if verdict is Verdict.LEAVES)
