"""Ensembles of random bodies: torque classes, the draw, exact references, and runs of a method on all bodies at once."""

from polhode.ensembles.classes import CLASSES, TorqueClass
from polhode.ensembles.draw import Ensemble, draw
from polhode.ensembles.many import Bodies, simulate_many

__all__ = ["CLASSES", "Bodies", "Ensemble", "TorqueClass", "draw", "simulate_many"]
