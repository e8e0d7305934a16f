"""What a step costs in time."""

from collections.abc import Callable

from matplotlib.figure import Figure

from polhode.study.figures.drawing import note_instead
from polhode.study.inputs import Inputs


def relative_cost(inputs: Inputs) -> Figure:
    """The time of a step relative to direct Euler, with every sample, in both frames, with and without normalisation."""
    inputs.cost("step")
    return note_instead("to be drawn")


FIGURES: dict[str, Callable[[Inputs], Figure]] = {"relative_cost": relative_cost}
