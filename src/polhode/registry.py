"""Registries of named objects: methods, problems, scenes. Built-in ones are found by file, the user's own by path."""

import importlib
import importlib.util
import pkgutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from polhode.interface.arguments import KEY_LENGTH, plain_name, regular_file, shown
from polhode.interface.table import Column, Table

T = TypeVar("T", bound="Named")
#: The rank of an object that declares none: after the others of its class.
LAST = 999
#: The most names in an error message.
MANY = 12
#: Executed user files that serve at least one registry; other registries may find more objects in them.
_executed: dict[Path, ModuleType] = {}


def nearest(name: str, known: Sequence[str], cutoff: float = 0.5) -> str:
    """The end of an error message about an unknown name: the nearest known name, or if none is near, all or some of them.

    ``cutoff`` from 0 to 1 is how similar a near name must be, by ``difflib``.
    """
    close = get_close_matches(name, known, n=1, cutoff=cutoff)
    if close:
        return f"did you mean {close[0]!r}?"
    names = sorted(known)
    many = len(names) > MANY
    return "known are: " + ", ".join(names[: MANY if many else None]) + (f" and {len(names) - MANY} more" if many else "")


def place_in(path: Path, error: BaseException) -> str:
    """The file ``path`` and, if the traceback of ``error`` passes through it, the line: ``FILE, line 3,``."""
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
    """Yield a list that gets an entry when the user presses Ctrl-C, as opposed to a file that raises the same error."""
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


class Named(Protocol):
    """An object that a registry can hold: it has a key."""

    @property
    def key(self) -> str:
        """The name in the configuration and in file names."""
        ...


class Registry(Mapping[str, T]):
    """The objects defined by the files of a package, by key; printing the registry gives a table.

    A file takes part by defining one object under the agreed name (``METHOD``, ``PROBLEM``, ``SCENE``). The files are imported
    when the registry is first listed; until then, only the file KEY.py of an object that is asked for by its key. Objects are
    in the order of the names of their files, the user's own last.

    Parameters
    ----------
    package : str
        Name of the package, ``polhode.methods``.
    object_name : str
        The name under which a file defines its object.
    object_type : type, or tuple of types
        The required type of the object.
    columns : pairs of title and function
        The columns of the table: title, and text for one object.
    """

    def __init__(
        self,
        package: str,
        object_name: str,
        object_type: type[Any] | tuple[type[Any], ...],
        columns: Sequence[tuple[str, Callable[[T], str]]],
    ) -> None:
        self._package = package
        #: The name under which a file defines its object.
        self.object_name = object_name
        self._types = object_type if isinstance(object_type, tuple) else (object_type,)
        #: The name of such an object in messages.
        self.kind = object_name.lower()
        self._columns = tuple(columns)
        self._items: dict[str, T] = {}
        self._origins: dict[str, Path] = {}
        self._complete = self._searching = False
        self._lock = threading.RLock()

    def _known(self) -> dict[str, T]:
        """All objects, those of the package found first. An import error is raised here, and again at the next access."""
        if not self._complete:
            with self._lock:
                # A file that asks while being imported gets the objects found so far.
                if not (self._complete or self._searching):
                    self._searching = True
                    try:
                        self._search()
                    finally:
                        self._searching = False
        return self._items

    def _search(self) -> None:
        package = importlib.import_module(self._package)
        self._items.clear()
        self._origins.clear()
        for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
            member = importlib.import_module(f"{self._package}.{info.name}")
            if hasattr(member, self.object_name):
                self.enter(getattr(member, self.object_name), Path(str(member.__file__)))
        self._complete = True

    def enter(self, member: object, origin: Path) -> T:
        """Add an object defined by the file ``origin`` and return it.

        Raises
        ------
        ValueError
            If it has the wrong type, or its key is not a plain name or is used by another file; the message names the file.
        """
        if not isinstance(member, self._types):
            wanted, got = " or ".join(wanted.__name__ for wanted in self._types), type(member).__name__
            raise ValueError(f"{origin}: {self.object_name} must be a {wanted} (or a subclass), not a {got}")
        item: T = member
        if origin.parent != self.folder:
            plain_name(f"{origin}: {self.kind} key", item.key)
        # Keys become file names, and some file systems ignore case.
        taken = {key.casefold(): path for key, path in self._origins.items()}
        known = taken.get(item.key.casefold())
        if known is not None:
            raise ValueError(f"{origin}: {self.kind} key {item.key!r} is taken by {known}; choose another key")
        self._items[item.key] = item
        self._origins[item.key] = origin
        return item

    def load(self, path: str | Path) -> T:
        """Add the object defined by the Python file ``path`` and return it; loading a file again changes nothing.

        A file that also defines something for another registry is executed once, see :func:`load_file`.

        Raises
        ------
        FileNotFoundError, TypeError, ValueError
            If there is no such file, if it cannot be loaded (for any exception, including ``sys.exit``), if it defines no such
            object, or if its key is used by another file; the message names the file and, if known, the line.
        """
        item: T = load_file(path, [self])[self.kind]
        return item

    def loaded_from(self, path: Path) -> T | None:
        """The object added by the file ``path``, an absolute path without links; None if there is none."""
        known = self._known()
        return next((known[key] for key, origin in self._origins.items() if origin == path), None)

    def origin(self, key: str) -> Path:
        """The file that defines the object with the key ``key``.

        Raises
        ------
        KeyError
            If there is no such object; the message names the nearest key.
        """
        if self._alone(key) is not None:
            return self.folder / f"{key}.py"
        self[key]
        return self._origins[key]

    def plugins(self) -> dict[str, Path]:
        """The files of the user's own objects, by key."""
        folder = self.folder
        return {key: path for key in self if (path := self.origin(key)).parent != folder}

    @property
    def folder(self) -> Path:
        """The path of the folder of the package."""
        return Path(str(importlib.import_module(self._package).__file__)).parent

    @contextmanager
    def restored(self) -> Iterator[None]:
        """A context on whose exit the objects that were loaded inside it are removed."""
        items, origins = dict(self._known()), dict(self._origins)
        try:
            yield
        finally:
            for path in {*self._origins.values()} - {*origins.values()}:
                _executed.pop(path, None)
            self._items, self._origins = items, origins

    def _alone(self, key: object) -> T | None:
        """The object with a key, from the file of this name; None if all are known already, or if there is none."""
        if self._complete or not (isinstance(key, str) and key.isidentifier() and (self.folder / f"{key}.py").is_file()):
            return None
        item: Any = getattr(importlib.import_module(f"{self._package}.{key}"), self.object_name, None)
        return item if isinstance(item, self._types) and item.key == key else None

    def __getitem__(self, key: str) -> T:
        if (alone := self._alone(key)) is not None:
            return alone
        known = self._known()
        if not isinstance(key, str):
            raise TypeError(f"{self.kind} key must be a string, got {shown(key)}")
        try:
            return known[key]
        except KeyError:
            raise KeyError(f"unknown {self.kind} {shown(str(key))}; {self.nearest(str(key))}") from None

    def nearest(self, name: str) -> str:
        """The end of an error message about an unknown key, as by :func:`nearest`; other names of an object lead to its key."""
        for key, item in self._known().items():
            if name.casefold() in (other.casefold() for other in getattr(item, "other_names", ())):
                return f"did you mean {key!r}? {name} is another name for it"
        return nearest(name[:KEY_LENGTH], list(self))

    def __contains__(self, key: object) -> bool:
        return self._alone(key) is not None or key in self._known()

    def __iter__(self) -> Iterator[str]:
        return iter(self._known())

    def __len__(self) -> int:
        return len(self._known())

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> ModuleType:
            """The module ``name`` of the package: ``polhode.methods`` is the registry and, for ``import``, the package."""
            if not name.startswith("_"):
                self._known()
                with suppress(KeyError):
                    return sys.modules[f"{self._package}.{name}"]
            raise AttributeError(f"neither a registry nor {self._package} has {name!r}")

    def _table(self) -> Table:
        return Table(list(self.values()), [Column(title, cell) for title, cell in self._columns])

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()


#: What to do about a file that defines no such object.
_REMEDIES = {
    "METHOD": "end the file with METHOD = OneTorque(...), as the file in docs/adding-a-method.md does; docs/challenge.md shows "
    "how to rewrite a step from NumPy, and how to link one in C or C++",
    "PROBLEM": "end the file with PROBLEM = Problem(...), as the file in docs/adding-a-problem.md does",
    "SCENE": "end the file with SCENE = Scene(...), as the file in docs/adding-a-scene.md does",
    "LAW": "end the file with LAW = ..., as the file in docs/adding-a-force-law.md does",
}


def load_file(path: str | Path, registries: "Sequence[Registry[Any]]") -> dict[str, Any]:
    """Add the objects defined by the Python file ``path`` to the registries that they belong to; the file is executed once.

    Loading a file again changes nothing.

    Returns
    -------
    dict
        Kind (``method``, ``problem``, ``scene``, ``law``) -> the object; one entry or more.

    Raises
    ------
    FileNotFoundError, TypeError, ValueError
        If there is no such file, if it cannot be loaded (for any exception, including ``sys.exit``), if it defines nothing for
        any of the registries, or if a key is used by another file; the message names the file and, if known, the line.
    """
    if not isinstance(path, str | Path):
        raise TypeError(f"path must be that of a Python file, got {shown(path)}")
    path = regular_file("plug-in", Path(path).absolute()).resolve()
    objects = {registry.kind: registry.loaded_from(path) for registry in registries}
    if None in objects.values():
        member = _executed.get(path) or _execute(path)
        for registry in registries:
            if objects[registry.kind] is None and registry.object_name in vars(member):
                item = vars(member)[registry.object_name]
                # Objects that the file imports from this package are not its own definitions.
                if not any(item is other for other in registry.values()):
                    objects[registry.kind] = registry.enter(item, path)
                    _executed[path] = member
    loaded = {kind: item for kind, item in objects.items() if item is not None}
    if not loaded:
        *others, last = (registry.object_name for registry in registries)
        names = " or ".join(filter(None, [", ".join(others), last]))
        first = registries[0].object_name
        raise ValueError(f"plug-in {path} defines no {names}: {_REMEDIES.get(first, f'end the file with {first} = ...')}")
    return loaded


def _execute(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"polhode_plugin_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"plug-in {path} is not a Python file; its name must end in .py")
    member = importlib.util.module_from_spec(spec)
    # Code loaded from the cache looks up its module by name.
    sys.modules[member.__name__] = member
    with _interrupts() as interrupts:
        try:
            # Not by the loader, which would take bytecode of a file of equal size that was edited in the same second.
            exec(compile(path.read_bytes(), str(path), "exec", dont_inherit=True), vars(member))
        except BaseException as error:
            sys.modules.pop(member.__name__, None)
            if interrupts:
                raise
            raise ValueError(f"plug-in {place_in(path, error)} cannot be loaded: {_said(error)}") from error
    return member
