"""Strict reading of configuration files, with the line of every key.

Snakemake reports no lines, and silently takes the last of two equal keys.

Nothing of polhode is imported here, since `./reproduce` runs this file as a script before Snakemake reads the same files.
"""

import argparse
import stat
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

#: Keys from the top of a configuration to a value; integers are positions in a list.
Keys = tuple[str | int, ...]
#: A file with more values than this was not written for a study; nested aliases make billions from a few lines.
MOST_VALUES = 300_000
#: Largest file, bytes; nobody writes a longer one by hand.
LARGEST = 20_000_000
#: Keys by which Snakemake runs Python code that stands in a configuration file, while it reads the file.
CODE = ("__use_yte__", "__definitions__", "__variables__")
#: Why a name is true or false where a file has a word.
WORDS_THAT_ARE_TRUTHS = "YAML reads on, off, yes and no as true or false: write a name in quotes"
#: Suggestion for an empty file.
EXAMPLE = "write at least one key with its value, such as digits: 50"


class ConfigurationError(ValueError):
    """Error for a configuration that asks for something that does not exist or cannot be run; the message names the key."""


@dataclass(frozen=True)
class ConfigurationFile:
    """The contents of one file, and the line of each key and each list element.

    Parameters
    ----------
    name : the file as messages show it
    values : the keys at its top level with their values
    lines : path of keys -> line, counted from 1
    """

    name: str
    values: dict[Any, Any]
    lines: dict[Keys, int]


class _Strict:
    """The lines of a YAML document; a duplicate key is refused."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: dict[Keys, int] = {}
        self.left = MOST_VALUES

    def walk(self, node: yaml.Node, path: Keys) -> None:
        self.left -= 1
        if self.left < 0 or len(path) > 100:
            raise ConfigurationError(f"{self.name}: holds more than {MOST_VALUES:,} values, or an alias that holds itself")
        if isinstance(node, yaml.SequenceNode):
            for i, item in enumerate(node.value):
                self.lines[*path, i] = item.start_mark.line + 1
                self.walk(item, (*path, i))
        elif isinstance(node, yaml.MappingNode):
            first: dict[str, int] = {}
            for key, value in node.value:
                line = key.start_mark.line + 1
                if not isinstance(key, yaml.ScalarNode):
                    raise ConfigurationError(f"{self.name}:{line}: a key{_within(path)} must be text, not a list or a mapping")
                name = key.value
                if name in CODE:
                    raise ConfigurationError(
                        f"{self.name}:{line}: the key {name!r}{_within(path)} lets Snakemake run code that the file contains; "
                        "take it out, and do not run a file from elsewhere that has it"
                    )
                if name in first:
                    raise ConfigurationError(
                        f"{self.name}:{line}: the key {name!r} occurs twice{_within(path)}, first on line {first[name]}; "
                        "keep one of them"
                    )
                first[name] = line
                self.lines[*path, name] = line
                self.walk(value, (*path, name))


def _within(path: Keys) -> str:
    return f" in {dotted(path)}" if path else ""


def dotted(path: Keys) -> str:
    """A path of keys as shown in messages: ``problems.heavy_top.dt``; ``top level`` for an empty path."""
    return ".".join(map(str, path)) or "top level"


def read(path: str | Path, what: str = "configuration file", example: str = EXAMPLE) -> ConfigurationFile:
    """Read a file that somebody wrote, a configuration or another one, in YAML or JSON.

    Parameters
    ----------
    what : what messages call such a file
    example : what a message suggests for an empty file: a key with its value

    Raises
    ------
    ConfigurationError
        If the file does not exist, may not be read, is no regular file, is larger than :data:`LARGEST`, is not text or YAML, is
        empty, has no keys at its top level, contains a key twice, more values than :data:`MOST_VALUES`, lists or keys too deep
        within each other, a value that cannot be, such as an impossible date, or a key that runs code (:data:`CODE`); the
        message names the file and, where there is one, the line.
    """
    name = shown(path)
    try:
        status = Path(path).stat()
        # Of a pipe or a device, reading may never end.
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
            raise ConfigurationError(f"{name}: is not a regular file; name a {what}")
        if status.st_size > LARGEST:
            raise ConfigurationError(f"{name}: has {status.st_size / 1e6:.0f} MB, more than a {what} can have")
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise ConfigurationError(f"{name}: there is no such {what}{_near(Path(path))}") from None
    except OSError as error:
        raise ConfigurationError(f"{name}: cannot be read: {error.strerror}") from None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(
            f"{name}:{line}: not text in UTF-8 (byte 0x{data[error.start]:02x}); save the file as UTF-8"
        ) from None
    if text.lstrip().startswith("{"):
        # Between the values of JSON there may be tabs, which YAML does not allow there; within them there is none.
        text = text.replace("\t", " ")
    strict = _Strict(name)
    loader: Any = None
    try:
        loader = yaml.SafeLoader(text)  # this already checks the characters
        node = loader.get_single_node()
        if node is not None:
            strict.walk(node, ())
        values = None if node is None else loader.construct_document(node)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigurationError(f"{name}:{line}: not text: holds the character #x{ord(text[error.position]):04x}") from None
    except yaml.MarkedYAMLError as error:
        raise ConfigurationError(f"{name}:{_where(error)}: not valid YAML: {_reason(error)}") from None
    except RecursionError:
        raise ConfigurationError(f"{name}: nests lists or keys too deeply") from None
    except (ValueError, OverflowError) as error:  # an impossible date or number, such as 2024-13-45
        if isinstance(error, ConfigurationError):
            raise
        raise ConfigurationError(f"{name}: holds a value that cannot be read: {error}") from None
    finally:
        if loader is not None:
            loader.dispose()
    if values is None:
        raise ConfigurationError(f"{name}: is empty; {example}")
    if not isinstance(values, dict):
        kind = "a list" if isinstance(values, list) else f"{values!r:.40}"
        raise ConfigurationError(f"{name}:1: must have keys at its top level, got {kind}; {example}")
    if not values:
        raise ConfigurationError(f"{name}: has no keys; {example}")
    return ConfigurationFile(name, values, strict.lines)


def load_yaml(path: str | Path) -> Any:
    """The contents of a YAML file of the project, None if it is empty.

    For long lists, which PyYAML's own parser reads in ten times the time of libyaml.

    Raises
    ------
    ConfigurationError
        If it is no YAML, or contains a key twice or more values than :data:`MOST_VALUES`.
    OSError
        If it cannot be read.
    """
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(Path(path).read_text(encoding="utf-8"))
    try:
        node = loader.get_single_node()
        _Strict(shown(path)).walk(node, ())
        return None if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        raise ConfigurationError(f"{shown(path)}:{_where(error)}: not valid YAML: {_reason(error)}") from None
    finally:
        loader.dispose()


def shown(path: str | Path) -> str:
    """A path as shown in messages: relative to the working directory if it is inside it."""
    path = Path(path)
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _where(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    return "1" if mark is None else f"{mark.line + 1}:{mark.column + 1}"


def _reason(error: yaml.MarkedYAMLError) -> str:
    reason = str(error.problem or error.context)
    if error.problem and error.context_mark and error.problem_mark and error.context_mark.line != error.problem_mark.line:
        reason += f" ({error.context} that begins on line {error.context_mark.line + 1})"
    if r"'\t'" in reason:
        reason += "; indent with spaces, not with tabs"
    return reason


def _near(path: Path) -> str:
    """Hint at another location of the file: a similar name in the same folder or among the files shipped with the code."""
    folders = dict.fromkeys([path.parent, Path("workflow/config")])
    known = {
        p.stem: p for folder in folders if folder.is_dir() for p in sorted(folder.iterdir()) if p.suffix in (".yaml", ".yml")
    }
    close = get_close_matches(path.stem, known, n=1, cutoff=0.6)
    return f"; did you mean {shown(known[close[0]])}?" if close else ""


class Place:
    """A key of the configuration as shown in messages: the file that contains it, the line, and the path of keys to it.

    Parameters
    ----------
    files : the files that were read, later ones taking precedence
    names : all files in words, for a key that is in none of them
    path : keys from the top to this one
    merged : the values of the whole configuration, with changes by the command line
    """

    def __init__(
        self, files: Sequence[ConfigurationFile] = (), names: str = "configuration", path: Keys = (), merged: Any = None
    ) -> None:
        self.files = files
        self.names = names
        self.path = path
        self.merged = merged

    @classmethod
    def of(cls, files: Iterable[str | Path], merged: Any) -> "Place":
        """The top of a configuration whose values ``merged`` come from these files, later ones taking precedence.

        Missing files have no lines. Raises :class:`ConfigurationError` as :func:`read` does.
        """
        files = list(files)
        existing = [read(path) for path in files if Path(path).exists()]
        return cls(existing, ", ".join(map(shown, files)) or "configuration", merged=merged)

    def __truediv__(self, key: str | int) -> "Place":
        return self.at((key,))

    def at(self, path: Iterable[str | int]) -> "Place":
        """The place that these keys, one below the other, lead to from this one."""
        return Place(self.files, self.names, (*self.path, *path), self.merged)

    @property
    def source(self) -> str:
        """File and line of the key, or of the nearest parent key found in a file; otherwise the names of all files.

        It also says that the value was changed on the command line, where the file has another one.
        """
        for length in range(len(self.path), 0, -1):
            for file in reversed(self.files):
                if line := file.lines.get(self.path[:length]):
                    changed = length == len(self.path) and _differ(
                        _value(file.values, self.path), _value(self.merged, self.path)
                    )
                    return f"{file.name}:{line}" + (" (changed on the command line)" if changed else "")
        return self.names

    @property
    def folder(self) -> Path | None:
        """The folder of the last file with the value that counts, to which paths in it are relative; None if no file has it."""
        naming = [file for file in self.files if _value(file.values, self.path) == _value(self.merged, self.path)]
        return Path(naming[-1].name).absolute().parent if naming else None

    def __str__(self) -> str:
        return f"{self.source}: {dotted(self.path)}"

    def error(self, message: str) -> ConfigurationError:
        """An error about this key, to be raised; ``message``, such as ``": must be positive"``, follows the key's name."""
        return ConfigurationError(f"{self}{message}")


def _value(values: Any, path: Keys) -> Any:
    """The value at a path of keys; None if there is none."""
    for key in path:
        try:
            values = values[key]
        except (LookupError, TypeError):
            return None
    return values


def _differ(first: Any, second: Any) -> bool:
    """Whether two values, if both are numbers or texts, differ as numbers or as texts."""
    if isinstance(first, dict | list) or isinstance(second, dict | list) or str(first) == str(second):
        return False
    try:
        return float(first) != float(second)
    except (ValueError, TypeError, OverflowError):
        return True


def main(arguments: Sequence[str]) -> int:
    """Read ``config.yaml`` and the configuration files among Snakemake's arguments; report on stderr what is wrong with the
    first invalid one.

    Returns
    -------
    The exit status: 1 if a file is invalid, else 0.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="*", action="extend", default=[])
    try:
        files = parser.parse_known_args(arguments)[0].configfile
        for path in ["config.yaml", *files]:
            read(path)
    except ConfigurationError as error:
        print(f"reproduce: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
