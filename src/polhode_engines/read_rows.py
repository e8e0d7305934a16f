"""Engines that were read and not run: rows of the atlas without a measurement.

They are for engines that no package index offers. A row names the method of ours whose arithmetic was found at the places
cited, and is marked *read, not run* wherever it appears; it never enters ``atlas.nc``. A reading can be wrong where a
measurement cannot: the tests carry out the step as it was read, in arithmetic of their own, and compare it with the method.
"""

import re
from pathlib import Path
from typing import Literal

from pydantic.dataclasses import dataclass

from polhode.interface.declared import STRICT, declared
from polhode.methods.protocol import Method
from polhode_engines.candidates import candidate, label
from polhode_engines.protocol import Precision, Torque
from polhode_engines.sources import Source

MARK = "read, not run"


@dataclass(frozen=True, kw_only=True, config=STRICT)
class ReadRow:
    """One engine with one option, known from its source alone.

    Parameters
    ----------
    key, label, repository : str
        As for an engine that is run.
    commit : str
        What was read: the beginning of the commit, or the release.
    option, chosen_by : str
        The option, and how it is chosen.
    is_default : bool
        Whether a user gets it who chooses none.
    method : str
        The method that it is; a key of the registry or a candidate.
    loads : tuple of str
        The loads under which it is that method.
    precision : str
        The arithmetic of the engine as shipped.
    sources : tuple of Source
        Where the step is.
    note : str
        What else follows from the source, and under which loads it is something else.
    advice : str
        What a user should do.
    """

    key: str
    label: str
    repository: str
    commit: str
    option: str
    chosen_by: str
    is_default: bool = False
    method: str
    loads: tuple[Literal["free"] | Torque, ...] = ("free", "constant", "lab", "velocity")
    precision: Precision
    sources: tuple[Source, ...]
    note: str = ""
    advice: str = ""

    def __post_init__(self) -> None:
        where = f"read row {self.key!r} {self.option!r}:"
        if not re.fullmatch(r"[0-9a-f]{7,40}|[0-9.]+", self.commit):
            raise ValueError(f"{where} name the commit or the release that was read, got {self.commit!r}")
        if not self.sources or not all(place.read and place.of == self.commit for place in self.sources):
            raise ValueError(f"{where} every source must have been read, at {self.commit}")
        if "free" not in self.loads:
            raise ValueError(f"{where} the free body must be among its loads")
        candidate(self.method)

    @property
    def reference(self) -> Method:
        """The method named."""
        return candidate(self.method)

    @property
    def method_label(self) -> str:
        """The name of the method in tables."""
        return label(self.method)

    @property
    def text(self) -> str:
        """The row in one line."""
        star = "*" if self.is_default else ""
        loads = ", ".join(self.loads)
        return f"{self.key}{star}  {self.option}  {self.commit}  {self.method}  ({MARK}; as read for: {loads})"


#: The rows, in alphabetical order of the engines.
READ = declared(tuple[ReadRow, ...], Path(__file__).with_suffix(".yaml"))
