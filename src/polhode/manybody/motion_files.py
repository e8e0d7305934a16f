"""The motion of a recorded run as files for OVITO and ParaView: every sphere of every clump at every sample.

A sphere has its place and velocity (lab frame), its radius, and of its clump the number (from 1), the kind, the orientation
and the angular velocity (lab frame). The units are those of the run: SI for clumps.
"""

import json
import tempfile
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from polhode.algebra.metrics import rotation_matrix
from polhode.interface import files
from polhode.interface.arguments import shown
from polhode.manybody.fluid import Fluid
from polhode.manybody.scene import Scene
from polhode.manybody.scenes import SCENES
from polhode.manybody.walls import AXES

if TYPE_CHECKING:
    import xarray as xr

#: A number in the files: nine digits.
DIGITS = "%.9g"


class Frame(NamedTuple):
    """The n spheres of a sample at a time, in the units of the run, and how their clumps are named.

    ``pos``, ``velo`` and ``angular_velocity`` are (n, 3) in the lab frame, ``orientation`` (n, 4), body to lab, with the scalar
    part last, as OVITO and most programs have it; the others are (n,). ``kind`` counts from 0, ``clump`` from 1.
    """

    time: float
    pos: np.ndarray
    radius: np.ndarray
    velo: np.ndarray
    clump: np.ndarray
    kind: np.ndarray
    orientation: np.ndarray
    angular_velocity: np.ndarray


def write_motion(run: "xr.Dataset", path: str | Path, scene: Scene | Fluid | None = None) -> list[Path]:
    """Write the motion of a run that was recorded (``record=True``) for another program.

    Parameters
    ----------
    run : xarray.Dataset
        Of :func:`polhode.manybody.simulate`.
    path : path
        ``NAME.xyz``: extended XYZ, all samples in one file, for OVITO. ``NAME.vtk``: a file ``NAME_0000.vtk`` for each sample
        and ``NAME.vtk.series`` with their times, legacy VTK, for ParaView (glyphs: sphere, scaled by ``radius``, factor 2).
    scene : Scene or Fluid, optional
        The scene that was run, if it is not one of the library.

    Returns
    -------
    list of Path
        The files written; the first is the one to open. Samples after a run has diverged are left out.

    Raises
    ------
    TypeError, ValueError
        If the run was not recorded, the scene is not known or another one, or the name has another ending or cannot be written.

    Examples
    --------
    >>> from polhode import manybody
    >>> run = manybody.simulate("rods", "spiral_leapfrog", dt=3.83e-5, t_end=0.02, samples=2, record=True)
    >>> manybody.write_motion(run, "rods.xyz")  # doctest: +SKIP
    [PosixPath('rods.xyz')]
    """
    import xarray as xr

    if not isinstance(path, str | Path):
        raise TypeError(f"path must be the path of a file, got {shown(path)}")
    path = Path(path)
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise ValueError(f"path must end in {' or '.join(WRITERS)}, got {shown(path.name)}")
    try:
        path.lstat()
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise ValueError(f"path {path} is in a folder that does not exist") from None
    except (OSError, ValueError) as error:  # too long for any file, or with a null character
        said = getattr(error, "strerror", None) or error
        raise ValueError(f"path {shown(str(path))} can be no file ({said})") from None
    if path.exists() and not path.is_file():
        raise ValueError(f"path {path} is {'a folder' if path.is_dir() else 'no regular file'}")
    if not isinstance(run, xr.Dataset):
        raise TypeError(f"run must be a Dataset of polhode.manybody.simulate, got {shown(run)}")
    if missing := [name for name in ("time", "r", "v", "q", "omega") if name not in run]:
        raise ValueError(f"run holds no motion ({missing[0]} is missing); simulate with record=True")
    if scene is None:
        key = str(run.attrs.get("scene"))
        if key not in SCENES:
            raise ValueError(f"scene {key!r} is not one of the library; pass your own as scene=")
        scene = SCENES[key]
    if not isinstance(scene, Scene | Fluid):
        raise TypeError(f"scene must be a polhode Scene or a Fluid, got {shown(scene)}")
    for name, size in (("r", 3), ("v", 3), ("q", 4), ("omega", 3)):
        if run[name].shape != (run.sizes.get("time"), run["q"].shape[1] if run["q"].ndim > 1 else 0, size):
            raise ValueError(f"run: {name} must be (time, bodies, {size}), got {run[name].shape}")
    if len(scene) != run["q"].shape[1]:
        raise ValueError(f"scene {scene.key!r} has {len(scene)} bodies, the run {run['q'].shape[1]}; pass the one that was run")
    path.parent.mkdir(parents=True, exist_ok=True)
    # No file is replaced before all are written; the one that names the others is the last.
    with files.full_disk_named(path), tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        written = writer(Path(folder, path.name), scene, frames(run, scene))
        paths = [path.with_name(file.name) for file in written]
        for file, place in reversed(list(zip(written, paths, strict=True))):
            files.write_atomically(place, file.replace)
    return paths


def frames(run: "xr.Dataset", scene: Scene | Fluid) -> Iterator[Frame]:
    """The samples of a recorded run of a scene, one :class:`Frame` each, up to the first that is not finite."""
    solids = scene.solids()
    # Spheres of each clump, clump after clump.
    each = [np.flatnonzero(solids["sphere_kind"] == kind) for kind in solids["kind"]]
    clump, sphere = np.repeat(np.arange(len(each)), [len(spheres) for spheres in each]), np.concatenate(each)
    centre, radius, kind = solids["centre"][sphere], solids["radius"][sphere], solids["kind"][clump]
    for i, time in enumerate(run["time"].values):
        r, v, q, omega = (run[name].values[i] for name in ("r", "v", "q", "omega"))
        if not all(np.isfinite(values).all() for values in (r, v, q, omega)):
            return
        turn = rotation_matrix(q)
        spin = np.einsum("nij,nj->ni", turn, omega)[clump]
        arm = np.einsum("nij,nj->ni", turn[clump], centre)
        velocity = v[clump] + np.cross(spin, arm)
        yield Frame(float(time), r[clump] + arm, radius, velocity, clump + 1, kind, np.roll(q, -1, axis=1)[clump], spin)


def _xyz(path: Path, scene: Scene | Fluid, samples: Iterator[Frame]) -> list[Path]:
    """Extended XYZ with OVITO's names of columns."""
    names = np.array(["_".join(clump.key.split()) for clump, _ in scene.clumps])
    drum = getattr(scene, "drum", None)
    edges = [2 * drum.radius if drum and axis != drum.axis else scene.box for axis in AXES]
    periodic = AXES if isinstance(scene, Fluid) else scene.periodic
    cell = ""
    if np.isfinite(edges).all():
        cell = 'Lattice="{} 0 0 0 {} 0 0 0 {}" '.format(*(DIGITS % edge for edge in edges))
        cell += 'Origin="{} {} {}" '.format(*(DIGITS % (-edge / 2) for edge in edges))
        cell += 'pbc="{} {} {}" '.format(*("T" if axis in periodic else "F" for axis in AXES))
    columns = "id:I:1:species:S:1:pos:R:3:radius:R:1:orientation:R:4:velo:R:3:angular_velocity:R:3:molecule:I:1"
    with open(path, "w", encoding="utf-8") as file:
        for frame in samples:
            file.write(f"{len(frame.pos)}\n{cell}Properties={columns} Time={DIGITS % frame.time}\n")
            numbers = np.column_stack([frame.pos, frame.radius, frame.orientation, frame.velo, frame.angular_velocity])
            for i, row in enumerate(numbers):
                words = [str(i + 1), names[frame.kind[i]], *(DIGITS % x for x in row), str(frame.clump[i])]
                file.write(" ".join(words) + "\n")
    return [path]


def _vtk(path: Path, scene: Scene | Fluid, samples: Iterator[Frame]) -> list[Path]:
    """Legacy VTK, text: a point for each sphere; ParaView reads the times from the file that names the others."""
    paths, times = [path.with_name(f"{path.name}.series")], []
    for number, frame in enumerate(samples):
        count = len(frame.pos)
        lines = [
            f"# vtk DataFile Version 3.0\n{scene.key}, t = {DIGITS % frame.time}\nASCII\nDATASET POLYDATA",
            f"POINTS {count} double",
            *_rows(frame.pos),
            f"VERTICES {count} {2 * count}",
            *(f"1 {i}" for i in range(count)),
            f"POINT_DATA {count}",
            *("SCALARS radius double\nLOOKUP_TABLE default", *_rows(frame.radius[:, None])),
            *chain.from_iterable(
                (f"SCALARS {name} int\nLOOKUP_TABLE default", *map(str, getattr(frame, name))) for name in ("clump", "kind")
            ),
            *("VECTORS velocity double", *_rows(frame.velo)),
            *("VECTORS angular_velocity double", *_rows(frame.angular_velocity)),
            *("SCALARS orientation double 4\nLOOKUP_TABLE default", *_rows(frame.orientation)),
        ]
        paths.append(path.with_name(f"{path.stem}_{number:04d}.vtk"))
        paths[-1].write_text("\n".join(lines) + "\n", encoding="utf-8")
        times.append({"name": paths[-1].name, "time": frame.time})
    paths[0].write_text(json.dumps({"file-series-version": "1.0", "files": times}, indent=1), encoding="utf-8")
    return paths


def _rows(values: np.ndarray) -> Iterator[str]:
    return (" ".join(DIGITS % x for x in row) for row in values)


#: The formats, by the ending of the name.
WRITERS: dict[str, Callable[[Path, Scene | Fluid, Iterator[Frame]], list[Path]]] = {".xyz": _xyz, ".vtk": _vtk}
