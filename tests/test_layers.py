"""The three packages and their rooms: who may import whom, chapters that keep to themselves, a new chapter as one folder."""

import ast
import re
import shutil
from collections.abc import Iterable
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from conftest import checkout_said, said_by
from test_workflow import House

from polhode.fits import NotInRun
from polhode_study import chapters
from polhode_study.checks import CHECKS
from polhode_study.inputs import Inputs, once

HOME = Path(__file__).parents[1]
SOURCE = HOME / "src"
PACKAGES = ("polhode", "polhode_engines", "polhode_study")

#: The rooms from the ground up; each may import what is listed before it. A module of polhode_study that is in no folder is in
#: the room of that name.
ROOMS = (
    "polhode",
    "polhode_engines",
    "polhode_study",
    "polhode_study.configuration",
    "polhode_study.workflow",
    "polhode_study.run",
    "polhode_study.gather",
    "polhode_study.report",
    "polhode_study.judge",
    "polhode_study.chapters",
    "polhode_study.explorer",
    "polhode_study.archive",
    "polhode_study.cli",
    "polhode_study.documentation",
)
#: One floor: they serve each other. What reads and checks a configuration is in modules beside its folder, too.
GROUND = {"polhode_study", "polhode_study.configuration", "polhode_study.workflow"}
#: Modules of polhode_study that stand above its rooms.
ABOVE = {f"polhode_study.{name}" for name in ("products", "by_hand", "head", "notebooks")}


def modules(source: Path = SOURCE) -> dict[str, Path]:
    path_of_module = {}
    for path in (path for package in PACKAGES for path in (source / package).rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        path_of_module[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return path_of_module


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def import_lines(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """The import statements of a file, wherever in it."""
    return [node for node in ast.walk(tree(path)) if isinstance(node, ast.Import | ast.ImportFrom)]


def imports(path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of our packages that a file imports."""
    imported = set()
    for node in import_lines(path):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif node.module and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        imported |= {name for name in names if name in known}
    return imported


def room(module: str) -> str:
    """The room a module is in."""
    if module in ABOVE:
        return "polhode_study.explorer"
    package, *parts = module.split(".")
    if package == "polhode_study" and parts[:1] == ["chapters"] and parts[1:] not in (["judging"], ["overview"], ["rendering"]):
        file = parts[2] if len(parts) == 3 else "chapter"
        return package if file == "chapter" else f"{package}.run" if file.startswith("run") else f"{package}.chapters"
    return ".".join([package, *parts[:1]]) if ".".join([package, *parts[:1]]) in ROOMS else package


def upward(source: Path = SOURCE) -> list[str]:
    """Imports that go up."""
    known = modules(source)
    lines = []
    for module, path in known.items():
        own_room = room(module)
        for other in imports(path, known):
            other_room = room(other)
            if ROOMS.index(other_room) > ROOMS.index(own_room) and not {own_room, other_room} <= GROUND:
                lines.append(f"{module} imports {other}")
    return sorted(lines)


def test_every_room_is_listed():
    assert {room(module) for module in modules()} == set(ROOMS)
    folders = {f"polhode_study.{path.parent.name}" for path in (SOURCE / "polhode_study").glob("*/__init__.py")}
    assert folders <= set(ROOMS)


#: Doors that lead up on purpose: ``polhode.identify``, which is imported when it is asked for, ``polhode docs`` and ``init``.
DOORS = {
    "polhode imports polhode_engines.own_code",
    "polhode_study.cli.docs imports polhode_study.documentation.pages",
    "polhode_study.cli.init imports polhode_study.documentation.configuration",
}


def test_imports_go_down():
    """The library imports nothing of the engines, and both, which a wheel holds, nothing of the study, which it does not."""
    assert set(upward()) == DOORS


#: What a scene, a fluid or a method knows of itself only after it has been run: imported when somebody asks for it.
RUN_WHEN_ASKED = {
    ("polhode.manybody.scene", "polhode.manybody.simulation"),
    ("polhode.manybody.fluid", "polhode.manybody.simulation"),
    ("polhode.methods.protocol", "polhode.methods.libration"),
}


def library_imports(source: Path = SOURCE) -> dict[str, set[str]]:
    """Module of the library or the engines -> the modules that it imports, late ones too; types alone do not count."""
    known = modules(source)
    graph = {}
    for module, path in known.items():
        if room(module) in ("polhode", "polhode_engines"):
            ignored = {
                line for node in ast.walk(tree(path)) if is_for_types(node) for line in range(node.lineno, node.end_lineno + 1)
            }
            names = set()
            for node in import_lines(path):
                if isinstance(node, ast.ImportFrom) and node.module and node.lineno not in ignored:
                    for alias in node.names:
                        whole = f"{node.module}.{alias.name}"
                        names.add(whole if whole in known else node.module)
            graph[module] = {name for name in names if name in known and (module, name) not in RUN_WHEN_ASKED}
    return graph


def is_for_types(node: ast.AST) -> bool:
    """Whether a statement is ``if TYPE_CHECKING:``."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def test_the_modules_of_the_library_stand_on_floors():
    """No module needs, directly or through others, one that needs it, however late it imports it."""
    assert len(list(TopologicalSorter(library_imports()).static_order())) > 200


def test_a_late_import_that_closes_a_circle_is_found(tmp_path):
    fits = tmp_path / "polhode" / "fits"
    fits.mkdir(parents=True)
    (fits / "first.py").write_text("from polhode.fits.second import b\n")
    (fits / "second.py").write_text("def b():\n    from polhode.fits import first\n")
    with pytest.raises(CycleError):
        TopologicalSorter(library_imports(tmp_path)).prepare()
    late = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from polhode.fits import first\n"
    (fits / "second.py").write_text(late)
    import_lines.cache_clear()
    tree.cache_clear()
    TopologicalSorter(library_imports(tmp_path)).prepare()


def test_imports_are_absolute():
    """This file and the hash of the code follow absolute imports alone: a relative one would slip past both."""
    relative = [
        f"{module}, line {node.lineno}"
        for module, path in modules().items()
        for node in import_lines(path)
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []


def test_an_import_that_goes_up_is_found(tmp_path):
    for name in ("polhode_study/run/cell.py", "polhode_study/chapters/times/figures.py", "polhode_engines/cell.py"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("def late():\n    from polhode_study.chapters.times import figures\n")
    places = ("polhode_engines.cell", "polhode_study.run.cell")
    assert upward(tmp_path) == [f"{place} imports polhode_study.chapters.times.figures" for place in places]


def test_chapters_read_frames_of_others_alone():
    """What is run may use what another chapter runs; nothing goes around in a circle."""
    known, graph = modules(), {}
    for module, path in known.items():
        key, file = (module.split(".") + [""] * 4)[2:4]
        if room(module) == "polhode_study.chapters" and file:
            for other in imports(path, known):
                is_early = room(other) in ("polhode_study.run", "polhode_study.gather")
                assert not is_early, f"{module} imports {other}: late stages read files"
                of_other = other.split(".")
                if of_other[:2] == ["polhode_study", "chapters"] and len(of_other) == 4 and of_other[2] != key:
                    assert of_other[3].startswith("frames"), f"{module} imports {other}"
                    graph.setdefault(key, set()).add(of_other[2])
    TopologicalSorter(graph).prepare()


#: Late stages, which read the files of a run, and what they may not ask instead: what is registered now, what methods and
#: problems are made of, and their declarations outside a file.
LATE = tuple(f"polhode_study.{name}" for name in ("chapters", "judge", "report", "explorer"))
LIVE = (
    *(f"polhode.{name}" for name in ("methods", "problems", "registry", "references", "manybody", "simulate", "export")),
    *(f"polhode.{name}" for name in ("compiling", "algebra.body", "algebra.quaternion", "algebra.vector", "algebra.dual")),
    "polhode_study.declarations",
)
#: Pictures of clumps only draw. Notebooks and pages ask for the look of registered methods without a run. The last is a number.
HARMLESS = {
    "polhode_study.chapters.many_body.figures imports polhode.manybody.pictures",
    "polhode_study.report.style imports polhode_study.declarations.variant_of_registered",
    "polhode_study.chapters.long_runs.frames_of_drift imports polhode.registry.LAST",
    "polhode_study.report.selection imports polhode.registry.LAST",
}


def within(module: str, parents: Iterable[str]) -> bool:
    return any(module == parent or module.startswith(f"{parent}.") for parent in parents)


def live_questions(source: Path = SOURCE) -> list[str]:
    """Imports of late stages that ask the running program for what the files of a run say, relative ones included."""
    lines = []
    for module, path in modules(source).items():
        if not within(module, LATE) or room(module) == "polhode_study.run":
            continue
        folder = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
        for node in import_lines(path):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                base = node.module or ""
                above = folder[: len(folder) + 1 - node.level] if node.level else []
                whole = ".".join([*above, base.strip(".")]).strip(".")
                names = [f"{whole}.{alias.name}".strip(".") for alias in node.names]
            lines += [f"{module} imports {name}" for name in names if within(name, LIVE)]
    return sorted(set(lines))


def test_late_stages_read_files_and_ask_no_registry():
    assert set(live_questions()) == HARMLESS


@pytest.mark.parametrize(
    ("file", "line", "name"),
    [
        ("chapters/times/numbers.py", "from polhode.compiling.operations import count", "polhode.compiling.operations.count"),
        ("chapters/times/numbers.py", "from polhode.algebra import quaternion", "polhode.algebra.quaternion"),
        ("chapters/times/numbers.py", "from polhode import methods as m", "polhode.methods"),
        ("judge/verdicts.py", "import polhode.problems.heavy_top", "polhode.problems.heavy_top"),
        ("report/__init__.py", "from .. import declarations", "polhode_study.declarations"),
        ("explorer/page.py", "def late():\n    from polhode.references import taylor", "polhode.references.taylor"),
        (
            "chapters/__init__.py",
            "from ..declarations import problem_declarations",
            "polhode_study.declarations.problem_declarations",
        ),
    ],
)
def test_a_question_to_a_registry_is_found(tmp_path, file, line, name):
    path = tmp_path / "polhode_study" / file
    path.parent.mkdir(parents=True)
    path.write_text(f"{line}\n")
    module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    assert live_questions(tmp_path) == [f"polhode_study.{module} imports {name}"]


def test_figures_tables_and_numbers_read_their_frames_alone():
    known = modules()
    shown = ("figures", "tables", "numbers")
    for key in chapters.all_chapters():
        for path in (HOME / chapters.FOLDER / key).glob("[!_]*.py"):
            place = f"polhode_study.chapters.{key}."
            of_chapter = {other.removeprefix(place) for other in imports(path, known) if other.startswith(place)}
            assert not of_chapter & {*shown}, f"{key}/{path.name} imports {of_chapter}"


def test_what_a_chapter_declares_is_there():
    for key, chapter in chapters.all_chapters().items():
        assert chapter.readers, f"nobody reads {key}"
        for kind in ("figures", "tables", "numbers"):
            path = HOME / chapters.FOLDER / key / f"{kind}.py"
            public = set()
            if path.is_file():
                tree = ast.parse(path.read_text(encoding="utf-8"))
                public = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            assert set(getattr(chapter, kind)) <= public, f"{key} declares {kind} that {path.name} lacks"


def test_the_list_of_chapters_imports_no_plotting():
    """The workflow reads it at every start, in every job."""
    code = "import sys; from polhode_study import products; products.chapters.all_chapters(); print(*sys.modules)"
    assert not {"matplotlib", "seaborn", "PIL"} & set(said_by(code).split())


TOY = '''"""A chapter that a test has added."""

from polhode_study.chapters.chapter import Chapter, Check

CHAPTER = Chapter(
    title="A toy",
    readers="nobody",
    place=65,
    needs=("single_body",),
    checks={"toy_check": Check("run:toy", 1.0)},
    figures=("toy_figure",),
    tables=("toy_table",),
    numbers=("toy",),
)
'''
RUN = '''"""Its experiment."""

import xarray as xr

from polhode_study.run.making import Settings


def toy(settings: Settings) -> xr.Dataset:
    """Nothing."""
    return xr.Dataset()
'''
FIGURES = '''"""Its figure."""

from matplotlib.figure import Figure

from polhode_study.inputs import Inputs
from polhode_study.report.drawing import new_figure


def toy_figure(inputs: Inputs) -> Figure:
    """Nothing."""
    return new_figure((2.0, 2.0))
'''
TABLES = '''"""Its table."""

from polhode.interface.table import Column, Table
from polhode_study.inputs import Inputs


def toy_table(inputs: Inputs) -> Table:
    """One cell."""
    return Table([{"a": 1}], [Column("a", "a")])
'''
NUMBERS = '''"""Its number."""

from polhode_study.inputs import Inputs


def toy(inputs: Inputs) -> dict[str, str]:
    """One."""
    return {"studyToy": "1"}
'''


@pytest.fixture
def checkout(tmp_path):
    """A copy of what the workflow reads."""
    return House(tmp_path).folder


@pytest.mark.thorough
def test_a_new_chapter_is_a_folder(checkout):
    """Its experiment is run, its text is in the report, its macro is written; no other file is touched."""
    folder = checkout / "src" / "polhode_study" / "chapters" / "toy"
    folder.mkdir()
    for name, text in (
        ("__init__", '"""Toy."""\n'),
        ("chapter", TOY),
        ("run", RUN),
        ("figures", FIGURES),
        ("tables", TABLES),
        ("numbers", NUMBERS),
    ):
        (folder / f"{name}.py").write_text(text)
    (folder / "text.tex").write_text(r"\section{Toy} \studyToy{} \input{\resultsdir/tables/toy_table}" + "\n")
    plan = checkout_said("-m", "snakemake", "-n", "--quiet", "host", folder=checkout)
    assert "rule chapter_toy:" in plan
    assert (
        "results/figures/toy_figure.pdf" in plan
        and "results/tables/toy_table.csv" in plan
        and "results/numbers/toy.tex" in plan
        and "results/checks/toy_check.nc" in plan
    )
    code = """
from pathlib import Path
from polhode_study.inputs import Inputs
from polhode_study.report import macros, typeset
from polhode_study.chapters import all_chapters, rendering, texts
run, paper = Inputs(""), Path("build")
rendering.render_figure("toy_figure", run, "out")
rendering.render_table("toy_table", run, "out")
rendering.render_numbers("toy", run, "out/numbers/toy.tex", macros.used(texts(".")))
typeset.copy_sources(Path(), paper)
print(Path("out/numbers/toy.tex").read_text())
print(typeset.generated(paper, Path("out"), {"toy": all_chapters()["toy"]})["chapters.tex"])
"""
    said = checkout_said("-c", code, folder=checkout)
    assert r"\newcommand{\studyToy}{1}" in said and r"\input{chapters/toy/text}" in said
    assert (checkout / "out" / "toy_figure.pdf").is_file() and (checkout / "out" / "toy_table.tex").is_file()


@pytest.mark.thorough
def test_a_chapter_whose_folder_is_deleted_is_gone(checkout):
    """The study still plans, and both documents have all that they include; no other file is touched."""
    shutil.rmtree(checkout / chapters.FOLDER / "calzavarini2010")
    plan = checkout_said("-m", "snakemake", "-n", "--quiet", "host", folder=checkout)
    assert (
        "rule chapter_seelen2016_no_squish:" in plan
        and "results/checks/note_corrections.nc" not in plan
        and "velocity_torque" not in plan
    )
    code = """
from pathlib import Path
from polhode_study.chapters import all_chapters, names, texts
from polhode_study.report import macros, shortened, typeset
results, build = Path("out"), Path("build")
for folder in ("figures", "tables", "numbers"):
    (results / folder).mkdir(parents=True)
for kind, suffix in (("figures", "pdf"), ("tables", "tex")):
    for name in names(kind):
        (results / kind / f"{name}.{suffix}").write_text("made")
for key in names("numbers"):
    (results / "numbers" / f"{key}.tex").write_text("")
lines = (f"\\\\newcommand{{\\\\{name}}}{{1}}" for name in macros.used(texts(".")))
(results / "numbers" / "long_runs.tex").write_text("".join(lines))
typeset.copy_sources(Path(), build)
for name, text in typeset.generated(build, results, all_chapters()).items():
    (build / name).write_text(text)
shown = set().union(*(shortened.included(path.read_text()) for path in build.rglob("*.tex")))
print(*sorted(shown - {*names("figures"), *names("tables")}))
"""
    assert checkout_said("-c", code, folder=checkout).split() == []
    sources = {path.relative_to(checkout / "build"): path.read_text() for path in (checkout / "build").rglob("*.tex")}
    included = re.findall(r"\\input\{(\w[\w/]*)\}", "".join(sources.values()))
    assert "chapters/seelen2016/text" in included and {Path(f"{name}.tex") for name in included} <= set(sources)


def test_a_chapter_that_needs_what_there_is_not_is_refused():
    with pytest.raises(ValueError, match=r"needs nonsense; known are: single_body"):
        chapters.Chapter(title="x", readers="y", place=1, needs=("nonsense",))


@pytest.mark.thorough
def test_the_hash_of_a_chapter_covers_its_chapters(checkout):
    """An edited figure is another hash for its chapter, and the same for all others; so are an edited table and number."""
    code = """
from pathlib import Path
import yaml
from polhode_study import configuration, products, chapters
study = configuration.resolve(yaml.safe_load(open("config.yaml")), Path.cwd(), ["config.yaml"])
plan = products.Products(study, Path.cwd())
for key in chapters.jobs():
    print(f"{key}={plan.job_code(key)}")
"""
    before = set(checkout_said("-c", code, folder=checkout).splitlines())
    folder = checkout / "src" / "polhode_study" / "chapters"
    for name in ("long_runs/tables", "times/tables", "ledger/numbers"):
        with (folder / f"{name}.py").open("a") as file:
            file.write("\nREMARK = 1\n")
    after = set(checkout_said("-c", code, folder=checkout).splitlines())
    changed = {re.sub("=.*", "", line) for line in before ^ after}
    assert len(changed) == 3 and all(any(key in job for job in changed) for key in ("long_runs", "times", "ledger"))


def test_an_analysis_is_done_once_for_each_argument(tmp_path):
    done = []

    @once
    def analysis(inputs: Inputs, power: int = 1) -> str:
        checks = str(inputs.paths.get("checks", ""))
        done.append((inputs.problem, checks, power))
        return f"{inputs.problem} {checks} {power}"

    run = Inputs("")
    others = run.of("heavy_top"), run.sharing(checks=tmp_path)
    expected = [analysis(run), analysis(run, 2), analysis(run, power=3), *map(analysis, others)]
    assert len(set(expected)) == len(done) == 5
    assert [analysis(run), analysis(run, 2), analysis(run, power=3), *map(analysis, others)] == expected and len(done) == 5


def test_a_chapter_names_the_checks_of_the_run_that_it_reads():
    """Else its chapter is made before them, and prints n/a in their place; what it reads by frames of others fails in a run."""
    for key, chapter in chapters.all_chapters().items():
        texts = [path.read_text(encoding="utf-8") for path in Path(chapters.__file__).with_name(key).glob("*.py")]
        read = {name for text in texts for name in re.findall(r'inputs\.check\("(\w+)"\)', text)}
        assert read <= set(chapter.checks_needed) <= set(CHECKS), key


def test_a_check_that_a_chapter_does_not_name_cannot_be_read(tmp_path):
    inputs = Inputs(checks=tmp_path, checks_needed=["impacts"])
    with pytest.raises(ValueError, match="drum is read and not declared: add checks/drum to needs"):
        inputs.of("heavy_top").check("drum")
    with pytest.raises(NotInRun):
        inputs.check("impacts")
    with pytest.raises(ValueError, match="name each experiment that it reads, as checks/NAME"):
        chapters.Chapter(title="all of them", readers="nobody", place=1, needs=("checks",))
