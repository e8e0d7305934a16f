"""The notebooks: each is executed over the results of the tiny study, and the page needs no network and is the same twice."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path

import nbformat
import psutil
import pytest
from conftest import surroundings
from studies import study
from test_workflow import TINY, House

from polhode_study import configuration, notebooks
from polhode_study.fingerprint import fingerprint

HOME = Path(__file__).parents[1]
NAMES = configuration.NOTEBOOKS
#: The tiny study with all notebooks: which there are is no part of the results.
ALL = TINY | {"notebooks": "all"}


def fetched(html: str) -> list[str]:
    """What a page asks others for."""
    return re.findall(r"""(?:src|href)\s*=\s*["']?(?!data:|#)[^"'\s>]+|url\(\s*["']?(?!data:|#)[^)]+|@import[^;]+""", html)


def stored(name: str) -> dict:
    return json.loads((HOME / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))


# As they are stored


def test_the_folder_holds_those_that_are_named_and_no_others():
    assert {path.stem for path in (HOME / "notebooks").glob("*.ipynb")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_stored_without_outputs(name):
    text = (HOME / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8")
    bare = notebooks.text(notebooks.stripped(notebooks.read(HOME / "notebooks" / f"{name}.ipynb")))
    assert text == bare, f"{name} holds outputs, counts or metadata; strip it with python -m polhode_study.notebooks"


@pytest.mark.parametrize("name", NAMES)
def test_every_cell_has_a_name_of_its_own_that_stays(name):
    names = [cell["id"] for cell in stored(name)["cells"]]
    assert len(set(names)) == len(names) and all(re.fullmatch(rf"{name}-\d\d", cell_name) for cell_name in names)


@pytest.mark.parametrize("name", NAMES)
def test_says_where_the_results_are_in_one_place(name):
    cells = [cell for cell in stored(name)["cells"] if notebooks.PARAMETERS in cell["metadata"].get("tags", [])]
    assert [cell["source"] for cell in cells] == [['results = "../results"']]
    assert notebooks.title(notebooks.read(HOME / "notebooks" / f"{name}.ipynb"))


def test_stripping_takes_off_what_a_session_leaves(tmp_path):
    used = notebooks.read(HOME / "notebooks" / "tour.ipynb")
    for count, cell in enumerate(used.cells):
        cell.metadata["collapsed"] = True
        if cell.cell_type == "code":
            cell.execution_count = count
            cell.outputs = [nbformat.v4.new_output("stream", text="1")]
    used.metadata["widgets"] = {"state": {}}
    assert notebooks.text(notebooks.stripped(used)) == (HOME / "notebooks" / "tour.ipynb").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_formulas_become_mathml(name):
    text = "\n".join(
        cell.source for cell in notebooks.read(HOME / "notebooks" / f"{name}.ipynb").cells if cell.cell_type == "markdown"
    )
    html = notebooks._from_markdown(text)
    assert html.count("<math") == len(re.findall(r"\$\$.+?\$\$|(?<!\$)\$[^$]+\$(?!\$)", text, re.DOTALL))
    assert "merror" not in html and "$" not in html


def test_a_formula_that_would_be_misread_is_refused():
    assert "<mn>1</mn><mn>2</mn></mfrac><mi>a</mi>" in notebooks._from_markdown(r"$\tfrac{1}{2} a$")
    with pytest.raises(notebooks.NotebookError, match=r"fraction without braces"):
        notebooks._from_markdown(r"$\tfrac12 a$")
    with pytest.raises(notebooks.NotebookError, match=r"cannot be made into MathML"):
        notebooks._from_markdown(r"$\nosuchcommand$")


# What a run depends on


def test_every_letter_of_a_notebook_counts(tmp_path):
    def code(change) -> str:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.ipynb"
        notebook = notebooks.read(HOME / "notebooks" / "tour.ipynb")
        change(notebook)
        path.write_text(notebooks.text(notebook), encoding="utf-8")
        return fingerprint(path)

    def change_code(notebook):
        next(cell for cell in notebook.cells if cell.cell_type == "code").source += "\n# a remark"

    def change_text(notebook):
        notebook.cells[0].source += " Indeed."

    def run_it(notebook):
        notebook.cells[1].execution_count = 3

    def import_more(notebook):
        notebook.cells[2].source += "\nfrom polhode_study import recommend"

    bare = code(lambda notebook: None)
    assert len({bare, code(change_code), code(change_text), code(import_more)}) == 4
    assert code(run_it) == bare


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        (["tuor"], "unknown notebook 'tuor'; did you mean 'tour'"),
        ("some", "'some' does not fit"),
    ],
)
def test_a_misspelt_notebook_is_named(chosen, said):
    with pytest.raises(configuration.ConfigurationError, match="notebooks") as refused:
        study(notebooks=chosen)
    assert said in str(refused.value) or chosen == "some"


def test_which_notebooks_there_are_is_no_part_of_the_results():
    every, without = (study(notebooks=chosen) for chosen in ("all", []))
    assert every.notebooks == NAMES and without.notebooks == () and every.json == without.json


# Executed


@pytest.fixture
def folder(tmp_path):
    """A folder with one notebook whose cells a test writes, and the results beside it."""

    def of(*cells: str) -> Path:
        made = [nbformat.v4.new_code_cell(source, id=f"c{i}") for i, source in enumerate(('results = "."', *cells))]
        made[0].metadata["tags"] = [notebooks.PARAMETERS]
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# A test", id="title"), *made])
        path = tmp_path / "test.ipynb"
        path.write_text(notebooks.text(book), encoding="utf-8")
        return path

    return of


def test_runs_in_this_python_whatever_kernels_are_registered(folder, tmp_path, monkeypatch):
    other = tmp_path / "kernels" / "python3"
    other.mkdir(parents=True)
    (other / "kernel.json").write_text('{"argv": ["false"], "display_name": "wrong", "language": "python"}')
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    (tmp_path / "profile_default").mkdir()
    (tmp_path / "profile_default" / "startup.py").write_text("raise SystemExit")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    path = folder("import sys, polhode\nprint(sys.executable)\nprint(polhode.__file__)\nprint(results)")
    said = notebooks.execute(path, tmp_path / "elsewhere")[0].cells[2].outputs[0].text.splitlines()
    assert said == [sys.executable, str(HOME / "src" / "polhode" / "__init__.py"), str(tmp_path / "elsewhere")]


@pytest.mark.thorough
def test_a_failing_cell_is_named_and_its_traceback_printed(folder, tmp_path, capsys):
    path = folder("1 + 1", "# Open it\nimport xarray as xr\nxr.open_datatree(f'{results}/broken.nc')")
    (tmp_path / "broken.nc").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    with pytest.raises(notebooks.NotebookError, match=r"notebook test, cell \[3\] \(# Open it\): OSError: .*broken.nc"):
        notebooks.execute(path, tmp_path)
    printed = capsys.readouterr().out
    assert "xr.open_datatree(f'{results}/broken.nc')" in printed and "\x1b" not in printed


@pytest.mark.thorough
def test_a_kernel_that_dies_is_named(folder, tmp_path):
    with pytest.raises(notebooks.NotebookError, match=r"cell \[2\] \(import os\): its Python ended"):
        notebooks.execute(folder("import os\nos._exit(1)"), tmp_path)


def test_no_notebook_is_left_without_a_place_for_the_results(tmp_path):
    path = tmp_path / "test.ipynb"
    path.write_text(notebooks.text(nbformat.v4.new_notebook()), encoding="utf-8")
    with pytest.raises(notebooks.NotebookError, match="has no cell with the tag 'parameters'"):
        notebooks.execute(path, tmp_path)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(notebooks.NotebookError, match="is not a notebook"):
        notebooks.execute(path, tmp_path)


def test_warnings_are_told_and_shown_to_nobody(folder, tmp_path):
    path = folder("import warnings\nwarnings.warn('look out')\nprint('a')\nprint('b')")
    notebook, remarks = notebooks.execute(path, tmp_path)
    assert len(remarks) == 1 and "cell [2] (import warnings)" in remarks[0] and "look out" in remarks[0]
    assert [output.text for output in notebook.cells[2].outputs] == ["a\nb\n"]
    assert "UserWarning" not in notebooks.page(notebook)


@pytest.mark.thorough
def test_random_names_are_made_the_same(folder, tmp_path):
    path = folder("import numpy as np\nimport xarray as xr\nxr.Dataset({'x': ('t', np.zeros(3))})")
    books = [notebooks.execute(path, tmp_path)[0] for _ in range(2)]
    first, second = map(notebooks.text, books)
    assert fetched(notebooks.page(books[0])) == []
    assert first == second and "00000000-0000-0000-0000-000000000001" in first


# Over the tiny study


@pytest.fixture(scope="module")
def house(tiny_study, tmp_path_factory):
    """A copy of the tiny study, in which Snakemake has executed all notebooks."""
    house = House.at(tiny_study).copied(tmp_path_factory.mktemp("notebooks") / "house")
    house.configure(ALL)
    house.run("--cores", "2", "notebooks")
    return house


slow = pytest.mark.slow


@pytest.mark.thorough
@slow
def test_all_notebooks_run_and_nothing_else_is_made(house, tiny_study):
    results = house.folder / "results"
    assert {path.stem for path in (results / "notebooks").glob("*.html")} == set(NAMES)
    assert (results / "single_body.nc").stat().st_mtime_ns == (tiny_study / "results" / "single_body.nc").stat().st_mtime_ns


@pytest.mark.thorough
@slow
def test_missing_notebooks_are_made_and_others_are_not(house, tmp_path):
    """For a list with fewer of them either."""
    twin = house.copied(tmp_path / "house")
    (twin.folder / "results" / "notebooks" / "tour.html").unlink()
    twin.configure(ALL | {"notebooks": ["tour", "many-bodies"]})
    jobs = twin.jobs("all")
    assert jobs["notebook_tour"] == 1 and "notebook_many_bodies" not in jobs and "gather" not in jobs


@pytest.mark.thorough
@slow
@pytest.mark.parametrize("name", NAMES)
def test_runs_without_a_warning(house, name):
    results = house.folder / "results"
    book = nbformat.read(results / "notebooks" / f"{name}.ipynb", as_version=4)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    remarks = (results / "logs" / "notebooks" / f"{name}.log").read_text().splitlines()
    # On a machine with much else to do an animation says how far it is.
    assert [line for line in remarks if not re.search(r": polhode: \w+ \d+ of \d+ ", line)] == [], "something is printed"
    pictures = [output for cell in code for output in cell.outputs if "image/png" in output.get("data", {})]
    assert pictures and all(output.metadata["image/png"]["alt"] for output in pictures)


@pytest.mark.thorough
@slow
@pytest.mark.parametrize("name", NAMES)
def test_a_page_fetches_nothing_and_says_nothing_of_this_machine(house, name):
    html = (house.folder / "results" / "notebooks" / f"{name}.html").read_text(encoding="utf-8")
    assert len(html) < 4e6
    assert fetched(html) == []
    # The letters of a picture may happen to spell one of these.
    html = re.sub(r"data:image/png;base64,[A-Za-z0-9+/=\s]+", "", html)
    for place in (str(house.folder), "/tmp", str(HOME), os.path.expanduser("~") + "/", " at 0x"):
        assert place not in html, place
    assert 'alt="No description' not in html


@pytest.mark.thorough
@slow
def test_the_same_bytes_wherever_the_results_lie(house, tmp_path):
    name = "tour"
    moved = tmp_path / "results"
    shutil.copytree(house.folder / "results", moved, ignore=shutil.ignore_patterns("figures", "tables", "logs"))
    notebook, _ = notebooks.execute(house.folder / "notebooks" / f"{name}.ipynb", moved)
    made = house.folder / "results" / "notebooks"
    assert notebooks.text(notebook) == (made / f"{name}.ipynb").read_text(encoding="utf-8")
    assert notebooks.page(notebook) == (made / f"{name}.html").read_text(encoding="utf-8")


@pytest.mark.thorough
@slow
def test_damage_is_told_with_file_and_cell(house, tmp_path, capsys):
    damaged = tmp_path / "damaged"
    shutil.copytree(house.folder / "results", damaged, ignore=shutil.ignore_patterns("figures", "tables", "logs"))
    file = damaged / "many_body.nc"
    file.write_bytes(file.read_bytes()[:2000])
    with pytest.raises(notebooks.NotebookError, match=r"notebook many-bodies, cell \[\d+\] \(.+\): \w+: .*many_body.nc"):
        notebooks.execute(house.folder / "notebooks" / "many-bodies.ipynb", damaged)
    assert "Traceback" in capsys.readouterr().out


@pytest.mark.thorough
@slow
def test_a_failure_ends_the_run_with_its_reason(house, tmp_path):
    twin = house.copied(tmp_path / "house")
    copy = twin.folder
    book = notebooks.read(copy / "notebooks" / "the-reference.ipynb")
    book.cells[2].source += "\nraise ValueError('no such truth')"
    (copy / "notebooks" / "the-reference.ipynb").write_text(notebooks.text(book), encoding="utf-8")
    pages = {path: path.stat().st_mtime_ns for path in (copy / "results" / "notebooks").iterdir()}
    said = twin.run("--cores", "2", "notebooks", fails=True)
    assert {p.stem for p, time in pages.items() if not p.exists() or p.stat().st_mtime_ns != time} <= {"the-reference"}
    assert "notebook the-reference, cell [2]" in said and "ValueError: no such truth" in said
    log = (copy / "results" / "logs" / "notebooks" / "the-reference.log").read_text()
    assert "Traceback (most recent call last)" in log and "raise ValueError('no such truth')" in log


@slow
@pytest.mark.thorough
def test_lab_lists_notebooks_and_starts_a_kernel():
    """As ./reproduce lab starts it, seen through the server's own interface."""
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.port_retries=50"]
    command += [f"--ServerApp.root_dir={HOME / 'notebooks'}", "--IdentityProvider.token=a"]
    environment = surroundings(JUPYTER_PREFER_ENV_PATH="1")
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as server:
        try:
            lines = iter(server.stderr.readline, "")
            port = next(int(match[1]) for match in (re.search(r"127.0.0.1:(\d+)/lab.token", line) for line in lines) if match)

            def ask(what: str, data: dict | None = None) -> dict:
                for _ in range(120):  # it says where it is before it listens
                    connection = HTTPConnection("127.0.0.1", port, timeout=600)
                    with suppress(ConnectionRefusedError):
                        connection.request(
                            "POST" if data else "GET", f"/api/{what}?token=a", json.dumps(data) if data else None
                        )
                        return json.load(connection.getresponse())
                    time.sleep(0.5)
                raise TimeoutError(f"nobody answers at port {port}")

            shown = {entry["name"] for entry in ask("contents")["content"]}
            assert {f"{name}.ipynb" for name in NAMES} <= shown
            session = ask("sessions", {"path": "tour.ipynb", "type": "notebook", "name": "", "kernel": {"name": "python3"}})
            running = []
            for process in psutil.Process(server.pid).children(recursive=True):
                with suppress(psutil.NoSuchProcess):  # the server asks short programs for versions
                    running.append(process.cmdline())
            assert session["kernel"]["name"] == "python3"
            assert any(line[:3] == [sys.executable, "-m", "ipykernel_launcher"] for line in running), running
        finally:
            server.terminate()
            server.communicate(timeout=600)
