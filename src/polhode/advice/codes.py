"""What users of a code write: the step of an answer in the words and the unit of that code."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from polhode.advice.errors import AdviceError
from polhode.fits.largest_step import rounded_down
from polhode.interface.arguments import shown

#: The digits of a step, which is rounded down: the same ones in sentences, tables and the lines for codes.
STEP_DIGITS = 3


@dataclass(frozen=True)
class CodeWords:
    """What to write in a code.

    Parameters
    ----------
    name : of the code
    line : what to write, with ``{step}``
    unit : of the step, s
    method : key of the method that it then runs, where the answer depends on it
    keep : what stays as it is
    """

    name: str
    line: str
    unit: float
    method: str = ""
    keep: str = "your contact law and integrator"

    def first_line(self, dt: float, how: str, **values: float) -> str:
        """What to do, in a sentence.

        Parameters
        ----------
        dt : step, s
        how : what the step is, in words
        values : what else :attr:`line` names
        """
        step = f"{rounded_down(dt / self.unit, STEP_DIGITS):.{STEP_DIGITS}g}"
        return f"In {self.name} write {self.line.format(step=step, **values)}: {how}. Keep {self.keep}."


#: Codes for grains, and codes for molecules.
CONTACTS = (
    CodeWords("LAMMPS", "`timestep {step}` (s, `units si`)", 1.0, "richardson"),
    CodeWords(
        "YADE",
        "`O.dt = {step}` (s)",
        1.0,
        "fincham1992_yade",
        keep="your contact law and integrator, with `NewtonIntegrator(damping=0)` (0.2 as shipped was not run) and for clumps "
        "`exactAsphericalRot=True`",
    ),
)
#: Codes for grains without a step, by their names in small letters, and what is known of them.
UNMEASURED: Mapping[str, str] = {
    "liggghts": "its contact update was not run. Ask for LAMMPS, from which it comes, and compare with a run of half the step "
    "(read, not run: `fix multisphere` turns bodies as `fix rigid` of LAMMPS does)"
}
WITH_MESH, WITHOUT_MESH = "the cut-off smooth (PME)", "the cut-off smooth (PME was not measured)"
SMOOTH = "the cut-off smooth (PME: docs/liquids.md)"
SMOOTH_PAIRS = "the cut-off smooth: `lj/gromacs` with PPPM (`lj/gromacs/coul/gromacs` to compare methods)"
LIQUIDS = (
    CodeWords("LAMMPS", "`timestep {step}` (fs, `units real`) with `fix rigid/nve/small`", 1e-15, "no_squish", SMOOTH_PAIRS),
    CodeWords("GROMACS", "`dt = {step}` (ps) and `integrator = md`, with SETTLE", 1e-12, "moser_veselov", WITH_MESH),
    CodeWords("OpenMM", "`VerletIntegrator({step}*picoseconds)` with `rigidWater=True`", 1e-12, "moser_veselov", SMOOTH),
    CodeWords("AMBER", "`dt = {step}` (ps) with `ntc = 2, ntf = 2`", 1e-12, "moser_veselov", WITHOUT_MESH),
)
#: The same in a heat bath; lines also name the temperature (K), the friction (1/ps), and its inverse in ps and in fs.
BATHS = (
    CodeWords(
        "LAMMPS",
        "`timestep {step}`, `fix water all rigid/nve/small molecule langevin {temperature:g} {temperature:g} {damp:g} SEED` "
        "and `compute_modify thermo_temp extra/dof 0` (`units real`, fs)",
        1e-15,
        "no_squish",
        SMOOTH_PAIRS,
    ),
    CodeWords(
        "GROMACS",
        "`integrator = sd`, `dt = {step}`, `tau-t = {tau:g}` (ps) and `ref-t = {temperature:g}`, with SETTLE",
        1e-12,
        "moser_veselov",
        SMOOTH,
    ),
    CodeWords(
        "OpenMM",
        "`LangevinMiddleIntegrator({temperature:g}, {friction:g}/picosecond, {step}*femtoseconds)` with `rigidWater=True`",
        1e-15,
        "moser_veselov",
        SMOOTH,
    ),
)
#: With chains of Nose-Hoover thermostats; lines also name the temperature (K) and the time of the chains (fs).
CHAINS = (
    CodeWords(
        "LAMMPS",
        "`timestep {step}` and `fix water all rigid/nvt/small molecule temp {temperature:g} {temperature:g} {time:.3g}` "
        "(`units real`, fs)",
        1e-15,
        "no_squish",
        SMOOTH_PAIRS,
    ),
)
#: Codes without chains that were run, by their names in small letters, and what to take there.
OTHER_CHAINS: Mapping[str, str] = {
    "gromacs": "its chains were not run; take `bath` v-rescale there",
    "openmm": "its NoseHooverIntegrator was not run; take `bath` langevin there",
}
#: With velocity rescaling; lines also name the temperature (K) and the relaxation time (ps).
RESCALING = (
    CodeWords(
        "GROMACS",
        "`integrator = md`, `dt = {step}`, `tcoupl = v-rescale`, `tc-grps = System`, `tau-t = {time:g}` (ps) and "
        "`ref-t = {temperature:g}`, with SETTLE",
        1e-12,
        "moser_veselov",
        SMOOTH,
    ),
)
#: Codes without velocity rescaling for rigid molecules, by their names in small letters, and what to take there.
OTHER_RESCALING: Mapping[str, str] = {
    "lammps": "its `fix temp/csvr` rescales atoms at the end of a step, and its manual excludes `fix shake`; take `bath` "
    "nose-hoover there",
    "openmm": "OpenMM 8.6 has no integrator with it; take `bath` langevin there",
}
#: Molecules with a site without mass; by code what to write for it, and what else is known.
WITH_MASSLESS_SITES = ("tip4p2005",)
MASSLESS_SITES: Mapping[str, tuple[str, str]] = {
    "LAMMPS": (
        "Leave out the site M: `pair_style hybrid/overlay tip4p/long 1 2 1 1 0.1546 10 lj/gromacs 8 10` "
        "(docs/liquids.md). Never `tip4p/cut`: charges that end bare made 3082 K of 307 K in 5.8 ps.",
        "LAMMPS refuses an atom without mass. `lj/gromacs/coul/gromacs` needs M as an atom with a tiny mass, "
        "`mass 3 1.0e-100`, with `neigh_modify exclude molecule/intra all`: this is for comparing methods, as its charges end "
        "at the cut-off and TIP4P/2005 has an Ewald sum. The manual asks for much shorter steps there; with "
        "`fix rigid/nve/small` a run of 5.8 ps at 3.86 fs kept its energy.",
    ),
    "GROMACS": ("The topology with the site M is in docs/baths.md.", ""),
    "OpenMM": ("`Modeller.addExtraParticles` adds the site M (force field: docs/baths.md).", ""),
}


def about_sites(words: CodeWords | None, liquid: str) -> tuple[list[str], list[str]]:
    """What users of a code write for the massless sites of a liquid, and what else is known, as two lists of sentences.

    ``liquid`` is a key. Both lists are empty if it has no such sites, or for another code.
    """
    if words is None or words.name not in MASSLESS_SITES or liquid not in WITH_MASSLESS_SITES:
        return [], []
    to_write, known = MASSLESS_SITES[words.name]
    return [to_write], [known] if known else []


def words_of(
    code: str | None, known: tuple[CodeWords, ...], where: str = "", others: Mapping[str, str] = MappingProxyType({})
) -> CodeWords | None:
    """The words of a code, in small or capital letters; None if none is named.

    ``known``: the codes of the question; for the message ``where``, to which questions they belong, and ``others``, what to do
    with other codes, by their names in small letters.

    Raises
    ------
    AdviceError
        If it is not among the codes of the question, or is no text.
    """
    if code is None:
        return None
    if not isinstance(code, str):
        raise AdviceError(f"code must be a word, got {shown(code)}")
    names: Mapping[str, CodeWords] = {words.name.lower(): words for words in known}
    if code.lower() not in names:
        *before, last = (words.name for words in known)
        possible = f"{', '.join(before)} or {last}" if before else last
        instead = others.get(code.lower(), "leave it out for another one")
        raise AdviceError(f"code must be {possible}{where}, got {shown(code)}; {instead}")
    return names[code.lower()]
