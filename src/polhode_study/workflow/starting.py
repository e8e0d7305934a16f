"""What a start of Snakemake need not do: most of its time with nothing to be made went into reading long notes twice.

Snakemake notes the parameters of a job with each of its files, and reads all notes at every start. A job of ours makes up to
two hundred files, and its parameters say of each what made it: the notes grew to 80 kB a file.
"""

import hashlib
import json
from functools import cache, lru_cache
from typing import Any


class Noted(dict[str, Any]):
    """A parameter of a rule of which Snakemake notes a hash, not the text. A script receives a plain dictionary."""

    def __repr__(self) -> str:
        return f"sha256 {hashlib.sha256(json.dumps(self, sort_keys=True).encode()).hexdigest()}"

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)


@cache
def hasten() -> None:
    """Let the Snakemake of this process read each note once, and not import pandas in vain.

    It keeps the notes of 128 files in memory (its issue 4240 is about how often it reads them), and imports pandas to see
    whether a parameter is one of its tables (4220). What it answers stays the same; and so does everything if Snakemake has
    changed.
    """
    from snakemake.persistence import PersistenceBase
    from snakemake.persistence.file import FilePersistence

    read = getattr(getattr(FilePersistence, "_read_record_cached", None), "__wrapped__", None)
    if read is not None:
        FilePersistence._read_record_cached = lru_cache(maxsize=None)(read)
    if hasattr(PersistenceBase, "_serialize_param_builtin"):
        PersistenceBase._serialize_param = property(lambda self: self._serialize_param_builtin)
