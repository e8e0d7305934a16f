"""The tables of the engine atlas for the documentation, from the released file."""

from collections.abc import Iterator
from math import isfinite, isnan
from typing import Any

import numpy as np

from polhode.documentation.markdown import number, table
from polhode.documentation.questions import questions
from polhode.engines import all_engines
from polhode.engines.advice import advice_of
from polhode.engines.protocol import LOADS, Engine, option_of
from polhode.engines.read_rows import MARK, READ
from polhode.engines.shipped import NAMES
from polhode.interface.netcdf import read_dataset
from polhode.methods import METHODS
from polhode.study.workflow.entry import HOME


def engines_page() -> str:
    """The measured table, what is switched off in each engine, and where its torques go in."""
    data, declared = _released(), all_engines()
    off = table(
        ["engine", "install", "switched off", "torque"],
        [
            (
                engine.label,
                f"`{' '.join(engine.packages)}`" + (" (Debian)" if engine.debian else " (npm)" if engine.npm else ""),
                engine.switched_off,
                "<br>".join(_torques(engine)),
            )
            for engine in declared.values()
        ],
    )
    off += "\n" + table(
        ["engine", "which releases"], [(engine.label, engine.releases) for engine in declared.values() if engine.releases]
    )
    if data is None:
        return f"No atlas is released with this version.\n\n{off}"
    rows = []
    for i in range(data.sizes["engine"]):
        row = data.isel(engine=i)
        texts = {name: str(row[name].item()) for name in ("label", "version", "option", "method_label", "end", "precision")}
        single = " (single precision)" if texts["precision"] == "float32" else ""
        star = " ★" if int(row["is_default"]) else ""
        rows.append(
            (
                f"{texts['label']} {texts['version']}{single}",
                texts["option"] + star,
                texts["method_label"] if int(row["is_identified"]) else "not identified",
                _deviation(row),
                " ".join(_order(float(row["q_order"].sel(load=load))) for load in LOADS),
                " ".join(_error(float(row["q_error"].sel(load="free", step=dt))) for dt in (0.01, 0.03, 0.1)),
                f"{_drift(float(row['energy_drift']))} / {_drift(float(row['momentum_drift']))}",
                texts["end"],
            )
        )
    for one in READ:
        order = f"{one.reference.order_q} (of the method)"
        single = " (single precision)" if one.precision == "float32" else ""
        option = one.option + (" ★" if one.is_default else "")
        rows.append((f"{one.label} {one.commit}{single} †", option, one.method_label, f"*{MARK}*", order, "–", "–", "–"))
    head = [
        "engine († read, not run)",
        "option (★ default)",
        "integrator",
        "deviation / next",
        "order of q: free, body, lab, friction",
        "error of q at 0.01, 0.03, 0.1 rad",
        "drift of energy / momentum",
        "free spin ends",
    ]
    done = int(np.sum(data["is_identified"].values))
    count = len(set(data["key"].values.tolist()))
    said = (
        f"Measured on {data.attrs['date']}: {data.sizes['engine']} rows of {count} engines, {done} identified. "
        f"Another {len(READ)} rows, at the end, are *{MARK}*: nothing in them is measured."
    )
    return f"{said}\n\n{table(head, rows)}\n{off}"


def shipped_page() -> str:
    """What engines of the web do as they are shipped, in two tables: how bodies spin, and what limits that."""
    data = _released()
    if data is None or "shipped_turns" not in data:
        return "No engine of the web is in the atlas released with this version.\n"
    spins, limits = [], []
    for i in np.flatnonzero(np.isfinite(data["shipped_is_single"].values)):
        row = data.isel(engine=int(i))
        law = str(row["shipped_damping_law"].item())
        value = {name: float(row[f"shipped_{name}"]) for name in NAMES if name not in ("damping_law", "moments")}
        option = str(row["option"].item()) + (" ★" if int(row["is_default"]) else "")
        name = (f"{row['label'].item()} {row['version'].item()}", option)
        growth = _percent(value["ball"]) if abs(value["ball"]) > NO_GROWTH else "none"
        damping = f"{value['damping']:.3g}: {law}" if law else "none"
        term = str(row["gyroscopic"].item())
        spins.append((*name, term, f"{value['turns']:.0f}", damping, _percent(value["vector"]), growth))
        sleep = f"{value['sleep_below']:.2g} rad/s, after {value['sleep_after']:.2f} s" if value["sleep_below"] else "never"
        if value["sleep_reads"] > 0:
            sleep += f"; ω read is {value['sleep_reads']:.2g} of that at the start"
        turned = " / ".join(f"{value[turn]:.3f}" for turn in ("turn_of_1", "turn_of_2p5"))
        moments = " ".join(f"{x:.4g}" for x in row["shipped_moments"].values)
        numbers = "single" if value["is_single"] else "double"
        limits.append((*name, _limit(value["speed_limit"]), turned, sleep, _limit(value["longest_step"]), moments, numbers))
    head = ["engine", "option (★ default)"]
    of_spins = [
        *head,
        "gyroscopic term",
        f"T-handle: turns in 120 s (exact: {int(data.attrs['exact_turns'])})",
        "damping, 1/s: factor of ω",
        "change of **L** in 1000 s",
        "of the spin of a ball in 300 s",
    ]
    of_limits = [
        *head,
        "largest ω, rad/s",
        "turn for 1 / 2.5 rad",
        "asleep below",
        "longest step, s",
        "moments for 0.6, 1, 1.4",
        "numbers",
    ]
    return f"{table(of_spins, spins)}\n{table(of_limits, limits)}"


#: A relative change of a spin that is its rounding.
NO_GROWTH = 1e-5


def _percent(share: float) -> str:
    return f"{float(f'{100 * share:.2g}'):g} %"


def _limit(value: float) -> str:
    return f"{value:.4g}" if isfinite(value) else "none"


def advice_page() -> str:
    """What to do, for each row."""
    data = _released()
    if data is None:
        return ""
    rows = []
    for i in range(data.sizes["engine"]):
        row = data.isel(engine=i)
        order = float(row["q_order"].sel(load="free"))
        key, option, end, kind = (str(row[name].item()) for name in ("key", "option", "end", "gyroscopic"))
        rows.append((f"{row['label'].item()} {row['version'].item()}", option, advice_of(key, option, order, end, kind)))
    rows += [(f"{row.label} † {row.commit}", row.option, row.advice) for row in READ]
    return table(["engine and release († read, not run)", "option", "what to do"], rows)


def sources_page() -> str:
    """Where each engine has its step, and whether that was read."""
    data = _released()
    if data is None:
        return ""
    rows, read, identified = [], 0, 0
    for i in range(data.sizes["engine"]):
        row = data.isel(engine=i)
        key, option, label = (str(row[name].item()) for name in ("key", "option", "label"))
        known = option_of(key, option)
        places = "<br>".join(f"`{place.text}`" for place in known.sources) or "–"
        rows.append((label, option, places, "yes" if known.is_read else "no", known.notes))
        identified += int(row["is_identified"])
        read += int(row["is_identified"]) and known.is_read
    for one in READ:
        places = "<br>".join(f"`{place.text}`" for place in one.sources)
        rows.append((f"{one.label} †", one.option, places, "yes", f"{MARK}. {one.note}"))
    said = f"Of the {identified} rows identified, the step was read in the source of {read}."
    return f"{said}\n\n{table(['engine', 'option', 'file: function, lines (release or commit)', 'read', 'note'], rows)}"


def questions_page() -> str:
    """What users asked in public, and what is measured for it."""
    return questions(_released())


def contacts_page() -> str:
    """What engines do in contacts with friction, and the errors of their impacts."""
    data = _released("contacts.nc")
    if data is None:
        return "No contacts of other codes are released with this version.\n"
    names = [f"{label} {version}" for label, version in zip(data["label"].values, data["version"].values, strict=True)]
    choices = ["law", "method", *(str(name) for name in data if str(name).startswith("choice_")), "left"]
    rows = [
        (name.removeprefix("choice_").replace("left", "left out"), *(f"`{word}`" if word else "" for word in data[name].values))
        for name in choices
    ]
    errors = []
    for case, label in zip(data["case"].values, data["case_label"].values, strict=True):
        for code, name in zip(data["code"].values, data["label"].values, strict=True):
            spin = data.sel(case=case, code=code, quantity="spin")
            at_step = [float(spin[kind].sel(division=40)) for kind in ("error", "step_error")]
            others = [float(spin["order"]), float(spin["off"]), float(spin["deviation"].max())]
            errors.append((label, name, *(number(x, 2) for x in (*at_step, *others))))
    head = ["impact", "code", "error, T/40", "by the step", "order", "by the law", "imitation"]
    beds = []
    for code, name in zip(data["code"].values, names, strict=True):
        values = [data[f"bed_{what}"].sel(code=code).values for what in ("height", "contacts", "settling_time")]
        shares = [number(100 * float(share.mean()), 2) for share in data["bed_share"].sel(code=code)]
        beds.append((name, *(f"{number(x.mean(), 3)} ± {number(x.std(ddof=1), 1)}" for x in values), *shares[:3]))
    of_bed = ["bed of grains", "height, m", "contacts", "settling, s", "normal, %", "tangential, %", "sliding, %"]
    tables = table(["", *names], rows), table(head, errors), table(of_bed, beds)
    read = [
        f"* {engine.label}: {engine.contacts.chosen_by}. Read: {'; '.join(place.text for place in engine.contacts.sources)}. "
        + " ".join(place.note for place in engine.contacts.sources if place.note)
        for engine in all_engines().values()
        if engine.contacts
    ]
    return f"Measured on {data.attrs['date']}.\n\n" + "\n".join((*tables, *read, ""))


def liquids_page() -> str:
    """Energies of our fluids in LAMMPS, its drift and the time of its steps."""
    data = _released("liquids_lammps.nc")
    if data is None:
        return "No liquids of other codes are released with this version.\n"
    rows = []
    for option in data["option"].values:
        row = data.sel(option=option)
        drifts = ["; ".join(number(float(x), 2) for x in row["drift"].sel(long_dt=dt)) for dt in data["long_dt"].values]
        method = METHODS[str(row["integrator"].item())]
        rows.append((f"`{option}`", f"[{method.label}](/_generated/methods/{method.key}.md)", *drifts))
    energies = [
        (str(label), f"{float(dt):g}", f"`{option}`", *(f"{x:.10f}" for x in values))
        for label, of_scene in zip(data["scene_label"].values, data["potential"].transpose("scene", ...), strict=True)
        for dt, of_step in zip(of_scene["dt"].values, of_scene.transpose("size", ...), strict=True)
        for option, values in zip(data["option"].values, of_step[:, [0, 10, -1]].values, strict=True)
    ]
    last = int(data["step"][-1])
    head = ["fix", "is", *(f"drift at {dt:g} fs, kT per ns and degree of freedom, two states" for dt in data["long_dt"].values)]
    said = f"LAMMPS {data.attrs['version']}, {data.attrs['date']}: {data.attrs['chosen_by']}."
    starts = ["fluid", "step", "fix", "potential energy at the start", "after 10 steps", f"after {last}"]
    return "\n".join((said, "", table(head, rows), table(starts, energies), ""))


def _released(name: str = "atlas.nc") -> Any:
    """A released file, or None."""
    path = HOME / "data/released" / name
    return read_dataset(path) if path.is_file() else None


def _torques(engine: Engine) -> Iterator[str]:
    """Where the torque of each load goes in, and what options cannot be run under it."""
    for load, text in engine.torques.items():
        yield f"{load}: {text}"
    options: dict[tuple[str, str], list[str]] = {}
    for name, option in engine.options.items():
        for why in dict.fromkeys(option.excluded.values()):
            left_out = ", ".join(load for load in option.excluded if option.excluded[load] == why)
            options.setdefault((left_out, why), []).append(name)
    for (left_out, why), names in options.items():
        yield f"{left_out}, not with {', '.join(names)}: {why}"


def _deviation(row: Any) -> str:
    free = row.sel(load="free")
    return f"{float(free['deviation']):.2g} / {float(free['runner_up_deviation']):.1g}"


def _order(value: float) -> str:
    return f"{value:.1f}" if isfinite(value) else "–"


def _error(value: float) -> str:
    return f"{value:.1g}" if isfinite(value) else "–"


def _drift(value: float) -> str:
    return "–" if isnan(value) else "∞" if not isfinite(value) else number(value, 2)
