"""Advice for contacts with friction and damping: the step as a share of the contact time, and the contact update with it.

For single impacts it rests on random ones (the check ``random_impacts``), for what is read off an assembly on grains that
settle, collapse and turn in a drum (the checks ``bed``, ``column`` and ``drum``), and for methods on impacts solved to many
digits (the check ``impacts``). The contact time is that of a central collision without damping, as for contacts without
friction. What is said of LAMMPS and YADE as they are rests on runs with their contact update, and on ``contacts.nc``.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from math import ceil, floor, inf, log10
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from polhode.advice import evidence, files
from polhode.advice.answer import Choice, Recommendation, joined_names, names_on_lines
from polhode.advice.arguments import PURPOSES
from polhode.advice.codes import CONTACTS, UNMEASURED, CodeWords, words_of
from polhode.advice.errors import AdviceError, checked
from polhode.advice.from_contacts import FARTHEST, PAIR, USUAL, WALLS_CHANGE, ContactTime, beyond, of_a_contact
from polhode.fits import seed_statistics
from polhode.fits.grain_changes import changes, of_methods
from polhode.fits.impact_errors import ALIKE, LEADING, SHARE_OF_IMPACTS, STATED, ratios, steps_in_a_contact
from polhode.interface.arguments import number, positive
from polhode.interface.netcdf import group_names
from polhode.manybody.law import AS_IN, BOOKKEEPING
from polhode.manybody.restitution import (
    LAMMPS_DAMPINGS,
    lammps_damping,
    pulling_restitution,
    tsuji_damping,
    tsuji_restitution,
    yade_en,
    yade_restitution,
)
from polhode.methods import METHODS
from polhode.registry import nearest

#: Methods whose errors in an impact are this many times those of the leapfrog, or more, are to be avoided.
WORSE = 1.5
#: The scenes of grains, and the file in which they are released.
SCENES, RELEASED = ("bed", "column", "drum"), "grains.nc"
#: What the codes themselves did.
CODES_RELEASED = "contacts.nc"
#: What is read off them, and where the energy goes: shares of what is dissipated.
READ_OFF = {"height": "height", "runout": "runout", "angle": "angle", "power": "dissipated power", "contacts": "contacts"}
SPLIT = {"normal": "normal dashpots", "tangential": "tangential dashpots", "sliding": "sliding"}
#: The corrections as parameters of a law, and what stands for them where a step is named.
CURES = {name: BOOKKEEPING[name].choices[0] for name in ("start", "plane", "dashpot")} | {"slip": "trapezoidal"}
WITH_CURES, WITHOUT = "all corrections", "as in LAMMPS and YADE"
#: Steps in a contact with which other codes ran the bed.
CODES_AT = 20
#: Where the documentation says which restitution is obtained.
RESTITUTION_PAGE = "docs/impacts.md, Which restitution is asked for, and which is obtained"


def coefficient(name: str, value: Any) -> float:
    """A coefficient of friction, 0 for none and infinity for contacts that never slide, or of restitution, as a float.

    Raises
    ------
    AdviceError
        If a ``friction`` is negative, a coefficient of another ``name`` is not positive, or it is no number.
    """
    if name == "friction":
        return inf if isinstance(value, float) and value == inf else float(checked(number, name, value, least=0.0))
    return float(checked(positive, name, value))


def from_friction(
    contact: ContactTime,
    error: float,
    purpose: str,
    friction: float | None = None,
    restitution: float | None = None,
    law: str | None = None,
    code: str | None = None,
    results: Path | None = None,
) -> Recommendation:
    """The answer to :func:`polhode.advice.for_contacts` for those with friction and damping.

    Parameters
    ----------
    contact : with its time
    error : to stay below: of ``"impacts"`` relative to the changes of spin and velocity, of ``"bulk"`` to what is read off
    purpose : one of these two
    friction, restitution : coefficients; None where they are not asked for. The step does not depend on them; of impacts they
        must lie in the range that was run
    law : key of the law of force, which must have been run
    code : ``"LAMMPS"`` or ``"YADE"``, if contacts are computed as in this code
    results : folder of a run; by default a run or the released data

    Raises
    ------
    AdviceError
        If a word is not known, an argument lies beyond what was run, or no step is known for the error.
    """
    if purpose not in PURPOSES:
        raise AdviceError(f"purpose must be {' or '.join(PURPOSES)}, got {purpose!r}; {nearest(purpose, list(PURPOSES))}")
    code = words.name if (words := words_of(code, CONTACTS, others=UNMEASURED)) else None
    arguments = {"contact_time": contact.time, "error": error, "purpose": purpose, "law": law, "code": code}
    arguments |= {"friction": friction, "restitution": restitution}
    values = {"friction": friction, "restitution": restitution}
    if purpose == "bulk":
        return _for_bulk(contact, error, values, law, words, results, arguments)
    return _for_impacts(contact, error, values, law, words, results, arguments)


def _for_impacts(
    contact: ContactTime,
    error: float,
    values: Mapping[str, float | None],
    law: str | None,
    words: CodeWords | None,
    results: Path | None,
    arguments: dict[str, object],
) -> Recommendation:
    code = words.name if words else None
    path, data = _check("random_impacts", law, results)
    (time, called), ranges = contact.shortest(), {name: tuple(map(float, data.attrs[f"{name}_range"])) for name in values}
    for name, value in values.items():
        least, most = ranges[name]
        if value is not None and not least <= value <= most:
            without = ", or be 0 for none" if name == "friction" else ""
            raise AdviceError(f"{name} must lie between {least:g} and {most:g}, where impacts were run{without}, got {value!r}")
    codes, cured, saved = steps_in_a_contact(data, error)
    steps = cured if code is None else codes
    best, usual, half, least = (1 / n for n in (cured.take, codes.take, steps.half, steps.most))
    take = best if code is None else usual
    finest, coarsest = int(data["division"].max()), int(data["division"].min())
    if steps.take > FARTHEST * finest:
        raise AdviceError(beyond(error, steps.take, finest))
    rows = [
        Choice(USUAL, METHODS[USUAL].label, time * step, relative=take / step, mark=f"{_mark(step)}, {kind}")
        for kind, step in ((WITH_CURES, best), (WITHOUT, usual))
        if step > 0
    ]
    rows.sort(key=lambda row: row.dt != time * take)
    alone = f" (on walls alone {contact.time * take:.3g} s)" if time < contact.time else ""
    gain = f"{saved.median:.2g} times as long ({saved.low:.2g} to {saved.high:.2g} in 80 % of them)"
    if words is None:
        sentence = (
            f"{_take(time, best)}, {called}{alone}, for one impact and with all corrections of the contact update: "
            f"{_cures()} (the defaults of polhode). In {' and '.join(AS_IN)} as they are take dt = {_mark(usual)} = "
            f"{time * usual:.3g} s."
        )
        about_cures = f"Impact by impact the corrections allow steps {gain}. For LAMMPS or YADE alone name the `code`."
    else:
        sentence = words.first_line(time * usual, f"{_mark(usual)}, {called}, for single impacts{alone}")
        about_cures = (
            f"With all corrections of the contact update dt = {_mark(best)} would be sufficient; impact by impact they allow "
            f"steps {gain}. None of them is an option of {code}: {_cures()} (parameters of polhode)."
        )
    given = " and ".join(f"{name} {value:g}" for name, value in values.items() if value is not None)
    return Recommendation(
        question=f"Single impacts with {given or 'friction and damping'}, {_contacts_of(contact)}, spin and velocity after "
        f"them to {error:g} of their change",
        best=rows[0],
        sentence=sentence,
        serves=f"With this step at least {SHARE_OF_IMPACTS:.0%} of random impacts meet the error "
        f"({SHARE_OF_IMPACTS:.0%} confidence), wherever in a time step the contact begins.",
        costs=f"{of_a_contact(1 / take, finest)} How bodies turn between contacts is not in this error.",
        notes=[
            *([*_limits_of(code, error), *_on_restitution(values["restitution"], code, contact)[:1]] if code else []),
        ],
        changes=[
            *contact.faster(),
            "another law: a force that begins as the power p of the overlap leaves an error of the order 1 + p",
            "what is read off an assembly (`purpose` bulk)",
            *WALLS_CHANGE,
        ],
        interval=(time * least, time * half),
        interval_means=f"Interval: {_mark(least)} for all of the impacts that were run, {_mark(half)} for half of them.",
        alternatives=rows,
        evidence=[
            f"{data.sizes['draw']} random impacts of one to three spheres on a plane or each other, law {data.attrs['law']}; "
            f"angle, spin and stiffness are drawn too. Compared with runs of {data.attrs['fine']} steps in a contact; each "
            f"error is the largest of {data.attrs['phases']} starts shifted by parts of a step. Spin: angular momentum, in "
            "units of its largest change.",
            "They have "
            + " and ".join(f"a {name} of {least:g} to {most:g}" for name, (least, most) in ranges.items())
            + "; those asked for do not choose among them.",
            f"Steps from T/{coarsest} to T/{finest}; between them, and up to {FARTHEST:g} times finer, the error is a power of "
            "dt.",
            f"Contact time T: central and without damping, at the speed along the normal. Of two equal grains it is {PAIR:.2f} "
            "of that on a wall of their material, at the same relative speed.",
            f"From {files.named(path)}.",
        ],
        error=error,
        kind="impacts",
        asked=arguments,
        remarks=[
            *([contact.walls] if contact.walls else []),
            *([contact.about_pairs()] if contact.pair else []),
            about_cures,
            *_on_restitution(values["restitution"], code, contact)[bool(code) :],
            *_another_law(contact, {str(data.attrs["law"])}),
            *_on_methods(results),
        ],
    )


def _for_bulk(
    contact: ContactTime,
    error: float,
    values: Mapping[str, float | None],
    law: str | None,
    words: CodeWords | None,
    results: Path | None,
    arguments: dict[str, object],
) -> Recommendation:
    friction, restitution = values["friction"], values["restitution"]
    code = words.name if words else None
    time, scenes = contact.time, _assemblies(law, results)
    corrected = {(scene, name): _bounds(data, name) for scene, (_, data) in scenes.items() for name in _names(data, SPLIT)}
    bounds = {key: _bounds_of_code(scenes[key[0]][1], key[1], corrected[key]) if code else corrected[key] for key in corrected}
    serving = {key: _coarsest(bound, error) for key, bound in bounds.items()}
    read_off = {key: step for key, step in serving.items() if key[1] in READ_OFF}
    resolved = [scene for scene in scenes if all(step for (of, _), step in read_off.items() if of == scene)]
    least = {scene: max(min(bounds[key].values(), default=inf) for key in read_off if key[0] == scene) for scene in scenes}
    if not resolved:
        raise AdviceError(
            f"error: the initial states of {joined_and(scenes)} cannot show that a change is below {error!r}, only below "
            f"{_rounded_up(min(least.values()))}; ask for a larger one"
        )
    division = max(step for step in read_off.values() if step)
    least_asked = min(step for step in read_off.values() if step)
    needed = max(_coarsest(corrected[key], error) or 0 for key in read_off)
    if needed > division:
        raise AdviceError(
            f"error: {error!r} needs T/{needed} even with all corrections, and with the contact update of LAMMPS only "
            f"T/{division} is shown to be sufficient; ask for a larger one"
        )
    row = Choice(
        USUAL, METHODS[USUAL].label, time / division, relative=1.0, mark=f"T/{division}, {WITHOUT if code else WITH_CURES}"
    )
    states = _initial_states({scene: scenes[scene][1].sizes["seed"] for scene in resolved})
    not_shown = [
        f"{_called(*key)} of {key[0]} (below {_rounded_up(min(bounds[key].values(), default=inf))})"
        for key, step in read_off.items()
        if not step
    ]
    dt = f"dt = T/{division} = {time / division:.3g} s"
    label = METHODS[USUAL].label
    return Recommendation(
        question=f"What is read off an assembly with friction and damping, {_contacts_of(contact)}, to {error:g} of its value",
        best=row,
        sentence=words.first_line(row.dt, f"T/{division}, T the contact time")
        if words
        else f"Take any leapfrog, such as {label} ({USUAL}), with {dt}, T the contact time, and with all corrections of the "
        "contact update. The step of LAMMPS or YADE as they are is another: name the `code`.",
        serves=f"The mean of what is read off {joined_and(resolved)} changes by less than {error:g} of its value "
        f"({seed_statistics.LEVEL:.0%} confidence), from {states}, for their time"
        f"{' and with the contact update of LAMMPS' if code else ''}; no other assembly was run.",
        costs=f"A contact takes {division} steps, with one evaluation of the forces each.",
        notes=[
            *_left_out({scene: least[scene] for scene in scenes if scene not in resolved}),
            *_as_in_scenes(friction, restitution, scenes),
            *(_on_restitution(restitution, code, contact)[:1] if code else []),
        ],
        changes=[
            "another assembly, friction or restitution",
            "single impacts",
            *WALLS_CHANGE,
        ],
        interval=(time / division, time / least_asked),
        interval_means="Interval: from what asks most to what asks least: "
        + joined_names([f"{_called(scene, name)} of {scene} T/{step}" for (scene, name), step in read_off.items() if step])
        + ".",
        alternatives=[row],
        evidence=[
            *(text for scene, (path, data) in scenes.items() for text in _measured(scene, path, data)),
            "With this and all shorter steps that were run the change from the shortest one, with its whole interval of "
            f"{seed_statistics.LEVEL:.0%}, is below the error. Each interval holds by itself; the report's, of which all hold "
            "together, are wider.",
            "Contact time T: central and without damping, at the speed of the fast ones, with a wall. In these runs walls are "
            f"of the grains' material, and two equal grains touch for {PAIR:.2f} T at the same relative speed: the "
            "step allows for it.",
        ],
        error=error,
        kind="bulk",
        asked=arguments,
        remarks=[
            _on_split({key: step for key, step in serving.items() if key[1] in SPLIT}, error, code),
            *(
                [f"Not shown to change by less than {error:g}, for want of initial states: {joined_names(not_shown)}."]
                * bool(not_shown)
            ),
            "Standard deviations over initial states: "
            + joined_names([f"{scene} {text}" for scene, (_, data) in scenes.items() for text in _scatter(scene, data)])
            + ". A smaller change does not show in one run.",
            *([contact.walls] if contact.walls else []),
            *_on_update(code),
            *_on_restitution(restitution, code, contact)[bool(code) :],
            *_another_law(contact, _laws_of(scenes)),
            *_on_methods(results),
        ],
    )


def _initial_states(numbers: Mapping[str, int]) -> str:
    """How many there are of each assembly, in words."""
    if len(set(numbers.values())) == 1:
        return f"{next(iter(numbers.values()))} initial states{' of each' * (len(numbers) > 1)}"
    return joined_and([f"{number} initial states of {scene}" for scene, number in numbers.items()])


def _left_out(least: Mapping[str, float]) -> list[str]:
    """Which assemblies an answer is not about, as their initial states resolve no smaller changes than ``least``."""
    if not least:
        return []
    only = joined_and([f"{scene} (only below {_rounded_up(bound)})" for scene, bound in least.items()])
    return [f"Left out, since the initial states cannot show so small a change: {only}."]


def _as_in_scenes(
    friction: float | None, restitution: float | None, scenes: Mapping[str, tuple[Path, xr.Dataset]]
) -> list[str]:
    """What the contacts of the assemblies are like, where others were asked for."""
    run = sorted({_rubbing(data) for _, data in scenes.values()})
    if all(value is None or {value} == {pair[i] for pair in run} for i, value in enumerate((friction, restitution))):
        return []
    pairs = " or ".join(f"friction {mu:g} and restitution {e:g}" for mu, e in run)
    return [f"These assemblies have {pairs}, whatever is asked for; others were not run."]


def _contacts_of(contact: ContactTime) -> str:
    return f"contacts of {contact.time:.4g} s" + (f" ({contact.how})" if contact.how else "")


def joined_and(names: Any) -> str:
    """Names in a sentence, one or more: ``a, b and c``."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _rounded_up(value: float) -> str:
    """A bound with two digits, not below it."""
    if not 0 < value < inf:
        return f"{value:g}"
    unit = 10.0 ** (floor(log10(value)) - 1)
    return f"{ceil(value / unit * (1 - 1e-12)) * unit:.2g}"


def _on_split(split: Mapping[tuple[str, str], int | None], error: float, code: str | None) -> str:
    """With which step shares of the dissipated energy are kept, in a sentence."""
    if code == "LAMMPS":
        return (
            "LAMMPS cuts spring and dashpot together, so that sliding and tangential dashpots are not distinguished in what is "
            "dissipated."
        )
    if code:
        return f"Where the energy goes was not measured with the contact update of {code}."
    steps = [step for step in split.values() if step]
    return "To know where the energy goes, " + (
        f"take T/{max(steps)}, which keeps the shares of dashpots and sliding within {error:g} of what is dissipated."
        if len(steps) == len(split) and steps
        else "this is not enough: no step that was run is shown to keep the shares of dashpots and sliding within "
        f"{error:g} of what is dissipated."
    )


def _on_update(code: str | None) -> list[str]:
    """What is said of the contact update, of assemblies."""
    if code is None:
        return [
            f"All corrections of the contact update are on: {_cures()} (the defaults of polhode). For LAMMPS or YADE as they "
            "are name the `code`."
        ]
    if code == "LAMMPS":
        return []
    texts = [f"The contact update of {code} was not run in these assemblies: the step is that of LAMMPS."]
    with suppress(KeyError):  # a code that is not in the file
        data = _other_codes()
        beds = data[["bed_height", "bed_contacts"]].sel(code=[code.lower(), "polhode"])
        parts = []
        for name, values in beds.data_vars.items():
            change = seed_statistics.mean((values[0] - values[1]).values / float(values[1].mean()))
            parts.append(f"{str(name).removeprefix('bed_')} by {change.value:.1%} [{change.low:.1%}, {change.high:.1%}]")
        version = str(data["version"].sel(code=code.lower()).item())
        texts.append(
            f"{code} {version} itself ran the bed at T/{CODES_AT} from {beds.sizes['seed']} initial states: it differs from "
            f"polhode in {joined_and(parts)}."
        )
    return texts


def _other_codes() -> xr.Dataset:
    """Impacts and beds as LAMMPS and YADE have them."""
    path = files.released(CODES_RELEASED)
    if path is None:
        raise AdviceError(f"there is no {files.RELEASED / CODES_RELEASED}, which comes with polhode; install polhode again")
    return evidence.read(path)


def _limits_of(code: str, error: float) -> list[str]:
    """In which impacts a code does not come as near to its law as is asked, however short the step."""
    with suppress(KeyError):  # a code that is not in the file
        data = _other_codes().sel(code=code.lower())
        off = data["off"].max("quantity")
        far = {str(data["case_label"].sel(case=case).item()): float(off.sel(case=case)) for case in off["case"].values}
        farthest = sorted(far, key=lambda label: -far[label])
        if cases := [f"{label} ({far[label]:.1%})" for label in farthest if far[label] >= error]:
            version = str(data["version"].item())
            before = (
                f"No step is short enough for all: of {len(far)} impacts solved exactly {code} {version} itself misses the "
                f"motion of its law by more than {error:g} at any step in "
            )
            return [names_on_lines(before, cases)]
    return []


def _on_restitution(restitution: float | None, code: str | None, contact: ContactTime) -> list[str]:
    """Which restitution LAMMPS and YADE give, and what to write for the one asked for."""
    if restitution is None or restitution >= 1:
        return []
    if code == "YADE":
        return _on_yade(restitution, contact.heavier)
    texts = []
    for name, alpha in LAMMPS_DAMPINGS.items() if code else [next(iter(LAMMPS_DAMPINGS.items()))]:
        plain, write = alpha(restitution), lammps_damping(restitution, alpha)
        texts.append(
            f"LAMMPS with `damping {name}` and {restitution:g} gives a restitution of {pulling_restitution(plain):.4f}, but "
            f"with `limit_damping` {tsuji_restitution(plain):.4f} (alpha {plain:.4f}); "
            + (
                f"to obtain {restitution:g} with it, write {write:.4f} (alpha {tsuji_damping(restitution):.4f})."
                if write == write
                else f"no number gives {restitution:g} with it."
            )
        )
    return [*texts[:-1], f"{texts[-1]} This holds for Hertz's law: {RESTITUTION_PAGE}."]


def _on_yade(restitution: float, heavier: tuple[float, ...]) -> list[str]:
    """Which restitution YADE gives to clumps so many times as heavy as their largest sphere, by kind; none are spheres."""
    if not heavier:
        return ["YADE gives spheres the restitution asked by `en`, and clumps a larger one (docs/impacts.md)."]
    lightest_and_heaviest = sorted({min(heavier), max(heavier)})
    times, obtained, write = (
        " to ".join(dict.fromkeys(form(value) for value in lightest_and_heaviest))
        for form in (
            "{:.3g}".format,
            lambda ratio: f"{yade_restitution(restitution, ratio):.3f}",
            lambda ratio: f"{yade_en(restitution, ratio):.3f}",
        )
    )
    return [
        f"YADE damps with the mass of a sphere: a clump of {times} times that mass has a restitution of {obtained} for `en` "
        f"{restitution:g}. Write {write}, or give its spheres the mass of the clump."
    ]


def _another_law(contact: ContactTime, known: set[str]) -> list[str]:
    if not contact.law or contact.law in known:
        return []
    return [f"The scene has the law {contact.law}; the step rests on runs with {' and '.join(sorted(known))}."]


def _assemblies(law: str | None, results: Path | None) -> dict[str, tuple[Path, xr.Dataset]]:
    """The scenes of grains with the files that have most initial states of them: a run, or the release unless it is named."""
    scenes = {}
    release = files.released(RELEASED) if results is None else None
    for scene in SCENES:
        run = (results or files.RUN) / "checks" / f"{scene}.nc"
        contents = {run: evidence.read(run)} if run.is_file() else {}
        if release and scene in group_names(release):
            contents[release] = evidence.read(release, scene)
        if contents := {path: data for path, data in contents.items() if data.sizes.get("variant")}:
            scenes[scene] = evidence.richest(contents, lambda data: (data.sizes["seed"],), "initial states")[:2]
    if not scenes:
        where = f"{results or files.RUN}/checks/{SCENES[0]}.nc"
        raise AdviceError(f"there is no {where}" + ("" if results else f" and no {files.RELEASED / RELEASED}") + "; make one")
    _same_law(law, _laws_of(scenes), "grains")
    return scenes


def _laws_of(scenes: Mapping[str, tuple[Path, xr.Dataset]]) -> set[str]:
    return {str(key) for _, data in scenes.values() for key in data["law"].values[(data["compared"] == "method").values]}


def _names(data: xr.Dataset, others: Iterable[str] = ()) -> list[str]:
    return [name for name in (*READ_OFF, *others) if name in data]


def _called(scene: str, name: str) -> str:
    return "slope (angle of repose)" if (scene, name) == ("drum", "angle") else READ_OFF[name]


def _bounds(data: xr.Dataset, name: str, code: str | None = None) -> dict[int, float]:
    """The largest of :func:`changes` that an interval allows, relative to the value, or for shares as a part of all.

    Infinite where a run was lost.
    """
    unit = 1.0 if name in SPLIT else abs(float(of_methods(data, name)[-1].mean()))
    return {n: _bound(change) / unit for n, change in changes(data, name, code).items()}


def _bounds_of_code(data: xr.Dataset, name: str, corrected: Mapping[int, float]) -> dict[int, float]:
    """The :func:`_bounds` with the contact update of LAMMPS, which allow no longer step than all corrections do."""
    of_code = _bounds(data, name, "LAMMPS")
    return {n: max([bound, *(corrected[m] for m in corrected if m >= n)]) for n, bound in of_code.items()}


def _bound(estimate: seed_statistics.Estimate) -> float:
    bound = max(abs(estimate.low), abs(estimate.high))
    return bound if np.isfinite(bound) else np.inf


def _scatter(scene: str, data: xr.Dataset) -> list[str]:
    """The standard deviations over initial states with the shortest step, relative to the values."""
    finest = {name: of_methods(data, name)[-1] for name in _names(data)}
    return [
        f"{_called(scene, name)} {float(values.std('seed', ddof=1).mean() / abs(values.mean())):.1%}"
        for name, values in finest.items()
    ]


def _measured(scene: str, path: Path, data: xr.Dataset) -> list[str]:
    """What a scene is, and what steps and the contact update of LAMMPS change in it."""
    steps = [int(n) for n in data["division"].values]
    friction, restitution = _rubbing(data)
    texts = [
        f"{scene}: {data.attrs['clumps']} clumps with friction {friction:g} and restitution "
        f"{restitution:g} at {float(data.attrs['speed']):g} m/s, {data.sizes['seed']} initial states, "
        f"{int((data['compared'] == 'method').sum())} methods, T/{' T/'.join(map(str, steps))}; from {files.named(path)}."
    ]
    rows = []
    for name in _names(data):
        value = float(of_methods(data, name)[-1].mean())
        in_degrees = data[name].attrs.get("units") == "degree"
        factor, unit = (1.0, " degrees") if in_degrees else (100 / abs(value), " %")
        of_steps = {f"at T/{n}": change for n, change in changes(data, name).items()}
        of_steps |= {f"with the contact update of LAMMPS at T/{n}": c for n, c in changes(data, name, "LAMMPS").items()}
        parts = [
            f"{factor * change.value:z.2f}{unit} [{factor * change.low:z.2f}, {factor * change.high:z.2f}] {where}"
            for where, change in of_steps.items()
            if np.isfinite(_bound(change))
        ]
        called = f"{_called(scene, name)}{f' of {value:.1f} degrees' if in_degrees else ''}"
        rows += [f"{called} {joined_and(parts)}"] if parts else []
    if rows:
        texts.append(
            f"{scene}, change from T/{steps[-1]} with all corrections (intervals of {seed_statistics.LEVEL:.0%} for each): "
            f"{'; '.join(rows)}."
        )
    return texts


def _rubbing(data: xr.Dataset) -> tuple[float, float]:
    """Friction and restitution of a scene."""
    return float(data.attrs["friction"]), float(data.attrs["restitution"])


def _check(name: str, law: str | None, results: Path | None) -> tuple[Path, xr.Dataset]:
    """A check of a run or of the release, if it has the law."""
    path = files.find(f"checks/{name}.nc", results)
    data = evidence.read(path)
    if not data.variables:
        raise AdviceError(f"{path} is empty: the run has not the method {LEADING}; name another run with `results`")
    _same_law(law, {str(data.attrs["law"])}, str(path))
    return path, data


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
    data = evidence.read(path)
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
    """The corrections as parameters of a law."""
    return ", ".join(f"{name} = {choice}" for name, choice in CURES.items())


def _mark(share: float) -> str:
    return f"T/{1 / share:.0f}" if share > 0 else "not reached"
