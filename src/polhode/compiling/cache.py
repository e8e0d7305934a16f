"""Compiled code kept on disk, so that a process does not repeat the compilations of another.

Numba's own cache is unsuitable here. It never finds functions that close over compiled functions, as every driver does, and it
checks only the file of one function, so that an edit of a kernel in another module would bring back old numbers. Here an
entry is identified by a hash of *what is compiled*: bytecode and constants of the function and of all functions that it calls,
at any depth, as they are in memory at that moment, with the signature, the options, the versions of Python, Numba, LLVM and
NumPy, and the processor. Nothing ever needs invalidating: changed code has another name. Code that cannot be hashed in this way
(a function that closes over an array, for example) is compiled and not kept.

Code is linked by name, and an entry contains whatever its function calls and LLVM did not inline: functions inside closures,
the environments of all of them, Numba's own implementations. Numba makes their names unique by numbers, but counts from 1 in
every process, so that two entries from two processes may contain different functions of one name; loaded into a third process,
the first would serve for both and silently give wrong numbers. Therefore every process here starts counting from a random
number of its own (:func:`_number_apart`): names from two processes never coincide. ``tests/test_one_process.py`` fills a cache
from two processes and requires that a third one which runs both functions from it gives the bits of each, and that it would
not without these numbers.

Each entry is one file, written under a temporary name and moved into place, so that any number of processes and threads may
use the folder simultaneously. An entry with a wrong checksum is ignored. If anything fails in the folder, the code is compiled
as if there were no cache.

The folder is chosen in :mod:`polhode.compiling.place`.
"""

import builtins
import ctypes
import gc
import hashlib
import itertools
import os
import pickle
import platform
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import bytecode, caching, compiler, config
from numba.core.serialize import dumps

from polhode.compiling import place
from polhode.compiling import signatures as signatures  # sets what is set before anything is compiled
from polhode.compiling.plain import names_of

#: First bytes of every entry; a new layout of the files needs a new number.
_MAGIC = b"polhode compiled code 2\n"
_SUFFIX = ".code"
#: Entries unused for this number of days are removed when a new one is stored.
KEPT_DAYS = 90
#: Modules known to Numba; their version represents their contents.
_KNOWN = frozenset({"builtins", "cmath", "math", "numba", "numpy", "operator"})
#: Numba's settings that affect the compiled code.
_SETTINGS = ("BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LLVM_REFPRUNE_PASS", "LOOP_VECTORIZE", "OPT", "SLP_VECTORIZE")


def _number_apart() -> None:
    """Let Numba number the functions of this process from a random 64-bit number on, shifted beyond all that it will use.

    A process forked from this one would continue with the same numbers; it draws a new number.
    """
    bytecode.FunctionIdentity._unique_ids = itertools.count(int.from_bytes(os.urandom(8), "big") << 32)


#: Whether this version of Numba numbers functions in the way that :func:`_number_apart` repairs; if not, nothing is kept.
_NUMBERED = hasattr(bytecode.FunctionIdentity, "_unique_ids")
_number_apart()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_number_apart)


def compiled(function: Callable[..., Any], signature: Any, **options: Any) -> Any:
    """The function compiled as by ``numba.njit(signature, **options)``, or its compiled code from disk if available.

    The function itself remains unchanged; ``py_func`` of the result is a copy of it with another name. The computed values do
    not depend on the origin of the code. Where Numba is switched off the function is returned; Numba's errors for a function
    that does not compile are raised.
    """
    if config.DISABLE_JIT:
        return function
    entry = _entry(function, signature, options)
    if entry is None:
        with _compilation():
            return numba.njit(signature, **options)(function)
    # The hash in its name distinguishes the function from others in a profile or a debugger.
    named = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    named.__kwdefaults__, named.__doc__, named.__module__ = function.__kwdefaults__, function.__doc__, function.__module__
    named.__qualname__ = f"{function.__qualname__}_{entry}"
    dispatcher = numba.njit(**options)(named)
    path = _path(function, entry)
    if path is not None:
        dispatcher._cache = _Entry(path)
    with _compilation():
        dispatcher.compile(signature)
    dispatcher.disable_compile()
    return dispatcher


@contextmanager
def _compilation() -> Iterator[None]:
    """Around a compilation: no garbage collection, and no Ctrl-C is lost.

    A compilation makes so many objects that collections take a tenth of its time. LLVM calls Python, and an exception raised
    there is reported and otherwise ignored: KeyboardInterrupt, by Ctrl-C, is raised again at the end.
    """
    collects, report, interrupts = gc.isenabled(), sys.unraisablehook, []

    def note(ignored: "sys.UnraisableHookArgs") -> None:
        if issubclass(ignored.exc_type, KeyboardInterrupt):
            interrupts.append(ignored.exc_type)
        else:
            report(ignored)

    in_main_thread = threading.current_thread() is threading.main_thread()
    if in_main_thread:
        sys.unraisablehook = note
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
        if in_main_thread:
            sys.unraisablehook = report
    if interrupts:
        raise KeyboardInterrupt


def is_on_disk(function: Callable[..., Any], signature: Any, **options: Any) -> bool:
    """Whether :func:`compiled` with the same arguments finds an entry on disk; False where Numba is switched off.

    Whether the entry is damaged shows only when it is loaded.
    """
    entry = None if config.DISABLE_JIT else _entry(function, signature, options)
    path = _path(function, entry) if entry is not None else None
    return path is not None and path.is_file() and place.is_safe(path)


def _path(function: Callable[..., Any], entry: str) -> Path | None:
    place_of_code = folder()
    return None if place_of_code is None else place_of_code / f"{function.__name__.strip('<>')}-{entry}{_SUFFIX}"


def folder() -> Path | None:
    """The folder of compiled code, or None if there is none (:mod:`polhode.compiling.place`) or nothing can be kept."""
    return place.folder() if _NUMBERED else None


class _Entry(caching._Cache):  # type: ignore[misc]
    """One file, in the form in which Numba's dispatchers use a cache."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def cache_path(self) -> str:
        return str(self.path.parent)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function, or None if it is missing or damaged."""
        try:
            with open(self.path, "rb") as file:
                # Ask about the open file: another one may have its name by now.
                if not place.is_ours(os.fstat(file.fileno()), self.path):
                    return None
                data = file.read()
            checksum, payload = data[len(_MAGIC) : len(_MAGIC) + 32], data[len(_MAGIC) + 32 :]
            # Damage must be detected here, because LLVM would crash the process.
            if not data.startswith(_MAGIC) or hashlib.sha256(payload).digest() != checksum:
                return None
            target_context.refresh()
            result = compiler.CompileResult._rebuild(target_context, *pickle.loads(payload))
        except Exception:
            return None
        with suppress(OSError):
            if time.time() - self.path.stat().st_mtime > 86400:
                os.utime(self.path)
        return result

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the file, if possible."""
        temporary = None
        try:
            if data.lifted or data.library.has_dynamic_globals:
                return
            payload = dumps(data._reduce())
            place.make(self.path.parent)
            if not place.is_safe(self.path.parent):  # somebody else may have created it meanwhile
                return
            handle, temporary = tempfile.mkstemp(prefix=f"{self.path.stem}.", suffix=".part", dir=self.path.parent)
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + hashlib.sha256(payload).digest() + payload)
            os.replace(temporary, self.path)
            _tidy(self.path.parent)
        except Exception:
            if temporary is not None:
                with suppress(OSError):
                    os.unlink(temporary)

    def enable(self) -> None:
        pass

    def disable(self) -> None:
        pass

    def flush(self) -> None:
        with suppress(OSError):
            self.path.unlink()


@cache
def _tidy(kept: Path) -> None:
    """Remove entries that have not been used for long, once per process."""
    oldest = time.time() - KEPT_DAYS * 86400
    for path in kept.iterdir():
        if path.suffix in (_SUFFIX, ".part"):
            with suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()


# The code to be compiled, as text


class _Unknown(Exception):
    """Raised for a value in a function for which this module does not know how Numba compiles it."""


class _Foreign(_Unknown):
    """Raised for a function in C (:mod:`polhode.compiling.from_c`): its address is that of this process."""


def _entry(function: Callable[..., Any], signature: Any, options: dict[str, Any]) -> str | None:
    """The name of the entry for this compilation, or None if it cannot be determined."""
    if not isinstance(function, FunctionType):
        return None
    parts = [_surroundings(), str(signature), *_fields(signature), repr(sorted(options.items()))]
    try:
        _describe(function, parts, {})
    except (_Unknown, RecursionError) as error:
        if function.__module__.startswith(("polhode.", "polhode_")) and not isinstance(error, _Foreign):
            # Nobody would see it otherwise: the results are the same, and every process compiles for seconds.
            warnings.warn(
                f"compiled code of {function.__qualname__} is not kept: it uses {error}", RuntimeWarning, stacklevel=2
            )
        return None
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def _fields(value: Any) -> list[str]:
    """The fields of all named tuples in a type or signature, which its text omits; code finds values by these names."""
    is_signature = isinstance(value, numba.core.typing.Signature)
    inner = [*value.args, value.return_type] if is_signature else getattr(value, "types", ())
    fields = [repr(value.fields)] if isinstance(value, numba.types.BaseNamedTuple) else []
    return fields + [text for kind in inner for text in _fields(kind)]


@cache
def _surroundings() -> str:
    """All properties outside a function on which its code depends."""
    from numba.core.registry import cpu_target

    versions = platform.python_implementation(), sys.version, numba.__version__, llvmlite.__version__, np.__version__
    settings = [(name, repr(getattr(config, name, None))) for name in _SETTINGS]
    return repr((_MAGIC, versions, settings, cpu_target.target_context.codegen().magic_tuple()))


def _describe(value: Any, parts: list[str], seen: dict[int, int]) -> None:
    """Append everything that determines how ``value`` compiles; functions in full once, then by their number."""
    options = getattr(value, "targetoptions", None)
    if options is not None and hasattr(value, "py_func"):
        parts.append(f"compiled {sorted(options.items())!r}")
        value = value.py_func
    if isinstance(value, ctypes._CFuncPtr):  # type: ignore[attr-defined]
        raise _Foreign
    if value is None or value is Ellipsis or isinstance(value, bool | int | float | complex | str | bytes):
        parts.append(f"{type(value).__name__} {value!r}")
    elif isinstance(value, np.generic):
        parts.append(f"{value.dtype} {value.tobytes().hex()}")
    elif isinstance(value, tuple):
        parts.append(f"{type(value).__name__} {len(value)}")
        for item in value:
            _describe(item, parts, seen)
    elif isinstance(value, frozenset):
        parts.append(f"frozenset {sorted(map(repr, value))}")
    elif isinstance(value, numba.types.Type):
        parts.append(f"numba type {value!r} {_fields(value)}")
    elif isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
        parts.append(f"named tuple {value.__name__} {value._fields!r}")
    elif isinstance(value, type | np.ufunc | BuiltinFunctionType):
        if getattr(value, "__module__", None) and value.__module__.partition(".")[0] not in _KNOWN:
            raise _Unknown(repr(value))
        parts.append(f"known {getattr(value, '__module__', '')} {value.__name__}")
    elif isinstance(value, FunctionType):
        # Code generated from text, as in the many-body engine, belongs to no module.
        if (value.__module__ or "").partition(".")[0] in _KNOWN:
            parts.append(f"known {value.__module__} {value.__qualname__}")
        elif id(value) in seen:
            parts.append(f"function {seen[id(value)]}")
        else:
            seen[id(value)] = len(seen)
            _describe_function(value, parts, seen)
    else:
        raise _Unknown(repr(value))


def _describe_function(function: FunctionType, parts: list[str], seen: dict[int, int]) -> None:
    code = function.__code__
    parts.append(f"function {function.__name__}")
    _describe_code(code, parts, seen, function.__doc__)
    _describe(function.__defaults__, parts, seen)
    if function.__kwdefaults__:
        raise _Unknown("arguments with names only")
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        parts.append(f"closes over {name}")
        _describe_named(cell.cell_contents, names_of(code), parts, seen)
    names = names_of(code)
    for name in sorted(names):
        # A name may be an attribute instead of a global; an unnecessary one does no harm.
        if name in function.__globals__:
            parts.append(f"global {name}")
            _describe_named(function.__globals__[name], names, parts, seen)
        elif hasattr(builtins, name):
            parts.append(f"builtin {name}")


def _describe_named(value: Any, names: set[str], parts: list[str], seen: dict[int, int]) -> None:
    """Describe a value that a function finds by name; for a module, those of its members that the function may look up."""
    if not isinstance(value, ModuleType):
        _describe(value, parts, seen)
    elif value.__name__.partition(".")[0] in _KNOWN:
        parts.append(f"known module {value.__name__}")
    else:
        parts.append(f"module {value.__name__}")
        for name in sorted(names & set(vars(value))):
            parts.append(f"member {name}")
            _describe_named(vars(value)[name], names - {name}, parts, seen)


def _describe_code(code: CodeType, parts: list[str], seen: dict[int, int], doc: str | None = None) -> None:
    """Append bytecode and constants, but neither source lines nor the docstring."""
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    parts.append(repr((code.co_code.hex(), code.co_exceptiontable.hex(), counts, names)))
    for i, constant in enumerate(code.co_consts):
        if i == 0 and doc is not None and constant == doc:
            constant = None
        if isinstance(constant, CodeType):
            parts.append("code")
            _describe_code(constant, parts, seen)
        else:
            _describe(constant, parts, seen)
