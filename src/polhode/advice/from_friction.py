"""Advice for contacts with friction and damping: the step as a share of the contact time, and the bookkeeping with it.

For single impacts it rests on random ones (the check ``random_impacts``), for what is read off an assembly on grains that
settle and collapse (the checks ``bed`` and ``column``), and for methods on impacts solved to many digits (the check
``impacts``). The contact time is that of a central collision without damping, as for contacts without friction.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import xarray as xr

from polhode.advice import PURPOSES, files
from polhode.advice.answer import Choice, Recommendation, joined_names
from polhode.advice.errors import AdviceError
from polhode.advice.from_contacts import FARTHEST, USUAL
from polhode.fits import seed_statistics
from polhode.fits.impact_errors import ALIKE, LEADING, SERVED, STATED, ratios, steps_in_a_contact
from polhode.interface.netcdf import group_names, read_dataset
from polhode.manybody.law import AS_IN, BOOKKEEPING
from polhode.methods import METHODS
from polhode.registry import nearest

#: Methods whose errors in an impact are this many times those of the leapfrog, or more, are to be avoided.
WORSE = 1.5
#: The scenes of grains, and the file in which they are released.
SCENES, RELEASED = ("bed", "column"), "grains.nc"
#: What is read off them, and where the energy goes: shares of what is dissipated.
READ_OFF = {"height": "height", "runout": "runout", "angle": "angle", "contacts": "contacts"}
SPLIT = {"normal": "normal dashpots", "tangential": "tangential dashpots", "sliding": "sliding"}
#: The cures as parameters of a law, and what stands for them where a step is named.
CURES = {name: BOOKKEEPING[name].choices[0] for name in ("start", "plane", "dashpot")} | {"slip": "trapezoidal"}
WITH_CURES, WITHOUT = "all cures", "as in codes"


def from_friction(
    time: float,
    error: float,
    purpose: str,
    friction: float | None = None,
    restitution: float | None = None,
    law: str | None = None,
    results: Path | None = None,
    how: str = "",
) -> Recommendation:
    """The answer for contacts with friction and damping that last ``time`` (s).

    Parameters
    ----------
    time : duration of a central contact without damping, s
    error : of impacts the larger of the errors of spin and velocity, in units of their change; of an assembly the change of
        what is read off, relative to its value
    purpose : one of :data:`PURPOSES`
    friction, restitution : coefficients
    law : key of the law of force; by default the one that was run
    results : folder of a run; by default ``results``, or else the released data
    how : where the contact time comes from, in words

    Raises
    ------
    AdviceError
        If the measurements do not answer this.
    """
    if purpose not in PURPOSES:
        raise AdviceError(f"purpose must be {' or '.join(PURPOSES)}; {nearest(purpose, list(PURPOSES))}")
    contact = f"contacts of {time:.4g} s{f' ({how})' if how else ''}"
    arguments = {"contact_time": time, "error": error, "purpose": purpose, "law": law}
    arguments |= {"friction": friction, "restitution": restitution}
    if purpose == "bulk":
        return _for_bulk(time, error, law, results, contact, arguments)
    return _for_impacts(time, error, {"friction": friction, "restitution": restitution}, law, results, contact, arguments)


def _for_impacts(
    time: float,
    error: float,
    values: Mapping[str, float | None],
    law: str | None,
    results: Path | None,
    contact: str,
    arguments: dict[str, object],
) -> Recommendation:
    path, data = _check("random_impacts", law, results)
    for name, value in values.items():
        least, most = (float(x) for x in data.attrs[f"{name}_range"])
        if value is not None and not least <= value <= most:
            raise AdviceError(f"{name} must lie between {least:g} and {most:g}, where impacts were run, got {value:g}")
    codes, cured, saved = steps_in_a_contact(data, error)
    best, usual, half, least = (1 / steps for steps in (cured.take, codes.take, cured.half, cured.most))
    finest, coarsest = int(data["division"].max()), int(data["division"].min())
    if cured.take > FARTHEST * finest:
        raise AdviceError(
            f"error: {error:g} would need steps of T/{cured.take:.0f}, far below the finest that was run, T/{finest}; "
            "ask for a larger one"
        )
    remarks = [
        f"With the bookkeeping of {' and '.join(AS_IN)} instead, take {_mark(usual)}; impact by impact the cures buy steps "
        f"{saved.median:.2g} times as long ({saved.low:.2g} to {saved.high:.2g} in 80 % of them).",
        *_on_methods(results),
    ]
    rows = [
        Choice(USUAL, METHODS[USUAL].label, time * step, relative=best / step, mark=f"{_mark(step)}, {kind}")
        for kind, step in ((WITH_CURES, best), (WITHOUT, usual))
        if step > 0
    ]
    given = " and ".join(f"{name} {value:g}" for name, value in values.items() if value is not None)
    return Recommendation(
        question=f"Single impacts with {given or 'friction and damping'}, {contact}, spin and velocity after them to {error:g} "
        "of their change",
        best=rows[0],
        sentence=f"{_take(time, best)}, T the contact time, for one impact, and with all cures of the bookkeeping: {_cures()}.",
        serves=f"It serves {SERVED:.0%} of random impacts with as much confidence, wherever in a step the touch comes.",
        changes=[
            "a faster impact, whose T is shorter by the fifth root",
            "another law: a force that begins as the power p of the overlap leaves an error of the order 1 + p",
            "what is read off an assembly (`purpose` bulk)",
        ],
        interval=(time * least, time * half),
        interval_means=f"Interval: {_mark(least)} for all of the impacts that were run, {_mark(half)} for half of them.",
        alternatives=rows,
        evidence=[
            f"{data.sizes['draw']} random impacts of one to three spheres on a plane or each other, law {data.attrs['law']}; "
            f"angle, spin and stiffness are drawn too. Compared with runs of {data.attrs['fine']} steps in a contact; each "
            f"error is the largest of {data.attrs['phases']} starts shifted by parts of a step. Spin: angular momentum, in "
            "units of its largest change.",
            f"Steps from T/{coarsest} to T/{finest}; between them the error is a power of dt"
            + (", and the step is extrapolated." if cured.take > finest else "."),
            "Contact time T: central and without damping, at the speed along the normal.",
            *_from(path),
        ],
        error=error,
        kind="impacts",
        asked=arguments,
        remarks=remarks,
    )


def _for_bulk(
    time: float, error: float, law: str | None, results: Path | None, contact: str, arguments: dict[str, object]
) -> Recommendation:
    scenes = _assemblies(law, results)
    bounds = {(scene, name): _bounds(data, name) for scene, (_, data) in scenes.items() for name in _names(data)}
    serving = {key: _coarsest(bound, error) for key, bound in bounds.items()}
    read_off = {key: step for key, step in serving.items() if key[1] in READ_OFF}
    split = [step for key, step in serving.items() if key[1] in SPLIT]
    if None in read_off.values():
        least = max(min(bounds[key].values()) for key in read_off)
        raise AdviceError(
            f"error: the initial states of {' and '.join(scenes)} cannot show that a change is below {error:g}, only below "
            f"{least:.2g}; ask for a larger one"
        )
    division = max(step for step in read_off.values() if step is not None)
    least_asked = min(step for step in read_off.values() if step is not None)
    scatter = joined_names([f"{scene} {text}" for scene, (_, data) in scenes.items() for text in _scatter(data)])
    remarks = [
        "To know where the energy goes, "
        + (
            f"take T/{max(step for step in split if step is not None)}, which keeps the shares of dashpots and sliding"
            if None not in split
            else "this is not enough: no step that was run is shown to keep the shares of dashpots and sliding"
        )
        + f" within {error:g} of what is dissipated.",
        f"Standard deviations over initial states: {scatter}. A smaller change does not show in one run.",
        *_on_methods(results),
        f"All cures of the bookkeeping are on: {_cures()}."
        + "".join(f" {text}" for scene, (_, data) in scenes.items() for text in _without_cures(scene, data)),
    ]
    row = Choice(USUAL, METHODS[USUAL].label, time / division, relative=1.0, mark=f"T/{division}, {WITH_CURES}")
    return Recommendation(
        question=f"What is read off an assembly with friction and damping, {contact}, to {error:g} of its value",
        best=row,
        sentence=f"{_take(time, 1 / division)}, T the contact time.",
        serves=f"It serves the mean of what is read off {' and '.join(scenes)}, "
        + joined_names([f"{data.sizes['seed']} initial states of {scene}" for scene, (_, data) in scenes.items()])
        + ", for their time; no other assembly was tried.",
        changes=["another assembly; friction and restitution are those of the scenes, whatever is asked", "single impacts"],
        interval=(time / division, time / least_asked),
        interval_means="Interval: from what asks most to what asks least: "
        + joined_names([f"{READ_OFF[name]} of {scene} T/{step}" for (scene, name), step in read_off.items()])
        + ".",
        alternatives=[row],
        evidence=[
            *(
                f"{scene}: {data.attrs['clumps']} clumps with friction {float(data.attrs['friction']):g} and restitution "
                f"{float(data.attrs['restitution']):g} at {float(data.attrs['speed']):g} m/s, {data.sizes['seed']} initial "
                f"states, {int((data['compared'] == 'method').sum())} methods, "
                f"T/{' T/'.join(str(n) for n in data['division'].values)}; from {path}"
                + (", which comes with polhode." if files.is_released(path) else ".")
                for scene, (path, data) in scenes.items()
            ),
            "With this and all shorter steps that were run the change from the shortest one, with its whole interval of "
            f"{seed_statistics.LEVEL:.0%}, is below the error.",
            "Contact time T: central and without damping, at the speed of the fast ones.",
        ],
        error=error,
        kind="bulk",
        asked=arguments,
        remarks=remarks,
    )


def _assemblies(law: str | None, results: Path | None) -> dict[str, tuple[Path, xr.Dataset]]:
    """The scenes of grains with the files that have most initial states of them: a run, or the release unless it is named."""
    scenes = {}
    release = files.released(RELEASED) if results is None else None
    for scene in SCENES:
        places = [((results or files.RUN) / "checks" / f"{scene}.nc", "")]
        places += [(release, scene)] if release and scene in group_names(release) else []
        read = [(path, _read(path, group)) for path, group in places if path.is_file()]
        read = [(path, data) for path, data in read if data.sizes.get("variant")]
        if read:
            scenes[scene] = max(read, key=lambda one: one[1].sizes["seed"])
    if not scenes:
        where = f"{results or files.RUN}/checks/{SCENES[0]}.nc"
        raise AdviceError(f"there is no {where}" + ("" if results else f" and no {files.RELEASED / RELEASED}") + "; make one")
    known = {str(key) for _, data in scenes.values() for key in data["law"].values[(data["compared"] == "method").values]}
    _same_law(law, known, "grains")
    return scenes


def _names(data: xr.Dataset) -> list[str]:
    return [name for name in (*READ_OFF, *SPLIT) if name in data]


def _of_methods(data: xr.Dataset, name: str) -> xr.DataArray:
    """What is read off with the methods of rotation, by step, method and initial state."""
    return data[name].isel(variant=(data["compared"] == "method").values).transpose("division", "variant", "seed")


def _bounds(data: xr.Dataset, name: str) -> dict[int, float]:
    """The largest change from the shortest step that an interval allows, by steps in a contact, coarsest first.

    Over all methods; relative to the value, or for shares as a part of all. Infinite where a run was lost.
    """
    values = _of_methods(data, name)
    unit = 1.0 if name in SPLIT else abs(float(values[-1].mean()))
    result = {}
    for division in values["division"].values[:-1]:
        changes = (values.sel(division=division) - values[-1]).mean("variant", skipna=False).values
        result[int(division)] = _bound(seed_statistics.mean(changes)) / unit
    return result


def _bound(estimate: seed_statistics.Estimate) -> float:
    bound = max(abs(estimate.low), abs(estimate.high))
    return bound if np.isfinite(bound) else np.inf


def _scatter(data: xr.Dataset) -> list[str]:
    """The standard deviations over initial states with the shortest step, relative to the values."""
    finest = {name: _of_methods(data, name)[-1] for name in _names(data) if name in READ_OFF}
    return [
        f"{READ_OFF[name]} {float(values.std('seed', ddof=1).mean() / abs(values.mean())):.1%}"
        for name, values in finest.items()
    ]


def _without_cures(scene: str, data: xr.Dataset) -> list[str]:
    """What the bookkeeping of another code changes at the steps with which it was run."""
    code = "LAMMPS"
    if f"as_in_{code}" not in data["variant"].values:
        return []
    texts = []
    for division in map(int, data["division"].values):
        pairs = {name: data[name].sel(division=division) for name in _names(data) if name in READ_OFF}
        if not all(np.isfinite(values.sel(variant=f"as_in_{code}")).all() for values in pairs.values()):
            continue
        changes = {
            READ_OFF[name]: _bound(seed_statistics.mean((values.sel(variant=f"as_in_{code}") - values[0]).values))
            / abs(float(values[0].mean()))
            for name, values in pairs.items()
        }
        parts = joined_names([f"{name} by {change:.1%}" for name, change in changes.items()])
        texts.append(f"With that of {code}, {scene} at T/{division} changes at most: {parts}.")
    return texts


def _check(name: str, law: str | None, results: Path | None) -> tuple[Path, xr.Dataset]:
    """A check of a run or of the release, if it has the law."""
    path = files.find(f"checks/{name}.nc", results)
    data = _read(path)
    if not data.variables:
        raise AdviceError(f"{path} is empty: the run has not the method {LEADING}; name another run with `results`")
    _same_law(law, {str(data.attrs["law"])}, str(path))
    return path, data


def _read(path: Path, group: str = "") -> xr.Dataset:
    try:
        return read_dataset(path, group) if group else read_dataset(path)
    except (OSError, RuntimeError, LookupError, AttributeError, ValueError) as failure:
        why = " ".join(str(failure).split())
        raise AdviceError(f"{path} is damaged or not of this version ({why[:200]})") from failure


def _same_law(law: str | None, known: set[str], where: str) -> None:
    if law is not None and law not in known:
        laws = " and ".join(sorted(known))
        raise AdviceError(f"law: {where} were run at several steps with {laws} only, not with {law}; leave it out")


def _coarsest(bounds: Mapping[int, float], error: float) -> int | None:
    """The longest step, as steps in a contact, with which, as with all shorter ones, changes stay below the error."""
    answer = None
    for division in sorted(bounds, reverse=True):
        if bounds[division] > error:
            break
        answer = division
    return answer


def _on_methods(results: Path | None) -> list[str]:
    """Which methods do as well, and which do not, from the impacts that are solved to many digits."""
    path = files.find("checks/impacts.nc", results)
    data = read_dataset(path)
    if LEADING not in data.get("integrator", ()):
        return []
    most = ratios(data).sel(division=list(STATED)).max(("case", "division"))
    labels = dict(zip(map(str, data["integrator"].values), map(str, data["label"].values), strict=True))
    of = {key: float(value) for key, value in zip(labels, most.values, strict=True)}
    alike = [labels[key] for key in of if key != LEADING and of[key] <= 1 + ALIKE]
    worse = [f"{labels[key]} ({of[key]:.{0 if of[key] >= 10 else 1}f} times)" for key in of if of[key] >= WORSE]
    return [
        f"Equally good within {ALIKE:.0%}, on {data.sizes['case']} impacts solved exactly: {joined_names(alike)}."
        + (f" Avoid what had a larger error of the spin in one of them: {joined_names(worse)}." if worse else "")
    ]


def _take(time: float, share: float) -> str:
    label = METHODS[USUAL].label
    return f"Take what the code has, such as {label} ({USUAL}), with dt = {_mark(share)} = {time * share:.3g} s"


def _cures() -> str:
    return ", ".join(f"{name} = {choice}" for name, choice in CURES.items()) + " (the defaults of polhode)"


def _mark(share: float) -> str:
    return f"T/{1 / share:.0f}" if share > 0 else "not reached"


def _from(path: Path) -> list[str]:
    return [f"From {path}" + (", which comes with polhode." if files.is_released(path) else ".")]
