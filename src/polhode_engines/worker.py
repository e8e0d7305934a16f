"""Run bodies in an engine: ``python -I worker.py ADAPTER.py FOLDER``, with the Python of the engine.

It imports numpy, the adapter and the files that adapters share, never polhode. ``FOLDER/request.json`` has the function of the
adapter, the option, patterns of folders outside the usual ones that have the engine, and the runs. Run number i is written to
``FOLDER/i.npz``, or its error to ``FOLDER/i.txt``. A line ``started i`` or ``done i`` for each goes to the original standard
output; what the engine prints goes to standard error. Runs that have a file are left out, so that after a crash the same
command goes on behind the run that crashed. If the installed release lacks the option, ``FOLDER/lacking.txt`` says so, and no
more is run.
"""

import glob
import importlib.util
import json
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np

#: Files beside this one that adapters share; they import ``rotations.py`` as ``polhode_rotations``.
SHARED = ("rotations", "sampling")
#: What the functions of an adapter return, each over the samples, and what that has in a row.
RETURNED = {
    "run": ("q", "omega"),
    "shipped": ("q", "omega"),
    "collide": ("r", "v", "q", "omega"),
    "flow": ("potential", "kinetic", "seconds"),
}
SHAPES = {"r": (3,), "v": (3,), "q": (4,), "omega": (3,), "potential": (), "kinetic": (), "seconds": ()}


def load(path: Path) -> ModuleType:
    """The module of an adapter, under a name that is no engine's; it finds the files of :data:`SHARED`.

    Raises
    ------
    ValueError
        If the file at ``path`` is no Python file; and whatever it raises itself.
    """
    for name in SHARED:
        shared = f"polhode_{name}"
        if shared not in sys.modules:
            sys.modules[shared] = _executed(shared, Path(__file__).with_name(f"{name}.py"))
    return _executed(f"polhode_engine_{path.stem}", path)


def _executed(name, path):
    """The module in a file."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise ValueError(f"{path}: an adapter is a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(adapter_path, folder):
    """Run what ``folder/request.json`` asks of the adapter at this path, one run after the other, into files of the folder.

    What a run raises is written to its file; what the adapter raises when it is loaded is raised.
    """
    said = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    folder = Path(folder)
    request = json.loads((folder / "request.json").read_text())
    for place in (place for pattern in request["paths"] for place in glob.glob(pattern)):
        sys.path.insert(1, place)
    adapter = load(Path(adapter_path)).Adapter()
    (folder / "version.txt").write_text(str(adapter.version()))
    for number, run in enumerate(request["runs"]):
        if (folder / f"{number}.npz").exists() or (folder / f"{number}.txt").exists():
            continue
        print("started", number, file=said, flush=True)
        case = SimpleNamespace(**{name: value for name, value in run.items() if name not in ("dt", "samples")})
        samples = np.asarray(run["samples"], dtype=np.int64)
        try:
            # Bodies as shipped are run by the same function, which is told so.
            case.is_shipped = request["function"] == "shipped"
            function = "run" if case.is_shipped else request["function"]
            answer = getattr(adapter, function)(request["option"], case, run["dt"], samples)
            named = zip(RETURNED[request["function"]], answer, strict=True)
            arrays = {name: np.asarray(values, dtype=float) for name, values in named}
            bodies = (len(case.masses),) if request["function"] == "collide" else ()
            if any(values.shape != (len(samples), *bodies, *SHAPES[name]) for name, values in arrays.items()):
                shapes = " and ".join(str(values.shape) for values in arrays.values())
                raise ValueError(f"the adapter returned arrays of shapes {shapes}")
            temporary = folder / f"{number}.part.npz"
            np.savez(temporary, **arrays)
            temporary.rename(folder / f"{number}.npz")
        except sys.modules["polhode_sampling"].NotInRelease as error:
            (folder / "lacking.txt").write_text(str(error))
            return
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            text = f"{type(error).__name__}: {error} ({Path(place.filename).name}, line {place.lineno})"
            (folder / f"{number}.txt").write_text(text)
        print("done", number, file=said, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
    # Some engines crash while they are taken apart; everything is written by now.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
