"""The declaration of a theme of the report."""

from dataclasses import dataclass

#: Data that a theme may need: names of arguments of :class:`polhode.study.inputs.Inputs`, and their meaning.
NEEDS = {
    "single_body": "the runs of single bodies: single_body.nc",
    "references": "the exact solutions: references/PROBLEM.nc",
    "checks": "the experiments on single methods: checks/NAME.nc",
    "many_body": "the runs of many bodies: many_body.nc, and the published-scale results in data/released",
    "films": "short runs of many bodies, for pictures: films/SCENE.nc",
    "ensembles": "the errors on random bodies: ensembles.nc, and the published-scale results in data/released",
    "atlas": "the engine atlas: atlas.nc of the run, or the one in data/released",
    "cost": "the times of a step and to target errors: cost.nc",
    "claims": "the judged statements: claims.csv",
    "cost_claims": "the judged statements about time: cost_claims.csv",
    "checkout": "the commit that is checked out",
}


@dataclass(frozen=True, kw_only=True)
class Theme:
    """The declaration of a theme of the report; it refers to everything by name, and nothing named in it is imported.

    Parameters
    ----------
    title : str
        Title in Snakemake's report.
    place : int
        Position of its section in the report, and of the theme among all themes: ascending, with gaps.
    needs : tuple of str
        The data from which it is made, keys of :data:`NEEDS`. It receives no other data; these are made before it.
    figures, tables : tuple of str
        Functions of its modules ``figures`` and ``tables``; also the names of the files.
    numbers : tuple of str
        Functions of its module ``numbers``, each of which makes macros for the text.
    timed : bool
        Whether it shows measured times, which differ from run to run. Its macros begin with ``cost``, others with ``study``.
    appendix : bool
        Whether its section comes after the bibliography.
    chapter : str
        Themes that name the same chapter are made by one job, since starting a job takes longer than most themes; an edit of
        one makes them all again. Empty: a job of its own.
    """

    title: str
    place: int
    needs: tuple[str, ...]
    figures: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    timed: bool = False
    appendix: bool = False
    chapter: str = ""

    def __post_init__(self) -> None:
        if unknown := [name for name in self.needs if name not in NEEDS]:
            raise ValueError(f"the theme {self.title!r} needs {', '.join(unknown)}; known are: {', '.join(NEEDS)}")

    @property
    def prefix(self) -> str:
        """The prefix of the names of its macros."""
        return "cost" if self.timed else "study"
