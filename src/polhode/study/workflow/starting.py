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
    """Let the Snakemake of this process read each note once, and neither import pandas nor compile patterns in vain.

    It keeps the notes of 128 files in memory, imports pandas to see whether a parameter is one of its tables, and looks by
    regular expressions for the rule of a file, even where the rule names the file. What it answers stays the same; and
    everything stays as it is if Snakemake has changed.
    """
    from snakemake.persistence import PersistenceBase
    from snakemake.persistence.file import FilePersistence
    from snakemake.rules import Rule

    read = getattr(getattr(FilePersistence, "_read_record_cached", None), "__wrapped__", None)
    if read is not None:
        FilePersistence._read_record_cached = lru_cache(maxsize=None)(read)
    if hasattr(PersistenceBase, "_serialize_param_builtin"):
        PersistenceBase._serialize_param = property(lambda self: self._serialize_param_builtin)
    is_producer = Rule.is_producer

    def names_or_matches(rule: Any, file: str) -> bool:
        """Whether a rule makes a file: it names it, or one of its patterns matches."""
        if not hasattr(rule, "_named_products"):
            rule._named_products = {str(product) for product in rule.products()}
        return file in rule._named_products or bool(is_producer(rule, file))

    Rule.is_producer = names_or_matches
