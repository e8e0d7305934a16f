"""Check that a run reproduces: ``polhode verify`` compares a results folder, or an archive, with a released run.

It first checks the folder or archive itself: every file that the run or the archive lists must have the bytes it was written
with. Then it compares the values with a manifest (by default data/released/manifest.zip), another folder or another archive:
bit for bit where the processor family and the numerical libraries are the same, elsewhere within stated tolerances. Times are
never compared. The first line says whether the run reproduces the other; differences follow, worst first, and --why says what
was not checked or not compared. The exit status is 0 if
the run reproduces the other, 1 if anything differs or is damaged, 2 if this cannot be decided, also because there was nothing
to check or to compare.
"""

import argparse
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field
from pathlib import Path

import numpy as np

from polhode.cli import UsageError, check_writable
from polhode.interface.progress import Stage, watched
from polhode.interface.storage import write_text
from polhode.interface.table import Table, simple
from polhode_study.archive import manifest
from polhode_study.archive.zips import CHECKSUMS, SIDECAR, contents_of, extracted
from polhode_study.artefacts import Verify, is_of_run
from polhode_study.comparing import Difference, Manifest, Outcome, compare, other_settings, same_machine, uncompared, whole
from polhode_study.provenance import NAME, Unusable, read_provenance, sha256
from polhode_study.tolerances import EQUAL, TOLERANCES
from polhode_study.workflow import written
from polhode_study.workflow.entry import HOME

#: How many differences are printed, without and with the reasons.
FEW, MANY = 3, 20
#: Every archive has this file.
METADATA = "datacite.json"
#: The released run distributed with the code.
RELEASED = Path("data/released/manifest.zip")


# ---- the integrity of a folder or an archive ----


@dataclass
class Integrity:
    """What was checked of a folder or an archive: ``checked`` files are intact, ``damaged`` ones are not; the rest is noted."""

    checked: int = 0
    damaged: list[Difference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def check(self, folder: Path, present: set[str], digests: Mapping[str, str], why: str) -> None:
        """Compare files with their checksums; one that is missing is damage too."""
        for name, digest in digests.items():
            if name not in present:
                self.damaged.append(whole(name, "file", digest[:12], "missing"))
            elif (present_digest := sha256(folder / name)) != digest:
                self.damaged.append(whole(name, "file", digest[:12], present_digest[:12], why))
            else:
                self.checked += 1


def _present(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def integrity_of_run(results: Path) -> Integrity:
    """The files of a folder of results against the checksums that the run left."""
    integrity = Integrity()
    present = _present(results)
    try:
        left = read_provenance(results)["files"] if NAME in present else {}
    except Unusable as error:
        return Integrity(damaged=[whole(NAME, "file", "readable", "damaged", str(error))])
    for path in written.broken_lists(results):
        integrity.damaged.append(whole(str(path.relative_to(results)), "file", "a complete list", "damaged"))
    # A run copied without these files is still a run, but each of those present must be intact. Logs go on after their job.
    runs = {
        name: entry["sha256"]
        for name, entry in written.noted(results).items()
        if name not in left and not name.startswith("logs/")
    }
    gone = runs.keys() - present
    integrity.check(results, present, left | {name: digest for name, digest in runs.items() if name not in gone}, OTHER_BYTES)
    if gone:
        integrity.notes.append(f"not there, and not missed: {_counted(gone)}")
    unlisted = present - left.keys() - runs.keys()
    if unlisted:
        integrity.notes.append(f"in no list, so not checked: {_counted(unlisted)}")
    return integrity


#: Why a file of a run is damaged.
OTHER_BYTES = "not the bytes that the run left"


def _counted(names: Iterable[str]) -> str:
    """How many files there are, by the folder or file at the top."""
    counts = Counter(name.split("/")[0] for name in names)
    tops = [f"{top} ({count})" if count > 1 else top for top, count in counts.most_common()]
    more = f" and {len(tops) - 8} others" if len(tops) > 8 else ""
    return f"{counts.total()} file{'s' * (counts.total() != 1)}: {', '.join(tops[:8])}{more}"


def integrity_by_list(folder: Path) -> Integrity:
    """All files of an archive against the list in it, which must name each of them."""
    integrity, digests = Integrity(), {}
    for number, line in enumerate((folder / CHECKSUMS).read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        matched = re.fullmatch(r"([0-9a-f]{64})  (.+)", line)
        if matched is None or matched[2] in digests:
            integrity.damaged.append(whole(CHECKSUMS, f"line {number}", "a checksum and a new name", line[:40]))
        else:
            digests[matched[2]] = matched[1]
    present = _present(folder)
    integrity.check(folder, present, digests, "not the bytes that were archived")
    unlisted = sorted(present - digests.keys() - {CHECKSUMS})
    integrity.damaged += [whole(name, "file", "not listed", "present") for name in unlisted]
    return integrity


# ---- opening ----


@dataclass(frozen=True)
class Opened:
    """A run to be compared: its results folder, None for an archive without one, and what was checked of it."""

    results: Path | None
    integrity: Integrity

    @property
    def damaged(self) -> list[Difference]:
        """The damage found in it."""
        return self.integrity.damaged


def open_run(path: Path, scratch: Path) -> Opened:
    """The results of a folder or of an archive, unpacked into ``scratch``, with what was checked of it.

    Raises
    ------
    UsageError
        If it does not exist, is neither a results folder nor an archive, or holds no checksum of any file.
    """
    if path.is_dir():
        return _opened(path, path, [])
    if not path.exists():
        raise UsageError(f"{path} does not exist; name a folder of results or an archive")
    damaged, digest = [], sha256(path)
    sidecar = path.with_name(path.name + SIDECAR)
    if sidecar.is_file() and sidecar.read_text(encoding="utf-8", errors="replace").split()[:1] != [digest]:
        damaged.append(whole(path.name, "file", "as archived", "other bytes", f"{sidecar.name} says so"))
    try:
        names = contents_of(path)
        broken = extracted(path, names, scratch)
    except Unusable as error:
        raise UsageError(str(error)) from None
    damaged += [whole(name, "file", "readable", "damaged", reason) for name, reason in broken.items()]
    opened = _opened(path, scratch, damaged)
    if not sidecar.is_file():
        opened.integrity.notes.append(f"there is no {sidecar.name} beside it, so the zip as a whole was not checked")
    return opened


def _opened(path: Path, folder: Path, damaged: list[Difference]) -> Opened:
    places = (folder, folder / "results")
    results = next((place for place in places if any((place / name).is_file() for name in (NAME, "single_body.nc"))), None)
    if (folder / CHECKSUMS).is_file():
        integrity = integrity_by_list(folder)
    elif results is not None:
        integrity = integrity_of_run(results)
        if results != folder and path != folder:
            beside = [name for name in _present(folder) if not name.startswith("results/")]
            integrity.notes += [f"in no list, so not checked: {_counted(beside)}"] if beside else []
        elif results != folder:
            integrity.notes.append(f"only {results} was looked at")
        if (folder / METADATA).is_file():
            integrity.damaged.append(whole(CHECKSUMS, "file", "the checksums of an archive", "missing"))
    elif damaged:
        return Opened(None, Integrity(damaged=damaged))
    else:
        raise UsageError(f"{path} holds no results: neither single_body.nc nor provenance.json; name a folder of results")
    known = {entry.file for entry in damaged}
    integrity.damaged[:] = damaged + [entry for entry in integrity.damaged if entry.file not in known]
    if not integrity.checked and not integrity.damaged:
        raise UsageError(
            f"{path} holds no checksums, so nothing could be checked: neither {CHECKSUMS} of an archive, nor those of a run in "
            f"{written.JOBS}/ and {NAME}, which is made last: without it the run is not finished"
        )
    return Opened(results, integrity)


def load(path: Path, scratch: Path) -> Manifest:
    """A released run: a manifest, a folder of results or an archive.

    Raises
    ------
    UsageError
        If it cannot be read, or is damaged itself.
    """
    try:
        if path.is_file() and "manifest.json" in contents_of(path):
            return manifest.read(path)
        opened = open_run(path, scratch)
        if opened.results is None and not opened.damaged:
            raise UsageError(f"{path} holds no results, so there is nothing to compare with")
        if opened.damaged or opened.results is None:
            raise UsageError(f"{path} is damaged itself ({opened.damaged[0].file}); polhode verify {path} lists it")
        return manifest.of_run(opened.results, read_provenance(opened.results))
    except Unusable as error:
        raise UsageError(str(error)) from None


# ---- the command ----


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``polhode verify``."""
    parser.add_argument("run", nargs="?", type=Path, default=Path("results"), help="a folder of results or an archive")
    parser.add_argument(
        "--against", type=Path, help=f"a manifest, folder or archive; by default {RELEASED} if of the same configuration"
    )
    parser.add_argument("--top", type=int, help=f"how many differences to print ({FEW}, with --why {MANY}); 0 for all")
    parser.add_argument("--why", action="store_true", help="also say what was not checked or not compared, and why")
    parser.add_argument("--csv", type=Path, help="also write all differences, and what was not compared, to this file")
    parser.add_argument("--tolerances", action="store_true", help="only print the tolerances and their reasons")


def run(arguments: argparse.Namespace) -> int:
    """Compare, print, and return the exit status."""
    if arguments.tolerances:
        for tolerance in (*TOLERANCES, EQUAL):
            print(f"{tolerance.what}: {tolerance.said} ({tolerance.why})")
        return 0
    if arguments.top is not None and arguments.top < 0:
        raise UsageError(f"--top must not be negative, got {arguments.top}")
    if arguments.csv is not None:
        if not arguments.csv.absolute().parent.is_dir():
            raise UsageError(f"--csv: there is no folder {arguments.csv.absolute().parent}")
        check_writable(arguments.csv, "--csv", [arguments.run, arguments.against], is_of_run)
    with tempfile.TemporaryDirectory() as scratch, watched(Stage("comparing")):
        outcome = _verify(arguments.run, arguments.against, Path(scratch))
    top = (FEW, MANY)[arguments.why] if arguments.top is None else arguments.top
    printed = outcome.differences[: top or None]
    lines = [f"{arguments.run}: {_verdict(outcome)}", *outcome.notes, *(outcome.reasons if arguments.why else [])]
    print("\n".join(lines))
    if printed:
        print("worst first:")
        print(_table(printed).text(indent="  ", rule=False))
        if len(printed) < len(outcome.differences):
            print(f"... and {len(outcome.differences) - len(printed)} more; --top 0 prints all")
    if arguments.csv is not None:
        write_text(arguments.csv, _table([*outcome.differences, *outcome.uncompared]).csv())
    if outcome.reasons and not arguments.why:
        print("What was not checked or not compared, and why: --why.")
    return 1 if outcome.differences else 0 if outcome.compared else 2


def _verdict(outcome: Outcome) -> str:
    """Whether a run reproduces another, and what to do if it does not."""
    count = len(outcome.differences)
    if count:
        what = "the worst are below; --csv FILE writes all" if outcome.compared else "make or copy them again, then verify"
        return f"{count} difference{'s' * (count != 1)}; {what}"
    return "reproduced" if outcome.compared else "undamaged, but compared with nothing: undecided whether it reproduces"


def _verify(path: Path, against: Path | None, scratch: Path) -> Outcome:
    opened = open_run(path, scratch / "run")
    outcome = Outcome(differences=list(opened.damaged))
    files = f"{opened.integrity.checked} file{'s' * (opened.integrity.checked != 1)}"
    outcome.notes.append(f"{path}: {files} checked and intact, {len(opened.damaged)} damaged, missing or not listed")
    outcome.reasons += opened.integrity.notes

    def nothing(why: str) -> Outcome:
        outcome.notes.append(why)
        outcome.uncompared.append(uncompared(str(path), "", why))
        outcome.sort()
        return outcome

    if opened.damaged:
        return nothing("its values are not compared with another run until this is repaired")
    if opened.results is None:
        return nothing("it holds no results, so there is nothing to compare")
    if against is None and not (HOME / RELEASED).is_file():
        return nothing(f"{RELEASED} is missing, so there is nothing to compare with; --against names another run")
    try:
        checked = manifest.of_run(opened.results, read_provenance(opened.results))
    except Unusable as error:
        raise UsageError(str(error)) from None
    released = load(against or HOME / RELEASED, scratch / "released")
    other = other_settings(released.run.get("configuration"), checked.run.get("configuration"))
    if other:
        keys = ", ".join(other[:5]) + (f" and {len(other) - 5} more" if len(other) > 5 else "")
        said = f"{released.where if against else RELEASED} is of another configuration ({keys})"
        if against is not None:
            raise UsageError(f"{said}; compare runs of the same configuration")
        return nothing(f"{said}, so it is not compared with; --against names another run")
    if not released.variables:
        raise UsageError(f"{released.where} holds no data without measured times, so there is nothing to compare with")
    result = compare(released, checked)
    result.notes[:0] = [*outcome.notes, *_header(released, checked, result)]
    result.reasons += outcome.reasons
    decisions = Counter(manifest.decision(name) for name in checked.run["files"] if name not in checked.files)
    result.reasons += [f"{decision} ({count} files)" for decision, count in sorted(decisions.items())] + [Verify.GATHERED]
    reasons = Counter(entry.allowed for entry in result.uncompared)
    result.reasons += [f"not compared: {count} of the data ({why}), in --csv" for why, count in reasons.items()]
    return result


def _header(released: Manifest, checked: Manifest, result: Outcome) -> list[str]:
    run = released.run
    why = same_machine(run, checked.run)
    rule = f"within tolerances ({'; '.join(why)})" if why else f"bit for bit ({run.get('family')}, same libraries)"
    made = f"commit {str(run.get('commit'))[:12]}, {run.get('ended') or 'no date'}, {run.get('processor')}"
    uncompared = sum((entry.file, *entry.variable.rpartition("/")[::2]) in released.variables for entry in result.uncompared)
    off = len(released.variables) - result.same - result.within - uncompared
    partly = f" ({result.partly} of them only at the values that the manifest keeps)" if result.partly else ""
    held = sum(checked.verdicts.get(key) == verdict for key, verdict in released.verdicts.items())
    later = [f"{key} ({str(origin.get('commit'))[:12]})" for key, origin in (run.get("added") or {}).items()]
    return [
        f"against {released.where}: {made}" + (f"; of later commits: {', '.join(later)}" if later else ""),
        f"compared {rule}",
        f"{len(released.files)} files, {len(released.variables)} variables: {result.same} with the same bits, "
        f"{result.within} within their tolerance{partly}, {off} not, {uncompared} not compared",
        f"{held} of {len(released.verdicts)} claims with the same verdict; times are not compared",
    ]


HEAD = ("file", "variable", "where", "released", "here", "difference", "allowed", "times that", "values")


def _table(differences: Iterable[Difference]) -> Table:
    form = lambda cell: cell if isinstance(cell, str) else f"{cell:.3g}" if np.isfinite(cell) else ""  # noqa: E731
    return simple(HEAD, map(astuple, differences), form=form)
