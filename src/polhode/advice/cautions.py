"""What is said of methods beside an answer: the energy in long runs, torques at outputs, and steps that change."""

from collections.abc import Iterable
from itertools import groupby

from polhode.advice.answer import Choice, joined_names
from polhode.fits import ranking
from polhode.methods import METHODS
from polhode.methods.protocol import Method, OneTorque


def drift(best: str, methods: Iterable[str] = ()) -> list[str]:
    """What to know of the energy in long runs with the methods that an answer names, and of torques at outputs, in sentences.

    ``best`` is the key of the method that it recommends; ``methods`` are the keys of the others.
    """
    named = [METHODS[key] for key in dict.fromkeys((best, *methods)) if key in METHODS]
    processed = sorted((method for method in named if method.processor), key=lambda method: method.torques_per_output)
    outputs = [
        f"Every output, and the start, takes {count} more evaluations of the torque with "
        f"{joined_names([method.label for method in some])}."
        for count, some in groupby(processed, lambda method: method.torques_per_output)
    ]
    return [*ranking.drift(best, {method.label: method.caution for method in named}), *outputs]


def at_outputs(best: str, rows: Iterable[Choice]) -> str:
    """What reading the state costs with a method whose variables are others, and what to take if it is read at every step.

    Sentences after a blank; empty for a method that reads the state at no cost.

    Parameters
    ----------
    best : key of the method that is recommended
    rows : the methods that may be recommended, the fastest first
    """
    if best not in METHODS or not METHODS[best].processor:
        return ""
    plain = next((row for row in rows if row.method not in METHODS or not METHODS[row.method].processor), None)
    said = f" At every output, and at the start, it takes {METHODS[best].torques_per_output} more"
    if plain is None:
        return f"{said}."
    return f"{said}: if the state is read at every step, take {plain.label} ({plain.method}) with dt = {plain.dt:.4g} s."


def restarts(best: Method | None) -> list[str]:
    """What a method needs when the step size changes or a run restarts, a list of one phrase.

    Empty for a method that loses nothing then, such as a one-step method, and for None.
    """
    if best is None:
        return []
    torques = best.starting_torques(1 << 30) + best.torques_per_output
    if isinstance(best, OneTorque) and best.warm_up_steps:
        return [f"steps that change, and restarts: it starts again each time, with at most {torques} more torque evaluations"]
    if best.group == "multistep":
        return ["steps that change, and restarts: it starts again each time, and loses accuracy"]
    if best.processor and best.moves[:, 0].any():
        return [f"steps that change: each change takes {torques} more torque evaluations, or part of the gain is lost"]
    if best.processor:
        return ["steps that change: the kick between two steps takes its share of each, or the orders are lost"]
    if best.stored_offset and best.order_q > 1:
        mean = "the kick between two steps takes their mean, or " if best.stored_offset < 0 else ""
        return [f"steps that change: {mean}an order is lost"]
    return []
