"""Numbers of the laws in time."""

from math import inf, isnan

from polhode.study.analysis.ladders import UNIT
from polhode.study.analysis.law_frames import FREE, PRICES, ROBUST, SPIRAL, TARGET
from polhode.study.inputs import Inputs
from polhode.study.report.formats import factor, macro_name, plain
from polhode.study.report.latex import NOT_AVAILABLE, escape
from polhode.study.themes.laws_in_time import analysis

_PRICES = {0.0: "Zero", 10.0: "Ten", 100.0: "Hundred"}


def in_time(inputs: Inputs) -> dict[str, str]:
    """Macros for the fastest method, of all and with one torque a step, and the slowdown of some, by situation and price."""
    ens, times = analysis.read(inputs)
    result: dict[str, str] = {"costLawUnit": plain(times.get(UNIT, float("nan")))}
    for situation in analysis.present(ens):
        for price in PRICES:
            if situation is FREE and price:
                continue
            name = f"{situation.key.capitalize()}{_PRICES[price]}"
            one = analysis.in_time(ens, times, situation, price, TARGET, True)
            every = analysis.in_time(ens, times, situation, price, TARGET, False)
            for kind, found in (("One", one), ("All", every)):
                text = escape(ens.label(ens.methods[found.best])) if found.best >= 0 else NOT_AVAILABLE
                result[f"costLawFastest{kind}{name}"] = text
            for key in (SPIRAL, ROBUST, "exact_rotor", "magnus_adams4", "verlet", "fincham1992"):
                if key in ens.methods:
                    i = ens.methods.index(key)
                    ends = (("", one.value[i]), ("Low", one.low[i]), ("High", one.high[i]))
                    result |= {f"costLawSlow{macro_name(key)}{name}{end}": _factor(float(value)) for end, value in ends}
    return result


def _factor(value: float) -> str:
    return r"$\infty$" if value == inf else NOT_AVAILABLE if isnan(value) else factor(value)
