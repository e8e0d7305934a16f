"""What a user of an engine should do: the sentence declared for its option, else one that follows from the measured row."""

from collections.abc import Sequence
from math import isfinite, isnan

from polhode.fits.tumbling import NOTICED_CHANGE, other_turns
from polhode_engines.protocol import option_of

#: Orders in words.
ORDERS = {1: "First", 2: "Second", 3: "Third", 4: "Fourth"}


def advice_of(key: str, option: str, order: float, end: str, gyroscopic: str) -> str:
    """What a user of an engine with an option should do, in one sentence: the declared one, else the measured one.

    Parameters
    ----------
    key, option : str
        The engine and its option, a row of the atlas.
    order : float
        Order of q of the free body.
    end : str
        What a free spin does in the end, as in :class:`polhode_engines.atlas.EngineRow`.
    gyroscopic : str
        Whether the body follows Euler's equations: "yes", "no", "other" or "failed".
    """
    return option_of(key, option).advice or measured_advice(order, end, gyroscopic)


def order_words(order: float) -> str:
    """A finite order of convergence in words: rounded, such as "Second order", or "5.2th order" where it is none of 1 to 4."""
    return f"{ORDERS.get(round(order), f'{order:.1f}th')} order"


def measured_advice(
    order: float, end: str, gyroscopic: str, changes: Sequence[float] = (), turned: float = 0.0, turns: Sequence[float] = ()
) -> str:
    """What a user should do, in one sentence, as it follows from the measurements of a row alone.

    Parameters
    ----------
    order : float
        Order of q of the free body; NaN if none could be fitted.
    end : str
        What a free spin does in the end: "tumbles", "stops", "diverges", "failed", or "smallest moment" and the like for the
        axis about which it turns.
    gyroscopic : str
        Whether the body follows Euler's equations: "yes", "no", "other" or "failed".
    changes : sequence of float
        Relative changes of energy and of the length of the momentum in a free spin; empty: not measured.
    turned : float
        Angle by which the momentum turns in the lab, rad.
    turns : sequence of float
        How often the body turns over, and how often the exact body does; empty: not counted.
    """
    if gyroscopic == "no":
        result = ", so that the angular momentum of a free body turns in the lab" if turned > NOTICED_CHANGE else ""
        return (
            f"Leaves the gyroscopic term out{result}: unless all moments are equal, switch it on where there is a switch, "
            "else set the angular velocity before every step (docs/engines.md)."
        )
    if end == "failed" or gyroscopic == "failed":
        return "Failed here: look at what the engine said before using it."
    if end == "stops":
        return "Its damping stops a free spin: switch the damping off for free flight."
    if isnan(order) or not isfinite(order):
        return "No order could be fitted: compare two steps before using it."
    word = order_words(order)
    if end == "diverges":
        return f"{word}, and a free spin gains energy until it diverges: take smaller steps, or another option."
    if end.endswith(" moment"):
        return f"{word}, and a free spin ends about the axis of the {end}: take smaller steps, or another option."
    change = max(changes, key=abs, default=0.0)
    if abs(change) > NOTICED_CHANGE:
        way = "loses" if change < 0 else "gains"
        return f"{word}, and a free spin {way} {abs(change):.2g} of its energy or momentum: take smaller steps."
    if turns and other_turns(*turns):
        count, exact = turns
        return (
            f"{word}, and a free body turns over {count:g} times where the exact one does {exact:g} times: take smaller steps."
        )
    if turned > NOTICED_CHANGE:
        return f"{word}, and the angular momentum of a free body turns by {turned:.2g} rad in the lab: take smaller steps."
    return f"{word}: halve the step to halve the error." if order < 1.5 else f"{word}: keep it."
