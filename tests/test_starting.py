"""A start of the study with nothing to do: what Snakemake notes of files, and reads again."""

import copy
import pickle
from types import SimpleNamespace

import pytest

from polhode.study.workflow.starting import Noted, hasten

#: A part of the text that each of two hundred files records about its origin.
ORIGINS = {f"results/runs/top/fit/{i}.nc": "settings of one file" * 20 for i in range(200)}


def test_snakemake_notes_little_of_what_files_record_and_each_change_of_it():
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
    from snakemake.rules import Rule

    for owner, name in ((FilePersistence, "_read_record_cached"), (PersistenceBase, "_serialize_param"), (Rule, "is_producer")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    hasten.__wrapped__()
    return SimpleNamespace(notes=FilePersistence, rule=Rule)


def test_each_note_is_read_once(hastened, monkeypatch):
    """Of more files than the 128 that Snakemake keeps in memory."""
    read: list[str] = []
    monkeypatch.setattr(hastened.notes, "_io_read", lambda self, place, key: read.append(key))
    notes = hastened.notes.__new__(hastened.notes)
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

    notes = hastened.notes.__new__(hastened.notes)
    for value in (None, 1.5, "text", ["a", 1], {"a": (1, 2)}):
        assert notes._serialize_param(value) == repr(value)
    assert notes._serialize_param(Noted(ORIGINS)) == repr(Noted(ORIGINS))
    assert notes._serialize_param(object()) is UNREPRESENTABLE


def test_a_rule_makes_the_files_that_it_names_and_those_of_its_patterns(hastened):
    from snakemake.io import IOFile

    rule = SimpleNamespace(snakefile="Snakefile", lineno=1)
    rule.products = lambda: iter([IOFile("a+b.nc"), IOFile("runs/{name}.nc")])
    made = {file: hastened.rule.is_producer(rule, file) for file in ("a+b.nc", "aab.nc", "runs/x.nc", "runs/x.csv")}
    assert made == {"a+b.nc": True, "aab.nc": False, "runs/x.nc": True, "runs/x.csv": False}
