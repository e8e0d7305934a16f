"""Numbers on the new methods."""

import numpy as np

from polhode_study.chapters.new_methods import frames
from polhode_study.inputs import Inputs
from polhode_study.report.formats import plain
from polhode_study.report.latex import decimal, number


def new_methods(inputs: Inputs) -> dict[str, str]:
    """Macros for the number of steps with which methods are compared, and for the number of new ones."""
    return {"studyNewSteps": str(frames.STEPS), "studyNewCount": str(len(frames.new(inputs)))}


def start(inputs: Inputs) -> dict[str, str]:
    """Macros for the steps that Magnus-Adams 4 needs with four torques in its first steps and with one, and others."""
    data = inputs.check("simplified")
    steps = data["steps_per_radian"]
    middle = {str(name): float(np.median(steps.sel({"start": name}))) for name in steps["start"].values}
    names = {"four torques": "FourTorques", "one torque": "OneTorque", "spiral_leapfrog": "Spiral", "exact_rotor": "Rotor"}
    return {
        **{f"studyStart{names[name]}": decimal(value, 1) for name, value in middle.items()},
        "studyStartTarget": number(float(data.attrs["target"]), 1),
        "studyStartBodies": plain(float(steps.sizes["body"])),
    }
