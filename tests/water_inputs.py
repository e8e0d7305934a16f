"""The inputs for rigid TIP4P/2005 water that the pages show, and files of 512 molecules to run them with."""

import re
from pathlib import Path

import numpy as np

from polhode import manybody
from polhode.algebra.metrics import rotation_matrix

DOCS = Path(__file__).parents[1] / "docs"
#: Bond in Angstrom, angle in degrees, weight of each hydrogen in the place of M.
BOND, ANGLE, WEIGHT = 0.9572, 104.52, 0.13193777


def at_constant_energy(code: str) -> str:
    """The input of a code for constant energy, as it stands."""
    page = (DOCS / "liquids.md").read_text(encoding="utf-8")
    (text,) = re.findall(rf"<!-- input: {code} -->\n```text\n(.*?)```", page, re.DOTALL)
    return text


def with_site_m(kind: str) -> str:
    """What the page on baths has for TIP4P/2005: ``mdp``, ``topology``, input of ``lammps``, force field of ``openmm``."""
    page = (DOCS / "baths.md").read_text(encoding="utf-8").partition("### TIP4P/2005 with its site M")[2]
    blocks = re.findall(r"```(?:text|xml)\n(.*?)```", page.partition("\n## ")[0], re.DOTALL)
    return dict(zip(("mdp", "topology", "lammps", "openmm"), blocks, strict=True))[kind]


def molecules() -> tuple[np.ndarray, float]:
    """Eight copies of ``water64`` in Angstrom: O, H, H (512, 3, 3) with the arms of TIP4P/2005, and the edge of the box."""
    water = manybody.scenes["water64"]
    state, sites = water.initial_state(0), water.clumps[0][0].sites
    oxygen, *hydrogens = np.einsum("nij,kj->kni", rotation_matrix(state.q), sites) + state.r
    out, across = hydrogens[0] + hydrogens[1] - 2 * oxygen, hydrogens[1] - hydrogens[0]
    out, across = (arm / np.linalg.norm(arm, axis=1, keepdims=True) for arm in (out, across))
    half = np.radians(ANGLE / 2)
    arms = [BOND * (np.cos(half) * out + sign * np.sin(half) * across) for sign in (-1, 1)]
    oxygen = oxygen % water.box
    cell = np.stack([oxygen, oxygen + arms[0], oxygen + arms[1]], axis=1)
    shifts = water.box * np.stack(np.meshgrid(*[range(2)] * 3), axis=-1).reshape(-1, 1, 1, 3)
    return (cell + shifts).reshape(-1, 3, 3), 2 * water.box


def lammps_data() -> str:
    """``water.data`` without velocities."""
    x, box = molecules()
    count = len(x)
    lines = ["water", "", f"{3 * count} atoms", f"{2 * count} bonds", f"{count} angles"]
    lines += ["2 atom types", "1 bond types", "1 angle types", *(f"0 {box:.10f} {axis}lo {axis}hi" for axis in "xyz")]
    lines += ["", "Atoms # full", ""]
    for k, place in enumerate(x.reshape(-1, 3)):
        kind, charge = (1, -1.1128) if k % 3 == 0 else (2, 0.5564)
        lines.append(f"{k + 1} {k // 3 + 1} {kind} {charge} " + " ".join(f"{a:.10f}" for a in place))
    lines += ["", "Bonds", "", *(f"{k + 1} 1 {3 * (k // 2) + 1} {3 * (k // 2) + 2 + k % 2}" for k in range(2 * count))]
    lines += ["", "Angles", "", *(f"{k + 1} 1 {3 * k + 2} {3 * k + 1} {3 * k + 3}" for k in range(count))]
    return "\n".join(lines) + "\n"


def gromacs_start() -> str:
    """``start.gro`` with M, nm."""
    x, box = molecules()
    site = x[:, :1] + WEIGHT * (x[:, 1:] - x[:, :1]).sum(1, keepdims=True)
    rows = [
        f"{i % 99999 + 1:5d}{'SOL':5s}{name:>5s}{(4 * i + k) % 99999 + 1:5d}" + "".join(f"{a / 10:13.8f}" for a in place)
        for i, molecule in enumerate(np.concatenate([x, site], axis=1))
        for k, (name, place) in enumerate(zip(("OW", "HW1", "HW2", "MW"), molecule, strict=True))
    ]
    return "\n".join(["water", str(len(rows)), *rows, " ".join([f"{box / 10:.8f}"] * 3)]) + "\n"


def gromacs_topology() -> str:
    """``topol.top`` as the page has it, for as many molecules."""
    text = with_site_m("topology")
    assert text.endswith(f"SOL  {len(molecules()[0])}\n")
    return text


def openmm_start() -> str:
    """``water.pdb`` without M."""
    x, box = molecules()
    lines = [f"CRYST1{box:9.3f}{box:9.3f}{box:9.3f}  90.00  90.00  90.00 P 1           1"]
    for i, molecule in enumerate(x):
        for k, (name, place) in enumerate(zip(("O", "H1", "H2"), molecule, strict=True)):
            lines.append(
                f"HETATM{3 * i + k + 1:5d}  {name:<3s} HOH A{i + 1:4d}    "
                + "".join(f"{a:8.3f}" for a in place)
                + f"  1.00  0.00           {name[0]}"
            )
    return "\n".join([*lines, "END"]) + "\n"


def openmm_force_field() -> str:
    """``water.xml`` with the lines of the page."""
    return f"<ForceField>\n{with_site_m('openmm')}</ForceField>\n"
