"""A catalogue of named things: methods, problems. Built-in ones are found by their file, a user's own by a path."""

import importlib
import importlib.util
import pkgutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from html import escape
from pathlib import Path
from types import ModuleType
from typing import Any

from polhode.arguments import shown


def nearest(name: str, known: Sequence[str], cutoff: float = 0.5) -> str:
    """The end of an error message about an unknown name: the nearest known one if any is near, else all of them."""
    close = get_close_matches(name, known, n=1, cutoff=cutoff)
    return f"did you mean {close[0]!r}?" if close else "known are: " + ", ".join(sorted(known))


def place_in(path: Path, error: BaseException) -> str:
    """The file ``path`` and, where the traceback of ``error`` goes through it, the line there: ``FILE, line 3,``."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"{path}, line {line}," if line else str(path)


def _said(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"it ends the program (SystemExit: {error}); take out what calls sys.exit when the file is imported"
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """A list that gets an entry when the user presses Ctrl-C: that is then told from a file that raises the same."""
    pressed: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield pressed
        return

    def notice(number: int, frame: Any) -> None:
        pressed.append(number)
        before(number, frame)

    signal.signal(signal.SIGINT, notice)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


class Catalogue(ModuleType):
    """A package that is also the mapping of what its files define.

    ``package[key]``, ``key in package``, ``len(package)`` and iteration over keys work; printing it gives a table. A file takes
    part by defining one object under the agreed name (``METHOD``, ``PROBLEM``).
    """

    _object_name: str
    _type: type
    _kind: str
    _columns: Sequence[tuple[str, Callable[[Any], str]]]
    _items: dict[str, Any]
    _origins: dict[str, Path]

    @classmethod
    def adopt(
        cls, package: str, object_name: str, object_type: type, columns: Sequence[tuple[str, Callable[[Any], str]]]
    ) -> None:
        """Turn the imported package ``package`` into a catalogue of the objects called ``object_name`` in its modules."""
        module = sys.modules[package]
        module.__class__ = cls
        assert isinstance(module, Catalogue)
        module._object_name = object_name
        module._type = object_type
        module._kind = object_name.lower()
        module._columns = columns
        module._items = {}
        module._origins = {}
        for info in sorted(pkgutil.iter_modules(module.__path__), key=lambda info: info.name):
            member = importlib.import_module(f"{package}.{info.name}")
            if hasattr(member, object_name):
                module._enter(getattr(member, object_name), Path(str(member.__file__)))

    def _enter(self, found: object, origin: Path) -> None:
        if not isinstance(found, self._type):
            wanted, got = self._type.__name__, type(found).__name__
            raise ValueError(f"{origin}: {self._object_name} must be a {wanted} (or a subclass), not a {got}")
        item: Any = found
        # Keys are names of files, and not every file system tells capitals from small letters.
        taken = {key.casefold(): path for key, path in self._origins.items()}
        known = taken.get(item.key.casefold())
        if known is not None:
            raise ValueError(f"{origin}: {self._kind} key {item.key!r} is taken by {known}; choose another key")
        self._items[item.key] = item
        self._origins[item.key] = origin

    def load(self, path: str | Path) -> Any:
        """Add the object that the Python file ``path`` defines; loading the same file again changes nothing.

        Raises
        ------
        FileNotFoundError, TypeError, ValueError
            If there is no such file, if it cannot be loaded (whatever it raises, ``sys.exit`` included) or defines no such
            object, or if its key is taken by another file; the message names the file, and its line where there is one.
        """
        if not isinstance(path, str | Path):
            raise TypeError(f"path must be that of a Python file, got {shown(path)}")
        path = Path(path).resolve()
        if not path.is_file():
            raise FileNotFoundError(f"plug-in {path} does not exist")
        for key, origin in self._origins.items():
            if origin == path:
                return self._items[key]
        spec = importlib.util.spec_from_file_location(f"polhode_plugin_{path.stem}", path)
        if spec is None or spec.loader is None:
            raise ValueError(f"plug-in {path} is not a Python file; its name must end in .py")
        member = importlib.util.module_from_spec(spec)
        # Compiled code that comes from the disk looks its module up by name.
        sys.modules[member.__name__] = member
        with _interrupts() as interrupts:
            try:
                spec.loader.exec_module(member)
            except BaseException as error:
                sys.modules.pop(member.__name__, None)
                if interrupts:
                    raise
                raise ValueError(f"plug-in {place_in(path, error)} cannot be loaded: {_said(error)}") from error
        if not hasattr(member, self._object_name):
            raise ValueError(f"plug-in {path} defines no {self._object_name}")
        item = getattr(member, self._object_name)
        self._enter(item, path)
        return item

    def origin(self, key: str) -> Path:
        """The file that defines ``key``."""
        self[key]
        return self._origins[key]

    def __getitem__(self, key: str) -> Any:
        try:
            return self._items[key]
        except KeyError:
            raise KeyError(f"unknown {self._kind} {key!r}; {nearest(key, list(self._items))}") from None

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def keys(self) -> list[str]:
        """All keys, sorted as listed."""
        return list(self._items)

    def values(self) -> list[Any]:
        """All objects, in the order of their keys."""
        return list(self._items.values())

    def items(self) -> list[tuple[str, Any]]:
        """Pairs of key and object."""
        return list(self._items.items())

    def _rows(self) -> list[list[str]]:
        return [[cell(item) for _, cell in self._columns] for item in self._items.values()]

    def __repr__(self) -> str:
        rows = [[title for title, _ in self._columns], *self._rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(self._columns))]
        lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(title)}</th>" for title, _ in self._columns)
        body = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in self._rows())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def catalogue(package: str) -> Catalogue:
    """The catalogue ``polhode.methods`` or ``polhode.problems``, by name."""
    found = importlib.import_module(package)
    assert isinstance(found, Catalogue)
    return found
