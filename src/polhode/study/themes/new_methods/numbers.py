"""Numbers on the new methods."""

from polhode.study.inputs import Inputs
from polhode.study.report.formats import factor, macro_name
from polhode.study.report.latex import decimal, number
from polhode.study.themes.new_methods import analysis


def new_methods(inputs: Inputs) -> dict[str, str]:
    """Macros for gains, stability limits and drift of each method compared; and of the best of the others under friction."""
    frame = analysis.compared(inputs).set_index("method")
    result = {"studyNewSteps": str(analysis.STEPS), "studyNewCount": str(len(analysis.new(inputs)))}
    classes = [name for name, _ in analysis.representatives(inputs)]
    for key, row in frame.iterrows():
        name = macro_name(str(key))
        for torque_class in classes:
            result[f"studyGain{torque_class.capitalize()}{name}"] = factor(float(row[f"gain_{torque_class}"]))
        result[f"studyStable{name}"] = decimal(float(row["stability"]), 2)
        for problem, short in zip(analysis.LONG_RUNS, ("Free", "Heavy"), strict=True):
            result[f"studyNewEnergy{short}{name}"] = number(float(row[f"energy_{problem}"]), 2)
    return result
