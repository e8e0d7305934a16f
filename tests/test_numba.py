"""The private interfaces of Numba that the package uses, by name, so that a version without one of them says what to do.

pyproject.toml keeps to versions of Numba that were tried. Raise the bound there after these tests and those of compilation,
cache and one process pass with the new version.
"""

import inspect
import re
import tomllib
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import numba
import pytest
from numba.core.registry import CPUDispatcher

from polhode.compiling.kernel import KERNEL_OPTIONS, kernel

HOME = Path(__file__).parents[1]
SOURCE = HOME / "src"
#: What is used of Numba and is no public interface, module and name -> where, and what to do without it.
PRIVATE = {
    ("bytecode", "FunctionIdentity._unique_ids"): "cache.py numbers functions apart; without it cache.folder() must be None",
    ("caching", "_Cache"): "cache.py derives its entries from it; give what replaces it the same load and save",
    ("cgutils", "alloca_once"): "from_c.py makes room for the arrays of a C function with it; llvmlite's builder does as well",
    ("cgutils", "gep_inbounds"): "from_c.py finds an element of such an array with it; llvmlite's builder does as well",
    ("codegen", "get_host_cpu_features"): "signatures.py asks it for 512-bit vectors; leave numba.config.CPU_FEATURES alone",
    ("compiler", "CompileResult._rebuild"): "cache.py makes compiled code of bytes; look how numba.core.caching does it now",
    ("compiler", "CompileResult._reduce"): "cache.py makes bytes of compiled code; look how numba.core.caching does it now",
    ("config", "DISABLE_JIT"): "kernels stay plain Python where it is set; find the setting's new place",
    ("config", "CPU_FEATURES"): "signatures.py sets it for 512-bit vectors; find the setting's new place",
    ("registry", "CPUDispatcher"): "signatures.py makes kernels with it; numba.njit(forceinline=True) does as well",
    ("registry", "cpu_target.target_context"): "cache.py asks it for the processor; any text that tells them apart serves",
    ("serialize", "dumps"): "cache.py pickles compiled code with it; look how numba.core.caching does it now",
}
BOUND = "keep the bound on numba in pyproject.toml below this version until that is done"


@pytest.mark.parametrize(("module", "name"), PRIVATE)
def test_what_is_private_in_numba_is_there(module, name):
    try:
        attrgetter(name)(import_module(f"numba.core.{module}"))
    except (ImportError, AttributeError):
        pytest.fail(f"Numba {numba.__version__} has no {module}.{name}: {PRIVATE[module, name]}; {BOUND}")


def test_newer_versions_of_numba_are_kept_out():
    project = tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (wanted,) = [entry for entry in project["dependencies"] if re.match(r"numba\b", entry)]
    bound = re.search(r"<(\d+)\.(\d+)", wanted)
    assert bound, f"pyproject.toml asks for {wanted!r}, without an upper bound"
    installed = tuple(int(number) for number in numba.__version__.split(".")[:2])
    allowed = tuple(int(number) for number in bound.groups())
    assert installed < allowed <= (installed[0], installed[1] + 2), "the bound is close to the version of the tests"


def test_the_options_of_kernels_are_those_of_numba():
    """They are handed to the dispatcher itself; what njit checks of them is checked here."""
    known = dir(CPUDispatcher.targetdescr.options)
    unknown = sorted(set(KERNEL_OPTIONS) - set(known))
    assert not unknown, f"Numba {numba.__version__} knows no options {unknown}: see KERNEL_OPTIONS in kernel.py; {BOUND}"
    taken = set(inspect.signature(CPUDispatcher.__init__).parameters)
    assert {"py_func", "targetoptions"} <= taken, f"signatures.py makes a CPUDispatcher(py_func, targetoptions); {BOUND}"


def test_numba_asks_a_kernel_for_its_dispatcher():
    """Which is made when it is asked for: to define a kernel does not import Numba."""
    doubled = kernel(lambda x: 2.0 * x)
    said = f"Numba {numba.__version__} does not ask an object for _numba_type_: see Kernel in kernel.py; {BOUND}"
    assert numba.typeof(doubled).dispatcher is doubled.dispatcher, said
    assert numba.njit(lambda x: doubled(x) + 1.0)(3.0) == 7.0 and doubled(3.0) == 6.0


def test_a_dispatcher_takes_a_cache_and_can_be_closed():
    dispatcher = numba.njit(lambda x: x + 1)
    said = f"cache.py sets dispatcher._cache and calls disable_compile(); Numba {numba.__version__} has another way; {BOUND}"
    assert hasattr(dispatcher, "_cache") and callable(getattr(dispatcher, "disable_compile", None)), said


def test_nothing_else_of_numba_is_used_that_is_private():
    """What is imported from numba.core, in one line each."""
    imported = set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^ *(import|from) numba\._|^ *import numba\.core|^ *from numba\.core\S* import \(", text, re.M), (
            path
        )
        for module, names in re.findall(r"^ *from numba\.core(\S*) import ([^#\n]+)", text, re.MULTILINE):
            imported |= {(module or name, name)[: 2 if module else 1] for name in re.split(r",\s*", names.strip())}
    modules = {module for module, _ in PRIVATE}
    known = {(f".{module}", name.split(".")[0]) for module, name in PRIVATE} | {(module,) for module in modules}
    assert imported and imported <= known, f"add these to PRIVATE, with what to do without them: {imported - known}"
