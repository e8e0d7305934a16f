"""The tables of the engine atlas for the documentation, from the released file."""

import re
from collections.abc import Iterator
from math import isfinite, isnan
from typing import Any

import numpy as np

from polhode.interface.netcdf import read_dataset
from polhode.methods import METHODS
from polhode_engines import all_engines, by_recipe, wheels
from polhode_engines.advice import advice_of
from polhode_engines.candidates import label as label_of
from polhode_engines.cases import TIMES
from polhode_engines.protocol import LOADS, Engine, option_of
from polhode_engines.read_rows import MARK, READ
from polhode_engines.shipped import NAMES
from polhode_study.documentation.markdown import number, table
from polhode_study.documentation.questions import questions
from polhode_study.workflow.entry import HOME


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
    rows: list[tuple[str, ...]] = []
    for row in _rows(data):
        texts = {name: str(row[name].item()) for name in ("label", "version", "option", "method_label", "end", "precision")}
        single = " (single precision)" if texts["precision"] == "float32" else ""
        star = " ★" if int(row["is_default"]) else ""
        rows.append(
            (
                f"{texts['label']} {texts['version']}{single}",
                texts["option"] + star,
                texts["method_label"] if int(row["is_identified"]) else "not identified",
                " / ".join(_number(row[name].sel(load="free"), form) for name, form in DEVIATIONS.items()),
                " ".join(_number(row["q_order"].sel(load=load), ".1f") for load in LOADS),
                " ".join(_number(row["q_error"].sel(load="free", step=dt), ".1g") for dt in (0.01, 0.03, 0.1)),
                f"{_drift(float(row['energy_drift']))} / {_drift(float(row['momentum_drift']))}",
                texts["end"],
            )
        )
        if (str(row["key"].item()), texts["option"]) == (wheels.ENGINE, wheels.OPTION):
            rows.append(_with_wheel(texts["label"]))
    for reading in READ:
        order = f"{reading.reference.order_q} (of the method)"
        single = " (single precision)" if reading.precision == "float32" else ""
        option = reading.option + (" ★" if reading.is_default else "")
        rows.append(
            (f"{reading.label} {reading.commit}{single} †", option, reading.method_label, f"*{MARK}*", order, "–", "–", "–")
        )
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
        f"Measured on {data.attrs['date']}: {data.sizes['engine']} rows of {count} engines, {done} identified, and a "
        "spacecraft [with a reaction wheel](#a-reaction-wheel-in-basilisk), which is compared with ours. "
        f"Another {len(READ)} rows, at the end, are *{MARK}*: nothing in them is measured."
    )
    return f"{said}\n\n{table(head, rows)}\n{off}"


def shipped_page() -> str:
    """What engines do as they are shipped, in two tables: how bodies spin, and what limits that; then who was not measured."""
    data, declared = _released(), all_engines()
    spins, limits = [], []
    for i in np.flatnonzero(np.isfinite(data["shipped_is_single"].values)):
        row = data.isel(engine=int(i))
        law = str(row["shipped_damping_law"].item())
        value = {name: float(row[f"shipped_{name}"]) for name in NAMES if name not in ("damping_law", "moments")}
        option = str(row["option"].item()) + (" ★" if int(row["is_default"]) else "")
        name = (f"{row['label'].item()} {row['version'].item()}", option)
        growth = "none" if abs(value["ball"]) <= NO_GROWTH else _percent(value["ball"])
        damping = f"{value['damping']:.3g}: {law}" if law else "none"
        engine = declared.get(str(row["key"].item()))
        term = str(row["gyroscopic"].item()) + (f"; `{engine.switch}`" if engine and engine.switch else "")
        handle = MISSING if isnan(value["turns"]) else f"{value['turns']:.0f}"
        spins.append((*name, term, handle, damping, _percent(value["vector"]), growth, engine.reads if engine else MISSING))
        sleep = f"{value['sleep_below']:.2g} rad/s, after {value['sleep_after']:.2f} s" if value["sleep_below"] else "never"
        if value["sleep_reads"] > 0:
            sleep += f"; ω read is {value['sleep_reads']:.2g} of that at the start"
        turned = " / ".join(f"{value[turn]:.3f}" for turn in ("turn_of_1", "turn_of_2p5"))
        acting = row["shipped_moments"].values
        moments = MISSING if np.isnan(acting).any() else " ".join(f"{x:.4g}" for x in acting)
        numbers = "single" if value["is_single"] else "double"
        limits.append((*name, _limit(value["speed_limit"]), turned, sleep, _limit(value["longest_step"]), moments, numbers))
    head = ["engine", "option (★ default)"]
    of_spins = [
        *head,
        "gyroscopic term; its switch",
        f"T-handle: turns in 120 s (exact: {int(data.attrs['exact_turns'])})",
        "damping, 1/s: factor of ω",
        "change of **L** in 1000 s",
        "of the spin of a ball in 300 s",
        "ω read",
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
    measured = set(data["key"].values[np.isfinite(data["shipped_is_single"].values)].tolist())
    others = [engine.label for key, engine in declared.items() if key not in measured]
    said = f"Not measured as shipped: {', '.join(others)}.\n" if others else ""
    return f"{table(of_spins, spins)}\n{table(of_limits, limits)}\n{said}"


def handles() -> list[Any]:
    """A T-handle in the engines of the web: of each the row with the turns nearest to the exact ones, nearest engines first."""
    data, declared = _released(), all_engines()
    exact = int(data.attrs["exact_turns"])
    of_web = [row for row in _rows(data) if (engine := declared.get(str(row["key"].item()))) and engine.is_web]
    of_web.sort(
        key=lambda row: (abs(float(row["shipped_turns"]) - exact), float(row["shipped_vector"]), -int(row["is_default"]))
    )
    nearest: dict[str, Any] = {}
    for row in of_web:
        nearest.setdefault(str(row["key"].item()), row)
    return list(nearest.values())


def without_switch() -> list[str]:
    """The engines of the web in which no option turns a T-handle over."""
    return [str(row["label"].item()).partition(" (")[0] for row in handles() if not float(row["shipped_turns"])]


def handle_page() -> str:
    """The turns of a T-handle in the engines of the web."""
    return table(
        [
            "engine of the web",
            "set (★ as shipped)",
            f"turns in 120 s (exact: {int(_released().attrs['exact_turns'])})",
            "change of **L** in 1000 s",
            "long free spin: energy / momentum",
        ],
        [
            (
                f"{row['label'].item()} {row['version'].item()}",
                "★" if int(row["is_default"]) else str(row["option"].item()),
                f"{float(row['shipped_turns']):.0f}",
                _percent(float(row["shipped_vector"])),
                f"{_drift(float(row['energy_drift']))} / {_drift(float(row['momentum_drift']))}",
            )
            for row in handles()
        ],
    )


#: The deviation of the method that was identified, and of the next.
DEVIATIONS = {"deviation": ".2g", "runner_up_deviation": ".1g"}
#: What stands for a number that was not measured.
MISSING = "–"
#: A relative change of the angular momentum beyond which nothing is left of a free spin.
DIVERGED = 10.0
#: A relative change of a spin that is its rounding.
NO_GROWTH = 1e-5


def _percent(share: float) -> str:
    if share > DIVERGED:
        return "diverges"
    return MISSING if isnan(share) else f"{float(f'{100 * share:.2g}'):g} %"


def _limit(value: float) -> str:
    return MISSING if isnan(value) else f"{value:.4g}" if isfinite(value) else "none"


def advice_page() -> str:
    """What to do, for each row."""
    data, rows = _released(), []
    for row in _rows(data):
        order = float(row["q_order"].sel(load="free"))
        key, option, end, kind = (str(row[name].item()) for name in ("key", "option", "end", "gyroscopic"))
        rows.append((f"{row['label'].item()} {row['version'].item()}", option, advice_of(key, option, order, end, kind)))
    rows += [(f"{row.label} † {row.commit}", row.option, row.advice) for row in READ]
    return table(["engine and release († read, not run)", "option", "what to do"], rows)


def attach_page() -> str:
    """The lines that attach the exact rotor to a body of cannon-es, from the page with the T-handle."""
    page = (HOME / "examples" / "t-handle" / "index.html").read_text(encoding="utf-8")
    lines = re.search(r"^function attach\(.*?^\}\n", page, re.DOTALL | re.MULTILINE)
    assert lines is not None
    return f'```js\nimport {{ inertia_of, run }} from "./exact_rotor.mjs";\n\n{lines[0]}```\n'


def sources_page() -> str:
    """Where each engine has its step, and whether that was read."""
    data, rows, read, identified = _released(), [], 0, 0
    for row in _rows(data):
        key, option, label = (str(row[name].item()) for name in ("key", "option", "label"))
        known = option_of(key, option)
        places = "<br>".join(f"`{place.text}`" for place in known.sources) or "–"
        rows.append((label, option, places, "yes" if known.is_read else "no", known.notes))
        identified += int(row["is_identified"])
        read += int(row["is_identified"]) and known.is_read
    for engine in READ:
        places = "<br>".join(f"`{place.text}`" for place in engine.sources)
        rows.append((f"{engine.label} †", engine.option, places, "yes", f"{MARK}. {engine.note}"))
    said = f"Of the {identified} rows identified, the step was read in the source of {read}."
    return f"{said}\n\n{table(['engine', 'option', 'file: function, lines (release or commit)', 'read', 'note'], rows)}"


def questions_page() -> str:
    """What users asked in public, and what is measured for it."""
    return questions(_released())


def contacts_page() -> str:
    """What engines do in contacts with friction, and the errors of their impacts."""
    data = _released("contacts.nc")
    names = [f"{label} {version}" for label, version in zip(data["label"].values, data["version"].values, strict=True)]
    choices = ["law", "method", *(str(name) for name in data if str(name).startswith("choice_")), "left"]
    rows = [(_choice(name), *(f"`{word}`" if word else "" for word in data[name].values)) for name in choices]
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


def _choice(name: str) -> str:
    """A row of the choices of codes: a parameter of our laws by its name, or a word."""
    return f"`{name.removeprefix('choice_')}`" if name.startswith("choice_") else name.replace("left", "left out")


def liquids_page() -> str:
    """Energies of our fluids in LAMMPS, its drift and the time of its steps."""
    data = _released("liquids_lammps.nc")
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


def recipe_page() -> str:
    """What `polhode identify` says of each engine of the web from its own recipe, beside the atlas."""
    data, declared = _released(), all_engines()
    of_atlas = {
        (str(row["key"].item()), str(row["option"].item())): (str(row["method"].item()), int(row["is_default"]))
        for row in _rows(data)
    }
    rows, same = [], 0
    measured = by_recipe.read(HOME / by_recipe.RELEASED)
    for row in measured:
        known, is_default = of_atlas[row["engine"], row["option"]]
        methods, method = row["methods"].split(" = "), by_recipe.method_of(known)
        same += method in methods
        rows.append(
            (
                f"{declared[row['engine']].label} {row['version']}",
                row["option"] + " ★" * is_default,
                label_of(method if method in methods else methods[0]) if int(row["identified"]) else "not identified",
                f"{row['deviation']} / {row['runner_up_deviation']}",
                row["fitted"] or "nothing",
                "yes" if method in methods else f"no: {label_of(method)}",
            )
        )
    head = ["engine of the web", "option (★ default)", "integrator", "deviation / next", "fitted", "as in the atlas"]
    return f"{table(head, rows)}\nIn {same} of {len(measured)} rows it is the method of the atlas.\n"


def wheels_page() -> str:
    """Errors and orders of Basilisk and of polhode with a reaction wheel, by what sets the torque of its motor."""
    measured = wheels.read(HOME / wheels.RELEASED)
    engine, date = f"{all_engines()[measured[0]['engine']].label} {measured[0]['version']}", measured[0]["date"]
    theirs, ours = (wheels.orders(measured, name) for name in ("error", "polhode"))
    rows = []
    for motor in wheels.MOTORS:
        largest, *_ = (row for row in measured if row["motor"] == motor and float(row["dt"]) == max(wheels.STEPS))
        error, own_error, apart = (number(float(largest[name]), 2) for name in wheels.ANGLES)
        rows.append((motor, f"{theirs[motor]:.1f}", error, f"{ours[motor]:.1f}", own_error, apart))
    head = ["torque of the motor", *(f"{who}: {what}" for who in (f"{engine}, RK4", "ours") for what in ("order", "error"))]
    times = ", ".join(f"{t:g}" for t in TIMES)
    said = (
        f"Measured on {date}. Errors and differences are angles in rad, means over the times {times} s, at steps of "
        f"{max(wheels.STEPS):g} s."
    )
    return "\n".join((table([*head, "apart"], rows), said, ""))


def _with_wheel(label: str) -> tuple[str, ...]:
    """The row of an engine with a reaction wheel: its orders by the torque of the motor."""
    measured = wheels.read(HOME / wheels.RELEASED)
    first, *_ = (row for row in measured if row["motor"] == next(iter(wheels.MOTORS)) and float(row["dt"]) == 0.1)
    orders = f"by the torque of the motor: {wheels.orders_in_words(measured)}"
    errors = f"{MISSING} {MISSING} {float(first['error']):.1g}"
    option = f"{wheels.OPTION}, with a reaction wheel"
    return f"{label} {first['version']}", option, "*compared*", MISSING, orders, errors, MISSING, MISSING


def _released(name: str = "atlas.nc") -> Any:
    """A released file, which is part of a checkout."""
    return read_dataset(HOME / "data/released" / name)


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


def _rows(data: Any) -> Iterator[Any]:
    """The rows of the atlas."""
    return (data.isel(engine=i) for i in range(data.sizes["engine"]))


def _number(value: Any, form: str) -> str:
    return format(float(value), form) if isfinite(value) else MISSING


def _drift(value: float) -> str:
    return "–" if isnan(value) else "∞" if not isfinite(value) else number(value, 2)
