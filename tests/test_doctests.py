"""The examples in the docstrings of the library print what they say."""

import doctest
import importlib
import inspect
import io
import re
from pathlib import Path
from types import ModuleType

import pytest

import polhode
from polhode import manybody

HOME = Path(__file__).parents[1]
SOURCE = HOME / "src"


def modules_with_examples() -> list[str]:
    """By their text, so that only these are imported."""
    paths = [
        path
        for path in SOURCE.glob("polhode*/**/*.py")
        if re.search(r"^ *>>> ", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    names = [".".join(path.relative_to(SOURCE).with_suffix("").parts) for path in sorted(paths)]
    return [name.removesuffix(".__init__") for name in names]


def examples_of(module: ModuleType) -> list[doctest.DocTest]:
    """The examples of a module, also those of its compiled functions, which doctest takes for data."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    tests = finder.find(module)
    for name, value in list(vars(module).items()):
        plain = getattr(value, "py_func", None)
        if plain is not None and plain.__module__ == module.__name__:
            tests += finder.find(plain, f"{module.__name__}.{name}", module=module)
    return [test for test in tests if test.examples]


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_print_what_they_say(name, monkeypatch):
    monkeypatch.chdir(HOME)
    tests = examples_of(importlib.import_module(name))
    assert tests, f"{name} has lines that look like examples, but doctest finds none"
    said = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in tests:
        runner.run(test, out=said.write)
    assert runner.failures == 0, said.getvalue()


@pytest.mark.parametrize("of", [polhode.simulate, polhode.open_results, polhode.Body, manybody.simulate])
def test_what_users_call_has_an_example(of):
    assert ">>> " in inspect.getdoc(of)
