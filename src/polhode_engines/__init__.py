"""The engine atlas: what simulators really run, by measurement.

An adapter (:mod:`polhode_engines.protocol`) spins one rigid body in a real engine, in an environment and a process of its own
(:mod:`polhode_engines.environments`). The orders and the drift follow from the problems of :mod:`polhode_engines.cases`, the
integrator from :mod:`polhode_engines.identify`, which steps our own methods from the engine's states.
"""

from polhode_engines.environments import how_to_install, install, is_installed
from polhode_engines.protocol import Engine, all_engines

__all__ = ["Engine", "all_engines", "how_to_install", "install", "is_installed"]
