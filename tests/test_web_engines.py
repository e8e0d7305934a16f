"""Engines of the web: the worker for node, what is missing without node, declarations, and what is measured as shipped."""

import math
import os
import re
import shutil
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation
from scipy.special import ellipk

from polhode.cli import main
from polhode_engines import all_engines, atlas, by_recipe, cases, environments, identify, is_installed, protocol, shipped
from polhode_engines.environments import EngineError, Run, Spun

HOME = Path(__file__).parents[1]
WEB = {key: engine for key, engine in all_engines().items() if engine.is_web}
#: An engine for node: the torque changes omega in the lab, then an exact rotation; in single precision under one option.
FAKE = """
export const version = (packages, option) => `1.0 ${option}`;
export const load = async () => ({});
const times = ([a, b, c, d], [w, x, y, z]) => [
    a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y, a * y - b * z + c * w + d * x, a * z + b * y - c * x + d * w];

export function start(engine, option, { inertia, q, omega, dt, isShipped }) {
    const round = option === "single" ? Math.fround : (x) => x;
    let at = q.map(round), rate = omega.map(round);
    return {
        step(torque) {
            if (option === "error") throw new RangeError("no such thing");
            if (option === "crash" && torque) process.abort();
            if (option === "infinite") rate = [Infinity, 0, 0];
            if (torque) rate = rate.map((x, k) => round(x + (dt * torque[k]) / inertia[0]));
            const size = Math.hypot(...rate), half = size * dt / 2;
            if (size) at = times([Math.cos(half), ...rate.map((x) => Math.sin(half) / size * x)], at).map(round);
            if (isShipped) rate = rate.map((x) => 0.5 * x);
            console.log("an engine that talks");
        },
        state: () => [at, rate],
    };
}
"""
DECLARED = """
label: fake
options:
  double: {chosen_by: x}
  single: {chosen_by: x}
  error: {chosen_by: x}
  crash: {chosen_by: x}
  infinite: {chosen_by: x}
switched_off: nothing
torques: {constant: added, lab: added, velocity: added}
"""
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason=f"node is not installed; {environments.GET_NODE}")


@pytest.fixture(scope="module")
def atlas_of_release():
    with xr.open_dataset(HOME / "data" / "released" / "atlas.nc") as data:
        return data.load()


@pytest.fixture
def fake(tmp_path):
    (tmp_path / "fake.mjs").write_text(FAKE)
    (tmp_path / "fake.yaml").write_text(DECLARED)
    return protocol.own_engine(tmp_path / "fake.mjs")


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """An empty folder as the only one with programs."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    environments.node_version.cache_clear()
    return folder


def program(folder: Path, name: str, lines: str) -> None:
    """A program in that folder."""
    (folder / name).write_text(f"#!/bin/sh\n{lines}\n")
    (folder / name).chmod(0o755)


# the worker


@needs_node
def test_the_worker_for_node_takes_steps_under_every_load(fake):
    """Against rotations of SciPy: torques in the lab of the state before the step, omega back in the body."""
    q0, omega0, inertia, dt = np.array([0.5, -0.1, 0.7, 0.5]), np.array([0.3, 0.4, 1.0]), (2.0, 2.0, 2.0), 0.1
    q0 /= np.linalg.norm(q0)
    runs = [
        Run(load, value, inertia, tuple(q0), tuple(omega0), dt, (0, 3))
        for load, value in (("free", (0.0,)), ("lab", (0.2, -0.1, 0.3)), ("constant", (0.2, -0.1, 0.3)), ("velocity", (0.4,)))
    ]
    version, outcomes = environments.spin(fake, "double", runs)
    assert version == "1.0 double" and [outcome.error for outcome in outcomes] == [""] * 4
    for run, outcome in zip(runs, outcomes, strict=True):
        at = Rotation.from_quat(np.roll(q0, -1))
        rate = at.apply(omega0)
        for _ in range(3):
            value = np.array(run.value)
            torque = {"free": 0 * rate, "lab": value, "velocity": -value[0] * rate}.get(run.load)
            rate = rate + dt * (at.apply(value) if torque is None else torque) / 2
            at = Rotation.from_rotvec(dt * rate) * at
        assert cases.angle(outcome.q[1], np.roll(at.as_quat(), 1)) < 1e-14
        assert outcome.omega[1] == pytest.approx(at.inv().apply(rate), abs=1e-14)
        assert outcome.omega[0] == pytest.approx(omega0, abs=1e-15) and outcome.is_single is False


@needs_node
def test_the_node_worker_sees_single_precision(fake):
    run = cases.ladder_run("free", 0.1)
    _, (outcome,) = environments.spin(fake, "single", [run])
    assert outcome.is_single is True
    _, (outcome,) = environments.spin(fake, "double", [replace(run, samples=(0, 1))], function="shipped")
    assert np.linalg.norm(outcome.omega[1]) == pytest.approx(np.linalg.norm(outcome.omega[0]) / 2)


@needs_node
def test_errors_crashes_and_infinities_in_node_are_recorded(fake):
    runs = [cases.ladder_run(load, 0.1) for load in ("free", "constant", "free")]
    _, outcomes = environments.spin(fake, "error", runs[:1])
    assert outcomes[0].error == "RangeError: no such thing"
    _, outcomes = environments.spin(fake, "crash", runs)
    assert "crashed (SIGABRT)" in outcomes[1].error and outcomes[0].error == outcomes[2].error == ""
    _, outcomes = environments.spin(fake, "infinite", runs[:1])
    assert not outcomes[0].error and np.isnan(outcomes[0].omega).all()


@needs_node
def test_a_user_s_node_adapter_is_listed_and_refused_alike(fake, capsys):
    assert main(["atlas", str(fake.path), "--list"]) == 0
    assert "fake: fake, float64, your own\n    double: x" in capsys.readouterr().out
    (fake.path.parent / "fake.yaml").write_text(DECLARED + "requirements: [numpy==2.0.0]\n")
    assert main(["atlas", str(fake.path)]) == 2
    assert "fake.mjs is executed by node: declare npm instead of requirements" in capsys.readouterr().err


# without node


def test_without_node_a_message_says_what_to_install(programs, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path / "cache"))
    assert not is_installed(WEB["havok"])
    with pytest.raises(EngineError, match=r"there is none: install Node\.js 18 or newer with npm"):
        environments.install(WEB["havok"])
    version, (outcome,) = environments.spin(WEB["havok"], "as shipped", [cases.ladder_run("free", 0.1)])
    assert version == "" and "engines of the web run in node, and there is none" in outcome.error
    assert main(["atlas", "havok", "--install", "--results", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "havok: not installed, left out; engines of the web run in node, and there is none: install Node.js 18" in said
    program(programs, "node", "echo v16.20.2")
    assert f"node 18 or newer, and {programs / 'node'} is 16" in environments.how_to_install(WEB["havok"])
    environments.node_version.cache_clear()
    program(programs, "node", "echo v18.0.0")
    assert environments.how_to_install(WEB["havok"]) == "polhode atlas havok --install"
    with pytest.raises(EngineError, match=r"installed with npm, and there is none: install Node\.js"):
        environments.install(WEB["havok"])


def test_npm_installs_pinned_packages_in_their_folder(programs, tmp_path, monkeypatch):
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path / "cache"))
    program(programs, "node", "echo v20.1.0")
    program(programs, "npm", 'echo "$@" > "$3/asked"')
    engine = WEB["rapier_web"]
    environments.install(engine)
    folder = environments.place(engine)
    asked = (folder / "asked").read_text().split()
    assert asked[:3] == ["install", "--prefix", str(folder)] and asked[-2:] == list(engine.npm)
    assert {"--save-exact", "--ignore-scripts"} <= set(asked) and not is_installed(engine)
    for name, version in (("@dimforge/rapier3d-compat", "0.21.0"), ("rapier3d-compat-0.19.3", "0.19.2")):
        (folder / "node_modules" / name).mkdir(parents=True)
        (folder / "node_modules" / name / "package.json").write_text(f'{{"version": "{version}"}}')
    assert not is_installed(engine), "of a package there is another release"
    (folder / "node_modules" / name / "package.json").write_text('{"version": "0.19.3"}')
    assert is_installed(engine)
    program(programs, "npm", "echo nothing there >&2; exit 1")
    with pytest.raises(EngineError, match=r"could not be installed \(@dimforge/rapier3d-compat@0.21.0 .*\): nothing there"):
        environments.install(engine)


# declarations


@pytest.mark.parametrize(
    ("suffix", "line", "message"),
    [
        (".mjs", "npm: [cannon-es]", "package 'cannon-es' must be pinned, as in cannon-es@0.20.0"),
        (".mjs", "npm: [cannon-es@latest]", "must be pinned"),
        (".mjs", "npm: [cannon-es@^0.20.0]", "must be pinned"),
        (".py", "npm: [cannon-es@0.20.0]", "npm belongs to an adapter that node executes, fake.mjs"),
        (".mjs", "debian: [yade]", "is executed by node: declare npm instead of debian"),
        (".mjs", "npm: [cannon-es@0.20.0]\nrequirements: [numpy==2.0.0]", "declare one of requirements"),
        (".mjs", "python: python3", "python belongs to an adapter of one's own in Python"),
    ],
)
def test_a_wrong_declaration_of_packages_is_refused(tmp_path, suffix, line, message):
    (tmp_path / f"fake{suffix}").write_text(FAKE)
    (tmp_path / "fake.yaml").write_text(f"{DECLARED}{line}\n")
    with pytest.raises(ValueError, match=message):
        protocol.own_engine(tmp_path / f"fake{suffix}")


def test_node_adapters_export_what_the_worker_calls():
    assert set(WEB) >= {"havok", "jolt", "physx_web", "cannon_es", "oimo", "crashcat", "ammo", "rapier_web"}
    for key, engine in WEB.items():
        text = engine.path.read_text(encoding="utf-8")
        exported = set(re.findall(r"^export (?:const|(?:async )?function) (\w+)", text, re.MULTILINE))
        assert exported == {"version", "load", "start"}, key
        assert any(name in text for name in engine.pins) and "import " not in text, key
        assert "isShipped" in text, key


# identification


def test_a_torque_tells_apart_what_the_free_body_does_not():
    """By hand: three methods fit the free body, the next is not a thousand times further away; under a torque one fits."""
    free = identify.Identity(False, ("a_new", "a_new_4x", "b"), 10.0, "c", 9000.0)
    lab = identify.Identity(True, ("a_new_4x",), 5.0, "b", 1e5)

    def methods(**identities):
        return atlas.EngineRow.methods.fget(SimpleNamespace(identities=identities))

    assert methods(free=free, lab=lab) == ("a_new_4x",)
    assert methods(free=free) == methods(free=replace(free, deviation=101.0), lab=lab) == ()
    assert methods(free=replace(free, identified=True)) == free.methods
    assert methods(free=free, lab=replace(lab, methods=("other",))) == ()
    far = np.full((len(cases.STEPS), 2), 1.0)
    assert atlas._gyroscopic(far, replace(free, methods=("no_gyroscopic_exp_new",))) == "no"
    assert atlas._gyroscopic(far, replace(free, methods=("no_gyroscopic_exp_new",), deviation=101.0)) == "other"
    assert atlas._gyroscopic(far, replace(free, methods=("no_gyroscopic_exp_new", "b"))) == "other"
    assert atlas.preferred(("a_new_4x", "a_old", "a_new")) == ["a_new"], "the simplest"


def test_steps_above_the_limit_of_an_engine_are_not_judged():
    engine, run = WEB["ammo"], replace(cases.ladder_run("free", 0.5), samples=(0, 1, 2, 3))
    omega = np.array([[1.0, 0, 0], [1.5, 0, 0], [1.6, 0, 0], [1.0, 0, 0]])
    spun = Spun(np.tile([1.0, 0, 0, 0], (4, 1)), omega)
    cut, of_cut = atlas._below_limit(engine, run, spun)
    assert cut.samples == (0, 1) and of_cut.omega.tolist() == omega[:2].tolist(), "1.6 rad/s in 0.5 s are more than pi/4"
    assert atlas._below_limit(WEB["jolt"], run, spun)[0] == run


# what is measured as shipped


def toy(law="1 - c dt", rate=0.0, place="after", limit=math.inf, bend=lambda turn: turn, longest=math.inf, drowsy=0.0):
    """An engine whose body turns about z alone: what it returns for a run."""
    factors = {
        "1 - c dt": lambda dt: 1 - rate * dt,
        "1/(1 + c dt)": lambda dt: 1 / (1 + rate * dt),
        "exp(-c dt)": lambda dt: math.exp(-rate * dt),
        "(1 - c)^dt": lambda dt: (1 - rate) ** dt,
    }

    def spun(run: Run) -> Spun:
        dt, angle, omega = min(run.dt, longest), 0.0, np.array(run.omega0, float)
        begun, still, q, rates = float(np.linalg.norm(omega)), 0.0, [], []
        torque = np.array(run.value) if run.load == "constant" else np.zeros(3)
        for n in range(run.samples[-1] + 1):
            if n in run.samples:
                q.append([math.cos(angle / 2), 0, 0, math.sin(angle / 2)])
                rates.append(omega.copy())
            factor = factors[law](run.dt)
            omega += run.dt * torque / run.inertia
            new = factor * omega
            new *= min(1.0, limit / max(np.linalg.norm(new), 1e-300))
            still = still + run.dt if begun < drowsy else 0.0
            if still <= 0.5:
                angle += bend(dt * float(np.linalg.norm(omega if place == "after" else new)))
            omega = new
        return Spun(np.array(q), np.array(rates), is_single=True)

    return spun


def measured(monkeypatch, **features):
    spun = toy(**features)
    short = {"BETWEEN_FOR": 2, "BALL_FOR": 2, "T_HANDLE_FOR": 2}
    for name, value in short.items():
        monkeypatch.setattr(shipped, name, value)
    monkeypatch.setattr(shipped, "spin", lambda engine, option, runs, **_: ("1", [spun(run) for run in runs]))
    seen = []
    row = shipped.measure(WEB["oimo"], "as shipped", lambda: seen.append(1))
    assert len(seen) == shipped.jobs()
    return row


@pytest.mark.parametrize("law", shipped.RATES)
@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("bend", [lambda turn: turn, lambda turn: 2 * math.atan(turn / 2)], ids=["exact", "linear"])
def test_a_damping_is_measured_with_its_law_and_place(law, place, bend):
    spun = toy(law, 0.03, place, bend=bend)
    runs = {1 / number: spun(shipped.requests()[f"damping {number}"]) for number in (30, 60)}
    rate, said = shipped.damping_of(runs)
    assert rate == pytest.approx(0.03, rel=1e-9) and said == f"{law}, {place} the rotation"


def test_disproportionate_damping_is_said_to_be_such():
    """As Bullet's multibodies do: omega loses c (1 + omega) dt of itself in a step."""
    c, runs = 0.04, {}
    for number in (30, 60):
        speeds, run = [shipped.AWAKE], shipped.requests()[f"damping {number}"]
        for _ in range(run.samples[-1]):
            speeds.append(speeds[-1] * (1 - c * (1 + speeds[-1]) / number))
        omega = np.array([[0, 0, speeds[n]] for n in run.samples])
        runs[1 / number] = Spun(np.tile([1.0, 0, 0, 0], (3, 1)), omega)
    rate, law = shipped.damping_of(runs)
    assert rate == pytest.approx(c * (1 + shipped.AWAKE)) and law == "at 3 rad/s, and not in proportion to ω"


def test_runs_too_long_are_left_out_and_sleep_is_tested(monkeypatch):
    taken, spun = [], toy()

    def spin(engine, option, runs, **_):
        taken.extend(runs)
        return "1", [spun(run) for run in runs]

    monkeypatch.setattr(shipped, "spin", spin)
    slow = replace(WEB["oimo"], most_steps=1000)
    row = shipped.measure(slow, "as shipped")
    assert max(run.samples[-1] for run in taken) == 600 and len(taken) == 10
    assert math.isnan(row.turns) and math.isnan(row.vector) and math.isnan(row.ball)
    assert row.damping == row.sleep_below == 0 and row.moments == pytest.approx(cases.INERTIA)


def test_a_spin_that_diverges_is_not_one_that_was_not_measured():
    runs = shipped.requests() | shipped.long_requests()
    runs |= {name: replace(runs[name], samples=runs[name].samples[:3]) for name in ("t-handle", "vector")}
    out = {name: toy()(run) for name, run in runs.items()}
    out["vector"] = replace(out["vector"], omega=np.full((3, 3), np.nan))
    assert shipped.judged(out, 0.0).vector == math.inf
    assert math.isnan(shipped.judged(out | {"vector": shipped.left_out(runs["vector"])}, 0.0).vector)


def test_limits_sleep_and_shortened_steps_are_measured(monkeypatch):
    row = measured(monkeypatch, limit=47.0, longest=0.04, drowsy=0.35, bend=lambda turn: min(turn, 0.7))
    assert row.speed_limit == pytest.approx(47) and row.longest_step == pytest.approx(0.04)
    assert (row.turn_of_1, row.turn_of_2p5) == pytest.approx((0.7, 0.7))
    assert row.sleep_below == pytest.approx(0.35, rel=1e-3) and row.sleep_after == pytest.approx(0.5, abs=1 / 60)
    assert row.sleep_reads == pytest.approx(1) and row.moments == pytest.approx(cases.INERTIA) and row.is_single == 1
    assert (row.damping, row.damping_law, row.turns, row.ball) == (0.0, "", 0.0, 0.0)


def test_an_engine_without_limits_has_none(monkeypatch):
    row = measured(monkeypatch, law="(1 - c)^dt", rate=0.01, place="before")
    assert row.speed_limit == row.longest_step == row.sleep_after == math.inf and row.sleep_below == 0
    assert math.isnan(row.sleep_reads) and row.damping == pytest.approx(0.01)
    assert row.ball == pytest.approx(0.99**2 - 1) and row.turn_of_2p5 == pytest.approx(2.5 * 0.99 ** (1 / 60))
    still = measured(monkeypatch, rate=-1e-3)
    assert (still.damping, still.damping_law) == (0.0, ""), "a spin that grows is not damped"


def test_the_exact_t_handle_has_its_elliptic_period():
    (x, y, z), w = shipped.THREE, np.array(shipped.T_HANDLE)
    moments = np.array([x, y, z])
    double, square = float(moments @ w**2), float((moments * w) @ (moments * w))
    # About the axis with the larger of the two constants the momentum never turns over.
    low, high = square - double * x, double * z - square
    m = (y - x) * high / ((z - y) * low) if high * (y - x) < low * (z - y) else (z - y) * low / ((y - x) * high)
    rate = math.sqrt(max((z - y) * low, (y - x) * high) / (x * y * z))
    assert shipped.exact_turns() == pytest.approx(shipped.T_HANDLE_FOR / (2 * ellipk(m) / rate), abs=1)
    assert shipped.exact_turns() == 31


def test_every_number_has_a_name_and_unnamed_rows_keep_theirs(monkeypatch):
    monkeypatch.setattr(atlas, "_errors_of", lambda method: np.zeros(len(cases.STEPS)))
    assert [*shipped.NAMES] == [field.name for field in fields(shipped.Shipped)]
    with xr.open_dataset(Path(__file__).parents[1] / "data" / "released" / "atlas.nc") as data:
        released = data.load()
    mine = ~np.isin(released["key"].values.astype(str), list(WEB))
    old = released.isel(engine=np.flatnonzero(mine)).drop_vars([name for name in released if str(name).startswith("shipped_")])
    new = released.isel(engine=[0]).assign(key=("engine", ["zebra"]))
    for name in shipped.NAMES:
        values = [""] if name == "damping_law" else [[1.0] * 3] if name == "moments" else [1.0]
        new[f"shipped_{name}"] = (("engine", "axis") if name == "moments" else "engine", values)
    both = atlas.joined([old, new])
    before = both.isel(engine=slice(None, -1))
    measured = [name for name in old if name not in ("method_label", "method_q_error", "advice", "source", "source_read")]
    assert all(before[name].equals(old[name]) for name in measured) and len(measured) > 25
    assert np.isnan(before["shipped_moments"]).all() and set(before["shipped_damping_law"].values) == {""}


def test_the_released_rows_of_the_web_are_those_declared():
    with xr.open_dataset(Path(__file__).parents[1] / "data" / "released" / "atlas.nc") as data:
        data = data.load()
    rows = {f"{key} {option}" for key, engine in WEB.items() for option in engine.options}
    assert rows <= set(map(str, data["engine"].values))
    term = {str(row): str(kind) for row, kind in zip(data["engine"].values, data["gyroscopic"].values, strict=True)}
    turning = {row for row in rows if term[row] == "yes"}
    assert turning == {"ammo as shipped", "crashcat applyGyroscopicForce", "jolt mApplyGyroscopicForce", "rapier_web 0.21.0"}
    for row in rows:
        turned = float(data["shipped_turns"].sel(engine=row))
        assert (turned > 0) == (row in turning) and np.isfinite(data["shipped_moments"].sel(engine=row)).all(), row
        declared = WEB[row.split()[0]].options[row.partition(" ")[2]].damping
        assert float(data["shipped_damping"].sel(engine=row)) == pytest.approx(declared, rel=1e-4, abs=1e-6), row
        single = WEB[row.split()[0]].precision == "float32"
        assert float(data["shipped_is_single"].sel(engine=row)) == single, row


def test_the_page_says_what_is_shipped():
    from polhode_study.documentation.engines import shipped_page

    text = shipped_page()
    assert "| Havok (web) 1.3.14 | as shipped ★ | no | 0 | 0.1: 1 - c dt, after the rotation |" in text
    assert "nan" not in text and "inf" not in text and os.linesep * 3 not in text


# from the recipe of `polhode identify`


@needs_node
def test_the_recipe_runs_an_engine_in_the_place_of_its_step(fake):
    """The engine turns every body as a ball of its first moment, which the rows under a torque tell."""
    fake.path.write_text(FAKE.replace("if (isShipped)", "if (false)"))
    version, answer = by_recipe.answer_of(fake, "single")
    assert version == "1.0 single" and answer.identified and "no_gyroscopic_exp_new" in answer.methods
    assert answer.precision == "single" and answer.deviation < 100 and len(answer.fitted) == 1
    assert "under the torque (lab) are 0.6 0.6 0.6, where 0.6 1 1.4 are given" in answer.fitted[0]
    with pytest.raises(EngineError, match=r"fake \(error\): .*RangeError: no such thing"):
        by_recipe.answer_of(fake, "error")


@pytest.mark.parametrize("text", ["a", "a = c", "not identified (closest: a)"])
def test_a_row_of_the_atlas_names_a_method(text):
    assert by_recipe.method_of(text) == "a"


def test_rows_of_engines_that_are_not_installed_stay(programs):
    kept_row = {"engine": "oimo", "option": "as shipped"}
    assert by_recipe.rows_of([kept_row, {"engine": "gone", "option": "x"}]) == [kept_row]


def test_each_recipe_names_its_step_as_the_atlas_does(atlas_of_release):
    named = {(row["engine"], row["option"]): row for row in by_recipe.read(HOME / by_recipe.RELEASED)}
    assert set(named) == {(key, option) for key, engine in WEB.items() for option in engine.options}
    for (key, option), row in named.items():
        method = by_recipe.method_of(str(atlas_of_release["method"].sel(engine=f"{key} {option}").item()))
        assert row["identified"] == "1" and method in row["methods"].split(" = "), (row, method)
        # Laws of a damping differ by less in single precision.
        assert float(row["runner_up_deviation"]) > (100 if WEB[key].options[option].damping else 1000), row
        # The damping that the engine declares is the one that its rows tell, and none where there is none.
        rates = [float(rate) for rate in re.findall(r"at the rate c = ([\d.]+)/s", row["fitted"])]
        assert rates == ([WEB[key].options[option].damping] if WEB[key].options[option].damping else []), row


@pytest.mark.thorough
@pytest.mark.parametrize(("key", "option"), [(key, option) for key, engine in WEB.items() for option in engine.options])
def test_an_installed_engine_is_named_from_its_recipe(key, option):
    engine = WEB[key]
    if not is_installed(engine):
        pytest.skip(f"{key} is not installed; {environments.how_to_install(engine)}")
    (before,) = [row for row in by_recipe.read(HOME / by_recipe.RELEASED) if (row["engine"], row["option"]) == (key, option)]
    now = by_recipe.row_of(engine, option)
    same = ("version", "identified", "methods", "fitted")
    assert {name: now[name] for name in same} == {name: before[name] for name in same}
    assert float(now["deviation"]) == pytest.approx(float(before["deviation"]), rel=0.3)
