"""The bars of an answer from runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from polhode.interface.progress import Stage, watched

#: The stages and what they are called.
STAGES = {"compiling": "compiling", "motion": "exact motion", "methods": "running the methods", "interval": "other starts"}


@contextmanager
def bars() -> Iterator[Callable[[str, float], None]]:
    """Bars for the stages of :func:`polhode.advice.of_runs.of_runs`; yields its ``progress``."""
    stages = {key: Stage(name, 1.0) for key, name in STAGES.items()}

    def advance(stage: str, done: float) -> None:
        stages[stage].reach(done)

    with watched(*stages.values()):
        yield advance
