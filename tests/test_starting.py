"""A start of the study with nothing to do: what Snakemake notes of files, and reads again."""

import copy
import pickle

import pytest

from polhode_study.workflow.starting import Noted, hasten

#: A part of the text that each of two hundred files records about its origin.
ORIGINS = {f"results/runs/top/fit/{i}.nc": "settings of one file" * 20 for i in range(200)}


def test_snakemake_notes_each_change_of_files():
    noted = repr(Noted(ORIGINS))
    assert len(noted) < 100 and noted == repr(Noted(dict(reversed(ORIGINS.items()))))
    first = next(iter(ORIGINS))
    for changed in ({**ORIGINS, first: "another"}, {**ORIGINS, "one_more.nc": ""}, dict(list(ORIGINS.items())[1:])):
        assert repr(Noted(changed)) != noted


def test_a_script_receives_all_that_files_record():
    """As a plain dictionary: a job does not import what planned it."""
    for received in (pickle.loads(pickle.dumps(Noted(ORIGINS))), copy.deepcopy(Noted(ORIGINS))):
        assert type(received) is dict and received == ORIGINS


@pytest.fixture
def hastened(monkeypatch):
    """Snakemake as :func:`hasten` leaves it, and its own again behind the test."""
    from snakemake.persistence import PersistenceBase
    from snakemake.persistence.file import FilePersistence

    for owner, name in ((FilePersistence, "_read_record_cached"), (PersistenceBase, "_serialize_param")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    hasten.__wrapped__()
    return FilePersistence


def test_each_note_is_read_once(hastened, monkeypatch):
    """Of more files than the 128 that Snakemake keeps in memory."""
    read: list[str] = []
    monkeypatch.setattr(hastened, "_io_read", lambda self, place, key: read.append(key))
    notes = hastened.__new__(hastened)
    notes._metadata_path = "metadata"
    for _ in range(2):
        for path in ORIGINS:
            assert notes._read_record(path) is None
    assert read == list(ORIGINS)
    notes._clear_cache()
    notes._read_record(read[0])
    assert read == [*ORIGINS, read[0]], "a job that ends changes its notes"


def test_parameters_are_noted_as_before(hastened):
    from snakemake.persistence import UNREPRESENTABLE

    notes = hastened.__new__(hastened)
    for value in (None, 1.5, "text", ["a", 1], {"a": (1, 2)}):
        assert notes._serialize_param(value) == repr(value)
    assert notes._serialize_param(Noted(ORIGINS)) == repr(Noted(ORIGINS))
    assert notes._serialize_param(object()) is UNREPRESENTABLE
