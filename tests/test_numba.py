"""The private interfaces of Numba that the package uses, by name, so that a version without one of them says what to do.

pyproject.toml keeps to versions of Numba that were tried. Raise the bound there after these tests and those of compilation,
cache and one process pass with the new version.
"""

import ast
import inspect
import re
import tomllib
from importlib import import_module
from pathlib import Path

import numba
import pytest
from numba.core.registry import CPUDispatcher

from polhode.compiling.kernel import KERNEL_OPTIONS

HOME = Path(__file__).parents[1]
SOURCE = HOME / "src/polhode"
#: Module of Numba -> what is used of it and is no public interface -> where, and what to do without it.
PRIVATE = {
    "numba.core.bytecode": {
        "FunctionIdentity._unique_ids": "cache.py numbers functions apart with it; without it cache.folder() must be None",
    },
    "numba.core.caching": {"_Cache": "cache.py derives its entries from it; give what replaces it the same load and save"},
    "numba.core.codegen": {
        "get_host_cpu_features": "kernel.py asks it for 512-bit vectors; leave numba.config.CPU_FEATURES alone without it",
    },
    "numba.core.compiler": {
        "CompileResult._rebuild": "cache.py makes compiled code of bytes with it; look how numba.core.caching does it now",
        "CompileResult._reduce": "cache.py makes bytes of compiled code with it; look how numba.core.caching does it now",
    },
    "numba.core.config": {
        "DISABLE_JIT": "kernels stay plain Python where it is set; find the setting's new place",
        "CPU_FEATURES": "kernel.py sets it for 512-bit vectors; find the setting's new place",
    },
    "numba.core.registry": {
        "CPUDispatcher": "kernel.py derives its kernels from it; numba.njit(forceinline=True) does as well, with the wrappers",
        "cpu_target.target_context": "cache.py asks it for the processor; any text that tells processors apart serves",
    },
    "numba.core.serialize": {"dumps": "cache.py pickles compiled code with it; look how numba.core.caching does it now"},
}
NAMES = [(module, name) for module, names in PRIVATE.items() for name in names]
BOUND = "keep the bound on numba in pyproject.toml below this version until that is done"


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_what_is_private_in_numba_is_there(module, name):
    said = f"Numba {numba.__version__} has no {module}.{name}: {PRIVATE[module][name]}; {BOUND}"
    try:
        found = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        pytest.fail(said)


def test_newer_versions_of_numba_are_kept_out():
    project = tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (wanted,) = [entry for entry in project["dependencies"] if re.match(r"numba\b", entry)]
    bound = re.search(r"<(\d+)\.(\d+)", wanted)
    assert bound, f"pyproject.toml asks for {wanted!r}, without an upper bound"
    installed = tuple(int(part) for part in numba.__version__.split(".")[:2])
    allowed = tuple(int(part) for part in bound.groups())
    assert installed < allowed <= (installed[0], installed[1] + 2), "the bound is close to the version of the tests"


def test_the_options_of_kernels_are_those_of_numba():
    """They are handed to the dispatcher itself; what njit checks of them is checked here."""
    known = dir(CPUDispatcher.targetdescr.options)
    unknown = sorted(set(KERNEL_OPTIONS) - set(known))
    assert not unknown, f"Numba {numba.__version__} knows no options {unknown}: see KERNEL_OPTIONS in kernel.py; {BOUND}"
    taken = set(inspect.signature(CPUDispatcher.__init__).parameters)
    assert {"py_func", "targetoptions"} <= taken, f"kernel.py makes a CPUDispatcher(py_func, targetoptions); {BOUND}"


def test_a_dispatcher_takes_a_cache_and_can_be_closed():
    dispatcher = numba.njit(lambda x: x + 1)
    said = f"cache.py sets dispatcher._cache and calls disable_compile(); Numba {numba.__version__} has another way; {BOUND}"
    assert hasattr(dispatcher, "_cache") and callable(getattr(dispatcher, "disable_compile", None)), said


def used() -> set[tuple[str, str]]:
    """The modules below numba.core (or with a name that begins with _) that the package imports, and the names from there."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(("numba.core", "numba._")):
                found |= {(node.module, alias.name) for alias in node.names}
            elif isinstance(node, ast.Import):
                found |= {(alias.name, "") for alias in node.names if alias.name.startswith(("numba.core", "numba._"))}
    return found


def test_nothing_else_of_numba_is_used_that_is_private():
    known = {(module, name.split(".")[0]) for module, names in PRIVATE.items() for name in names}
    known |= {("numba.core", module.removeprefix("numba.core.")) for module in PRIVATE}
    assert used() <= known, f"add these to PRIVATE, with what to do without them: {sorted(used() - known)}"
    assert {module for module, _ in used()} > {"numba.core"}
