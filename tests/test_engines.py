"""The engine atlas: adapters, processes, identification, measures; with none of the engines installed, and with some."""

import ast
import math
import re
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

import polhode
from polhode.cli import main
from polhode.fits.tumbling import tumbling
from polhode_engines import (
    all_engines,
    atlas,
    cases,
    environments,
    identify,
    is_installed,
    protocol,
    sampling,
    shipped,
    wheels,
    worker,
)
from polhode_engines.advice import measured_advice
from polhode_engines.candidates import candidate, candidates
from polhode_engines.environments import Run, Spun
from polhode_engines.read_rows import READ
from polhode_engines.sources import Source

ENGINES = all_engines()
#: An engine made of numpy: an explicit kick of omega in the body, the exact rotation with the new one, in single precision.
FAKE = """
import numpy as np


class Adapter:
    def version(self):
        return "1.0"

    def run(self, option, case, dt, samples):
        import os
        import time

        if option == "crash" and case.load == "constant":
            os.abort()
        if option == "slow" and case.load == "constant":
            time.sleep(60)
        if option == "error":
            raise RuntimeError("no such thing")
        print("an engine that talks")
        f = np.float32
        inertia, q, w = np.array(case.inertia), np.array(case.q0), np.array(case.omega0)
        torque = np.array(case.value) if case.load == "constant" else np.zeros(3)
        factor = 1.001 if option == "mutant" else 1.0
        out, n = [], 0
        for wanted in samples:
            while n < wanted:
                q, w = q.astype(f).astype(float), w.astype(f).astype(float)
                w = w + dt * (torque - factor * np.cross(w, inertia * w)) / inertia
                a = np.linalg.norm(w) * dt / 2
                r = np.array([np.cos(a), *(np.sin(a) / (a / dt * 2) * w)])
                v = np.cross(q[1:], r[1:]) + q[0] * r[1:] + r[0] * q[1:]
                q = np.array([q[0] * r[0] - q[1:] @ r[1:], *v])
                q, n = q / np.linalg.norm(q), n + 1
            out.append((q.astype(f), w.astype(f)))
        return np.array([q for q, _ in out]), np.array([w for _, w in out])
"""


#: What is declared of it.
DECLARED = f"""
label: fake
requirements: [numpy=={np.__version__}]
module: numpy
options:
  usual: {{chosen_by: as it is}}
  mutant: {{chosen_by: with a gyroscopic term 0.1 % too strong}}
  crash: {{chosen_by: ""}}
  slow: {{chosen_by: ""}}
  error: {{chosen_by: ""}}
precision: float32
switched_off: nothing
torques: {{constant: added}}
"""


def written(folder: Path, code: str = FAKE, text: str = DECLARED) -> Path:
    """The adapter of a fake engine, with its declarations beside it."""
    path = folder / "fake.py"
    path.write_text(code)
    path.with_suffix(".yaml").write_text(text)
    return path


@pytest.fixture
def fake(tmp_path):
    return protocol.read(written(tmp_path))


@pytest.fixture(scope="module")
def released():
    with xr.open_dataset(Path(__file__).parents[1] / "data" / "released" / "atlas.nc") as data:
        return data.load()


spin = partial(environments.spin, python=Path(sys.executable))


def stepped(key: str, run: Run, precision: str, stored: bool = False) -> Spun:
    """What an engine would return that runs one of our methods, with its state rounded after each step."""
    method = candidate(key)
    driver = identify.driver_of(method, run)
    q, omega = run.q0, run.omega0
    rows, round_off = [(q, omega)], np.dtype(precision).type
    begin = identify.stored if stored else identify.synchronous
    for _ in run.samples[1:]:
        state = driver.step(begin(driver, None, q, omega), 0)
        q, omega = (state[:4], driver.stored(state)) if stored else driver.read(state, 1)
        q, omega = (tuple(float(round_off(x)) for x in vector) for vector in (q, omega))
        rows.append((q, omega))
    return Spun(np.array([q for q, _ in rows]), np.array([w for _, w in rows]))


# adapters


def test_every_engine_declares_what_it_must_and_has_an_adapter():
    assert len(ENGINES) >= 10
    assert set(ENGINES) == {path.stem for path in protocol.FOLDER.glob("*.yaml")}
    for key, engine in ENGINES.items():
        assert engine.path.stem == key and engine.switched_off and engine.repository.count("/") == 1
        if engine.is_web:
            continue
        adapter = worker.load(engine.path).Adapter
        assert callable(adapter.version) and callable(adapter.run), key


def test_adapters_import_nothing_that_an_engine_does_not_have():
    """The Python of the engine executes them; and polhode reads them where there is no engine."""
    shared = [environments.WORKER.with_name(f"{name}.py") for name in worker.SHARED]
    allowed = {"numpy", *(f"polhode_{name}" for name in worker.SHARED)}
    for path in [environments.WORKER, *shared, *(engine.path for engine in ENGINES.values() if not engine.is_web)]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            assert not any(name.partition(".")[0] == "polhode" for name in imported(node)), path
        top = {name.partition(".")[0] for node in tree.body for name in imported(node)} - set(sys.stdlib_module_names)
        assert top <= (allowed if path.parent.name == "adapters" else {"numpy"}), path


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return ["." * node.level + (node.module or "")]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def test_the_rotations_of_adapters_are_those_of_the_library():
    """Against the kernels, which have other formulas: to the lab and back, the matrix, and its quaternion but for the sign."""
    from polhode.algebra.quaternion import normalise, to_body, to_lab
    from polhode_engines import rotations

    drawn = np.random.default_rng(5)
    for _ in range(20):
        q, v = np.array(normalise(tuple(drawn.normal(size=4)))), drawn.normal(size=3)
        assert rotations.rotated(q, v) == pytest.approx(to_lab(tuple(q), tuple(v)), abs=1e-14)
        assert rotations.turned_back(q, v) == pytest.approx(to_body(tuple(q), tuple(v)), abs=1e-14)
        assert rotations.matrix(q) @ v == pytest.approx(to_lab(tuple(q), tuple(v)), abs=1e-14)
        converted = rotations.quaternion(rotations.matrix(q))
        assert converted * np.sign(converted @ q) == pytest.approx(q, abs=1e-14)
        for load, value, wanted in (("lab", v, v), ("constant", v, to_lab(tuple(q), tuple(v)))):
            assert rotations.lab_torque(SimpleNamespace(load=load, value=value), q, v) == pytest.approx(wanted, abs=1e-14)
        drag = rotations.lab_torque(SimpleNamespace(load="velocity", value=(2.0,)), q, v)
        assert drag == pytest.approx(to_lab(tuple(q), tuple(-2 * v)), abs=1e-14)
    assert rotations.rotated(q, np.eye(3)) == pytest.approx(rotations.matrix(q).T, abs=1e-15)
    assert np.isnan(rotations.quaternion(np.full((3, 3), np.nan))).all()


def test_the_loop_of_adapters_reads_after_the_steps_wanted():
    taken = []
    q, omega = sampling.stepped((0, 1, 4), lambda: taken.append(1), lambda: ([len(taken)] * 4, [-len(taken)] * 3))
    assert q.tolist() == [[n] * 4 for n in (0, 1, 4)] and (omega == -q[:, :3]).all() and len(taken) == 4


def test_every_pinned_engine_is_an_extra_of_the_package():
    import tomllib

    extras = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for key, engine in ENGINES.items():
        if engine.requirements:
            assert extras.get(key) == list(engine.requirements)


def test_the_order_of_the_advice_is_the_order_measured(released):
    """What the sentences say of order and of a free spin, against the released rows."""
    words = {"First": 1, "Second": 2, "Third": 3, "Fourth": 4}
    said = 0
    for i in range(released.sizes["engine"]):
        row = released.isel(engine=i)
        key, option, end = (str(row[name].item()) for name in ("key", "option", "end"))
        text = protocol.option_of(key, option).advice
        if not text:
            continue
        said += 1
        order, drift = float(row["q_order"].sel(load="free")), float(row["energy_drift"])
        first = re.match(r"(First|Second|Third|Fourth) order", text)
        assert (first is not None) == math.isfinite(order), (key, option)
        assert first is None or order == pytest.approx(words[first[1]], abs=0.2), (key, option, text)
        assert ("gains energy" in text) == (end == "diverges"), (key, option, text)
        assert "loses energy" not in text or (drift < 0 and end == "largest moment"), (key, option, text)
        assert ("stops a free spin" in text) == (end == "stops"), (key, option, text)
        axis = re.search(r"(?:turns|ends) about the axis of the (\w+) moment", text)
        assert axis is None or end == f"{axis[1]} moment", (key, option, text)
        assert "nearly without drift" not in text or abs(drift) < 1e-6, (key, option, text)
        friction = float(row["q_order"].sel(load="velocity"))
        assert "under friction" not in text or friction == pytest.approx(1, abs=0.05), (key, option, text)
        assert ("gyroscopic term out" in text or "as a sphere" in text) == (str(row["gyroscopic"].item()) == "no")
    assert said >= 43


def test_every_engine_run_as_shipped_is_released(released):
    """The gyroscopic term turns a T-handle over; Catto's step loses 5.5 % of the momentum, whoever takes it; RK4 hardly any."""
    for key, engine in ENGINES.items():
        rows = released.isel(engine=np.flatnonzero(released["key"].values.astype(str) == key))
        measured = np.isfinite(rows["shipped_is_single"].values)
        assert measured.all() == measured.any() == engine.is_measured_as_shipped, key
        if engine.is_measured_as_shipped:
            assert set(map(str, rows["option"].values)) == set(engine.options), key
            turning, term = (rows["shipped_turns"] > 0).values, rows["gyroscopic"].values
            # Of a row that is damped and not identified the atlas does not know.
            # With steps of their own choice these end the run with an error, as the spin diverges.
            diverging = rows["engine"].isin(["opensim ExplicitEuler", "opensim SemiExplicitEuler2"]).values
            assert np.isnan(rows["shipped_turns"].values[diverging]).all()
            turning |= diverging
            assert turning[term == "yes"].all() and not turning[term == "no"].any(), key
    change = released["shipped_vector"].sel(engine=["panda3d BulletWorld", "pybullet rigidbody", "mujoco implicit", "bsk RK4"])
    assert change.values == pytest.approx([0.0545, 0.0545, 0.0545, 0], abs=2e-4)
    turned = released["shipped_turn_of_1"].sel(engine=["pybullet multibody", "rapier3d 4 substeps", "mujoco RK4"])
    assert turned.values == pytest.approx([2 * math.atan(math.tan(math.pi / 8) / (math.pi / 4)), 0.7829, 1], abs=1e-4)


def test_a_handle_turns_in_an_engine_as_with_its_method(released, free_problem):
    handle = free_problem(shipped.THREE, omega0=shipped.T_HANDLE)
    for row, method in (
        ("lammps rigid", "richardson"),
        ("lammps rigid/nve", "no_squish"),
        ("kratosdem Runge_Kutta", "munjiza2003"),
        ("drake discrete", "euler"),
    ):
        assert str(released["method"].sel(engine=row).item()).partition(" = ")[0] == method
        run = polhode.simulate(
            handle, method, dt=1 / shipped.RATE, t_end=shipped.T_HANDLE_FOR, samples=10 * shipped.T_HANDLE_FOR
        )
        assert float(released["shipped_turns"].sel(engine=row)) == shipped.turns(run.omega.values[:, 1]), row
    # A flat body has no arm or axis of an ellipsoid along its normal, and keeps its momentum all the same.
    flat = released["shipped_vector"].sel(
        engine=["lammps rigid", "lammps rigid/nve", "lammps rigid/small", "lammps nve/asphere"]
    )
    assert flat.max() < 1e-8


def test_a_row_tumbles_as_the_exact_body_by_three_numbers(released):
    """Turns of the T-handle, and the changes of energy and of the whole vector; a number that is missing counts as well."""
    rows = dict(zip(map(str, released["engine"].values), tumbling(released), strict=True))
    assert rows["lammps rigid/nve"] and rows["mujoco RK4"] and rows["bsk RK4"]
    assert not rows["lammps rigid"], "49 turns in the place of 31"
    assert not rows["jolt mApplyGyroscopicForce"] and not rows["peclet_dem step"] and not rows["drake runge_kutta2"]
    row = released.sel(engine=["lammps rigid/nve"])
    for name, value in (
        ("shipped_turns", 33.0),
        ("shipped_vector", 0.02),
        ("shipped_vector", math.nan),
        ("energy_drift", -0.02),
        ("momentum_drift", 0.02),
        ("end", "middle moment"),
    ):
        assert not tumbling(row.assign({name: ("engine", [value])})).any(), name


def test_the_article_counts_who_tumbles_as_it_should(released):
    from polhode_study.chapters.engines import frames, numbers
    from polhode_study.inputs import Inputs

    inputs = Inputs("", released=Path(__file__).parents[1] / "data" / "released")
    usual = released.isel(engine=frames.usual(released))
    count = int(numbers.engines(inputs)["studyEngineTumble"])
    assert count == tumbling(usual).sum() < (usual["end"] == "tumbles").sum()


def test_the_rounding_of_rapier_grows_with_its_iterations(released):
    """More iterations are no advice against it: four substeps multiply the growth of the spin of a ball."""
    growth = {
        option: float(released["shipped_ball"].sel(engine=f"rapier3d {option}")) for option in ("4 substeps", "1 substep")
    }
    assert growth["4 substeps"] == pytest.approx(4 * growth["1 substep"], rel=0.1) and growth["1 substep"] > 1e-3
    for key, option in (("rapier3d", "4 substeps"), ("rapier3d", "1 substep"), ("rapier_web", "0.21.0")):
        text = protocol.option_of(key, option).advice
        assert not re.search(r"raise|increase|(set|take) num_solver_iterations", text), text
    assert "more iterations multiply this growth" in protocol.option_of("rapier_web", "0.21.0").advice


def test_a_switch_is_named_only_where_there_is_one(released):
    for row in released["engine"].values[released["gyroscopic"].values == "no"]:
        key, _, option = str(row).partition(" ")
        text, switch = protocol.option_of(key, option).advice, ENGINES[key].switch
        if switch:
            assert switch in text, row
        else:
            assert not re.search(r"switch(ed)? (it|\w+) on", text), row
    for row in released["engine"].values[(released["key"] == "rapier_web").values]:
        assert "switch" not in protocol.option_of("rapier_web", str(row).partition(" ")[2]).advice.replace("no switch", "")


def test_geotaichi_runs_what_was_measured_apart(released):
    """As it was measured apart from polhode: orders, and at 60 Hz the vector within 1000 s, which diverges by default."""
    verlet = released.sel(engine="geotaichi VelocityVerlet")
    assert str(verlet["version"].item()) == "0.2.6" and str(verlet["method"].item()) == "shu_osher3_omega_linear"
    assert float(verlet["omega_order"].sel(load="free")) == pytest.approx(3.00, abs=0.05)
    assert float(verlet["q_order"].sel(load="free")) == pytest.approx(1.01, abs=0.03)
    assert float(verlet["shipped_vector"]) == pytest.approx(4.7e-3, rel=0.2) and float(verlet["shipped_turns"]) == 31
    usual = released.sel(engine="geotaichi SymplecticEuler")
    assert str(usual["method"].item()) == "euler" and int(usual["is_default"]) and np.isinf(usual["shipped_vector"])


def test_yade_runs_spiral_by_default_in_its_newest_release(released):
    """The errors equal our kernels' from the same start; the rows of the older release are another option's."""
    rows = released.isel(engine=np.flatnonzero(released["key"].values == "yade"))
    assert rows["option"].values.tolist() == ["delValle2023", "Omelyan1998", "Fincham1992", "spherical", "aspherical"]
    assert rows["version"].values.tolist() == ["2025.2.0"] * 4 + ["2023.02a"]
    assert rows["is_default"].values.tolist() == [1, 0, 0, 0, 0]
    for option, method in (("delValle2023", "spiral_leapfrog"), ("Omelyan1998", "omelyan1998")):
        row = rows.sel(engine=f"yade {option}")
        assert str(row["method"].item()) == f"{method} (stored)" and row["identified"].values.tolist() == [1] * 4
        assert "half a step old" in str(row["method_label"].item())
        for begin, agrees in (("stored", True), ("", False)):
            errors = atlas._errors_of(f"{method} {begin}".strip())
            same = np.allclose(errors, row["q_error"].sel(load="free").values, rtol=1e-8)
            assert same is agrees, (option, begin)
        assert float(row["shipped_turns"]) == shipped.exact_turns() and tumbling(released.sel(engine=[f"yade {option}"])).all()
    measured = ("q_error", "omega_error", "energy_drift", "shipped_turns", "shipped_vector")
    for name in measured:
        newest, before = (rows[name].sel(engine=f"yade {option}").values for option in ("Fincham1992", "aspherical"))
        assert newest == pytest.approx(before, rel=1e-12, abs=1e-14, nan_ok=True), name


def test_yade_is_asked_for_what_its_release_has(monkeypatch):
    """Stand-ins for a release with a choice of the algorithm and for one without."""
    adapter = worker.load(ENGINES["yade"].path).Adapter()
    lacking = sys.modules["polhode_sampling"].NotInRelease
    for algorithms, version, run in (("delValle2023", "2025.2.0", "delValle2023"), (None, "2023.02a", "aspherical")):
        newton = type("NewtonIntegrator", (), {"rotAlgorithm": algorithms} if algorithms else {})
        config = SimpleNamespace(version=version)
        for name, module in (("yade", SimpleNamespace(NewtonIntegrator=newton, config=config)), ("yade.config", config)):
            monkeypatch.setitem(sys.modules, name, module)
        choices = {}
        for option in ENGINES["yade"].options:
            try:
                choices[option] = adapter._choice(option)
            except lacking as error:
                assert version in str(error)
        others = {"Omelyan1998", "Fincham1992"} if algorithms else set()
        assert set(choices) == {run, "spherical", *others} and choices["spherical"] == {}
        assert choices[run] == ({"rotAlgorithm": run} if algorithms else {})
        assert adapter._fincham() == ({"rotAlgorithm": "Fincham1992"} if algorithms else {}), "impacts"


#: A program in single precision as a user has it: Newton's first step of the implicit Euler method, then an exact rotation.
SPIN = """#!{python}
import math
import sys
import numpy as np

*numbers, count = map(float, sys.argv[1:])
inertia, q, w, dt = np.array(numbers[:3]), np.array(numbers[3:7]), np.array(numbers[7:10]), numbers[10]
f, cross = np.float32, lambda v: np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
for _ in range(int(count) + 1):
    q, w = q.astype(f).astype(float), w.astype(f).astype(float)
    print(*map(repr, map(float, [*q, *w])))
    jacobian = np.diag(inertia) + dt * (cross(w) @ np.diag(inertia) - cross(inertia * w))
    w = w - np.linalg.solve(jacobian, dt * np.cross(w, inertia * w))
    half = np.linalg.norm(w) * dt / 2
    r = np.array([math.cos(half), *(math.sin(half) * w / np.linalg.norm(w))])
    q = np.array([q[0] * r[0] - q[1:] @ r[1:], *(q[0] * r[1:] + r[0] * q[1:] + np.cross(q[1:], r[1:]))])
"""


@pytest.mark.thorough
def test_the_adapter_of_the_page_works_as_it_stands(tmp_path, monkeypatch, capsys):
    """In single precision, without a declaration and with one of a single key; no engine that was not asked for follows."""
    page = (Path(__file__).parents[1] / "docs" / "identify.md").read_text(encoding="utf-8")
    (code,) = re.findall(r'```python\n("""my_adapter\.py.*?)```', page, re.DOTALL)
    (tmp_path / "my_adapter.py").write_text(code)
    (tmp_path / "spin").write_text(SPIN.format(python=sys.executable))
    (tmp_path / "spin").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cases, "LONG_STEPS", 300)
    for declared in ("", "label: mine\n"):
        if declared:
            (tmp_path / "my_adapter.yaml").write_text(declared)
        assert main(["atlas", "my_adapter.py"]) == 0
        said = capsys.readouterr().out
        assert re.search(r"^my_adapter +usual +today +catto2015", said, re.MULTILINE), said
        assert not any(row.label in said for row in READ)


def test_advice_is_one_sentence_for_every_option_of_an_adapter():
    for key, engine in ENGINES.items():
        for text in (option.advice for option in engine.options.values()):
            assert text[0].isupper() and text.endswith(".") and ". " not in text and len(text) < 260, (key, text)


def test_every_row_of_the_atlas_has_advice_and_a_source(released, monkeypatch):
    monkeypatch.setattr(atlas, "_errors_of", lambda method: np.zeros(len(cases.STEPS)))
    fresh = atlas.with_citations(released)
    for name, read, text in zip(released["engine"].values, fresh["source_read"].values, fresh["source"].values, strict=True):
        assert text and bool(read) == ("not read" not in text), name
    assert all(map(str, fresh["advice"].values))
    identified = fresh["source"].values[fresh["is_identified"].values == 1]
    assert sum("not read" in text and ".wasm" not in text for text in identified) <= 2, "MuJoCo's discrete and RK4"
    assert {text for text in identified if ".wasm" in text} == {"lib/esm/HavokPhysics.wasm: HP_World_Step (1.3.14, not read)"}
    assert not any("lines not counted" in text for text in identified)


def test_declarations_of_engines_are_refreshed(released, monkeypatch):
    monkeypatch.setattr(atlas, "_errors_of", lambda method: np.zeros(len(cases.STEPS)))
    old = released.assign({name: (released[name].dims, np.zeros_like(released[name])) for name in ("label", "is_default")})
    fresh = atlas.with_citations(old)
    for name in ("label", "is_default"):
        assert fresh[name].values.tolist() == released[name].values.tolist() and fresh[name].attrs == old[name].attrs


@pytest.mark.parametrize(
    ("order", "end", "gyroscopic", "said"),
    [
        (1.0, "diverges", "yes", "First order, and a free spin gains energy"),
        (0.97, "largest moment", "yes", "First order, and a free spin ends about the axis of the largest moment"),
        (1.02, "tumbles", "yes", "halve the step"),
        (3.96, "tumbles", "yes", "Fourth order: keep it."),
        (math.nan, "tumbles", "other", "No order"),
        (math.nan, "stops", "other", "damping"),
        (math.nan, "middle moment", "no", "gyroscopic term"),
        (math.nan, "failed", "failed", "Failed"),
    ],
)
def test_advice_follows_from_a_row_where_an_adapter_has_none(order, end, gyroscopic, said):
    assert said in measured_advice(order, end, gyroscopic)


def test_citations_are_well_formed():
    places = [place for engine in ENGINES.values() for option in engine.options.values() for place in option.sources]
    assert len(places) > 100
    for place in [*places, *(place for row in READ for place in row.sources)]:
        assert re.fullmatch(r"[\w./-]+\.(c|cc|cpp|h|hpp|inl|js|rs|py|wasm)", place.file), place
        assert place.function and not place.function.endswith("()"), place
        assert re.fullmatch(r"(\d+(-\d+)?(, \d+(-\d+)?)*)?", place.lines), place
        for low, high in re.findall(r"(\d+)-(\d+)", place.lines):
            assert int(low) < int(high), place
        assert place.lines or not place.inside, place
        assert place.of if place.read else not place.lines, f"what is read names its release or commit: {place}"
        assert ";" not in place.text, "citations are joined by semicolons"


def test_the_citation_is_that_of_the_option():
    cited = {(key, name): option for key, engine in ENGINES.items() for name, option in engine.options.items()}
    assert "FixRigidNH" in cited["lammps", "rigid/nve"].citation and "FixRigidNH" not in cited["lammps", "rigid"].citation
    assert cited["mujoco", "implicit"].is_read and cited["mujoco", "implicitfast"].is_read
    assert not cited["mujoco", "RK4"].is_read
    assert "freeMhat" not in cited["mujoco", "implicit"].citation
    assert "mjd_freeMhat, lines 11-47 of the function (undated copy)" in cited["mujoco", "implicitfast"].citation
    assert "mj_implicitSkip, lines 647-679 (2.2.2)" in cited["mujoco", "implicit"].citation
    nothing = protocol.option_of("none", "")
    assert nothing == protocol.option_of("mujoco", "none") and nothing.citation == "" and not nothing.is_read
    assert Source("a.c", "f", "7", "1.0").text == "a.c: f, line 7 (1.0)"


def test_the_questions_of_users_are_those_of_the_plan(released):
    from polhode_study.documentation.questions import QUESTIONS, Atlas, questions, rescaled_energies

    wanted = {
        *("bullet3 #4636", "gazebo-classic #1487", "dart #424", "mujoco #3553", "jsbsim pull request #1453"),
        *("Principia #2519", "avian #420", "avian #738", "avian #993", "JoltPhysics #803", "godot #80703"),
        *("lammps #1657", "espresso #3844", "drake #18816"),
    }
    assert {name for question in QUESTIONS.questions for name in question.threads} | set(QUESTIONS.not_read) == wanted
    text = questions(released)
    assert text.count("*Measured:*") == len(QUESTIONS.questions) and "nan" not in text and "None" not in text
    assert not re.search(r"{[a-z]", text), "a place that was not filled"
    before, after = rescaled_energies()
    assert before < 0.8 and after == pytest.approx(1, abs=1e-3), "avian #993"
    wrong = (
        "{speed of ode step}",
        "{order of ode stop}",
        "{order of ode step under wind}",
        "{error of ode step at 0.2}",
        "{order}",
    )
    for place in wrong:
        with pytest.raises(ValueError, match=re.escape(f"questions.yaml: {place}")):
            Atlas(released).filled(f"It is {place}.")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("label: fake", "label: fake\ncolour: red", "fake.yaml: colour: "),
        ("label: fake", "", "fake.yaml: label: "),
        ("{chosen_by: as it is}", "{chosen_by: as it is, advise: keep it}", "fake.yaml: options.usual.advise: "),
        ("requirements:", "debian: [fake]\nrequirements:", "one of requirements"),
        ("==", ">=", "must be pinned"),
        ("{constant: added}", "{wind: added}", "fake.yaml: torques.wind.*'constant', 'lab' or 'velocity'"),
        ("precision: float32", "precision: float16", "fake.yaml: precision: .*'float64' or 'float32'"),
        ("as it is}", "as it is, excluded: {lab: not run}}", "excluded names 'lab' for 'usual'; torques has: constant"),
        ("label: fake", "label: fake\ndefault: unusual", "default 'unusual' is none of its options: usual, mutant"),
        ("label: fake", "label: fake\nlabel: fake", "fake.yaml:3: the key 'label' occurs twice"),
        ("label: fake", "label: fake: 2", "fake.yaml:2:12: not valid YAML"),
    ],
)
def test_a_wrong_declaration_is_refused(tmp_path, old, new, message):
    assert old in DECLARED
    with pytest.raises(ValueError, match=message):
        protocol.read(written(tmp_path, text=DECLARED.replace(old, new)))


# processes


def test_an_engine_runs_in_a_process_of_its_own(fake):
    runs = [cases.ladder_run("free", 0.1), cases.ladder_run("constant", 0.05)]
    seen = []
    version, spun = spin(fake, "usual", runs, lambda: seen.append(1))
    assert version == "1.0" and len(seen) == 2 and [outcome.error for outcome in spun] == ["", ""]
    q_error, _ = cases.errors("free", spun[0].q, spun[0].omega)
    assert 0.05 < q_error < 0.2


@pytest.mark.parametrize(("option", "said"), [("crash", "crashed (SIGABRT)"), ("slow", "stopped after 3 s")])
def test_an_engine_that_ends_the_process_is_recorded(fake, option, said):
    runs = [cases.ladder_run(load, 0.1) for load in ("free", "constant", "free")]
    _, spun = spin(fake, option, runs, limit=3.0)
    assert said in spun[1].error and np.isnan(spun[1].q).all()
    assert spun[0].error == spun[2].error == "" and np.array_equal(spun[0].q, spun[2].q)


def of_another_release(folder: Path) -> protocol.Engine:
    """The fake engine, whose option ``error`` the installed release lacks; it runs under the Python of the tests."""
    code = FAKE.replace('raise RuntimeError("no such thing")', 'raise NotInRelease("1.0 has no such thing")')
    assert code != FAKE
    return protocol.read(written(folder, f"from polhode_sampling import NotInRelease\n{code}"))


def test_an_option_that_a_release_lacks_is_no_failed_run(tmp_path):
    engine = of_another_release(tmp_path)
    seen: list[int] = []
    with pytest.raises(environments.NotInReleaseError, match=r"^1\.0 has no such thing$"):
        spin(engine, "error", [cases.ladder_run("free", 0.1)] * 2, lambda: seen.append(1))
    assert seen == []


def test_an_option_of_another_release_is_left_out(tmp_path, monkeypatch, capsys):
    """With a word; the row that the file has of it stays, in the order of the options."""
    engine = of_another_release(tmp_path)
    monkeypatch.setattr(atlas, "known_engines", lambda: {"fake": engine})
    monkeypatch.setattr("polhode_engines.all_engines", lambda: {"fake": engine})
    monkeypatch.setattr("polhode_engines.is_installed", lambda engine: True)
    monkeypatch.setattr(environments, "python_of", lambda engine: Path(sys.executable))
    monkeypatch.setattr(cases, "LONG_STEPS", 100)
    monkeypatch.setattr(atlas, "_errors_of", lambda method: np.zeros(len(cases.STEPS)))
    monkeypatch.setattr(identify, "deviations", lambda *given: [])
    assert main(["atlas", "fake", "--option", "error", "--results", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "fake: error left out; 1.0 has no such thing" in said and "no installed release has one of these options" in said
    options = ["--option", "error", "--option", "usual", "--option", "mutant"]
    assert main(["atlas", "fake", *options, "--results", str(tmp_path)]) == 0
    with xr.open_dataset(tmp_path / "atlas.nc") as data:
        whole = data.load()
    assert whole["option"].values.tolist() == ["usual", "mutant"]
    older = whole.isel(engine=[0, 0, 1]).assign(option=("engine", ["error", "withdrawn", "mutant"]))
    both = atlas.merged(older, whole.isel(engine=[0]))
    assert both["option"].values.tolist() == ["usual", "mutant", "error"], "no longer declared: withdrawn"


def test_an_engine_in_a_folder_of_its_own_is_found(tmp_path):
    (tmp_path / "lib" / "one").mkdir(parents=True)
    (tmp_path / "lib" / "one" / "apart.py").write_text('VERSION = "2.0"\n')
    code = FAKE.replace('return "1.0"', "import apart\n\n        return apart.VERSION")
    engine = protocol.read(written(tmp_path, code, f"{DECLARED}\npaths: [{tmp_path}/lib/*]\n"))
    version, (only,) = spin(engine, "usual", [cases.ladder_run("free", 0.1)])
    assert version == "2.0" and not only.error


def test_bodies_as_shipped_reach_the_function_of_all_bodies(tmp_path):
    code = FAKE.replace('option == "error"', "case.is_shipped").replace("no such thing", "asleep")
    engine = protocol.read(written(tmp_path, code, f"{DECLARED}\nshipped: true\n"))
    assert engine.is_measured_as_shipped
    for function, said in (("run", ""), ("shipped", "RuntimeError: asleep")):
        _, (only,) = spin(engine, "usual", [cases.ladder_run("free", 0.1)], function=function)
        assert only.error.startswith(said) and bool(only.error) == bool(said)


def test_an_engine_that_needs_another_python_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("PYENV_VERSION", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    engine = protocol.read(written(tmp_path, FAKE, f"{DECLARED}\npython_version: '3.1'\n"))
    with pytest.raises(environments.EngineError, match=r"fake needs Python 3\.1: install it as python3\.1, or uv"):
        environments.install(engine)
    # A shim of pyenv fails for a version that is not installed, and runs the one that PYENV_VERSION names.
    shim = tmp_path / "python3.1"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    with pytest.raises(environments.EngineError, match=r"fake needs Python 3\.1: install it"):
        environments.install(engine)
    real = '[ "$1" = -c ] && [ "$PYENV_VERSION" = 3.1 ] && echo $0 && exit\n[ "$PYENV_VERSION" ] || echo no venv in $0 >&2'
    shim.write_text(f"#!/bin/sh\n{real}\nexit 127\n")
    with pytest.raises(environments.EngineError, match=r"could not be installed \(numpy .*\): no venv in .*python3\.1"):
        environments.install(engine)
    with pytest.raises(ValueError, match=r"python_version belongs to requirements"):
        protocol.read(written(tmp_path, FAKE, f"{DECLARED}\npython_version: '2.7'\n"))


def test_an_error_of_the_engine_is_quoted(fake):
    _, (only,) = spin(fake, "error", [cases.ladder_run("free", 0.1)])
    assert only.error.startswith("RuntimeError: no such thing (fake.py")


def test_without_its_python_an_engine_gives_a_message(fake, tmp_path):
    version, (only,) = environments.spin(fake, "usual", [cases.ladder_run("free", 0.1)], python=tmp_path / "none")
    assert version == "" and "cannot be started" in only.error


def test_what_is_not_installed_is_named_with_its_command(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path / "cache"))
    assert main(["atlas", "mujoco", "--results", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "mujoco: not installed, left out; polhode atlas mujoco --install" in said
    assert "none of these engines is installed" in said and not (tmp_path / "atlas.nc").exists()


def test_an_unknown_engine_and_option_are_refused(capsys, tmp_path):
    assert main(["atlas", "mujocko"]) == 2
    assert "mujoco" in capsys.readouterr().err
    assert main(["atlas", "mujoco", "--option", "RK5"]) == 2
    assert "RK4" in capsys.readouterr().err
    assert main(["atlas", "--install"]) == 2
    assert "name the engines" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a: 1\nb: [1, 2]\nc: foo\nd: 2\n",
            "such a file has no key 'a', 'b', 'c' ...; if it belongs to something else, rename",
        ),
        ("python: python3\nseed: 1\n", "such a file has no key 'seed'; if"),
        ("- 1\n- 2\n", "is no list of keys"),
        ("", "is no list of keys"),
        ("precision: float16\nmost_steps: many\n", r"mine.yaml: precision: .*; mine.yaml: most_steps: "),
    ],
)
def test_an_unrelated_file_beside_an_adapter_is_one_line(tmp_path, monkeypatch, capsys, text, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("class Adapter:\n    pass\n")
    (tmp_path / "mine.yaml").write_text(text)
    assert main(["atlas", "mine.py"]) == 2
    said = capsys.readouterr().err
    assert re.search(message, said) and said.count("\n") == 1 and "mine.yaml" in said


def test_what_is_not_declared_beside_an_adapter_is_as_usual(tmp_path):
    (tmp_path / "mine.py").write_text("class Adapter:\n    pass\n")
    (tmp_path / "mine.yaml").write_text("precision: float32\n")
    engine = protocol.own_engine(tmp_path / "mine.py")
    assert (engine.label, engine.precision, [*engine.options]) == ("mine", "float32", ["usual"])


# identification


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("key", "precision", "stored"),
    [
        ("richardson", "float64", False),
        ("rescaled_momentum", "float32", False),
        ("spiral_leapfrog", "float64", True),
        ("no_squish", "float32", False),
        ("rkmk4_full", "float64", False),
    ],
)
def test_a_method_of_ours_is_identified(key, precision, stored):
    runs = cases.identification_runs("constant", precision, 25)[:2]
    spun = [stepped(key, run, precision, stored) for run in runs]
    verdict = identify.judged(identify.deviations(runs, spun, float(np.finfo(precision).eps)))
    assert verdict.identified, verdict
    assert key in {name.partition(" ")[0] for name in verdict.methods} and verdict.deviation < 20


@pytest.mark.thorough
def test_a_mutant_is_not_identified(fake):
    """The gyroscopic term off by a thousandth: no method of ours, and the closest is the one it was made from."""
    runs = cases.identification_runs("free", "float32", 40)[:2]
    eps = float(np.finfo("float32").eps)
    for option, expected in (("usual", True), ("mutant", False)):
        _, spun = spin(fake, option, runs)
        verdict = identify.judged(identify.deviations(runs, spun, eps))
        assert verdict.identified is expected, verdict
        assert "explicit_exp_new" in verdict.methods or verdict.methods == ("scalar_factor",)


def test_the_verdict_follows_the_rule():
    def verdict(*values: float) -> identify.Identity:
        return identify.judged([identify.Deviation(f"m{i}", "", value) for i, value in enumerate(values)])

    assert verdict(3.0, 5.0, 1e6).identified and verdict(3.0, 5.0, 1e6).methods == ("m0", "m1")
    assert not verdict(3.0, 2e3).identified, "the next is too close"
    assert not verdict(150.0, 1e9).identified and verdict(150.0, 1e9).methods == ("m0",)
    assert not identify.judged([]).identified


def test_no_two_candidates_have_one_key():
    keys = [method.key for method in candidates()]
    assert len(keys) == len(set(keys))


# measures


def test_the_reference_is_the_closed_form():
    """The Taylor integrator against Jacobi's functions."""
    problem = replace(cases.problem("free"), reference="asymmetric_top")
    q, omega = problem.exact(cases.TIMES, 25)
    right_q, right_omega = cases.exact("free")
    assert cases.angle(q, right_q).max() < 1e-14 and np.abs(omega - right_omega).max() < 1e-14


@pytest.mark.parametrize("exponent", [1, 2, 4])
def test_an_order_is_the_slope_above_the_round_off(exponent):
    dt = np.array(cases.LADDER)
    error = 0.3 * dt**exponent + 1e-16
    assert cases.order(dt, error, 2.2e-16) == pytest.approx(exponent, abs=0.02)
    assert math.isnan(cases.order(dt, np.full(len(dt), 1e-15), 2.2e-16))
    assert math.isnan(cases.order(dt, np.full(len(dt), 2.0), 2.2e-16))


@pytest.mark.parametrize(
    ("omega", "end"),
    [
        ((0.0, 0.0, 1.0), "largest moment"),
        ((1.0, 0.0, 0.0), "smallest moment"),
        ((1e-9, 0.0, 0.0), "stops"),
        ((1e9, 0.0, 0.0), "diverges"),
        ((math.nan, 0.0, 0.0), "diverges"),
        ((1.0, 1.0, 1.0), "tumbles"),
    ],
)
def test_the_end_of_a_free_spin(omega, end):
    run = cases.long_run(cases.LONG_STEPS)
    count = len(run.samples)
    spins = np.tile([0.0, 1.0, 0.0], (count, 1))
    spins[count // 2 :] = omega
    spun = Spun(np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)), spins)
    assert atlas.long_spin_of(run, spun)[4] == end


@pytest.mark.thorough
def test_a_whole_row_of_a_fake_engine(fake, monkeypatch, tmp_path):
    monkeypatch.setattr(cases, "LONG_STEPS", 2000)
    runs, what = atlas.requests(fake, "usual")
    version, spun = spin(fake, "usual", runs)
    row = atlas.judged(fake, "usual", version, runs, what, spun)
    assert row.method == "scalar_factor" and row.gyroscopic == "yes" and row.failures == ""
    assert row.q_order["free"] == pytest.approx(1, abs=0.3) and row.omega_order["constant"] == pytest.approx(1, abs=0.1)
    assert row.end == "diverges" or row.energy_drift > 0.01, "an explicit kick gains energy"
    data = atlas.dataset([row])
    assert "fake" in atlas.as_text(data) and math.isnan(float(data["q_order"].sel(load="lab")[0]))
    other = atlas.dataset([replace(row, engine=replace(fake, path=Path("another.py")))])
    both = atlas.merged(data, other)
    assert list(both["key"].values) == ["another", "fake"] and atlas.merged(both, data).sizes["engine"] == 2


def test_the_file_is_written_compressed_without_loss(released, tmp_path):
    from polhode.interface.netcdf import read_dataset
    from polhode.interface.storage import write_dataset

    write_dataset(atlas.compressed(released), tmp_path / "small.nc")
    write_dataset(released.drop_encoding(), tmp_path / "large.nc")
    assert read_dataset(tmp_path / "small.nc").equals(read_dataset(tmp_path / "large.nc"))
    assert (tmp_path / "small.nc").stat().st_size < 0.7 * (tmp_path / "large.nc").stat().st_size


# rows that were read


def jaxdem(option: str, q: np.ndarray, omega: np.ndarray, torque: np.ndarray, inertia: np.ndarray, dt: float):
    """A step of JaxDEM as it was read, with rotation matrices; the torque (3,) is constant in the body."""
    from scipy.spatial.transform import Rotation

    def rate(w):
        return (torque - np.cross(w, inertia * w)) / inertia

    def kick(w, h):
        k1 = h * rate(w)
        k2 = h * rate(w + k1)
        return w + (k1 + k2 + 4 * h * rate(w + (k1 + k2) / 4)) / 6

    turned = Rotation.from_quat(np.roll(q, -1))
    if option == "verletspiral":
        half = kick(omega, dt / 2)
        return turned * Rotation.from_rotvec(dt * half), kick(half, dt / 2)
    return turned * Rotation.from_rotvec(dt * omega) * Rotation.from_rotvec(dt**2 / 2 * rate(omega)), kick(omega, dt)


def liggghts(option: str, q: np.ndarray, omega: np.ndarray, torque: np.ndarray, inertia: np.ndarray, dt: float):
    """A step of LIGGGHTS as it was read, that of multispheres in the lab frame; the torque (3,) is constant in the body."""
    from scipy.spatial.transform import Rotation

    if option == "superquadric":
        return flows(q, omega, torque, inertia, dt)

    def turned(q):
        return Rotation.from_quat(np.roll(q, -1))

    def spin(q, momentum):
        return turned(q).apply(turned(q).inv().apply(momentum) / inertia)

    def moved(q, w, h):
        rate = 0.5 * np.array([-w @ q[1:], *(q[0] * w + np.cross(w, q[1:]))])
        return (q + h * rate) / np.linalg.norm(q + h * rate)

    momentum = turned(q).apply(inertia * omega + dt / 2 * torque)
    w = spin(q, momentum)
    half = moved(q, w, dt / 2)
    q = turned(2 * moved(half, spin(half, momentum), dt / 2) - moved(q, w, dt))
    return q, q.inv().apply(momentum + q.apply(dt / 2 * torque)) / inertia


def flows(q: np.ndarray, omega: np.ndarray, torque: np.ndarray, inertia: np.ndarray, dt: float):
    """Half a kick, rotations about the axes 3, 2, 1, 2, 3 that keep the momentum in the lab, half a kick."""
    from scipy.spatial.transform import Rotation

    turned, momentum = Rotation.from_quat(np.roll(q, -1)), inertia * omega + dt / 2 * torque
    for axis, part in ((2, 0.5), (1, 0.5), (0, 1.0), (1, 0.5), (2, 0.5)):
        turn = Rotation.from_rotvec(part * dt * momentum[axis] / inertia[axis] * np.eye(3)[axis])
        turned, momentum = turned * turn, turn.inv().apply(momentum)
    return turned, (momentum + dt / 2 * torque) / inertia


def hoomd(option: str, *case):
    """A step of HOOMD-blue as it was read."""
    return flows(*case)


def mercurydpm(option: str, q: np.ndarray, omega: np.ndarray, torque: np.ndarray, inertia: np.ndarray, dt: float):
    """A step of MercuryDPM as it was read; the torque (3,) is constant in the body."""
    from scipy.spatial.transform import Rotation

    def kick(w):
        new = w
        for _ in range(3):
            new = w + dt / 2 * (torque - np.cross(new, inertia * new)) / inertia
        return new

    turned = Rotation.from_quat(np.roll(q, -1))
    if option == "clump":
        half = kick(omega)
        return turned * Rotation.from_rotvec(dt * half), kick(half)
    lab = turned.apply(omega)
    q = q + dt / 2 * np.array([-lab @ q[1:], *(q[0] * lab + np.cross(lab, q[1:]))])
    turned = Rotation.from_quat(np.roll(q, -1))
    return turned, turned.inv().apply(lab)


#: The steps of the engines that were read.
STEPS = {"hoomd": hoomd, "jaxdem": jaxdem, "liggghts": liggghts, "mercurydpm": mercurydpm}


@pytest.mark.parametrize("row", READ, ids=lambda row: f"{row.key} {row.option}")
def test_a_row_that_was_read_is_the_method_named(row):
    run = cases.identification_runs("constant" if "constant" in row.loads else "free")[0]
    driver = identify.driver_of(candidate(row.method), run)
    state = identify.synchronous(driver, None, run.q0, run.omega0)
    turned, omega = STEPS[row.key](row.option, *map(np.array, (run.q0, run.omega0, run.value, run.inertia)), run.dt)
    q, omega_read = driver.read(driver.step(state, 0), 1)
    assert np.array(omega_read) == pytest.approx(omega, abs=1e-14)
    assert cases.angle(np.array(q), np.roll(turned.as_quat(), 1)) < 1e-14


def test_rows_that_were_read_are_marked_and_not_in_the_file(released):
    from polhode_study.documentation.engines import advice_page, engines_page, sources_page

    assert not {row.key for row in READ} & (set(ENGINES) | set(map(str, released["key"].values)))
    engines, advice, sources = engines_page(), advice_page(), sources_page()
    for row in READ:
        assert f"{row.label} {row.commit}" in engines and "*read, not run*" in engines and row.advice and row.note
        assert f"{row.label} †" in advice and f"{row.label} †" in sources
    assert "read, not run" in atlas.as_text(released)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"commit": "main"}, "name the commit"),
        ({"sources": ()}, "must have been read"),
        ({"commit": "abcdef0"}, "must have been read, at abcdef0"),
        ({"method": "none"}, "'none' is neither a method nor a candidate"),
        ({"loads": ("lab",)}, "the free body must be among its loads"),
    ],
)
def test_a_reading_without_its_evidence_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(READ[0], **change)


# engines


@pytest.mark.thorough
@pytest.mark.parametrize("key", ENGINES)
def test_an_installed_engine_does_what_the_released_atlas_says(key):
    engine = ENGINES[key]
    if not is_installed(engine):
        pytest.skip(f"{key} is not installed; {environments.how_to_install(engine)}")
    released = Path(__file__).parents[1] / "data" / "released" / "atlas.nc"
    with xr.open_dataset(released) as data:
        rows = data.isel(engine=np.flatnonzero(data["key"].values.astype(str) == key)).load()
    eps = float(np.finfo(engine.precision).eps)
    for option in engine.options:
        runs = [*cases.identification_runs("free", engine.precision, 30, engine.turn)[:2], cases.ladder_run("free", 0.05)]
        try:
            version, spun = environments.spin(engine, option, runs, limit=120.0)
        except environments.NotInReleaseError:
            continue
        assert [outcome.error for outcome in spun] == [""] * len(runs)
        row = rows.isel(engine=list(map(str, rows["option"].values)).index(option))
        if version != str(row["version"].item()):
            continue
        damping = engine.options[option].damping
        verdict = identify.judged(identify.deviations(runs[:2], spun[:2], eps, damping))
        if verdict.identified and int(row["identified"].sel(load="free")):
            assert set(verdict.methods) >= set(str(row["fitting"].sel(load="free").item()).split(", "))
        q_error, _ = cases.errors("free", spun[2].q, spun[2].omega)
        released_error = float(row["q_error"].sel(load="free", step=0.05))
        assert q_error == pytest.approx(released_error, rel=0.05, abs=1e-9)


@pytest.fixture(scope="module")
def comparison():
    return wheels.read(Path(__file__).parents[1] / wheels.RELEASED)


@pytest.mark.parametrize("motor", wheels.MOTORS)
def test_a_reaction_wheel_turns_here_as_released(comparison, motor):
    rows = [row for row in comparison if row["motor"] == motor]
    solution = wheels.exact(motor)
    errors = [float(np.mean(cases.angle(wheels.orientations(motor, float(row["dt"])), solution))) for row in rows]
    assert errors == pytest.approx([float(row["polhode"]) for row in rows], rel=0.02)
    expected = 1 if motor == "set before each step" else 4
    for error in (errors, [float(row["error"]) for row in rows]):
        assert cases.order([float(row["dt"]) for row in rows], error, 2e-16) == pytest.approx(expected, abs=0.05)
    assert all(float(row["apart"]) < 0.3 * float(row["error"]) for row in rows)


def test_the_atlas_has_a_row_with_a_reaction_wheel(comparison):
    from polhode_study.documentation.engines import engines_page
    from polhode_study.explorer import content
    from polhode_study.inputs import Inputs

    words = "4.0 (no torque, constant, sampled every 0.5 s), 1.0 (set before each step)"
    assert wheels.orders_in_words(comparison) == words
    assert {f"bsk=={row['version']}" for row in comparison} == set(ENGINES["bsk"].requirements)
    (row,) = (line for line in engines_page().splitlines() if "RK4, with a reaction wheel" in line)
    assert words in row and row.startswith(f"| Basilisk {comparison[0]['version']} |") and "– – 2e-06" in row
    rows = content._engines(Inputs(released=Path(__file__).parents[1] / "data/released"))["rows"]
    assert [each["engine"] for each in rows if words in each["answer"]] == ["bsk RK4"]


@pytest.mark.thorough
def test_an_installed_basilisk_turns_a_wheel_as_released(comparison):
    engine = ENGINES[wheels.ENGINE]
    if not is_installed(engine):
        pytest.skip(f"{engine.key} is not installed; {environments.how_to_install(engine)}")
    for row, before in zip(wheels.compared(), comparison, strict=True):
        if row["version"] == before["version"]:
            assert [float(row[name]) for name in wheels.ANGLES] == pytest.approx(
                [float(before[name]) for name in wheels.ANGLES], rel=0.05
            )


def test_every_number_of_the_section_is_of_the_atlas():
    from polhode_study import chapters
    from polhode_study.chapters import rendering
    from polhode_study.inputs import Inputs

    home = Path(__file__).parents[1]
    text = (home / chapters.FOLDER / "engines" / "text.tex").read_text()
    used = set(re.findall(r"\\(studyEngine[A-Za-z]*)", text))
    assert used and used <= set(rendering.numbers("engines", Inputs("", released=home / "data" / "released")))


def test_no_two_engines_of_the_figure_look_alike():
    from polhode_study.chapters.engines import figures
    from polhode_study.inputs import Inputs

    drawn = figures.engine_errors(Inputs("", released=Path(__file__).parents[1] / "data" / "released"))
    looks = [(line.get_marker(), line.get_color()) for line in drawn.legends[0].legend_handles]
    assert len(set(looks)) == len(looks) > 10
    drawn.draw_without_rendering()
    (left, low), (right, high) = drawn.legends[0].get_window_extent().get_points()
    assert left >= 0 and low >= 0 and right <= drawn.bbox.width and high <= drawn.bbox.height, "the legend is cut off"
    # A difference of colour alone, or of similar markers of one colour, is not seen in print.
    assert set("dhp8H").isdisjoint(marker for marker, _ in looks)
