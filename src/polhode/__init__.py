"""polhode: integrators for rigid-body rotation, exact references for them, and the study that compares them.

>>> import polhode
>>> run = polhode.simulate("spiral_cylinder", "spiral_leapfrog", dt=1e-3)
>>> int(run["steps"]), float(run["time"][-1])
(1000, 1.0)

``print(polhode.methods)`` and ``print(polhode.problems)`` show what there is to choose from.
"""

import importlib
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from polhode.public import Public
from polhode.version import __version__

if TYPE_CHECKING:
    from polhode import ensembles
    from polhode.advice import recommend
    from polhode.algebra.body import Body
    from polhode.compiling.in_advance import compile_all
    from polhode.ensembles import Bodies, simulate_many
    from polhode.methods import METHODS as methods
    from polhode.problems import PROBLEMS as problems
    from polhode.results import open_results
    from polhode.simulate import simulate
    from polhode_engines.own_code import identify_run as identify

__all__ = [
    "Bodies",
    "Body",
    "__version__",
    "compile_all",
    "ensembles",
    "identify",
    "methods",
    "open_results",
    "problems",
    "recommend",
    "simulate",
    "simulate_many",
]

# They are imported when they are first asked for: every job of a study imports this package, and most jobs need none of these.
Public.of(__name__).defined = {
    "Bodies": ("polhode.ensembles", "Bodies"),
    "Body": ("polhode.algebra.body", "Body"),
    "compile_all": ("polhode.compiling.in_advance", "compile_all"),
    "ensembles": ("polhode.ensembles", ""),
    "identify": ("polhode_engines.own_code", "identify_run"),
    "methods": ("polhode.methods", "METHODS"),
    "open_results": ("polhode.results", "open_results"),
    "problems": ("polhode.problems", "PROBLEMS"),
    "recommend": ("polhode.advice", "recommend"),
    "simulate": ("polhode.simulate", "simulate"),
    "simulate_many": ("polhode.ensembles", "simulate_many"),
}

#: Modules that stood here in version 0.1, which files of users import, and where they are now.
MOVED = {
    **{f"polhode.{name}": f"polhode.algebra.{name}" for name in ("body", "metrics", "quaternion", "vector")},
    **{f"polhode.{name}": f"polhode.compiling.{name}" for name in ("kernel", "operations", "plain")},
}


class _Moved(MetaPathFinder, Loader):
    """Finds the modules in :data:`MOVED` by their old names."""

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in MOVED else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(MOVED[spec.name])
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # its own, which Python has just replaced by that of the old name


sys.meta_path.append(_Moved())
