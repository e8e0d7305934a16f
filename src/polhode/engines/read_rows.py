"""Engines that were read and not run: rows of the atlas without a measurement.

They are for engines that no package index offers. A row names the method of ours whose arithmetic was found at the places
cited, and is marked *read, not run* wherever it appears; it never enters ``atlas.nc``. A reading can be wrong where a
measurement cannot: the tests carry out the step as it was read, in arithmetic of their own, and compare it with the method.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from polhode.engines.candidates import candidate, label
from polhode.engines.protocol import LOADS, PRECISIONS
from polhode.engines.sources import Source
from polhode.methods.protocol import Method

MARK = "read, not run"


@dataclass(frozen=True, kw_only=True)
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
    loads: tuple[str, ...] = LOADS
    precision: str
    sources: Sequence[Source] = field(default_factory=tuple)
    note: str = ""
    advice: str = ""

    def __post_init__(self) -> None:
        where = f"read row {self.key!r} {self.option!r}:"
        if not re.fullmatch(r"[0-9a-f]{7,40}|[0-9.]+", self.commit):
            raise ValueError(f"{where} name the commit or the release that was read, got {self.commit!r}")
        if not self.sources or not all(place.read and place.of == self.commit for place in self.sources):
            raise ValueError(f"{where} every source must have been read, at {self.commit}")
        if "free" not in self.loads or set(self.loads) - set(LOADS):
            raise ValueError(f"{where} loads must be some of {', '.join(LOADS)}, with the free body among them")
        if self.precision not in PRECISIONS:
            raise ValueError(f"{where} precision must be one of {', '.join(PRECISIONS)}, got {self.precision!r}")
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


JAXDEM, LIGGGHTS = "01296bd", "751bf4e"
_DEVICES = "jax computes in single precision unless jax_enable_x64 is set."

#: The rows, in alphabetical order of the engines.
READ: tuple[ReadRow, ...] = (
    ReadRow(
        key="jaxdem",
        label="JaxDEM",
        repository="cdelv/JaxDEM",
        commit=JAXDEM,
        option="verletspiral",
        chosen_by='System.create(rotation_integrator_type="verletspiral")',
        is_default=True,
        method="spiral_kdk",
        loads=("free", "constant", "lab"),
        precision="float32",
        sources=(
            Source("jaxdem/system.py", "_step_once", of=JAXDEM),
            Source(
                "jaxdem/integrators/velocity_verlet_spiral.py",
                "VelocityVerletSpiral.step_before_force, step_after_force",
                "94-109, 167-173",
                JAXDEM,
            ),
            Source("jaxdem/integrators/spiral.py", "omega_dot", of=JAXDEM),
        ),
        note="Half a kick by SSPRK3, the rotation, the torque, half a kick. A torque that depends on omega is handed that of "
        f"the half step, and not a prediction as in the method named. {_DEVICES}",
        advice="Second order, and a force is computed once a step: keep it; set jax_enable_x64 for long free flights.",
    ),
    ReadRow(
        key="jaxdem",
        label="JaxDEM",
        repository="cdelv/JaxDEM",
        commit=JAXDEM,
        option="spiral",
        chosen_by='System.create(rotation_integrator_type="spiral")',
        method="spiral_synchronous",
        precision="float32",
        sources=(
            Source("jaxdem/integrators/spiral.py", "Spiral.step_after_force, omega_dot", of=JAXDEM),
            Source("jaxdem/system.py", "_step_once", of=JAXDEM),
        ),
        note=f"The torque is that of the old orientation, for the whole step. {_DEVICES}",
        advice="Second order for a free body, first order under torques that vary: use verletspiral, the default.",
    ),
    ReadRow(
        key="liggghts",
        label="LIGGGHTS",
        repository="CFDEMproject/LIGGGHTS-PUBLIC",
        commit=LIGGGHTS,
        option="multisphere",
        chosen_by="fix multisphere",
        is_default=True,
        method="richardson",
        precision="float64",
        sources=(Source("src/fix_multisphere.cpp", "FixMultisphere::initial_integrate, final_integrate, set_xv", of=LIGGGHTS),),
        note="The step of LAMMPS' fix rigid: half a kick of the momentum, MathExtra::richardson (read at 612c713), half a "
        "kick; contacts are computed with the omega of the half step. Superquadrics (fix nve/superquadric) were not read.",
        advice="Second order, with one computation of the forces a step, as LAMMPS' fix rigid has it: keep it.",
    ),
)
