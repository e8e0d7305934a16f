"""Archives and manifests from elsewhere: whatever they hold, they are read or refused in a sentence, soon, in little memory."""

import io
import json
import os
import struct
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from polhode_study.archive import manifest
from polhode_study.archive.zips import contents_of, extracted
from polhode_study.provenance import NEEDED, Unusable, read_provenance
from polhode_study.workflow import written

ON_DISK = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def packed(path: Path, *files: tuple[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    """A zip with these names, as they are."""
    with zipfile.ZipFile(path, "w") as opened:
        for name, content in files:
            entry = zipfile.ZipInfo("x")
            entry.filename, entry.compress_type = name, method
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("warnings.warn", lambda *_, **__: None)
                opened.writestr(entry, content)
    return path


def refused(path: Path, said: str = "") -> str:
    with pytest.raises(Unusable) as caught:
        contents_of(path)
    message = str(caught.value)
    assert said in message and len(message) < 400 + len(str(path)) and "\n" not in message
    return message


part = st.one_of(
    st.sampled_from([".", "..", "", "a", "b", "C:", "\\", "a\\b", "\n", "\x1b[2J", "é", "x" * 300, " "]), st.text(max_size=4)
)
names = st.lists(part, min_size=1, max_size=4).map("/".join)


@ON_DISK
@given(st.lists(names, min_size=1, max_size=5))
def test_what_is_not_refused_is_unpacked_in_its_folder(tmp_path, chosen):
    folder = tmp_path / f"out{time.monotonic_ns()}"
    try:
        path = packed(tmp_path / "a.zip", *((name, name.encode()) for name in chosen))
    except (UnicodeEncodeError, ValueError):
        return  # no zip has such a name
    before = {p for p in tmp_path.iterdir()}
    try:
        contents = contents_of(path)
    except Unusable as error:
        assert len(str(error)) < 400 + len(str(path))
        return
    assert extracted(path, contents, folder) == {}
    assert {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()} == set(contents)
    assert {p for p in tmp_path.iterdir()} - before <= {folder}


@pytest.mark.thorough
def test_many_files_and_one_name_twice_take_no_time(tmp_path):
    path = packed(tmp_path / "a.zip", *((f"f{i}", b"") for i in range(60_000)), ("f7", b""))
    start = time.process_time()
    refused(path, "'f7' twice")
    assert time.process_time() - start < 10


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([("a", b""), ("a/b", b"")], "'a' as a file and as a folder"),
        ([("a/b/c", b""), ("a", b"")], "'a' as a file and as a folder"),
        ([(".", b"")], "is not the name of a file"),
        ([("a/./b", b"")], "is not the name of a file"),
        ([("x" * 5000, b"")], "is too long"),
        ([("/".join(["abc"] * 1000), b"")], "is too long"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_names_that_no_folder_can_hold(tmp_path, files, said):
    refused(packed(tmp_path / "a.zip", *files), said)


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_other_compressions_are_refused(tmp_path, method):
    refused(packed(tmp_path / "a.zip", ("a", b"x" * 1000), method=method), "in a compression other than deflate")


def test_an_encrypted_archive_is_refused(tmp_path):
    path = packed(tmp_path / "a.zip", ("a", b"content"))
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02")
    data[at + 8 : at + 10] = struct.pack("<H", 1)
    path.write_bytes(data)
    refused(path, "is encrypted")


def test_a_bomb_is_refused(tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened, opened.open("zeros", "w") as sink:
        for _ in range(120):
            sink.write(bytes(1 << 20))
    refused(path, "times its size")


def test_a_large_file_passes_through_little_memory(tmp_path, monkeypatch):
    """Read in pieces: the limit of a piece is below the size of the file."""
    path = packed(tmp_path / "a.zip", ("a", os.urandom(3 << 20)))
    largest = []
    read = zipfile.ZipExtFile.read
    monkeypatch.setattr(zipfile.ZipExtFile, "read", lambda self, n=-1: largest.append(n) or read(self, n))
    extracted(path, ["a"], tmp_path / "out")
    assert (tmp_path / "out" / "a").stat().st_size == 3 << 20 and 0 < max(largest) <= 1 << 20 and min(largest) > 0


@ON_DISK
@given(st.data())
def test_a_damaged_archive(tmp_path, data):
    whole = packed(tmp_path / "whole.zip", ("a", b"content" * 50), ("b/c", b"more"), method=zipfile.ZIP_DEFLATED).read_bytes()
    content = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    for place in data.draw(st.lists(st.integers(0, max(len(content) - 1, 0)), max_size=3)):
        if content:
            content[place] = data.draw(st.integers(0, 255))
    path = tmp_path / "damaged.zip"
    path.write_bytes(content)
    try:
        contents = contents_of(path)
    except Unusable:
        return
    extracted(path, contents, tmp_path / "out")


def test_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "is no regular file")
    refused(tmp_path, "is a folder")


# --- manifests and other JSON ------------------------------------------------------------------------------------------

VARIABLE = {"file": "a.nc", "name": "x", "sha256": "0" * 32, "text": False, "dims": ["t"], "shape": [2], "at": 0}
INDEX = {"format": manifest.FORMAT, "run": {}, "files": {"a.nc": "0" * 64}, "verdicts": {}, "variables": [VARIABLE]}
anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=5,
)


def values(array: np.ndarray) -> bytes:
    with io.BytesIO() as buffer:
        np.save(buffer, array)
        return buffer.getvalue()


def manifest_of(path: Path, text: str, numbers: bytes | None = None) -> Path:
    content = values(np.ones(2, "<f4")) if numbers is None else numbers
    return packed(path, ("manifest.json", text.encode(errors="replace")), ("values.npy", content))


def unusable(path: Path) -> str:
    with pytest.raises(Unusable) as caught:
        manifest.read(path)
    assert len(str(caught.value)) < 500 + len(str(path))
    return str(caught.value)


def test_a_whole_manifest_is_read(tmp_path):
    assert manifest.read(manifest_of(tmp_path / "m.zip", json.dumps(INDEX))).variables["a.nc", "", "x"].shape == (2,)


@ON_DISK
@given(st.sampled_from([*INDEX, *(f"variables.0.{key}" for key in (*VARIABLE, "rows", "group"))]), anything)
def test_a_manifest_with_any_value_in_any_place(tmp_path, place, value):
    index = json.loads(json.dumps(INDEX))
    target = index["variables"][0] if "." in place else index
    target[place.rpartition(".")[2]] = value
    path = manifest_of(tmp_path / "m.zip", json.dumps(index))
    try:
        read = manifest.read(path)
    except Unusable as error:
        assert len(str(error)) < 500 + len(str(path))
        return
    assert all(isinstance(digest, str) for digest in read.files.values())
    assert all(isinstance(key, str) for variable in read.variables for key in variable)
    assert isinstance(read.run.get("versions", {}), dict)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", '{"a": 1, "a": 2}', "[" * 100_000, "9" * 10_000, '{"format": ' + "9" * 6000 + "}", "\x00", "null"],
    ids=lambda text: text[:12],
)
def test_what_is_not_the_index_of_a_manifest(tmp_path, text):
    unusable(manifest_of(tmp_path / "m.zip", text))


def test_numbers_of_a_manifest_that_are_none(tmp_path):
    huge = values(np.ones(2, "<f4")).replace(b"(2,), ", b"(2000000000000,), ".ljust(6))
    for numbers in (b"", b"\x93NUMPY", huge, values(np.ones((2, 2))), values(np.array(["a"])), values(np.ones(1, "<f4"))):
        unusable(manifest_of(tmp_path / "m.zip", json.dumps(INDEX), numbers))


def test_a_manifest_too_large_to_be_one(tmp_path, monkeypatch):
    monkeypatch.setattr(manifest, "LARGEST", 100)
    assert "more than it can have" in unusable(manifest_of(tmp_path / "m.zip", json.dumps(INDEX)))


def test_a_data_file_that_declares_more_than_it_holds(tmp_path):
    import netCDF4

    with netCDF4.Dataset(tmp_path / "single_body.nc", "w") as file:
        file.createDimension("n", 10**12)
        file.createVariable("x", "f8", ("n",), chunksizes=(1000,))
    with pytest.raises(Unusable, match=r"single_body\.nc: /x would take 8e\+03 GB"):
        manifest.of_run(tmp_path, {"files": {"single_body.nc": {}}})


@ON_DISK
@given(st.sampled_from(sorted(NEEDED)), anything)
def test_a_provenance_with_any_value(tmp_path, key, value):
    whole = {name: kind() for name, kind in NEEDED.items()} | {"files": {"a": "0"}}
    (tmp_path / "provenance.json").write_text(json.dumps(whole | {key: value}), encoding="utf-8")
    try:
        record = read_provenance(tmp_path)
    except Unusable:
        return
    assert isinstance(record[key], NEEDED[key]) and all(isinstance(digest, str) for digest in record["files"].values())


@ON_DISK
@given(st.one_of(st.just("../outside"), st.just("/etc/hostname"), st.just("a/../../outside"), st.text(max_size=5)), anything)
def test_a_list_of_files_removes_nothing_outside_its_folder(tmp_path, name, entry):
    """What differs from the list is removed, so that a run makes it again."""
    outside, results = tmp_path / "outside", tmp_path / "results"
    outside.write_text("mine")
    (results / written.JOBS).mkdir(parents=True, exist_ok=True)
    for noted in (entry, {"bytes": 1, "sha256": "0"}):
        (results / written.JOBS / "job.json").write_text(json.dumps({"files": {name: noted}}), encoding="utf-8")
        written.mend(results)
    assert outside.read_text() == "mine"
