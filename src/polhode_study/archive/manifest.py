"""A compact record of a run's results to be shipped with the code: checksums of all data, and values for comparison.

A manifest is a zip of two files: ``manifest.json`` lists every data file and every variable in it with the SHA-256 of its
bytes; ``values.npy`` holds numbers in single precision, subsampled for long series. The checksums tell whether a run on another
machine has the same bits; the numbers tell by how much it differs if it does not.
"""

import csv
import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, NonNegativeInt, ValidationError

from polhode.interface.arguments import shown
from polhode.interface.files import LeadsOut, inside
from polhode.interface.netcdf import DamagedFile, opened
from polhode.interface.storage import write_atomically
from polhode_study import chapters
from polhode_study.archive.zips import content_of, contents_of
from polhode_study.artefacts import Verify, kind_of
from polhode_study.comparing import Manifest, Variable, variable_of
from polhode_study.provenance import Unusable, sha256

#: Incremented when an older ``verify`` could not read a manifest written by a newer ``archive``.
FORMAT = 1
#: Most bytes of a file of a manifest; that of the default study has 3 MB. Of a variable in a data file of a run.
LARGEST, LARGEST_VARIABLE = 100_000_000, 8_000_000_000
#: Variables stored without values: trajectories, whose errors are stored, and pictures. Their checksums are stored.
WITHOUT_VALUES = {"q", "omega", "exact_q", "exact_omega", "r", "v", "centre", "radius", "axial_spin", "axial_spin_change"}
#: Number of entries kept along a dimension longer than :data:`LONG`.
SAMPLED, LONG = 17, 64
#: Variables with more entries than this keep only :data:`FEW` along each dimension after the second.
LARGE, FEW = 100_000, 4


def data_files(names: Iterable[str]) -> list[str]:
    """The names of the files to be compared among those that a run left, sorted: also those of a kind unknown here."""
    return sorted(name for name in names if decision(name) is Verify.COMPARED)


def decision(name: str) -> Verify:
    """What becomes of the values of a file of a run in a comparison."""
    kind = kind_of(name)
    if kind is None:
        return Verify.COMPARED
    if kind.of_chapters and set((kind.match(name) or {}).values()) & set(chapters.names(kind.of_chapters, timed=True)):
        return Verify.TIMED
    return kind.verify


def of_run(folder: Path, run: Mapping[str, Any]) -> Manifest:
    """The manifest of a folder of results with all values; ``run`` is its provenance.json.

    Raises
    ------
    Unusable
        Naming a file that cannot be read, or is not in the folder.
    """
    names = data_files(run["files"])
    try:
        for name in names:
            inside(folder, folder / name)
    except LeadsOut as error:
        raise Unusable(str(error)) from None
    files = {name: sha256(folder / name) for name in names if (folder / name).is_file()}
    variables = {v.key: v for name in files if name.endswith(".nc") for v in _read(folder / name, name)}
    claims = folder / "claims.csv"
    return Manifest(run, files, variables, verdicts(claims) if claims.is_file() else {}, str(folder))


def verdicts(path: Path) -> dict[str, str]:
    """The verdict on each claim in claims.csv, by its id."""
    try:
        with open(path, encoding="utf-8", newline="") as opened:
            return {row["id"]: row["verdict"] for row in csv.DictReader(opened)}
    except (UnicodeDecodeError, csv.Error, KeyError) as error:
        raise Unusable(f"{path} is damaged ({error}); delete it and run ./reproduce again") from error


def _read(path: Path, name: str) -> Iterator[Variable]:
    try:
        with opened(path) as file:
            yield from _variables(file, name, "")
    except DamagedFile as error:
        raise Unusable(str(error)) from error
    except (OSError, RuntimeError, UnicodeDecodeError, AttributeError) as error:
        raise Unusable(f"{path} is not a complete netCDF file ({error}); delete it and run ./reproduce again") from error


def _variables(node: Any, file: str, group: str) -> Iterator[Variable]:
    for name, variable in node.variables.items():
        variable.set_auto_maskandscale(False)
        # A file of a few bytes may declare any number of values that it does not hold.
        if (size := int(np.prod(variable.shape, dtype=object)) * np.dtype(variable.dtype).itemsize) > LARGEST_VARIABLE:
            raise Unusable(f"{file}: {group}/{name} would take {size / 1e9:.3g} GB; do not trust this file")
        yield variable_of(file, group, name, variable.dimensions, np.asarray(variable[...]))
    for name, child in node.groups.items():
        yield from _variables(child, file, f"{group}/{name}" if group else name)


def with_problems(known: Manifest, run: Manifest, settings: Mapping[str, Any], origin: Mapping[str, Any]) -> Manifest:
    """A manifest with the problems of another run that it lacks: their references, and their groups of single_body.nc.

    Parameters
    ----------
    run : with the references of these problems, and single_body.nc
    settings : the section of the configuration of each, by its key
    origin : commit, date and processor of the other run, which the manifest notes
    """
    later = dict(known.run)
    later["configuration"] = {**later["configuration"], "problems": {**later["configuration"]["problems"], **settings}}
    later["added"] = {**later.get("added", {}), **{key: dict(origin) for key in settings}}
    files = {name: digest for name, digest in run.files.items() if name not in known.files}
    variables = {
        key: variable
        for key, variable in run.variables.items()
        if variable.file in files or variable.group.split("/")[0] in settings
    }
    return Manifest(later, {**known.files, **files}, {**known.variables, **variables}, known.verdicts, known.where)


def with_file(known: Manifest, folder: Path, file: str, origin: Mapping[str, Any]) -> Manifest:
    """A manifest with one file of ``folder``, in place of an older one, and with its own origin.

    Raises
    ------
    Unusable
        If the file cannot be read.
    """
    later = {**known.run, "added": {**known.run.get("added", {}), file: dict(origin)}}
    others = {key: variable for key, variable in known.variables.items() if variable.file != file}
    variables = {variable.key: variable for variable in _read(folder / file, file)}
    return Manifest(later, {**known.files, file: sha256(folder / file)}, {**others, **variables}, known.verdicts, known.where)


# ---- manifest files ----


def write(manifest: Manifest, path: str | Path, when: tuple[int, int, int, int, int, int]) -> None:
    """Write a manifest as a zip whose bytes depend only on its contents; ``when`` is the date of its entries."""
    numbers: list[np.ndarray] = []
    described = []
    offset = 0
    for variable in manifest.variables.values():
        stored = _thinned(variable)
        entry: dict[str, Any] = {
            name: value for name, value in asdict(variable).items() if name not in ("values", "rows") and value != ""
        }
        entry["sha256"] = variable.sha256[:32]
        if stored is not None:
            rows, values = stored
            if any(row is not None for row in rows):
                entry["rows"] = rows
            entry["at"] = offset
            offset += values.size
            numbers.append(values.ravel())
        described.append(entry)
    index = {
        "format": FORMAT,
        "run": manifest.run,
        "files": manifest.files,
        "verdicts": manifest.verdicts,
        "variables": described,
    }
    values = np.concatenate(numbers) if numbers else np.zeros(0, "<f4")
    with io.BytesIO() as buffer:
        np.save(buffer, values)
        content = buffer.getvalue()

    def save(temporary: Path) -> None:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name, data in (("manifest.json", _json(index)), ("values.npy", content)):
                entry = zipfile.ZipInfo(name, when)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, data)

    write_atomically(path, save)


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":")) + "\n"


def _thinned(variable: Variable) -> tuple[list[list[int] | None], np.ndarray] | None:
    """The entries of a variable kept in a manifest, and their values in single precision; None if no values are kept."""
    if any(row is not None for row in variable.rows) and variable.values is not None:  # from a manifest
        return [None if row is None else list(row) for row in variable.rows], variable.values
    if variable.text or variable.values is None or variable.name in WITHOUT_VALUES:
        return None
    if (kind := kind_of(variable.file)) is not None and kind.checksums_only:
        return None
    values = variable.values
    rows: list[list[int] | None] = []
    for axis, size in enumerate(variable.shape):
        few = FEW if values.size > LARGE and axis > 1 else SAMPLED if size > LONG else size
        if few >= size:
            rows.append(None)
            continue
        indices = np.unique(np.linspace(0, size - 1, few).round().astype(int))
        rows.append(indices.tolist())
        values = values.take(indices, axis)
    with np.errstate(over="ignore"):  # values beyond single precision become infinite, here and in the comparison
        return rows, values.astype("<f4")


def read(path: str | Path) -> Manifest:
    """The manifest stored in a file.

    Raises
    ------
    Unusable
        If the file is not a manifest, is incomplete, or has a later format.
    """
    path = Path(path)
    if not path.exists():
        raise Unusable(f"{path} is missing; ./reproduce archive --manifest {path} makes it from a finished run")
    contents_of(path)
    try:
        content = content_of(path, "manifest.json", LARGEST)
        loaded = json.loads(content, object_pairs_hook=_once)
        if isinstance(loaded, dict) and loaded.get("format") != FORMAT:
            raise Unusable(
                f"{path} is a manifest of format {shown(loaded.get('format'))}; this version reads {FORMAT}: update polhode"
            )
        _Index.model_validate(loaded, strict=True)
        index = loaded
        numbers = np.load(io.BytesIO(content_of(path, "values.npy", LARGEST)), allow_pickle=False)
        if numbers.ndim != 1 or numbers.dtype != np.dtype("<f4"):
            raise ValueError(f"values.npy has the type {numbers.dtype} and the shape {numbers.shape}")
        variables = {v.key: v for v in (_entry(entry, numbers) for entry in index["variables"])}
        return Manifest(index["run"], index["files"], variables, index["verdicts"], str(path))
    except Unusable:
        raise
    except ValidationError as error:
        first = error.errors()[0]
        why = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise Unusable(f"{path} is not a whole manifest ({why[:200]}); take it from the release again") from error
    except Exception as error:  # a zip, JSON or array may be damaged in many ways
        raise Unusable(f"{path} is not a whole manifest ({str(error)[:200]}); take it from the release again") from error


class _Stored(BaseModel):
    """A variable as manifest.json describes it."""

    file: str
    name: str
    sha256: str
    text: bool
    group: str = ""
    dims: list[str]
    shape: list[NonNegativeInt]
    rows: list[list[NonNegativeInt] | None] = []
    at: NonNegativeInt = 0


class _Run(BaseModel):
    """What a manifest tells of its run, as far as it is compared."""

    configuration: dict[str, Any] = {}
    versions: dict[str, str] = {}


class _Index(BaseModel):
    """The content of manifest.json."""

    run: _Run
    files: dict[str, str]
    verdicts: dict[str, str]
    variables: list[_Stored]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, of which no key may occur twice."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


def _entry(entry: Mapping[str, Any], numbers: np.ndarray) -> Variable:
    shape = tuple(entry["shape"])
    rows = tuple(None if row is None else tuple(row) for row in entry.get("rows", [None] * len(shape)))
    values = None
    if "at" in entry:
        sizes = [size if row is None else len(row) for size, row in zip(shape, rows, strict=True)]
        count = int(np.prod(sizes, dtype=int))
        values = numbers[entry["at"] : entry["at"] + count].reshape(sizes)
    return Variable(
        entry["file"],
        entry.get("group", ""),
        entry["name"],
        tuple(entry["dims"]),
        shape,
        entry["sha256"],
        entry["text"],
        rows,
        values,
    )
