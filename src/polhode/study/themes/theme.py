"""The declaration of a theme of the report."""

from dataclasses import dataclass

from polhode.study.artefacts import needs


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
        The data from which it is made, keys of :func:`polhode.study.artefacts.needs`. It receives no other data; these are
        made before it.
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
        if unknown := [name for name in self.needs if name not in needs()]:
            raise ValueError(f"the theme {self.title!r} needs {', '.join(unknown)}; known are: {', '.join(needs())}")

    @property
    def prefix(self) -> str:
        """The prefix of the names of its macros."""
        return "cost" if self.timed else "study"
