"""Archive a finished run as one file for a data repository: a zip of data, report, source and description.

The zip has checksums of all its contents, which ``polhode verify`` checks, and metadata for the form of a repository. The same
results at the same commit give the same bytes. A run that is not finished, has changed since it ended, or belongs to a
different commit from the checkout is refused.
"""

import argparse
import hashlib
import json
import subprocess
import tarfile
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from polhode.cli import UsageError, check_writable
from polhode.interface.arguments import regular_file
from polhode.interface.files import LeadsOut, inside
from polhode.interface.progress import Stage, watched
from polhode_study.archive import manifest, metadata
from polhode_study.archive.zips import SIDECAR, Moment, write_zip
from polhode_study.artefacts import Role, is_of_run, kind_of, with_role
from polhode_study.comparing import NUMERICAL
from polhode_study.provenance import NAME, Unusable, read_provenance, sha256
from polhode_study.provenance import commit as checkout
from polhode_study.workflow import written
from polhode_study.workflow.entry import HOME

AGAIN = "run ./reproduce again, which makes what is missing or out of date"


def finished(results: Path, home: Path = HOME, allow_dirty: bool = False) -> dict[str, Any]:
    """The contents of provenance.json, if the run is finished, unchanged since then, and made from this checkout.

    Raises
    ------
    UsageError
        With the reason and what to do.
    """
    if not results.is_dir():
        raise UsageError(f"{results} is not a folder; --results names the folder of a finished run")
    try:
        inside(results, results / NAME)
        run = read_provenance(results)
    except (LeadsOut, Unusable) as error:
        raise UsageError(str(error)) from None
    for name, digest in run["files"].items():
        if not (results / name).is_file():
            raise UsageError(f"{results / name} is missing, so the run is incomplete; {AGAIN}")
        _check_inside(results, name)
        if sha256(results / name) != digest:
            raise UsageError(f"{results / name} has changed since the run ended; {AGAIN}")
    now = checkout(home)
    if now["commit"] == "unknown":
        raise UsageError(f"{home} is not a git checkout, so the source at a commit cannot be archived; clone the repository")
    if run["commit"] != now["commit"]:
        raise UsageError(
            f"{results} is a run of commit {run['commit'][:12]}, the checkout is at {now['commit'][:12]}; "
            "run ./reproduce again, which computes what the difference affects, or check out the other commit"
        )
    if (run["dirty"] or now["dirty"]) and not allow_dirty:
        which = "the run was made" if run["dirty"] else "the checkout is"
        raise UsageError(f"{which} with changes that are not committed; commit them and run ./reproduce, or add --allow-dirty")
    return run


def _check_inside(results: Path, name: str) -> None:
    """Refuse a file that is not in the folder of results: what a link or a name leads to may not be given away."""
    try:
        inside(results, results / name)
    except LeadsOut as error:
        raise UsageError(str(error)) from None


def moment(seconds: int) -> Moment:
    """A time in seconds since the epoch in the form used by zip, which begins in 1980."""
    at = datetime.fromtimestamp(max(seconds, 315532800), UTC)
    return at.year, at.month, at.day, at.hour, at.minute, at.second


def source_files(home: Path) -> dict[str, bytes]:
    """The committed files of the checkout below ``source/``, with uncommitted changes and additions as one patch."""

    def git(*arguments: str) -> bytes:
        return subprocess.run(["git", "-C", str(home), *arguments], check=True, capture_output=True).stdout

    files: dict[str, bytes] = {}
    with tarfile.open(fileobj=BytesIO(git("archive", "--format=tar", "HEAD"))) as archive:
        for member in archive:
            opened = archive.extractfile(member) if member.isfile() else None
            if opened is not None:
                files[f"source/{member.name}"] = opened.read()
    changes = git("diff", "--binary", "HEAD")
    return files | ({"local-changes.diff": changes} if changes else {})


def plugin_files(run: Mapping[str, Any], given: list[Path], source: Mapping[str, bytes]) -> dict[str, bytes]:
    """The plug-ins of a run that are not committed, below ``plugins/``.

    Raises
    ------
    UsageError
        If one is neither committed nor ``given``, naming it.
    """
    known = {hashlib.sha256(content).hexdigest() for content in source.values()}
    contents = {hashlib.sha256(path.read_bytes()).hexdigest(): path.read_bytes() for path in given}
    plugins = {}
    for name, digest in run.get("plugins", {}).items():
        if digest not in known:
            if digest not in contents:
                raise UsageError(f"the plug-in {name} is not committed; commit it, or add it with --plugin FILE")
            plugins[f"plugins/{name}"] = contents[digest]
    return plugins


def result_files(results: Path, run: Mapping[str, Any], runs: bool) -> dict[str, Path]:
    """The files of a run that belong in an archive, below ``results/``.

    Raises
    ------
    UsageError
        If a file of single runs is not as it was written, or one is not in the folder.
    """
    later = [str(path.relative_to(results)) for kind in with_role(Role.ON_DEMAND) for path in kind.present(results)]
    names = [*run["files"], NAME, *later]
    if runs:
        if written.broken_lists(results):
            raise UsageError(f"{written.broken_lists(results)[0]} {written.INCOMPLETE}; {AGAIN}")
        for name, entry in written.noted(results).items():
            if (kind := kind_of(name)) is not None and kind.role is Role.RUN and name not in run["files"]:
                if not (results / name).is_file() or sha256(results / name) != entry["sha256"]:
                    raise UsageError(f"{results / name} is missing or not what was written; {AGAIN}")
                names.append(name)
    for name in names:
        _check_inside(results, name)
    return {f"results/{name}": results / name for name in names}


def write(
    results: Path, output: Path, run: Mapping[str, Any], home: Path = HOME, runs: bool = False, plugins: Iterable[Path] = ()
) -> str:
    """Write the archive of a run that is :func:`finished`, with its checksum in a second file; returns the checksum."""
    citation = metadata.read_citation(home)
    licence = tomllib.loads((home / "pyproject.toml").read_text(encoding="utf-8"))["project"]["license"]
    title = f"{citation['title']} (data, report and source, version {run['version']})"
    source = source_files(home)
    files: dict[str, Path | bytes] = {
        **result_files(results, run, runs),
        **source,
        **plugin_files(run, list(plugins), source),
    }
    for name in ("CITATION.cff", "LICENSE"):
        files[name] = files[f"source/{name}"]
    size = sum(len(content) if isinstance(content, bytes) else content.stat().st_size for content in files.values())
    files["README.md"] = metadata.summary(title, run, citation, list(files)).encode()
    for name, made in (
        ("datacite.json", metadata.datacite(run, citation, licence, title, size)),
        ("zenodo.json", metadata.zenodo(run, citation, licence, title)),
    ):
        files[name] = (json.dumps(made, indent=2, ensure_ascii=False) + "\n").encode()
    packing = Stage("packing", len(files), "files")
    with watched(packing):
        return write_zip(output, files, moment(int(run["commit_time"])), packing.advance)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``polhode archive``."""
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder of a finished run; by default results")
    parser.add_argument("--output", type=Path, help="file to write; by default polhode-VERSION-COMMIT.zip")
    parser.add_argument("--runs", "--cells", action="store_true", help="also the files of all single runs")
    parser.add_argument("--plugin", type=Path, action="append", default=[], help="a plug-in of the run that is not committed")
    parser.add_argument("--allow-dirty", action="store_true", help="also with changes that are not committed; they are added")
    parser.add_argument(
        "--manifest",
        type=Path,
        help="write the manifest that polhode verify compares with (checksums and values) instead of the zip",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the file and print a summary."""
    output = arguments.manifest or arguments.output
    if output is not None and not output.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {output.absolute().parent}; make it, or name another file")
    if output is not None:
        option, inputs = "--manifest" if arguments.manifest else "--output", [arguments.results, *arguments.plugin]
        check_writable(output, option, inputs, is_of_run)
    for path in arguments.plugin:
        try:
            regular_file("--plugin", path)
        except (FileNotFoundError, ValueError) as error:
            raise UsageError(str(error)) from None
    with watched(Stage("looking at the run")):
        record = finished(arguments.results, HOME, arguments.allow_dirty)
    output = output or Path(f"polhode-{record['version']}-{record['commit'][:12]}.zip")
    try:
        if arguments.manifest:
            with watched(Stage("reading the run")):
                made = replace(manifest.of_run(arguments.results, record), run=_noted(record))
            manifest.write(made, output, moment(int(record["commit_time"])))
            print(f"{output}: {len(made.files)} files, {len(made.variables)} variables, {output.stat().st_size / 1e6:.2f} MB")
            return 0
        digest = write(arguments.results, output, record, HOME, arguments.runs, arguments.plugin)
    except Unusable as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error}") from None
    print(f"{output}: {output.stat().st_size / 1e6:.1f} MB, sha256 {digest}")
    print(f"its checksum is in {output.name}{SIDECAR}; ./reproduce verify {output} checks every file in it")
    return 0


def _noted(run: Mapping[str, Any]) -> dict[str, Any]:
    """The part of provenance.json that a manifest keeps."""
    names = (
        "commit",
        "dirty",
        "version",
        "configuration",
        "lock_sha256",
        "python",
        "family",
        "processor",
        "platform",
        "ended",
    )
    return {name: run[name] for name in names} | {"versions": {name: run["versions"][name] for name in NUMERICAL}}
