"""Where the source of an engine has the step that was identified: file, function and lines, cited and not copied.

A citation is *read* if the arithmetic of the cited lines was read; where a method was identified it is that method's. Lines
are those of the release or commit that the citation names, which need not be the version that was run: only PyBullet, the Open
Dynamics Engine, JSBSim, Basilisk, Newton, MJX, Brax, Siconos, GeoTaichi, JAX MD, JaxSim and YADE 2025.2.0 were read in the very
release.
Lines of Drake, PhysX, Simbody, Kratos, Rapier, Exudyn and JaxDEM were counted by hand; where a file was seen in pieces they
are those of the function, whose first line is the one with its name. Where the source at hand does something else than was
measured, or was not at hand, the citation is not read, and the identification rests on the measurement alone.
"""

from pydantic.dataclasses import dataclass

from polhode.interface.declared import STRICT


@dataclass(frozen=True, config=STRICT)
class Source:
    """One place in the source of an engine.

    Parameters
    ----------
    file, function : str
        Path in the repository of the engine; the function, or the functions.
    lines : str
        Ranges of lines (``297-334``), empty if they were not counted.
    inside : bool
        Whether the lines are counted from the one with the name of the function, which is the first, and not from the file's.
    of : str
        The release, or the beginning of the commit, that was looked at; empty if none was.
    read : bool
        Whether the arithmetic was read; if a method was identified, it is that.
    note : str
        What else is worth knowing.
    """

    file: str
    function: str
    lines: str = ""
    of: str = ""
    read: bool = True
    note: str = ""
    inside: bool = False

    @property
    def text(self) -> str:
        """The citation in one line."""
        where = f"{self.file}: {self.function}"
        if self.lines:
            where += f", line{'s' if set(self.lines) & set('-,') else ''} {self.lines}"
            where += " of the function" if self.inside else ""
        status = "" if self.lines else "lines not counted" if self.read else "not read"
        return f"{where} ({', '.join(filter(None, [self.of, status]))})"
