"""Advice for liquids, from made-up drifts."""

import json
import re
from math import pi

import numpy as np
import pytest
import xarray as xr

import polhode
from polhode import cli
from polhode.advice import AdviceError, files
from polhode.study.storage import write_groups

STEPS = [1.0, 2.0, 4.0, 6.0]
#: Drifts by step, 1/ns: one that is good to 4 fs, one to 2, one that is lost.
DRIFTS = {
    "no_squish": [1e-4, 1e-4, 1e-3, 2.0],
    "exact_rotor": [1e-4, 1e-4, 1e-3, 1.0],
    "magnus_adams4": [0.1, -40.0, -300.0, np.nan],
}


@pytest.fixture
def release(tmp_path, monkeypatch):
    drift = np.array(list(DRIFTS.values()))[..., None] * (1 + 0.01 * np.array([-1, 0, 1]))
    lost, over = np.isnan(drift).astype(float), ("integrator", "dt", "seed")
    data = xr.Dataset(
        {
            "drift": (over, np.nan_to_num(drift, nan=-500.0)),
            "lost_by": (over, -lost),
            "lost_at": (over, np.where(lost > 0, 1000.0, np.nan)),
            **{name: (over, np.full(drift.shape, 1e-3)) for name in ("rms", "block_error")},
        },
        {"integrator": list(DRIFTS), "dt": STEPS, "seed": [0, 1, 2]},
        {"duration": 1e5, "molecules": 64, "temperature": 300.0},
    )
    frequency = np.linspace(0, 1, 1001)
    spectrum = xr.Dataset(
        {"spectrum": (("axis", "frequency"), np.full((3, 1001), 1 / 3003))}, {"frequency": frequency}, {"scene": "water64"}
    )
    path = tmp_path / files.RELEASED / "liquids.nc"
    write_groups({"/": xr.Dataset(), "/followed": data, "/spectrum_water64": spectrum}, path)
    monkeypatch.chdir(tmp_path)


def test_the_longest_step_below_the_drift_is_recommended(release):
    answer = polhode.recommend(liquid="water64")
    assert (answer.method, answer.dt) == ("exact_rotor", pytest.approx(4e-15))
    assert "4 fs" in str(answer) and "2 pi" not in str(answer)
    assert f"{2 * pi / 0.99 / 4:.3g} steps in a period" in answer.sentence
    assert "Magnus-Adams 4 are not for long runs" in " ".join(str(answer).split())
    assert json.loads(answer.to_json())["known_from"] == "liquid"
    assert polhode.recommend(liquid="water64", drift=2e-4).dt == pytest.approx(2e-15)


def test_another_liquid_has_the_same_drift_in_a_period(release):
    period = 2 * pi / 0.99
    slower = polhode.recommend(liquid=3 * period * 1e-15, drift=2e-4)
    # Three times the period: a third of the drift per time.
    assert slower.dt == pytest.approx(3 * 2e-15, rel=1e-2)
    assert polhode.recommend(liquid=20 * period * 1e-15, drift=1e-4).dt == pytest.approx(80e-15, rel=1e-2)


@pytest.mark.parametrize(
    "question, message",
    [
        ({"liquid": "watter64"}, "did you mean 'water64'"),
        ({"liquid": "water64", "drift": 1e-9}, "not shown of any method"),
        ({"liquid": "water64", "friction": 0.5}, "friction belongs to a question about contacts; this is one about a liquid"),
        ({"drift": 0.1}, "drift belongs to a question about a liquid"),
        *(({"liquid": number}, "liquid must be positive and finite") for number in (-1.0, 0, float("inf"), float("nan"))),
        *(({"liquid": text}, "liquid must be positive and finite") for text in ("-33fs", "nan", "inf", "1e400")),
        *(({"liquid": period}, "if 33 fs is meant, write 33fs") for period in (33, "33", "33 s", np.float32(33))),
        ({"liquid": 0.033}, "if 0.033 ps is meant, write 0.033ps"),
        *(({"liquid": far}, "write it with its unit, as in 33fs") for far in (1e300, 1e-17, "5e9fs")),
        ({"liquid": True}, "liquid must be"),
        ({"liquid": "water64", "contact_time": 1.0}, "two questions"),
    ],
)
def test_what_cannot_be_answered_is_said(release, question, message):
    with pytest.raises(AdviceError, match=message):
        polhode.recommend(**question)


def test_the_command_answers_in_femtoseconds(release, capsys):
    assert cli.main(["recommend", "--liquid", "water64"]) == 0
    assert "dt = 4 fs" in capsys.readouterr().out
    assert cli.main(["recommend", "--liquid", "1.2e-14", "--drift", "1e-2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["method"] == "exact_rotor"


@pytest.mark.parametrize("written", [12e-15, "12fs", "12 fs", "1.2e-2 ps", "1.2E-14", "1.2e-5ns"])
def test_a_period_is_read_with_and_without_unit(release, capsys, written):
    answer = polhode.recommend(liquid=written)
    assert answer.dt == pytest.approx(4e-15 * 12 / (2 * pi / 0.99), rel=1e-3)
    assert cli.main(["recommend", "--liquid", str(written), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["dt"] == pytest.approx(answer.dt)


@pytest.mark.parametrize("written", ["33", "1e300", "-1", "nan", "inf"])
def test_the_command_refuses_a_period_without_unit(release, capsys, written):
    assert cli.main(["recommend", "--liquid", written]) == 2
    said = capsys.readouterr()
    assert not said.out and len(said.err.splitlines()) == 1 and "--liquid" in said.err


def test_an_answer_says_for_which_length_of_run(release):
    # 6 degrees of freedom, and 81 +- 3 J/mol/K by a regression of E on T over six runs of water64 of 150 ps (275 to 332 K).
    kelvin_per_ns = 0.01 * 6 * 8.314 * 300 / 81
    text = " ".join(str(polhode.recommend(liquid="water64")).split())
    assert "for runs of 1 ns" in text and "10 ns ask for drift 0.001" in text.replace("`", "")
    warmed = [float(x) for x in re.search(r"by (\S+) K in 1 ns and by (\S+) K in 10 ns", text).groups()]
    assert warmed == pytest.approx([kelvin_per_ns, 10 * kelvin_per_ns], rel=0.03)
    assert "for runs of 100 ps" in " ".join(str(polhode.recommend(liquid="water64", drift=0.1)).split())


def test_settle_has_its_own_step_and_its_own_name():
    # The released drifts: at 0.001 kT/ns 2 fs are shown for SETTLE and not 4.
    text = " ".join(str(polhode.recommend(liquid="water64", drift=1e-3, everything=True)).split())
    assert "SHAKE, RATTLE or SETTLE (moser_veselov): dt = 2 fs" in text
    assert re.search(r"Moser-Veselov \(SHAKE, RATTLE, SETTLE\) \(moser_veselov\) +2e-15", text)
    assert "Moser-Veselov (SHAKE, RATTLE, SETTLE) 2 fs" in " ".join(str(polhode.recommend(liquid="water64")).split())
