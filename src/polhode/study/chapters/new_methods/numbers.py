"""Numbers on the new methods."""

import numpy as np

from polhode.study.chapters.new_methods import frames
from polhode.study.inputs import Inputs
from polhode.study.report.formats import factor, macro_name, plain
from polhode.study.report.latex import decimal, number

#: Gains from here on are written as a power of ten.
LARGE = 1e5


def new_methods(inputs: Inputs) -> dict[str, str]:
    """Macros for the gain in accuracy of each method compared, by class of torque."""
    frame = frames.compared(inputs).set_index("method")
    result = {"studyNewSteps": str(frames.STEPS), "studyNewCount": str(len(frames.new(inputs)))}
    classes = [name for name, _ in frames.representatives(inputs)]
    for key, row in frame.iterrows():
        name = macro_name(str(key))
        for torque_class in classes:
            gain = float(row[f"gain_{torque_class}"])
            result[f"studyGain{torque_class.capitalize()}{name}"] = number(gain, 2) if gain >= LARGE else factor(gain)
    return result


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
