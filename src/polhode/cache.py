"""Compiled code kept on disk, so that a process does not compile what another one has compiled before.

Numba's own cache cannot serve here. It never hits for functions that close over compiled functions, as every driver does,
and it looks at the file of one function only, so that an edit of a kernel in another module would bring back old numbers.
Here an entry is found by a hash of *what is compiled*: bytecode and constants of the function and of every function that it
calls, however far, as they are in memory at that moment, with the signature, the options, the versions of Python, Numba,
LLVM and NumPy, and the processor. There is nothing to invalidate: what has changed has another name. What cannot be
hashed this way (a function that closes over an array, say) is compiled and not kept.

Code is linked by name, and an entry brings along what its function calls and LLVM did not inline: functions inside
closures, the environments of all of them, Numba's own implementations. Numba makes their names unique by numbers, but counts
from 1 in every process, so that two entries from two processes may hold different functions under one name; loaded into a
third process, the first serves for both, and wrong numbers come out without a word. Therefore every process counts from a
place of its own here (:func:`_number_apart`): what two processes compile never has one name.

Each entry is one file, written under a temporary name and moved into place, so that any number of processes and threads may
use the folder at once. An entry with a wrong checksum is no entry. Whatever goes wrong with the folder, the code is
compiled as if there were none.

The folder is ``POLHODE_CACHE_DIR`` if that is set (empty: no cache), else that of the user: ``polhode`` in
``XDG_CACHE_HOME`` or ``~/.cache``, ``~/Library/Caches`` on macOS, ``LOCALAPPDATA`` on Windows. Entries hold machine code,
which is run as it is found. So a folder or an entry that somebody else owns (but for root), or that others can write to, is
left alone with a warning, and the code is compiled and not kept. What is made here only its user can read and write.
"""

import builtins
import hashlib
import itertools
import os
import pickle
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import bytecode, caching, compiler, config
from numba.core.serialize import dumps

#: Stands in front of every entry; another layout of the files needs another number.
_MAGIC = b"polhode compiled code 2\n"
_SUFFIX = ".code"
#: Entries that nobody has used for so long go when a new one comes, in days.
KEPT_DAYS = 90
#: Modules that Numba knows; their version stands for what is in them.
_KNOWN = frozenset({"builtins", "cmath", "math", "numba", "numpy", "operator"})
#: Numba's settings that change the code it makes.
_SETTINGS = ("BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LLVM_REFPRUNE_PASS", "LOOP_VECTORIZE", "OPT", "SLP_VECTORIZE")


def _number_apart() -> None:
    """Let Numba number the functions of this process from a random 64-bit number on, shifted beyond what it will ever compile.

    A process forked from this one would go on with the same numbers; it begins anew.
    """
    bytecode.FunctionIdentity._unique_ids = itertools.count(int.from_bytes(os.urandom(8), "big") << 32)


#: Whether this version of Numba numbers functions in the way that :func:`_number_apart` mends; if not, nothing is kept.
_NUMBERED = hasattr(bytecode.FunctionIdentity, "_unique_ids")
_number_apart()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_number_apart)


def compiled(function: Callable[..., Any], signature: Any, **options: Any) -> Any:
    """``numba.njit(signature, **options)(function)``, from the disk where it is there.

    The function itself stays as it is; ``py_func`` of the result is a copy of it with another name. What it computes does not
    depend on where the code comes from.
    """
    if config.DISABLE_JIT:
        return function
    entry = _entry(function, signature, options)
    if entry is None:
        return numba.njit(signature, **options)(function)
    # With the hash in its name a function can be told from others in a profile or a debugger.
    named = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    named.__kwdefaults__, named.__doc__, named.__module__ = function.__kwdefaults__, function.__doc__, function.__module__
    named.__qualname__ = f"{function.__qualname__}_{entry}"
    dispatcher = numba.njit(**options)(named)
    path = _path(function, entry)
    if path is not None:
        dispatcher._cache = _Entry(path)
    dispatcher.compile(signature)
    dispatcher.disable_compile()
    return dispatcher


def kept(function: Callable[..., Any], signature: Any, **options: Any) -> bool:
    """Whether :func:`compiled` with the same arguments finds its code on the disk."""
    entry = None if config.DISABLE_JIT else _entry(function, signature, options)
    path = _path(function, entry) if entry is not None else None
    return path is not None and path.is_file() and _is_safe(path)


def _path(function: Callable[..., Any], entry: str) -> Path | None:
    place = folder()
    return None if place is None else place / f"{function.__name__.strip('<>')}-{entry}{_SUFFIX}"


def folder() -> Path | None:
    """Where compiled code is kept, or None where it is not; see the text of this module."""
    place = _chosen_folder()
    return place if place is not None and _is_safe(place) else None


def _is_safe(path: Path) -> bool:
    """Whether nobody but the user (and root) can have written this file or folder; one that is not there is safe.

    The first that is not is warned of.
    """
    if not hasattr(os, "geteuid"):  # Windows, where a folder of the user is closed to others
        return True
    try:
        found = path.stat()
    except OSError:
        return True
    return _is_ours(found, path)


def _is_ours(found: os.stat_result, path: Path) -> bool:
    if not hasattr(os, "geteuid"):
        return True
    user = os.geteuid()
    if found.st_uid not in (user, 0):
        reason, remedy = f"belongs to user {found.st_uid} and not to {user}", "name a folder of your own"
    elif found.st_mode & 0o022:
        reason, remedy = "can be written to by others", f"close it (chmod go-w '{path}') or name a folder of your own"
    else:
        return True
    _warn(
        f"{path} {reason}. It may hold machine code that somebody else put there, so it is not used, and code is compiled "
        f"anew; {remedy} in POLHODE_CACHE_DIR (empty: keep nothing)"
    )
    return False


@cache
def _warn(message: str) -> None:
    """Once in a process."""
    warnings.warn(message, RuntimeWarning, stacklevel=2)


def _make(place: Path) -> None:
    """A folder, with those that it lies in, for the user alone."""
    if not place.is_dir():
        _make(place.parent)
        with suppress(FileExistsError):
            place.mkdir(mode=0o700)


def _chosen_folder() -> Path | None:
    chosen = os.environ.get("POLHODE_CACHE_DIR") if _NUMBERED else ""
    if chosen is not None:
        return Path(chosen).expanduser() if chosen.strip() else None
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return Path(base) / "polhode" / "cache" if base else None
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not Path(base).is_absolute():
        try:
            home = Path.home()
        except RuntimeError:
            return None
        base = str(home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache")
    return Path(base) / "polhode"


class _Entry(caching._Cache):  # type: ignore[misc]
    """One file, as Numba's dispatchers use a cache."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def cache_path(self) -> str:
        return str(self.path.parent)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function, or None if it is not there, or broken."""
        try:
            with open(self.path, "rb") as file:
                # Asked of the file that is open: another one may have its name by now.
                if not _is_ours(os.fstat(file.fileno()), self.path):
                    return None
                data = file.read()
            checksum, payload = data[len(_MAGIC) : len(_MAGIC) + 32], data[len(_MAGIC) + 32 :]
            # What is broken must be found here: LLVM takes the process down with it.
            if not data.startswith(_MAGIC) or hashlib.sha256(payload).digest() != checksum:
                return None
            target_context.refresh()
            found = compiler.CompileResult._rebuild(target_context, *pickle.loads(payload))
        except Exception:
            return None
        with suppress(OSError):
            if time.time() - self.path.stat().st_mtime > 86400:
                os.utime(self.path)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the file, if that can be done."""
        temporary = None
        try:
            if data.lifted or data.library.has_dynamic_globals:
                return
            payload = dumps(data._reduce())
            _make(self.path.parent)
            if not _is_safe(self.path.parent):  # somebody else may have made it since
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
def _tidy(place: Path) -> None:
    """Remove what nobody has used for long, once in a process."""
    oldest = time.time() - KEPT_DAYS * 86400
    for path in place.iterdir():
        if path.suffix in (_SUFFIX, ".part"):
            with suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()


# What is compiled, as text


class _Unknown(Exception):
    """Something stands in a function of which this module does not know how Numba compiles it."""


def _entry(function: Callable[..., Any], signature: Any, options: dict[str, Any]) -> str | None:
    """The name of what compiling this function gives, or None if it cannot be told."""
    if not isinstance(function, FunctionType):
        return None
    parts = [_surroundings(), str(signature), repr(sorted(options.items()))]
    try:
        _describe(function, parts, {})
    except (_Unknown, RecursionError):
        return None
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


@cache
def _surroundings() -> str:
    """Everything outside a function that its code depends on."""
    from numba.core.registry import cpu_target

    versions = platform.python_implementation(), sys.version, numba.__version__, llvmlite.__version__, np.__version__
    settings = [(name, repr(getattr(config, name, None))) for name in _SETTINGS]
    return repr((_MAGIC, versions, settings, cpu_target.target_context.codegen().magic_tuple()))


def _describe(value: Any, parts: list[str], seen: dict[int, int]) -> None:
    """Append everything that ``value`` means to the compiler; functions once, then by their number."""
    options = getattr(value, "targetoptions", None)
    if options is not None and hasattr(value, "py_func"):
        parts.append(f"compiled {sorted(options.items())!r}")
        value = value.py_func
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
        parts.append(f"numba type {value!r}")
    elif isinstance(value, type | np.ufunc | BuiltinFunctionType):
        if getattr(value, "__module__", None) and value.__module__.partition(".")[0] not in _KNOWN:
            raise _Unknown(repr(value))
        parts.append(f"known {getattr(value, '__module__', '')} {value.__name__}")
    elif isinstance(value, FunctionType):
        # Code that was made from text, as the many-body engine makes some, belongs to no module.
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
        _describe_named(cell.cell_contents, _names(code), parts, seen)
    names = _names(code)
    for name in sorted(names):
        # A name may be an attribute and no global at all; one too many does no harm.
        if name in function.__globals__:
            parts.append(f"global {name}")
            _describe_named(function.__globals__[name], names, parts, seen)
        elif hasattr(builtins, name):
            parts.append(f"builtin {name}")


def _describe_named(value: Any, names: set[str], parts: list[str], seen: dict[int, int]) -> None:
    """A value that a function finds by name; of a module, what the function may look up in it."""
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
    """Bytecode and constants; not the lines it came from, nor the documentation string."""
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


def _names(code: CodeType) -> set[str]:
    """All names that a function looks up, in its comprehensions too."""
    return set(code.co_names).union(*(_names(inner) for inner in code.co_consts if isinstance(inner, CodeType)))
