"""polhode: integrators for rigid-body rotation, exact references for them, and the study that compares them.

>>> import polhode
>>> run = polhode.simulate("spiral_cylinder", "spiral_leapfrog", dt=1e-3)
>>> int(run["steps"]), float(run["time"][-1])
(1000, 1.0)

``print(polhode.methods)`` and ``print(polhode.problems)`` show what there is to choose from.
"""

from polhode import ensembles
from polhode.advice import recommend
from polhode.body import Body
from polhode.compilation import compile_all
from polhode.ensembles import Bodies, simulate_many
from polhode.methods import METHODS as methods
from polhode.problems import PROBLEMS as problems
from polhode.results import open_results
from polhode.simulate import simulate
from polhode.version import __version__

__all__ = [
    "Bodies",
    "Body",
    "__version__",
    "compile_all",
    "ensembles",
    "methods",
    "open_results",
    "problems",
    "recommend",
    "simulate",
    "simulate_many",
]
