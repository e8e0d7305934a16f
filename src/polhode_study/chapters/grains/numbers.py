"""Numbers on grains in motion."""

from collections import Counter
from collections.abc import Collection

import pandas as pd

from polhode_study.chapters.grains import frames
from polhode_study.chapters.grains.frames import COMPARED, CURVE, SPLIT, STATED, STIFFNESS, Verdict
from polhode_study.inputs import Inputs
from polhode_study.report.formats import enumerated, plain
from polhode_study.report.latex import decimal, escape


def grains(inputs: Inputs) -> dict[str, str]:
    """Macros for each scene: the experiment, the verdicts on steps, methods and laws, the steps that are safe, the closure."""
    result: dict[str, str] = {}
    for experiment, data in frames.scenes(inputs).items():
        rows, divisions = frames.frame(inputs, experiment), [int(n) for n in data["division"].values]
        labels = dict(zip(*(data[name].values.astype(str) for name in ("variant", "label")), strict=True))
        steps = frames.chosen(rows, "step", "all")
        methods = frames.chosen(rows, "method")
        names = [name for name in frames.compared(data) if name != CURVE]
        read_off = [name for name in names if name not in SPLIT]
        counts = Counter(methods[methods["steps_in_contact"] >= STATED]["verdict"])
        lost = dict(zip(divisions, (data["lost"] == 1).sum(("variant", "seed")).values, strict=True))
        lossy = [division for division, n in lost.items() if n]
        values = {
            "Grains": str(int(data.attrs["clumps"])),
            "Seeds": str(data.sizes["seed"]),
            "Runs": str(int((data["lost"] >= 0).sum())),
            "End": plain(float(data["time"].values[-1])),
            "LostWith": enumerated(rf"{n} with $T/{division}$" for division, n in lost.items() if n),
            "SafeReadOff": safe(steps, read_off, {Verdict.WITHIN, Verdict.UNDECIDED}, lossy),
            "ShownReadOff": safe(steps, read_off, {Verdict.WITHIN}, lossy),
            "Safe": safe(steps, names, {Verdict.WITHIN, Verdict.UNDECIDED}, lossy),
            "Shown": safe(steps, names, {Verdict.WITHIN}, lossy),
            "LeaveCoarsest": leaving(frames.chosen(steps, "step", division=divisions[0])),
            "MethodsLeave": enumerated(
                rf"{escape(labels[key])} at $T/{division}$ ({leaving(group)})"
                for (division, key), group in methods.groupby(["steps_in_contact", "variant"], sort=False)
                if (group["verdict"] == Verdict.LEAVES).any()
            ),
            "MethodPairs": str(sum(counts.values())),
            "MethodPairsLeave": str(counts[Verdict.LEAVES]),
            "MethodPairsUndecided": str(counts[Verdict.UNDECIDED]),
        }
        if experiment != "drum":
            labelled = enumerated(escape(labels[key]) for key in frames.variants(data, "method"))
            values["Methods"] = labelled
        if experiment == "bed":
            closure = 100 * abs(data["closure"]).sel(variant=frames.variants(data, "method")).mean("seed").max("variant")
            values |= {
                "StepComparisons": str((rows["compared"] == "step").sum()),
                "MethodComparisons": str((rows["compared"] == "method").sum()),
                "Friction": plain(float(data.attrs["friction"])),
                "Restitution": plain(float(data.attrs["restitution"])),
                "ContactTime": decimal(1e3 * float(data["contact_time"].values[0]), 3),
                "Stated": str(STATED),
                "Coarsest": str(divisions[0]),
                "Finest": str(divisions[-1]),
                "ClosureCoarsest": decimal(float(closure[0]), 1),
                "ClosureFinest": decimal(float(closure[-1]), 2),
                "LawComparisons": str((rows["compared"] == "law").sum()),
            }
        if "rate" in data.attrs:
            values |= {"Rate": plain(float(data.attrs["rate"])), "Radius": plain(1e3 * float(data.attrs["radius"]))}
        for key, name in {"linear_spring_dashpot": "Linear", "viscoelastic": "Viscoelastic",
                          "hertz_mindlin_incremental": "Incremental", "as_in_LAMMPS": "Lammps"}.items():  # fmt: skip
            values[f"Law{name}"] = leaving(frames.chosen(rows, "law", key, STATED))
        of_methods = data["made"].sel(variant=frames.variants(data, "method")).isel(division=-1)
        values["MadeFinest"] = decimal(100 * float(of_methods.mean()), 1)
        result |= {f"studyGrains{experiment.capitalize()}{name}": text for name, text in values.items()}
    return result


def stiffness(inputs: Inputs) -> dict[str, str]:
    """Macros on stiffnesses: what a step that is the same part of the contact time changes, and what the stiffness itself."""
    data, rows = frames.data_of(inputs, STIFFNESS), frames.frame(inputs, STIFFNESS)
    scaling = frames.chosen(rows, "scaling")
    counts = Counter(scaling["verdict"])
    times = 1e3 * data["contact_time"].values
    return {
        "studyGrainsStiffnessGrains": str(int(data.attrs["clumps"])),
        "studyGrainsStiffnessSeeds": str(data.sizes["seed"]),
        "studyGrainsStiffnessTimes": " to ".join(decimal(float(time), 2) for time in (times.min(), times.max())),
        "studyGrainsStiffnessPairs": str(len(scaling)),
        "studyGrainsStiffnessLeave": str(counts[Verdict.LEAVES]),
        "studyGrainsStiffnessWithin": str(counts[Verdict.WITHIN]),
        "studyGrainsStiffnessUndecided": str(counts[Verdict.UNDECIDED]),
        "studyGrainsStiffnessScalingLeave": enumerated(
            rf"{COMPARED[row['quantity']].name} at $T/{row['steps_in_contact']}$ with \num{{{float(row['variant']):.0e}}}\,Pa"
            for row in scaling[scaling["verdict"] == Verdict.LEAVES].to_dict("records")
        ),
        "studyGrainsStiffnessItself": leaving(frames.chosen(rows, "stiffness", division=int(data["division"].values[-1]))),
    }


def safe(steps: pd.DataFrame, names: list[str], allowed: set[Verdict], lossy: Collection[int] = ()) -> str:
    """The longest step, as T over a number, from which on all verdicts on ``names`` are ``allowed`` and no run was lost.

    ``lossy`` are the steps with which one was.
    """
    answer = "no step"
    for division in sorted(set(steps["steps_in_contact"]), reverse=True):
        verdicts = steps[(steps["steps_in_contact"] == division) & steps["quantity"].isin(names)]["verdict"]
        if division in lossy or not set(verdicts) <= set(map(str, allowed)):
            break
        answer = rf"$T/{division}$"
    return answer


def leaving(rows: pd.DataFrame) -> str:
    """What leaves the scatter, in words."""
    return enumerated(COMPARED[name].name for name in dict.fromkeys(rows[rows["verdict"] == Verdict.LEAVES]["quantity"]))
