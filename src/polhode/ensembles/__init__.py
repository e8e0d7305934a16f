"""Ensembles of random bodies: torque classes, the draw, exact references, and runs of a method on all bodies at once."""

from typing import TYPE_CHECKING

from polhode.public import Public

if TYPE_CHECKING:
    from polhode.ensembles.classes import CLASSES, TorqueClass
    from polhode.ensembles.draw import Ensemble, draw
    from polhode.ensembles.many import Bodies, simulate_many

__all__ = ["CLASSES", "Bodies", "Ensemble", "TorqueClass", "draw", "simulate_many"]

Public.of(__name__).defined = {
    "Bodies": ("polhode.ensembles.many", "Bodies"),
    "CLASSES": ("polhode.ensembles.classes", "CLASSES"),
    "Ensemble": ("polhode.ensembles.draw", "Ensemble"),
    "TorqueClass": ("polhode.ensembles.classes", "TorqueClass"),
    "draw": ("polhode.ensembles.draw", "draw"),
    "simulate_many": ("polhode.ensembles.many", "simulate_many"),
}
