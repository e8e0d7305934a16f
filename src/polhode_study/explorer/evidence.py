"""Evidence for each claim: figures and tables that show it, the data by which it was judged, and a section of the page.

Entries of ``evidence.yaml``, of each chapter and here for measures that several use, are keyed by the measure that judges the
claim (``measure:``); a test requires an entry for every claim, and that every name is a figure, table or file of the study.
"""

from pathlib import Path

from pydantic.dataclasses import dataclass

from polhode.interface.declared import STRICT, declared
from polhode_study import chapters
from polhode_study.report.claims import SOURCES

#: The names of the sources as readers know them.
SOURCE_NAMES = {key: name.replace("\\ ", " ") for key, name in SOURCES.items()}

#: The problem of a claim that names none.
DEFAULT_PROBLEM = "spiral_cylinder"


@dataclass(frozen=True, config=STRICT)
class Evidence:
    """Evidence for a claim.

    Parameters
    ----------
    data : str
        File of the results and, after a colon, the group in it; ``{problem}`` is replaced. Empty if nothing is stored: some
        claims are judged by counting operations or by a formula.
    figures, tables : tuple of str
        Names of figures and tables.
    section : str
        Section of the page that shows it; empty if there is none.
    """

    data: str
    figures: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    section: str = ""

    @property
    def about_problem(self) -> bool:
        """Whether the evidence belongs to one single-body problem."""
        return "{problem}" in self.data

    def place(self, problem: str) -> str:
        """File and group for a claim about this problem."""
        return self.data.replace("{problem}", problem)


EVIDENCE: dict[str, Evidence] = {}
for file in (Path(__file__).with_suffix(".yaml"), *sorted(Path(chapters.__file__).parent.glob("*/evidence.yaml"))):
    EVIDENCE |= declared(dict[str, Evidence], file)


def evidence(measure: str, problem: str) -> Evidence | None:
    """The evidence for a claim judged by this measure on this problem; None if the measure has no entry."""
    return EVIDENCE.get(f"{measure}/{problem}") or EVIDENCE.get(measure)
