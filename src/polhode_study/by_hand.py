"""Run the script of one rule by hand on existing results, to try an edit or to inspect the script's input.

From a shell, without Snakemake's bookkeeping and with output on the terminal::

    python -m polhode_study.by_hand chapter_grains --output trial
    python -m polhode_study.by_hand film scene=chess

In a Python session::

    from polhode_study.by_hand import snakemake_of
    snakemake = snakemake_of("chapter_grains", output="trial")

Then ``snakemake.input``, ``snakemake.params`` and so on are what the script would receive, and its lines can be run one by one.
"""

import argparse
import difflib
import os
import runpy
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from polhode.interface.netcdf import UnreadableFile
from polhode.interface.reading import read
from polhode.interface.storage import check_folder
from polhode_study.chapters import all_chapters, job_of
from polhode_study.configuration import ConfigurationError
from polhode_study.workflow import locks, signals
from polhode_study.workflow.entry import HOME

#: Not linked into another folder of results: logs are written in place, and the lock belongs to a run.
_NOT_MIRRORED = ("logs", locks.NAME)


class ByHandError(ValueError):
    """Error for a rule that cannot be started by hand as requested; the message says why and what to do."""


def snakemake_of(rule: str, wildcards: Mapping[str, str] | None = None, **options: Any) -> Any:
    """The object that Snakemake would pass to the script of a rule as ``snakemake``, see :func:`prepared`."""
    return prepared(rule, dict(wildcards or {}), **options)[0]


def run(rule: str, wildcards: Mapping[str, str] | None = None, **options: Any) -> list[Path]:
    """Run the script of a rule in this process and return the files that it has written.

    Snakemake is not informed: at its next start it runs the rule again if code, settings or input have changed since its own
    last run of the rule. Parameters and errors are as of :func:`prepared`, and:

    Raises
    ------
    polhode_study.workflow.locks.LockedError
        If a run is using these results.
    """
    snakemake, script = prepared(rule, dict(wildcards or {}), **options)
    locks.begin(snakemake.config["results"])
    for path in map(Path, snakemake.output):
        path.parent.mkdir(parents=True, exist_ok=True)
    runpy.run_path(str(script), {"snakemake": snakemake})
    return [Path(path).absolute() for path in snakemake.output]


def prepared(
    rule: str,
    wildcards: dict[str, str],
    output: str | Path | None = None,
    results: str | Path | None = None,
    configfiles: Sequence[str | Path] = (),
    cores: int | None = None,
) -> tuple[Any, Path]:
    """What Snakemake would pass to the script of a rule, and the path of the script.

    It is made by Snakemake from the Snakefile of this checkout, which becomes the working directory. The only difference is
    that ``log`` is empty: a script without a log prints to the terminal and raises errors where they occur.

    Parameters
    ----------
    rule : a rule that has a script
    wildcards : a value for each wildcard of the rule
    output : a folder to write to instead of the results; files that it lacks are linked there from the results, which remain
        unchanged
    results : the folder of results; by default the configuration's
    configfiles : configurations merged into config.yaml, as with ``./reproduce --configfile``
    cores : for rules that use all cores; by default all cores of this machine

    Returns
    -------
    snakemake.iocontainers.Snakemake and Path
        The object has input, output, params, wildcards, threads, resources, config, rule and scriptdir.

    Raises
    ------
    ByHandError
        If there is no such rule, a wildcard is missing or unknown, the configuration is invalid, or an input file of the rule
        does not exist.
    """
    # Each of these takes a second to import, and they are not needed to read the study.
    from snakemake.api import Workflow
    from snakemake.dag import DAG
    from snakemake.exceptions import WorkflowError
    from snakemake.iocontainers import Log, Snakemake
    from snakemake.jobs import Job
    from snakemake.logging import LoggerManager, logger
    from snakemake.settings import types

    configfiles = [Path(path).absolute() for path in configfiles]
    settings = {} if results is None else {"results": str(Path(results).absolute())}
    if output is not None:
        output = Path(output).absolute()
        mirror(Path(settings.get("results", _results(configfiles))), output)
        settings["results"] = str(output)
    os.chdir(HOME)
    quiet = types.OutputSettings(quiet={types.Quietness.ALL})
    workflow = Workflow(
        config_settings=types.ConfigSettings(config=settings, configfiles=configfiles),
        resource_settings=types.ResourceSettings(cores=cores or os.cpu_count()),
        workflow_settings=types.WorkflowSettings(),
        logger_manager=LoggerManager(logger, quiet),
        storage_settings=types.StorageSettings(),
        dag_settings=types.DAGSettings(),
        deployment_settings=types.DeploymentSettings(),
        execution_settings=types.ExecutionSettings(),
        output_settings=quiet,
        group_settings=types.GroupSettings(),
        storage_provider_settings={},
        overwrite_workdir=HOME,
    )
    try:
        with _this_process_left_alone():
            workflow.include(HOME / "Snakefile")
        rule_object = _rule(rule, {known.name: known for known in workflow.rules if known.script})
        rule = rule_object.name
        job = Job(rule_object, DAG(workflow, rules=[rule_object]), _checked(rule, wildcards, rule_object))
        made = Snakemake(
            job.input,
            job.output,
            job.params,
            job.wildcards,
            job.threads,
            job.resources,
            Log(),
            workflow.config,
            rule,
            None,
            HOME / "workflow" / "scripts",
        )
    except WorkflowError as error:
        raise ByHandError(str(error)) from None
    missing = [path for path in made.input if not Path(path).exists()]
    if missing:
        others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise ByHandError(f"rule {rule} reads {missing[0]}{others}, which is not there; ./reproduce {missing[0]} makes it")
    return made, (HOME / "workflow" / "rules" / rule_object.script).resolve()


def _rule(name: str, known: Mapping[str, Any]) -> Any:
    if (chapter := name.removeprefix("chapter_")) in all_chapters():
        name = f"chapter_{job_of(chapter)}"
    if name not in known:
        near = difflib.get_close_matches(name, [*known, *(f"chapter_{key}" for key in all_chapters())], 1)
        meant = f"did you mean {near[0]}?" if near else f"rules are: {', '.join(sorted(known))}"
        raise ByHandError(f"there is no rule {name} with a script; {meant}")
    return known[name]


def _checked(rule: str, given: dict[str, str], rule_object: Any) -> dict[str, str]:
    """The wildcards, checked against those of the rule; an error lists the valid ones."""
    wanted = set(rule_object.wildcard_names)
    if missing := sorted(wanted - set(given)):
        raise ByHandError(
            f"rule {rule} needs a value for {', '.join(missing)}: add {' '.join(f'{name}=...' for name in missing)}"
        )
    if unknown := sorted(set(given) - wanted):
        has = f"only {', '.join(sorted(wanted))}" if wanted else "none"
        raise ByHandError(f"rule {rule} has no wildcard {', '.join(unknown)}; it has {has}")
    limits = rule_object.workflow.wildcard_constraints
    for name, value in given.items():
        allowed = limits.get(name, "").split("|")
        if name in limits and value not in allowed:
            near = difflib.get_close_matches(value, allowed, 1)
            meant = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(allowed)}"
            raise ByHandError(f"rule {rule}: {name} cannot be {value!r}; {meant}")
    return given


def _results(configfiles: Sequence[str | Path]) -> Path:
    """The folder of results named in the configuration."""
    try:
        every = [read(path).values for path in (*reversed(configfiles), HOME / "config.yaml")]
        return next(HOME / str(values["results"]) for values in every if "results" in values)
    except ConfigurationError as error:
        raise ByHandError(str(error)) from None


def mirror(results: Path, folder: Path) -> None:
    """Link every file of ``results`` that is missing in ``folder``, except logs.

    Files are moved into place when complete, so that a newly written file replaces the hard link and leaves the original in
    ``results`` unchanged; a symbolic one would be followed.
    """
    results, folder = results.resolve(), folder.absolute()
    if not results.is_dir():
        raise ByHandError(f"there are no results in {results}; ./reproduce makes them")
    if folder.resolve().is_relative_to(results):
        raise ByHandError(f"{folder} is inside the results; choose another folder")
    try:
        check_folder(folder)
    except (OSError, UnreadableFile) as error:
        raise ByHandError(str(error)) from None
    for path in sorted(results.rglob("*")):
        name = path.relative_to(results)
        place = folder / name
        if name.parts[0] in _NOT_MIRRORED or not path.is_file():
            continue
        if place.is_symlink() or (place.is_file() and place.stat().st_nlink > 1):
            place.unlink()  # it may belong to other results
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(path, place)
            except OSError as error:
                raise ByHandError(f"{folder}: {error.strerror}; choose a folder on the file system of {results}") from None


@contextmanager
def _this_process_left_alone() -> Iterator[None]:
    """Undo the changes that the Snakefile makes to the process reading it, which are meant for the jobs it would start."""
    python, head = sys.executable, os.environ.get(signals.HEAD)
    try:
        yield
    finally:
        sys.executable = python
        os.environ.pop(signals.HEAD, None)
        if head is not None:
            os.environ[signals.HEAD] = head


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns 0 if the script has run, 2 if it could not be started."""
    parser = argparse.ArgumentParser(
        prog="python -m polhode_study.by_hand",
        description="Run the script of one rule on existing results. Snakemake is not informed.",
    )
    parser.add_argument("rule", help="a rule with a script, such as chapter_grains or check")
    parser.add_argument("wildcards", nargs="*", metavar="NAME=VALUE", help="a value for each wildcard of the rule")
    parser.add_argument("--output", metavar="FOLDER", help="write there, and leave the results unchanged")
    parser.add_argument("--results", metavar="FOLDER", help="the results, if not those that the configuration names")
    parser.add_argument("--configfile", nargs="+", default=[], metavar="FILE", help="as with ./reproduce")
    parser.add_argument("--cores", type=int, metavar="N", help="for rules that take all cores")
    options = parser.parse_args(arguments)
    if wrong := [word for word in options.wildcards if "=" not in word]:
        parser.error(f"{wrong[0]}: a wildcard is given as NAME=VALUE")
    try:
        written = run(
            options.rule,
            dict(word.split("=", 1) for word in options.wildcards),
            output=options.output,
            results=options.results,
            configfiles=options.configfile,
            cores=options.cores,
        )
    except (ByHandError, locks.LockedError, UnreadableFile, OSError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    for path in written:
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
