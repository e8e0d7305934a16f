"""The declaration of a chapter, and of the experiments that it computes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from polhode_study.artefacts import needs

#: Methods of a witness, of those that every study compiles: compiling one takes longer than most witnesses.
WITNESSES = ("spiral_leapfrog", "verlet")
FEW: Mapping[str, Any] = {"methods": WITNESSES}


@dataclass(frozen=True)
class Check:
    """An experiment on single methods, ``checks/NAME.nc``.

    It depends on its own code, and on the methods, problems, scenes, laws and molecules that this code names
    (:mod:`polhode_study.fingerprint`). An edited experiment is therefore repeated alone; a new method repeats those that run
    all methods. The long ones are released: a study that takes them from the release (``further: released``) runs a small part
    of each, its witness, and holds it against the release (:mod:`polhode_study.released`).

    Parameters
    ----------
    function : the module of the chapter and the function in it, which takes the settings and gives a dataset
    seconds : the time that it takes on one core, s
    all_methods : whether it runs all methods of a study, not only those that it names
    settings : what the function is told besides the methods and the seed
    witness : the settings with which it is a small part of itself; None for one that is always computed
    smaller : settings with which the witness is smaller still, unless it runs methods that the release lacks
    of_all : the variables that a small part cannot have, such as fits over all steps
    plain : whether its witness takes so few steps that compiling its code would take longer (the bits are the same)
    compiled_with : the chapter whose experiments compile the same code, if it is another
    """

    function: str
    seconds: float
    all_methods: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    witness: Mapping[str, Any] | None = None
    smaller: Mapping[str, Any] = field(default_factory=dict)
    of_all: tuple[str, ...] = ()
    plain: bool = False
    compiled_with: str = ""

    @property
    def family(self) -> str:
        """Experiments of a chapter compile the same code: a job that runs several compiles it once."""
        return self.compiled_with or self.function.partition(".")[0]

    @property
    def code(self) -> str:
        """The function with its module, once the chapter is known."""
        return f"polhode_study.chapters.{self.function}"


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """The declaration of a chapter; it refers to everything by name, and nothing named in it is imported.

    Parameters
    ----------
    title : str
        Title in Snakemake's report.
    readers : str
        Who reads it, and for what. A chapter without a reader goes.
    place : int
        Position of its section in the report, and among all chapters: ascending, with gaps.
    needs : tuple of str
        The data from which it is made, keys of :func:`polhode_study.artefacts.needs`; of experiments each by its name,
        ``checks/NAME``, so that an edit of another one does not draw the chapter again. It receives no other data; these are
        made before it.
    checks : mapping
        Its experiments, by the names of their files.
    released : tuple of str
        Files of data/released that it shows, or that are made from its experiments.
    figures, tables : tuple of str
        Functions of its modules ``figures`` and ``tables``; also the names of the files.
    numbers : tuple of str
        Functions of its module ``numbers``, each of which makes macros for the text.
    timed : bool
        Whether it shows measured times, which differ from run to run. Its macros begin with ``cost``, others with ``study``.
    job : str
        Chapters that name the same job are made by one process, since starting one takes longer than most chapters; an edit of
        one makes them all again. Empty: a process of its own.
    """

    title: str
    readers: str
    place: int
    needs: tuple[str, ...]
    checks: Mapping[str, Check] = field(default_factory=dict)
    released: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    timed: bool = False
    job: str = ""

    def __post_init__(self) -> None:
        if "checks" in self.needs:
            raise ValueError(f"the chapter {self.title!r} needs checks: name each experiment that it reads, as checks/NAME")
        if unknown := [name for name in self.needs if name.partition("/")[0] not in needs()]:
            raise ValueError(f"the chapter {self.title!r} needs {', '.join(unknown)}; known are: {', '.join(needs())}")

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of data that it needs."""
        return tuple(dict.fromkeys(need.partition("/")[0] for need in self.needs))

    @property
    def checks_needed(self) -> tuple[str, ...]:
        """The experiments that it reads, its own and other chapters'."""
        return tuple(need.removeprefix("checks/") for need in self.needs if need.startswith("checks/"))

    @property
    def prefix(self) -> str:
        """The prefix of the names of its macros."""
        return "cost" if self.timed else "study"
