"""Plug-ins in the study: a method, a problem and a scene of one's own, from the configuration to the figures."""

import re
import shutil
from pathlib import Path

import pytest
import yaml
from conftest import checkout_said
from studies import reduced

from polhode.interface.netcdf import read_groups
from polhode_study.artefacts import places
from polhode_study.chapters import rendering
from polhode_study.inputs import Inputs

HOME = Path(__file__).parents[1]
EXAMPLES = [f"docs/example_{name}.py" for name in ("plugin", "problem", "scene")]

pytestmark = pytest.mark.slow


def configured(folder: Path, plugins: list[str]) -> Path:
    """A configuration file: the three examples, beside one method and nothing else of the library."""
    config = reduced(
        {"magnetic_needle": {"dt": {"fit": {"divisions": [16, 1024, 11]}}, "samples": 1, "check_until": 1.0}},
        {"mine": {"scene": "dumbbells", "dt": {"one": {"values": [5e-6]}}, "horizon": 2e-3, "seeds": 1, "samples": 10}},
        results=str(folder / "results"),
        plugins=plugins,
        methods=["spiral_leapfrog"],
        further="computed",
        digits=25,
    )
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


@pytest.mark.thorough
def test_a_method_a_problem_and_a_scene_of_ones_own(tmp_path):
    """They run like those of the library: runs, a reference by Taylor series, gathered data, the figures of their class."""
    mine, results = configured(tmp_path, EXAMPLES), tmp_path / "results"
    wanted = [results / name for name in ("single_body.nc", "many_body.nc")]
    said = checkout_said("-m", "snakemake", "--configfile", mine, "--cores", "2", *wanted)
    assert "is not run" not in said
    groups = read_groups(wanted[0])
    run = groups["/magnetic_needle"]
    assert list(run["integrator"].values) == ["spiral_leapfrog", "my_spiral"]
    plugin, built_in = (run.sel(integrator=key) for key in ("my_spiral", "spiral_leapfrog"))
    assert plugin["q_order"] == built_in["q_order"] and 1.9 < plugin["q_order"] < 2.1
    assert run.attrs["torque_class"] == "state" and groups["/"].attrs["plugins"] == "my_spiral"
    # Without a closed form the reference is a Taylor series, held to one of higher precision and order.
    reference = read_groups(results / "references/magnetic_needle.nc")["/"].attrs
    assert reference["formula"] == "Taylor series" and reference["agreement"] > 25
    energy = read_groups(wanted[1])["/mine"]
    assert energy.attrs["scene"] == "dumbbells" and set(energy["integrator"].values) == {"spiral_leapfrog", "my_spiral"}
    assert (energy["energy_error"] < 1e-3).all()
    # Drawn here: Snakemake would draw all figures of two chapters.
    for name in ("order_map", "many_body_energy"):
        rendering.render_figure(name, Inputs(**places(results, ("single_body", "references", "many_body"))), tmp_path)
        drawn = (tmp_path / f"{name}.pdf").read_bytes()
        assert len(drawn) > 5_000 and drawn.startswith(b"%PDF") and b"%%EOF" in drawn[-16:]

    # All of it rests on the code of the plug-ins, wherever they are: an edit of one makes again what it made, nothing else.
    for name in EXAMPLES:
        shutil.copy(HOME / name, tmp_path)
    copies = [tmp_path / Path(name).name for name in EXAMPLES]
    configured(tmp_path, [str(path) for path in copies])

    def again() -> set[str]:
        output = checkout_said("-m", "snakemake", "--configfile", mine, "-n", *wanted)
        return {line.split()[0] for line in output.splitlines() if re.fullmatch(r"\w+\s+\d+", line)} - {"total"}

    for path, old, new, rules in (
        (copies[2], "speed=0.5", "speed=0.6", {"many_body_mine_1", "gather_many_body"}),
        (copies[1], '"B": 1.5', '"B": 1.6', {"references_1", "single_body_magnetic_needle_1", "gather"}),
    ):
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        assert again() == rules
        path.write_text(text)
