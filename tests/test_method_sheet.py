"""One page on a method: declared orders that are wrong, what does not apply, what blows up, and whether a method is new."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polhode import cli
from polhode.algebra.vector import scale
from polhode.compiling.kernel import kernel
from polhode.methods import METHODS
from polhode.methods.spiral_leapfrog import METHOD, after_torque
from polhode.problems import single_body
from polhode_study.cli import sheet as command
from polhode_study.report import method_page
from polhode_study.report.method_page import new_or_known, page, wrong_orders
from polhode_study.run import method_sheet
from polhode_study.run.ensemble_states import states_dataset

#: A reduced sheet takes ten seconds.
pytestmark = pytest.mark.thorough
CLASSES = ("free", "friction_isotropic")
#: It declares second order under friction, and has the first.
WRONG = replace(METHOD, key="wrong_spiral", label="A <b>wrong</b> & bold one", order_exceptions={"free": (2, 3)}, order_omega=2)


@pytest.fixture(scope="module")
def numbers():
    with pytest.MonkeyPatch.context() as patch, METHODS.restored():
        for name, value in (("LIQUID_STEPS", 100), ("CONTACT_SHARE", 0.002), ("LONG_STEPS", 2000)):
            patch.setattr(method_sheet, name, value)
        METHODS.enter(WRONG, Path(__file__))
        yield method_sheet.sheet(WRONG, ["rk4", "exact_rotor_corrected"], bodies=4, classes=CLASSES)


def test_a_wrong_declaration_is_shown(numbers):
    own = numbers["methods"]["wrong_spiral"]
    assert own["orders"]["friction_isotropic"]["q"]["verdict"] == "lower than declared"
    assert own["orders"]["friction_isotropic"]["omega"]["measured"] == pytest.approx(1.0, abs=0.1)
    assert {of["verdict"] for of in own["orders"]["free"].values()} == {"as declared"}
    assert [words.split(":")[0] for words in wrong_orders(own)] == ["friction_isotropic, q", "friction_isotropic, omega"]
    assert wrong_orders(numbers["methods"]["rk4"]) == []


def test_what_does_not_apply_is_said(numbers):
    several, processed = numbers["methods"]["rk4"], numbers["methods"]["exact_rotor_corrected"]
    for name in ("contacts", "liquid", "drag"):
        assert list(several[name]) == ["not applicable"] and "several torques" in several[name]["not applicable"]
    assert several["cost"]["torques_per_step"] == 4
    assert processed["cost"]["torques_per_output"] == METHODS["exact_rotor_corrected"].torques_per_output > 0
    assert processed["orders"]["free"]["q"]["verdict"] == "exact to rounding"
    assert processed["symplecticity"]["verdict"].startswith("symplectic")
    assert 0 < processed["contacts"]["largest_energy_error"] < 1e-3


def test_the_numbers_are_json_and_the_page_needs_nothing_else(numbers):
    assert json.loads(json.dumps(numbers, allow_nan=False)) == numbers
    shapes = [set(row) for row in numbers["methods"].values()]
    assert shapes[0] == shapes[1] == shapes[2]
    text = page(numbers)
    assert "<b>" not in text and "A &lt;b&gt;wrong&lt;/b&gt; &amp; bold one" in text
    assert "lower than declared" in text and "prefers-color-scheme:dark" in text and "@media print" in text
    assert not any(word in text for word in ("<script", "http", "url(", "nan", "None"))
    assert text.count("<svg") == 2 + 2 + 3


def test_the_command_writes_page_and_numbers(numbers, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "sheet", lambda method, beside, bodies, say: numbers)
    assert cli.main(["sheet", "spiral_leapfrog", "--json", "numbers.json"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("Open spiral_leapfrog.html in a browser") and said[-1] == "The numbers are in numbers.json."
    assert said[1].startswith("Orders are not all as declared: friction_isotropic, q: declared 2, measured 1.")
    assert len(said) <= 14 and not any("<" in line for line in said)
    assert json.loads(Path("numbers.json").read_text()) == numbers and Path("spiral_leapfrog.html").read_text() == page(numbers)
    assert cli.main(["sheet", "spiral_leapfrg"]) == 2
    assert "did you mean 'spiral_leapfrog'" in capsys.readouterr().err


def test_the_method_is_compared_with_the_best_beside_it():
    """Torques a radian by hand: mine 2 x 10 and 2 x 30; beside it 40 and 5, and 4 x 8."""
    steps = {"mine": (2, 10.0, 30.0), "simple": (1, 40.0, 5.0), "dear": (4, 8.0, 8.0)}
    rows = {
        key: {
            "label": f"the {key} one",
            "orders": {"state": {"q": {"declared": 4 if key == "dear" else 2}}, "lab": {"q": {"declared": 1}}},
            "cost": {"torques_per_step": torques},
            "laws": {
                of: {"steps_per_radian": {"0.0001": {"ninety_percent": number}}}
                for of, number in zip(("free", "lab", "state"), (0.1, *numbers), strict=True)
            },
            "long_runs": {"top": {"label": "a top", "diverged": False, "last": 0.056}},
        }
        for key, (torques, *numbers) in steps.items()
    }
    names = {"free": "no torque", "lab": "in the lab", "state": "gravity"}
    runs = {"steps": 50000, "step": 0.1}
    said = {"method": "mine", "beside": ["simple", "dear"], "methods": rows, "classes": names, "long_runs": runs}
    assert method_page.compared(said) == [
        "An error of 0.0001 a radian in 90 % of the bodies at best takes 0.625 times the torques of the dear one (in the lab), "
        "at worst takes 12 times the torques of the simple one (gravity).",
        "Beside methods up to second order alone, it at best takes 0.5 times the torques of the simple one (in the lab), "
        "at worst takes 12 times the torques of the simple one (gravity).",
    ]
    assert len(method_page.compared(said | {"beside": ["simple"]})) == 1
    assert method_page.compared(said | {"beside": []}) == []
    rows["mine"]["laws"]["state"]["steps_per_radian"]["0.0001"]["ninety_percent"] = None
    assert "at worst is not reached (gravity)" in method_page.compared(said)[0]
    verdict = next(iter(method_page.VERDICTS))
    assert method_page._form({"symplecticity": {"verdict": verdict}}) == "not tested, as it remembers earlier steps"
    assert method_page._form({"symplecticity": {"verdict": "not symplectic"}}) == "not symplectic"
    assert method_page.long_lasting(said).endswith("after 50,000 steps of 0.1 rad: a top 0.056.")


@kernel
def grows(state, torque, body, dt):
    state = after_torque(state, torque, body, dt)
    return state[:4] + scale(1e30, state[4:7])


@kernel
def starts_at_once(q, omega, torque, body, dt):
    return q + omega


@kernel
def another(state, torque, body, dt):
    state = after_torque(state, torque, body, dt)
    return state[:4] + scale(1.0 + 1e-3 * dt * dt * dt, state[4:7])


def test_what_blows_up_has_diverged(monkeypatch):
    method = replace(METHOD, key="blows_up", after_torque=grows)
    exact = states_dataset(2, 1, ["free"], (method_sheet.RADIANS,))
    entries = method_sheet.errors_on_bodies([method], exact)["blows_up"]
    assert entries["orders"]["free"]["q"]["verdict"] == "diverged" and entries["laws"]["free"]["diverged"] == 2
    assert method_sheet.finite(entries["laws"]["free"]["steps_per_radian"]["0.0001"])["median"] is None
    assert method_sheet.identity(method) == {"not applicable": "it diverges"}
    monkeypatch.setattr(method_sheet, "LONG_STEPS", 20)
    monkeypatch.setattr(method_sheet, "LONG_SAMPLES", 4)
    entry = method_sheet.long_runs([method], exact)["blows_up"]
    assert all(method_page.spent_energy(run | {"share": 1.0}) == "" for run in entry["long_runs"].values())
    librations = entry["librations"]
    assert librations == {"power": 0, "coefficient": None, "limit": 0.0, "caution": "unstable at every step tried"}


def test_a_known_method_under_another_name_is_found(numbers):
    assert list(numbers["identity"]["same"]) == ["spiral_leapfrog"]
    assert "not new" in new_or_known(numbers["identity"])


def test_another_start_is_recognised_and_a_new_step_is_unknown():
    identity = method_sheet.identity(replace(METHOD, key="at_once", start=starts_at_once))
    assert not identity["same"] and "spiral_leapfrog" in identity["same_step"]
    identity = method_sheet.identity(replace(METHOD, key="another", after_torque=another))
    assert not identity["same"] and not identity["same_step"] and "none of" in new_or_known(identity)


def test_a_file_beside_is_no_known_method():
    with METHODS.restored():
        for key in ("mine", "beside_it", "other"):
            changes = {"after_torque": another} if key == "other" else {}
            METHODS.enter(replace(METHOD, key=key, label=key.upper(), start=starts_at_once, **changes), Path(__file__))
        identity = method_sheet.identity(METHODS["mine"])
    assert identity["files"] == {"beside_it": "BESIDE_IT"} and "spiral_leapfrog" in identity["same_step"]
    assert not {"beside_it", "other"} & {*identity["same"], *identity["same_step"]}
    said = new_or_known(identity)
    assert (
        said.startswith("It agrees with the file beside it, BESIDE_IT (beside_it). Its step is that of ")
        and "SPIRAL (spiral_leapfrog)" in said
    )
    assert "not new" not in said


def test_a_body_that_ends_about_an_axis_is_said_to():
    """Energies about the axes by hand, L^2 / (2 I): the body has lost or gained what it can."""
    problem = single_body("free_asymmetric_top")
    inertia, omega = (np.array(x) for x in (problem.body.inertia, problem.omega0))
    momentum, energy = np.linalg.norm(inertia * omega), inertia @ omega**2 / 2
    for axis, share, words in (
        (2, -1.0, "it has lost 100 % of the energy that it can lose: it ends about its largest moment"),
        (0, 1.0, "it has gained 100 % of the energy that it can gain: it ends about its smallest moment"),
    ):
        last = np.eye(3)[axis] * momentum / inertia[axis]
        change = inertia @ last**2 / 2 / energy - 1
        assert method_sheet.energy_share(problem, last, change) == pytest.approx(share)
        run = {"diverged": False, "share": method_sheet.energy_share(problem, last, change), "last": 0.1, "label": "top"}
        assert method_page.spent_energy(run) == words and not method_page.spent_energy(run | {"share": share / 2})
    assert method_sheet.energy_share(problem, omega, 0.0) == 0.0
    assert np.isnan(method_sheet.energy_share(problem, 0.9 * omega, -0.05))
    assert np.isnan(method_sheet.energy_share(single_body("heavy_top"), omega, -0.05))
    sheet = {"method": "mine", "methods": {"mine": {"long_runs": {"top": run}}}, "long_runs": {"steps": 10, "step": 0.1}}
    assert f"top 0.1 ({words})." in method_page.long_lasting(sheet)


def test_the_example_in_kernels_is_what_its_page_says(monkeypatch):
    """docs/challenge.md: no known method, orders as declared, and a free body that loses what it can."""
    monkeypatch.setattr(method_sheet, "LONG_STEPS", 50_000)
    with METHODS.restored():
        mine = METHODS.load(Path(__file__).parents[1] / "docs" / "example_kdk.py")
        identity = method_sheet.identity(mine)
        exact = states_dataset(4, 1, ["free", "state", "friction_anisotropic"], (method_sheet.RADIANS,))
        orders = method_sheet.errors_on_bodies([mine], exact)[mine.key]["orders"]
        runs = method_sheet.long_runs([mine], exact)[mine.key]["long_runs"]
    assert not identity["same"] and not identity["same_step"]
    assert wrong_orders({"orders": orders}) == [] and orders["friction_anisotropic"]["q"]["declared"] == 2
    assert runs["free_asymmetric_top"]["share"] == pytest.approx(-0.98, abs=0.02) and np.isnan(runs["heavy_top"]["share"])


def test_a_wrong_offset_of_the_held_omega_is_said():
    right = method_sheet.held_omega(METHOD)
    assert right["offset"] == -0.5 and right["orders"]["-0.5"] == pytest.approx(2, abs=0.1)
    assert not method_page.wrong_offset({"held_omega": right}) and not method_page.wrong_offset({})
    wrong = method_sheet.held_omega(replace(METHOD, stored_offset=0.0))
    assert wrong["orders"]["0"] == pytest.approx(1, abs=0.1)
    said = method_page.wrong_offset({"held_omega": wrong})
    assert said.endswith("of stored_offset = 0: its error is of order 1.0, and of order 2.0 with stored_offset = -0.5.")
    none = method_page.wrong_offset({"held_omega": wrong | {"orders": {"-0.5": 1.1, "0": 0.9, "0.5": None}}})
    assert "no other of -0.5, 0, 0.5 gives the declared 2" in none
    assert not method_page.wrong_offset({"held_omega": method_sheet.held_omega(METHODS["rk4"])})


def test_a_form_without_a_page_is_named_in_words():
    form = "momentum_leapfrog_exp_new"
    identity = {"same": {}, "same_step": {form: form, "spiral_leapfrog": "SPIRAL"}, "compared": 3}
    text = new_or_known(identity)
    assert form not in text and "leapfrog of the lab momentum" in text and "SPIRAL (spiral_leapfrog)" in text
    far = {"same": {}, "same_step": {}, "compared": 3, "nearest": {"key": "heun_lab", "round_offs": 2.6e13}}
    assert "Nearest" not in method_page._new({"identity": far}) and "Nothing is near" in method_page._new({"identity": far})
    near = far | {"nearest": {"key": "spiral_leapfrog", "round_offs": 2.6e3}}
    assert "Nearest: SPIRAL (spiral_leapfrog), " in method_page._new({"identity": near})
