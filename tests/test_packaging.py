"""The newcomer's two commands and the files of a release: in step, free of addresses, doing what they say."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from test_fast_answers import ASK, QUESTIONS

from polhode import cli
from polhode.advice import files
from polhode_engines import all_engines
from polhode_study.documentation import reference

HOUSE = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((HOUSE / "pyproject.toml").read_text())["project"]
LOCK = (HOUSE / "requirements.txt").read_text()
#: Extras with a lock of their own, which is installed on top of requirements.txt.
APART = {name: f"requirements-{name}.txt" for name in ("slurm", "lsf", "htcondor", "cluster-generic")}


def plain(requirement: str) -> str:
    """The normalised name in a requirement."""
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name is not None, requirement
    return re.sub(r"[-_.]+", "-", name.group()).lower()


def locked(lock: str = LOCK) -> list[str]:
    """The entries of requirements.txt or of another lock, each with its hashes and comments."""
    return [entry for entry in re.split(r"^(?=\S)", lock, flags=re.M) if entry.strip() and not entry.startswith("#")]


def committed() -> list[Path]:
    """Files that are committed."""
    command = ["git", "-C", str(HOUSE), "ls-files", "-z"]
    listing = subprocess.run(command, capture_output=True, text=True)
    if listing.returncode == 0:
        files = [HOUSE / name for name in listing.stdout.split("\0") if name]
    else:  # not a checkout: an unpacked archive
        ignored = {line.strip("/") for line in (HOUSE / ".gitignore").read_text().split()} | {".git"}
        files = [path for path in HOUSE.rglob("*") if not ignored & set(path.relative_to(HOUSE).parts)]
    return sorted(path for path in files if path.is_file())


def texts() -> list[tuple[str, str]]:
    files = []
    for path in committed():
        try:
            files.append((str(path.relative_to(HOUSE)), path.read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            continue
    assert any(name == "reproduce" for name, _ in files)
    return files


# ---- files in step ----

#: The extras of the locked environment, and those of them that jobs of the study need.
LOCKED = ("docs", "explorer", "notebooks", "study", "test")
OF_JOBS = ("explorer", "notebooks", "study")


def test_the_library_needs_few_packages():
    hard, study = (
        {plain(name) for name in names} for names in (PROJECT["dependencies"], PROJECT["optional-dependencies"]["study"])
    )
    assert len(hard) <= 8 and not hard & study
    assert {"matplotlib", "netcdf4", "pydantic", "rich", "snakemake"} - hard <= study


def test_lock_names_exactly_what_the_project_asks_for():
    wanted = list(PROJECT["dependencies"])
    for extra in LOCKED:
        wanted += PROJECT["optional-dependencies"][extra]
    direct = {plain(entry) for entry in locked() if re.search(r"#\s+(via )?polhode \(pyproject\.toml\)", entry)}
    assert direct == {plain(requirement) for requirement in wanted}, "run the command at the head of requirements.txt again"


def test_conda_names_the_packages_of_single_jobs():
    environment = yaml.safe_load((HOUSE / "workflow" / "envs" / "polhode.yml").read_text())
    conda_names = {"matplotlib": "matplotlib-base", "snakemake": "snakemake-minimal", "jupyter-client": "jupyter_client"}
    requirements = PROJECT["dependencies"] + [name for extra in OF_JOBS for name in PROJECT["optional-dependencies"][extra]]
    wanted = {conda_names.get(plain(requirement), plain(requirement)) for requirement in requirements}
    assert {item.split()[0] for item in environment["dependencies"]} == wanted | {"python"}


def test_every_extra_is_locked():
    # Each engine of the atlas is pinned in its adapter, and never part of an environment of ours.
    engines = {key for key, engine in all_engines().items() if engine.requirements}
    assert set(PROJECT["optional-dependencies"]) == {*LOCKED, *APART, *engines}
    assert {path.name for path in HOUSE.glob("requirements*.txt")} == {"requirements.txt", *APART.values()}


@pytest.mark.parametrize("extra", APART)
def test_locks_of_clusters_add_a_plugin_and_change_nothing(extra):
    """On top of requirements.txt, so that Snakemake and all it needs stay as they are without the plugin."""
    text = (HOUSE / APART[extra]).read_text()
    ours = {entry.split(" \\\n")[0]: entry for entry in locked()}
    theirs = {entry.split(" \\\n")[0]: entry for entry in locked(text)}
    (wanted,) = PROJECT["optional-dependencies"][extra]
    direct = [name for name, entry in theirs.items() if "# via" not in entry]
    assert [plain(name) for name in direct] == [wanted], f"run the command at the head of {APART[extra]} again"
    added = {plain(name) for name in set(theirs) - set(ours)}
    assert wanted in added and all(name == extra or name.startswith("snakemake-executor-plugin-") for name in added), added
    for name in set(theirs) & set(ours):
        hashes = [re.findall(r"--hash=\S+", entry) for entry in (ours[name], theirs[name])]
        assert hashes[0] == hashes[1], name
    assert f"{wanted} | uv pip compile" in text and f"-c requirements.txt -o {APART[extra]}" in text
    assert wanted.replace("-", "_") not in LOCK and wanted not in LOCK, "it would slow down every start of Snakemake"


def test_every_requirement_is_one_version_with_hashes():
    texts = [LOCK, *((HOUSE / name).read_text() for name in APART.values())]
    for entry in [entry for text in texts for entry in locked(text)]:
        assert re.match(r"[a-z0-9._-]+==[^\s;]+( ;.*)? \\\n", entry), entry[:80]
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry[:80]


def test_conda_installs_the_lock_on_a_supported_python():
    environment = yaml.safe_load((HOUSE / "environment.yml").read_text())
    assert environment["name"] == PROJECT["name"]
    python = [item for item in environment["dependencies"] if isinstance(item, str) and plain(item) == "python"]
    assert python == ["python" + PROJECT["requires-python"]]
    (pip,) = [item["pip"] for item in environment["dependencies"] if isinstance(item, dict)]
    assert pip == ["-r requirements.txt"]
    others = {plain(item) for item in environment["dependencies"] if isinstance(item, str)}
    assert others == {"python", "pip"}, "a package outside the lock would not be the same for everybody"


def test_interpreter_bound_of_the_script_is_the_project_s():
    major, minor = PROJECT["requires-python"].removeprefix(">=").split(".")
    assert f"sys.version_info < ({major}, {minor})" in (HOUSE / "reproduce").read_text()


def test_version_is_the_same_everywhere():
    import polhode

    citation = yaml.safe_load((HOUSE / "CITATION.cff").read_text())
    assert PROJECT["version"] == polhode.__version__ == citation["version"]
    assert f"## [{PROJECT['version']}]" in (HOUSE / "CHANGELOG.md").read_text()


def test_the_version_s_date_is_the_changelog_s_and_cited():
    """``unreleased`` in the changelog is the only other heading that may stand there."""
    data = yaml.safe_load((HOUSE / "CITATION.cff").read_text())
    heading = re.search(rf"^## \[{re.escape(PROJECT['version'])}\] - (.*)$", (HOUSE / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert heading and heading[1] in ("unreleased", data["date-released"].isoformat())
    page = reference.citation(HOUSE)
    assert f"  year = {{{data['date-released'].year}}}" in page and f"({data['date-released'].year})" in page
    # No address is made up: one in the citation comes from the file, and the page says so while there is none.
    before_sources = page.partition("## Sources")[0]
    assert ("url" in data or "doi" in data) == ("://" in before_sources or "doi" in before_sources)
    assert ("no public address and no DOI yet" in (HOUSE / "docs/citing.md").read_text()) == (
        "url" not in data and "doi" not in data
    )


def test_citation_file_cites_the_five_sources():
    citation = yaml.safe_load((HOUSE / "CITATION.cff").read_text())
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(citation)
    assert citation["license"] == PROJECT["license"]
    works = citation["references"]
    first = {(work["authors"][0]["family-names"], work["year"]) for work in works}
    assert first == {("del Valle", 2024), ("del Valle", 2025), ("Seelen", 2016), ("Calzavarini", 2010), ("Tuckerman", 2010)}
    for work in works:
        assert {"type", "title", "authors"} <= set(work)
        assert re.fullmatch(r"10\.\d{4,9}/\S+", work.get("doi", "10.1000/none"))
        assert "doi" in work or work["year"] != 2024


# ---- nothing of one machine ----

ALLOWED_HOSTS = {
    "creativecommons.org",
    "doi.org",
    "json-schema.org",
    "keepachangelog.com",
    "opensource.org",
    "schema.org",
    "semver.org",
    "www.w3.org",
}
# In pieces, so that this file holds none of them.
REGISTRIES = [
    ".".join(name)
    for name in [("pypi", "org"), ("pythonhosted", "org"), ("anaconda", "org"), ("github", "com"), ("docker", "io")]
]
PLACES = ["work", "root", "home", "Users", "farm", "opt", "tmp", "mnt"]
ONE_MACHINE = re.compile(r"(?<![\w.$}~/])/(" + "|".join(PLACES) + r")/\w")


def test_no_download_address_in_any_file():
    scheme = "(?:https?|ftp|file|ssh)" + "://"
    for name, text in texts():
        for host in re.findall(scheme + r"([^\s/\"'<>)\]}:]*)", text):
            assert host in ALLOWED_HOSTS, f"{name} holds an address on {host!r}"
        for host in REGISTRIES:
            assert host not in text, f"{name} names {host}"


def test_no_path_of_one_machine_in_any_file():
    for name, text in texts():
        match = ONE_MACHINE.search(text)
        assert match is None, f"{name}: {text[max(0, match.start() - 30) : match.end() + 30]!r}"


def test_no_lock_file_that_records_addresses():
    names = {path.name for path in committed()}
    assert not names & {"uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "pylock.toml"}


# ---- documentation ----


def test_commands_of_the_readme_exist():
    readme = (HOUSE / "README.md").read_text()
    for command in ("./reproduce", "./reproduce test"):
        assert command in readme
    for script in ("reproduce", ".ci/run"):
        assert os.access(HOUSE / script, os.X_OK), f"{script} is not executable"
        subprocess.run(["bash", "-n", str(HOUSE / script)], check=True)


def test_the_script_looks_for_every_latex_package_of_the_paper():
    (known,) = re.findall(r"tex_files=\(([^)]*)\)", (HOUSE / "reproduce").read_text())
    always_there = {"array", "fontenc", "inputenc", "textcomp"}
    for source in (HOUSE / "paper").rglob("*.tex"):
        for names in re.findall(r"^[^%\n]*\\usepackage(?:\[[^]]*\])?\{([^}]*)\}", source.read_text(), flags=re.M):
            missing = {name.strip() for name in names.split(",")} - set(known.split()) - always_there
            assert not missing, f"add {sorted(missing)} to tex_files in reproduce ({source.name} uses it)"


# ---- ./reproduce, on a machine made of fakes ----

TOOLS = ["bash", "cat", "chmod", "cp", "dirname", "mkdir", "paste", "rm"]
TEX = ["latexmk", "pdflatex", "bibtex", "kpsewhich"]
FAKE_PYTHON = """#!/bin/bash
echo "python $*" >>"$LOG"
case "$*" in
*version_info*) exit "${OLD_PYTHON:-0}" ;;
*--version) echo "Python 3.x, a fake" ;;
"-m venv"*) mkdir -p .venv/bin .venv/site && cp "$0" .venv/bin/python ;;
*sysconfig*) echo .venv/site ;;
*"--require-hashes"*) exit "${PIP_FAILS:-0}" ;;
"-m snakemake"*)
    all="$*"
    echo "snakemake ${all#-m snakemake }" >>"$LOG"
    echo "caches $$ ${XDG_CACHE_HOME-} ${MPLCONFIGDIR-}" >>"$LOG"
    exit "${SNAKEMAKE_FAILS:-0}"
    ;;
esac
"""
FAKE_UV = """#!/bin/bash
echo "uv $*" >>"$LOG"
exit "${UV_FAILS:-0}"
"""
FAKE_APT = """#!/bin/bash
echo "apt-get $*" >>"$LOG"
[[ "$1" == install && -z "${APT_FAILS-}" ]] || exit 0
for tool in latexmk pdflatex bibtex kpsewhich; do cp "$NOTHING" "${0%/*}/$tool"; done
"""
FAKE_ID = '#!/bin/bash\necho "${USER_ID:-1000}"\n'
#: Whatever it is asked for is there, as kpsewhich says it.
NOTHING = """#!/bin/bash\nprintf '/tex/%s\\n' "$@"\n"""


class Machine:
    """A copy of the script in a house of its own, on a PATH that holds fakes and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.house = folder / "a house"
        self.bin = folder / "bin"
        self.log = folder / "log"
        self.elsewhere = folder / "elsewhere"
        self.home = folder / "home"
        for made in (self.house, self.bin, self.elsewhere, self.home):
            made.mkdir()
        shutil.copy(HOUSE / "reproduce", self.house)
        (self.house / "requirements.txt").write_text("something==1.0\n")
        for tool in TOOLS:
            program = shutil.which(tool)
            assert program is not None
            (self.bin / tool).symlink_to(program)
        self.fake(python3=FAKE_PYTHON, uv=FAKE_UV, id=FAKE_ID, nothing=NOTHING)

    def fake(self, **scripts: str) -> None:
        for name, text in scripts.items():
            (self.bin / name).write_text(text)
            (self.bin / name).chmod(0o755)

    def with_tex(self) -> "Machine":
        self.fake(**dict.fromkeys(TEX, NOTHING))
        return self

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        self.log.write_text("")
        known = {"PATH": self.bin, "LOG": self.log, "NOTHING": self.bin / "nothing", "HOME": self.home}
        command = [str(self.house / "reproduce"), *arguments]
        surroundings = {name: str(value) for name, value in known.items()} | environment
        return subprocess.run(command, cwd=self.elsewhere, env=surroundings, capture_output=True, text=True)

    def calls(self, program: str) -> list[str]:
        lines = (line.partition(" ") for line in self.log.read_text().splitlines())
        return [arguments for name, _, arguments in lines if name == program]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_reproduce_says_which_python_it_needs(machine):
    done = machine.run(OLD_PYTHON="1")
    assert done.returncode == 1
    assert "needs Python 3.11 or newer, found Python 3.x, a fake" in done.stderr
    assert not (machine.house / ".venv").exists()


def test_help_of_reproduce_installs_nothing(machine):
    done = machine.run("--help")
    assert done.returncode == 0 and done.stdout.startswith("The locked environment") and "./reproduce sheet" in done.stdout
    assert "set -" not in done.stdout and not (machine.house / ".venv").exists()


def test_reproduce_takes_paths_from_the_current_folder(machine):
    machine.with_tex()
    (machine.elsewhere / "my.yaml").write_text("digits: 50\n")
    (machine.elsewhere / "data").mkdir()
    path = f"{machine.elsewhere}/my.yaml"
    for given, wanted in (
        (["--configfile", "my.yaml"], f"--configfile {path}"),
        (["--configfile=my.yaml"], f"--configfile={path}"),
    ):
        machine.run(*given, "data", "a.yaml", "-n")
        (call,) = machine.calls("snakemake")
        # A rule is no path, nor is a file that exists nowhere.
        assert call.endswith(f"{wanted} data a.yaml -n"), call


def test_reproduce_takes_a_newer_python_where_python3_is_old(machine):
    machine.with_tex().fake(python3="#!/bin/bash\nexit 1\n")
    machine.fake(**{"python3.12": FAKE_PYTHON})
    assert machine.run().returncode == 0
    assert (machine.house / ".venv/made-from").exists()


def test_reproduce_makes_the_environment_once_a_lock(machine):
    machine.with_tex()
    first = machine.run()
    assert first.returncode == 0, first.stderr
    (install,) = machine.calls("uv")
    assert "--require-hashes" in install and "-r requirements.txt" in install
    assert "--compile-bytecode" not in install, "what is never imported need not be compiled"
    assert (machine.house / ".venv/site/polhode.pth").read_text() == f"{machine.house}/src\n"
    assert machine.run().returncode == 0
    assert machine.calls("uv") == []
    (machine.house / ".venv/left over").touch()
    (machine.house / "requirements.txt").write_text("something==1.1\n")
    assert machine.run().returncode == 0
    assert not (machine.house / ".venv/left over").exists()
    assert len(machine.calls("uv")) == 1


def test_reproduce_makes_the_environment_again_in_another_folder(machine):
    machine.with_tex().run()
    machine.house = machine.house.rename(machine.house.with_name("moved"))
    assert machine.run().returncode == 0
    assert len(machine.calls("uv")) == 1


def test_reproduce_puts_the_command_into_the_environment(machine):
    machine.with_tex().run()
    command = machine.house / ".venv/bin/polhode"
    for _ in range(2):
        machine.log.write_text("")
        environment = {"PATH": str(machine.bin), "LOG": str(machine.log)}
        subprocess.run([command, "recommend", "--torque", "a b"], cwd=machine.elsewhere, env=environment, check=True)
        assert machine.calls("python") == ["-P -m polhode recommend --torque a b"]
        # An environment of before there was such a command gets one, too, and is not made again.
        command.unlink()
        assert machine.run().returncode == 0 and machine.calls("uv") == []


def test_reproduce_uses_pip_where_uv_fails(machine):
    machine.with_tex()
    assert machine.run(UV_FAILS="1").returncode == 0
    assert any("--require-hashes" in call and "-r requirements.txt" in call for call in machine.calls("python"))
    assert not any("compileall" in call for call in machine.calls("python"))


def test_reproduce_starts_again_after_a_failed_installation(machine):
    machine.with_tex()
    failed = machine.run(UV_FAILS="1", PIP_FAILS="1")
    assert failed.returncode == 1
    assert "could not be installed" in failed.stderr
    assert machine.calls("snakemake") == []
    assert not (machine.house / ".venv/made-from").exists()
    assert machine.run().returncode == 0
    assert len(machine.calls("uv")) == 1


def test_reproduce_knows_every_command_of_polhode(machine):
    """And asks it for help, not Snakemake."""
    machine.with_tex().run()
    for name in cli.commands():
        assert machine.run(name, "--help").returncode == 0 and machine.calls("snakemake") == [], name
        assert machine.calls("python")[-1].removeprefix("-P ") == f"-m polhode {name} --help"


def test_reproduce_hands_its_arguments_and_its_process_on(machine):
    """Snakemake takes the place of the script, so that whoever ends the one ends the other."""
    machine.with_tex()
    machine.run("--configfile", "a file.yaml")
    assert machine.calls("snakemake") == ["--cores all --configfile a file.yaml"]
    failed = machine.run(SNAKEMAKE_FAILS="3")
    assert failed.returncode == 3
    assert failed.stdout == ""
    environment = {"PATH": machine.bin, "LOG": machine.log, "HOME": machine.home}
    with subprocess.Popen([machine.house / "reproduce"], env={k: str(v) for k, v in environment.items()}) as process:
        process.wait()
    assert machine.calls("caches")[-1].split()[0] == str(process.pid)


@pytest.mark.parametrize("home", ["/dev/null", "/proc/nowhere"])
def test_reproduce_has_its_cache_where_home_is_read_only(machine, home):
    machine.with_tex()
    done = machine.run(HOME=home)
    cache = f"{machine.house}/.cache"
    assert done.returncode == 0
    assert done.stderr.splitlines()[0] == f"reproduce: {home}/.cache cannot be written to; using {cache} instead"
    assert machine.calls("caches")[0].split(" ", 1)[1] == f"{cache} {cache}/matplotlib"
    assert Path(cache).is_dir()
    assert ".cache/" in (HOUSE / ".gitignore").read_text().split()


def test_reproduce_uses_the_home_where_it_can(machine):
    machine.with_tex()
    done = machine.run()
    assert "instead" not in done.stderr and machine.calls("caches")[0].split()[1:] == []
    done = machine.run(XDG_CACHE_HOME=str(machine.home / "caches"))
    assert "instead" not in done.stderr and machine.calls("caches")[0].split()[1:] == [str(machine.home / "caches")]


def test_reproduce_leaves_jobs_to_a_cluster_s_profile(machine):
    machine.with_tex()
    for arguments in ("--workflow-profile profiles/slurm", "--workflow-profile=profiles/slurm data", "--executor slurm"):
        machine.run(*arguments.split())
        (call,) = machine.calls("snakemake")
        assert call.split() == arguments.split(), "--cores would be a limit on the whole cluster"


def test_reproduce_installs_what_a_cluster_needs(machine):
    machine.with_tex()
    (machine.house / "requirements-slurm.txt").write_text("a-plugin==1.0\n")
    (machine.house / "requirements-other.txt").write_text("another==1.0\n")
    done = machine.run("install", "slurm")
    assert done.returncode == 0, done.stderr
    base, extra = machine.calls("uv")
    assert base.endswith("-r requirements.txt") and extra.endswith("-r requirements-slurm.txt") and "--require-hashes" in extra
    assert machine.run("install", "slurm").returncode == 0
    assert (machine.house / ".venv/extras").read_text() == "slurm\n"
    assert machine.run().returncode == 0 and machine.calls("uv") == []
    for changed in ("requirements.txt", "requirements-slurm.txt"):
        (machine.house / changed).write_text("something==1.1\n")
        assert machine.run().returncode == 0
        assert [call.split()[-1] for call in machine.calls("uv")] == ["requirements.txt", "requirements-slurm.txt"], changed
    (machine.house / "requirements-other.txt").write_text("another==1.1\n")
    assert machine.run().returncode == 0 and machine.calls("uv") == []
    assert machine.calls("snakemake") == ["--cores all"]


def test_reproduce_installs_nothing_unknown(machine):
    (machine.house / "requirements-slurm.txt").write_text("a-plugin==1.0\n")
    for arguments, said in ((["install"], "install what?"), (["install", "slrum"], "nothing called slrum")):
        done = machine.run(*arguments)
        assert done.returncode == 1 and said in done.stderr and "slurm" in done.stderr
        assert machine.calls("uv") == []


def test_reproduce_test_hands_its_arguments_to_pytest(machine):
    machine.with_tex().run("test", "-k", "one")
    assert machine.calls("python")[-1].startswith("-m pytest -n logical ") and machine.calls("python")[-1].endswith(" -k one")
    assert " -m not thorough " in machine.calls("python")[-1]
    machine.run("test", "--all", "-x")
    assert "thorough" not in machine.calls("python")[-1] and machine.calls("python")[-1].endswith(" -x")
    machine.run("test", "--all", "--pdb")
    assert machine.calls("python")[-1] == "-m pytest --pdb", "a debugger wants to be alone"
    assert machine.calls("snakemake") == []


def test_reproduce_lab_opens_the_folder_of_the_notebooks(machine):
    machine.with_tex().run("lab", "--no-browser", USER_ID="0")
    said = machine.calls("python")[-1]
    assert said.startswith("-m jupyterlab --ServerApp.root_dir=") and "/notebooks " in said
    assert said.endswith(" --allow-root --no-browser") and machine.calls("snakemake") == []
    machine.run("lab", USER_ID="1000")
    assert "--allow-root" not in machine.calls("python")[-1]


def test_reproduce_without_latex_prints_one_command(machine):
    machine.fake(**{"apt-get": FAKE_APT})
    done = machine.run(SNAKEMAKE_FAILS="1")
    assert done.returncode == 1
    assert machine.calls("apt-get") == []
    assert machine.calls("snakemake") == ["--cores all --keep-going"]
    *_, what, how, _going_on = done.stderr.splitlines()
    assert what.startswith("LaTeX is incomplete (latexmk pdflatex bibtex")
    assert how.startswith("    sudo apt-get update && sudo apt-get install --no-install-recommends latexmk ")
    only_looked = machine.run("tex")
    assert (only_looked.returncode, only_looked.stderr.splitlines()) == (1, [what, how])


def test_reproduce_sees_one_missing_latex_package(machine):
    machine.with_tex().fake(kpsewhich=NOTHING.replace('"$@"', '"${@/siunitx.sty/}"') + "exit 1\n", dnf=NOTHING)
    done = machine.run("tex")
    assert done.returncode == 1
    assert "(siunitx.sty)" in done.stderr
    assert "sudo dnf install latexmk" in done.stderr and "'tex(siunitx.sty)'" in done.stderr
    machine.with_tex()
    assert machine.run("tex").returncode == 0


def test_reproduce_as_root_installs_latex_and_says_so(machine):
    machine.fake(**{"apt-get": FAKE_APT})
    dry_run = machine.run("-n", USER_ID="0")
    assert dry_run.returncode == 0 and machine.calls("apt-get") == []
    done = machine.run(USER_ID="0")
    assert done.returncode == 0
    assert "installing as root: latexmk lmodern texlive-latex-recommended" in done.stderr
    update, install = machine.calls("apt-get")
    assert update.startswith("update") and "--no-install-recommends latexmk" in install
    assert machine.calls("snakemake") == ["--cores all"]


def test_reproduce_as_root_goes_on_without_latex(machine):
    machine.fake(**{"apt-get": FAKE_APT})
    done = machine.run(USER_ID="0", APT_FAILS="1", SNAKEMAKE_FAILS="1")
    assert done.returncode == 1
    assert machine.calls("snakemake") == ["--cores all --keep-going"]
    assert done.stderr.splitlines()[-2].startswith("    sudo apt-get update")


# ---- the wheel ----


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The folder of programs of an environment with the wheel, and the locked packages, but without the repository."""
    folder = tmp_path_factory.mktemp("wheel")
    # A copy, since a build leaves files beside the sources, and would take up those that an earlier one has left.
    source = folder / "source"
    for path in committed():
        name = path.relative_to(HOUSE)
        if name.parts[0] in ("src", "data") or len(name.parts) == 1:
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, source / name)
    offline = ["--no-deps", "--no-index", "--quiet", "--disable-pip-version-check"]
    wheel = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", *offline, "-w", folder / "wheels", source]
    subprocess.run(wheel, check=True)
    shutil.rmtree(source)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
    programs = folder / "env" / "bin"
    (wheel_file,) = (folder / "wheels").glob("polhode-*.whl")
    install = [sys.executable, "-m", "pip", "--python", programs / "python", "install", "--ignore-installed", *offline]
    subprocess.run([*install, wheel_file], check=True)
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = subprocess.run([programs / "python", "-c", ask], check=True, capture_output=True, text=True).stdout.strip()
    # The .pth files of that folder, with which ours finds the repository, are not read.
    (Path(site) / "locked.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return programs


def needed(names: Iterable[str]) -> set[str]:
    """The distributions that these require at any depth, themselves included, without extras."""
    waiting, known = [*names], set()
    while waiting:
        requirement = Requirement(waiting.pop())
        if plain(requirement.name) not in known and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            known.add(plain(requirement.name))
            waiting += metadata.requires(requirement.name) or []
    return known


@pytest.fixture(scope="module")
def library(installed, tmp_path_factory) -> Path:
    """The Python of an environment as ``pip install polhode`` makes it: the wheel, and what its hard dependencies bring."""
    folder = tmp_path_factory.mktemp("library")
    packages = folder / "packages"
    packages.mkdir()
    for name in needed(PROJECT["dependencies"]):
        for top in {file.parts[0] for file in metadata.files(name) or [] if file.parts[0] not in ("..", "__pycache__")}:
            (packages / top).symlink_to(Path(sysconfig.get_path("purelib"), top))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
    (site,) = (folder / "env" / "lib").glob("python*/site-packages")
    (wheel,) = (installed.parent / "lib").glob("python*/site-packages")
    (site / "library.pth").write_text(f"{wheel}\n{packages}\n")
    return folder / "env" / "bin" / "python"


WITHOUT_STUDY = """
import sys
import polhode
from polhode import manybody
from polhode_engines import identify
run = polhode.simulate("spiral_cylinder", "spiral_leapfrog", dt=1e-3)
free = polhode.recommend(inertia=(1, 2, 2.5), omega=10.0, torque="free", time=1.0, error=1e-4, limit=300.0, progress=True)
contacts = polhode.recommend(contact_time=1e-4, error=1e-4)
dimer = manybody.Clump.from_file("dimer.txt")
print(int(run["steps"]), free.method, contacts.method, dimer.volume > 0)
print(*{"matplotlib", "rich", "snakemake", "polhode_study"} & {*sys.modules})
"""


@pytest.mark.thorough
@pytest.mark.slow
def test_the_library_works_without_the_packages_of_the_study(library, tmp_path):
    (tmp_path / "dimer.txt").write_text("0 0 0 0.01\n0.012 0 0 0.008\n")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def said(*arguments: str, status: int = 0) -> str:
        done = subprocess.run([library, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        return done.stderr if status else done.stdout

    assert said("-c", WITHOUT_STUDY).splitlines() == ["1000 exact_rotor spiral_leapfrog True", ""]
    assert "spiral_leapfrog" in said("-m", "polhode", "recommend", "--contact-time", "1e-4", "--error", "1e-4")
    assert "spiral_leapfrog_start" in said("-m", "polhode", "code", "spiral_leapfrog")
    assert "mujoco" in said("-m", "polhode", "atlas", "--list") and "recommend" in said("-m", "polhode", "--help")
    for module in ("polhode.manybody.pictures", "polhode.references.taylor"):
        assert "pip install 'polhode[study]'" in said("-c", f"import {module}", status=1)


@pytest.fixture
def elsewhere(installed, tmp_path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a program of that environment in an empty folder."""

    def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [str(installed / program), *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    return run


@pytest.mark.thorough
def test_a_wheel_has_the_library_and_the_engines_and_no_study(installed, elsewhere):
    from polhode import manybody

    program = (
        "import polhode; from polhode import manybody\n"
        "run = manybody.simulate('chess', 'spiral_leapfrog', 4.85e-6, 3, 1e-4, 4)\n"
        "print(polhode.__file__, run.energy.values.tobytes().hex())"
    )
    done = elsewhere("python", "-c", program)
    assert done.returncode == 0, done.stderr
    place, energy = done.stdout.split()
    assert Path(place).is_relative_to(installed.parent)
    assert energy == manybody.simulate("chess", "spiral_leapfrog", 4.85e-6, 3, 1e-4, 4).energy.values.tobytes().hex()
    site = Path(place).parents[1]
    held = {str(path.relative_to(site)) for path in site.glob("*polhode*/**/*") if path.suffix not in ("", ".pyc")}
    held = {name for name in held if ".dist-info/" not in name}
    packages = [HOUSE / "src" / name for name in ("polhode", "polhode_engines")]
    ours = {str(path.relative_to(HOUSE / "src")) for path in committed() if any(map(path.is_relative_to, packages))}
    names = (
        "cost.nc",
        "step_times.json",
        "many_body.nc",
        "laws.nc",
        "satellites.json",
        "contacts.nc",
        "grains.nc",
        "liquids.nc",
        "atlas.nc",
        "checks/impacts.nc",
        "checks/random_impacts.nc",
        "full/checks/baths.nc",
    )
    released = {f"data/released/{name}" for name in names}
    assert held == ours | {f"polhode/{name}" for name in released if (HOUSE / name).is_file()}
    listing = elsewhere("polhode", "atlas", "--list")
    assert listing.returncode == 0 and listing.stdout.count("\n    ") == sum(
        len(engine.options) for engine in all_engines().values()
    )


@pytest.mark.thorough
def test_a_wheel_answers_from_the_released_times(installed, elsewhere):
    # With so expensive torques the times of methods that the released file lacks, which are measured here, do not show.
    question = ["recommend", "--torque-class", "constant", "--omega", "1", "--error", "1e-4", "--torque-price", "1e7", "--why"]
    done = elsewhere("polhode", *question)
    from_source = subprocess.run(
        [sys.executable, "-m", "polhode", *question], cwd=HOUSE / "docs", capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    # At the end each says which file it has read.
    answer, read = done.stdout.split("* From ")
    assert answer == from_source.stdout.split("* From ")[0]
    assert "".join(read.split()).startswith(str(installed.parent))


@pytest.mark.thorough
def test_a_wheel_answers_as_a_clone_does(elsewhere, monkeypatch, capsys, tmp_path):
    """Every question that released data answer, in the clone and in an empty folder, with the same words.

    The files that answers open are those that setup.py and MANIFEST.in name.
    """
    of_wheel = elsewhere("python", "-c", ASK, json.dumps(QUESTIONS))
    assert of_wheel.returncode == 0, of_wheel.stderr
    monkeypatch.chdir(tmp_path)
    opened, released = set(), files.released

    def watched(name, *others):
        opened.add(name)
        return released(name, *others)

    monkeypatch.setattr(files, "released", watched)
    for question, text in zip(QUESTIONS, json.loads(of_wheel.stdout)["texts"], strict=True):
        assert cli.main(["recommend", *question.split()]) == 0
        assert capsys.readouterr().out == text, question
        assert cli.main(["recommend", *question.split(), "--why"]) == 0
        capsys.readouterr()
    assert {"contacts.nc", "grains.nc", "checks/impacts.nc"} <= opened
    setup, manifest = ((HOUSE / name).read_text(encoding="utf-8") for name in ("setup.py", "MANIFEST.in"))
    for name in opened:
        pattern = "checks/*.nc" if name.startswith("checks/") else name
        assert f"data/released/{pattern}" in manifest.split(), name
        assert f'"{name}"' in setup or (name.startswith("checks/") and '"*.nc"' in setup), name


@pytest.mark.thorough
@pytest.mark.parametrize("words", ["archive", "docs", "verify results", "atlas --contacts"])
def test_a_wheel_says_what_needs_the_repository(elsewhere, words):
    done = elsewhere("polhode", *words.split())
    assert done.returncode == 2
    assert f"./reproduce {words.split()[0]}" in done.stderr and "Traceback" not in done.stderr
