"""What a job imports: only what it needs, since a study has over a hundred and many are short."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from conftest import said_by

import polhode

HOME = Path(__file__).parents[1]
CHAPTERS = sorted(path.parent.name for path in (HOME / "src/polhode_study/chapters").glob("*/chapter.py"))
#: A chapter whose texts ask the registered methods for a constant.
COMPILED = {"new_methods"}


def imported(lines: str, candidates: set[str]) -> set[str]:
    """Those of the candidates that these lines import."""
    said = said_by(f"{lines}\nimport sys\nprint('imported', *{candidates!r} & set(sys.modules))")
    return set(said.splitlines()[-1].split()[1:])


HEAVY = {"matplotlib", "netCDF4", "numba", "pandas", "pydantic", "scipy", "snakemake", "xarray"}


@pytest.mark.parametrize(("module", "lighter"), [("polhode_study.workflow.entry", set()), ("polhode", {"numpy"})])
def test_the_package_and_the_entry_of_a_job_import_nothing_heavy(module, lighter):
    assert imported(f"import {module}", HEAVY | lighter) == set()


def test_declaring_files_import_no_compiler():
    """Numba is imported when something is compiled. A start of Snakemake and most answers compile nothing."""
    lines = """
from polhode.ensembles import CLASSES
from polhode.manybody.scenes import SCENES
from polhode.methods import METHODS
from polhode.problems import PROBLEMS
assert len(METHODS) > 60 and len(PROBLEMS) > 10 and len(SCENES) > 5 and len(CLASSES) == 8
assert METHODS["rk4"].caution and not METHODS["exact_rotor"].caution
assert METHODS["spiral_leapfrog"].state_width == 7
"""
    assert imported(lines, {"llvmlite", "numba", "pandas", "xarray"}) == set()


#: What a job of this kind does with its files and settings, in a temporary folder.
JOBS = {
    "single_body": """
from polhode_study.run.making import make_files, make_single_body
settings = {"horizon": 0.25, "samples": 1, "switched": False, "dt": {"0.015625": False}}
job = {"wildcards": {"problem": "damped_top", "steps": "fit", "method": "euler"}, "settings": settings}
make_files({"euler.nc": json.dumps(job)}, make_single_body)
""",
    "many_body": """
from polhode_study.run import scene
from polhode_study.run.making import make_files
settings = {"scene": "rods", "spin": None, "horizon": 1e-4, "samples": 1, "seeds": 1}
job = {"wildcards": {"scene": "rods", "method": "spiral_leapfrog", "dt": "1e-05"}, "settings": settings}
make_files({"spiral_leapfrog.nc": json.dumps(job)}, scene.make_seeds)
""",
    "film": """
from polhode_study.run import scene
from polhode_study.run.making import make_files
film = {"method": "spiral_leapfrog", "dt": 1e-5, "horizon": 1e-4, "frames": 2}
job = {"wildcards": {"scene": "rods"}, "settings": {"scene": "rods", "spin": None, "film": film}}
make_files({"film.nc": json.dumps(job)}, scene.make_film)
""",
}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", JOBS)
def test_a_job_that_runs_kernels_imports_what_it_needs(kind, tmp_path):
    unused = {"matplotlib", "pydantic", "snakemake", "polhode_study.configuration", "polhode_study.plan"} | {
        "mpmath",
        "scipy.io",
        "scipy.sparse",
    }  # Numba imports the top of SciPy
    begin = f"import json\nimport os\nos.chdir({str(tmp_path)!r})\nfrom polhode_study.workflow import entry\n"
    modules = imported(begin + JOBS[kind], unused)
    assert modules == set() and list(tmp_path.rglob("*.nc"))


#: Scripts that gather a study, judge or show it, or write down what made it.
OF_THE_WHOLE = {"gather", "gather_ensembles", "gather_many_body", "claims", "cost", "cost_claims", "provenance"}
OF_THE_WHOLE |= {"animation", "captions", "chapter", "execute_notebook", "explorer", "report"}


def test_a_script_that_runs_one_thing_knows_its_parameters_alone():
    """It neither resolves the configuration nor makes the plan again; nor does what it imports of the study."""
    forbidden = ("polhode_study.configuration", "polhode_study.plan")
    scripts = [path for path in sorted((HOME / "workflow" / "scripts").glob("*.py")) if path.stem not in OF_THE_WHOLE]
    assert {"single_body", "many_body", "references", "ensemble", "checks", "timing"} <= {path.stem for path in scripts}
    for path in scripts:
        seen: set[str] = set()
        waiting = [path.read_text()]
        while waiting:
            for name in re.findall(r"^(?:from|import) (polhode[\w.]*)(?: import ([\w, ]+))?", waiting.pop(), re.MULTILINE):
                for module in (name[0], *(f"{name[0]}.{imported_name.strip()}" for imported_name in name[1].split(","))):
                    file = HOME / "src" / f"{module.replace('.', '/')}.py"
                    if module not in seen and file.is_file():
                        seen.add(module)
                        waiting.append(file.read_text())
        assert not [name for name in seen if name.startswith(forbidden)], path.name


@pytest.mark.thorough
def test_figures_texts_and_claims_import_no_compiler():
    """They read files; compilation and the models of the configuration take longer to import than many of them to run."""
    parts = [
        f"polhode_study.chapters.{chapter}.{kind_of_module}"
        for chapter in sorted({*CHAPTERS} - COMPILED)
        for kind_of_module in ("tables", "numbers", "measures")
    ]
    lines = "from importlib.util import find_spec\nfrom importlib import import_module\n"
    lines += "from polhode_study.chapters import judging, rendering\n"
    lines += f"for name in {parts!r}:\n    find_spec(name) and import_module(name)\n"
    assert imported(lines, {"matplotlib", "mpmath", "numba", "polhode.methods", "pydantic"}) == set()


@pytest.mark.thorough
def test_public_names_are_there_before_they_are_imported():
    listed = said_by("import polhode\nprint(*dir(polhode))").split()
    assert set(polhode.__all__) <= set(listed)
    assert said_by("from polhode import *\nprint(callable(simulate), len(methods) > 40)").strip() == "True True"
    assert all(getattr(polhode, name) is not None for name in polhode.__all__)
    with pytest.raises(AttributeError, match="no attribute 'simulates'"):
        _ = polhode.simulates


@pytest.mark.thorough
@pytest.mark.parametrize("first", ["", "first = polhode.methods, polhode.problems, polhode.simulate"])
def test_a_module_does_not_take_the_place_of_a_public_name(first):
    """Whichever comes first: importing the module polhode.simulate, or the function."""
    program = f"""
import sys, types
import polhode
{first}
import polhode.methods, polhode.problems, polhode.simulate
public = polhode.methods, polhode.problems, polhode.simulate
print([type(x) for x in public].count(types.ModuleType), "polhode.simulate" in sys.modules, {first[:5] or "public"} == public)
"""
    assert said_by(program).strip() == "0 True True"


def test_a_public_name_can_still_be_replaced(monkeypatch):
    monkeypatch.setattr(polhode, "simulate", "other")
    assert polhode.simulate == "other"


@pytest.mark.thorough
def test_a_job_without_the_study_has_the_plugins(tmp_path):
    program = f"""
from types import SimpleNamespace
from polhode_study.workflow import entry
config = {{"results": {str(tmp_path)!r}, "plugins": ["docs/example_plugin.py"]}}
with entry.library_of(SimpleNamespace(rule="film", wildcards={{}}, config=config, log=[], output=[])):
    from polhode.methods import METHODS
    print("my_spiral" in METHODS)
"""
    assert said_by(program).strip() == "True"
    assert (tmp_path / "written" / "film.json").is_file()


@pytest.mark.parametrize("job", [True, False])
def test_a_job_does_not_collect_garbage_of_imports(job, tmp_path):
    """Only in the jobs of the workflow; who imports the study elsewhere keeps the settings of the process."""
    program = f"""
import gc, os
os.environ.pop("POLHODE_HEAD", None)
if {job}:
    os.environ["POLHODE_HEAD"] = str(os.getpid())
from types import SimpleNamespace
before = gc.get_threshold()
from polhode_study.workflow import entry
within = gc.get_threshold()
with entry.job_of(SimpleNamespace(rule="film", wildcards={{}}, config={{"results": {str(tmp_path)!r}}}, log=[], output=[])):
    print(gc.isenabled(), within[0] > 10_000, gc.get_freeze_count() > 10_000, gc.get_threshold()[0] == before[0])
"""
    assert said_by(program).strip() == ("True True True True" if job else "True False False True")


def test_the_last_job_imports_neither_compiler_nor_data():
    """Nothing runs beside it at the end of a study. Captions and report read tables, whose cells the text has."""
    texts = [(HOME / "workflow" / "scripts" / f"{name}.py").read_text() for name in ("provenance",)]
    lines = [line for text in texts for line in text.splitlines() if line.startswith(("from ", "import "))]
    assert imported("\n".join(lines), HEAVY | {"llvmlite"}) == set() and "study_of" not in "".join(texts)


def test_files_of_users_find_what_moved_into_rooms():
    """By the names of version 0.1, and as the same module: a second copy of kernels would be compiled a second time."""
    for old, new in polhode.MOVED.items():
        assert import_module(old) is import_module(new)
        assert import_module(new).__spec__.name == new
