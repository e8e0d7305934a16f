"""Numbers of the laws in time."""

from collections.abc import Mapping

import numpy as np

from polhode.fits.ladders import UNIT
from polhode.study.chapters.laws.frames import FREE, PRICES, ROBUST, SPIRAL, TARGET, EnsembleLaws
from polhode.study.chapters.laws_in_time import frames as analysis
from polhode.study.inputs import Inputs
from polhode.study.report.formats import enumerated, factor_or_infinite, macro_name, plain
from polhode.study.report.latex import NOT_AVAILABLE, escape

_PRICES = {0.0: "Zero", 10.0: "Ten", 100.0: "Hundred"}
_WORDS = {0.0: "nothing", 10.0: "ten", 100.0: "a hundred"}


def in_time(inputs: Inputs) -> dict[str, str]:
    """Macros for the fastest method, of all and with one torque a step, and the slowdown of some, by situation and price."""
    ens, times = analysis.read(inputs)
    result: dict[str, str] = {"costLawUnit": plain(times.get(UNIT, float("nan")))} | _first_of_map(ens, times)
    for situation in analysis.present(ens):
        names: dict[str, dict[float, str]] = {"One": {}, "All": {}}
        for price in PRICES:
            if situation is FREE and price:
                continue
            name = f"{situation.key.capitalize()}{_PRICES[price]}"
            one = analysis.in_time(ens, times, situation, price, TARGET, True)
            every = analysis.in_time(ens, times, situation, price, TARGET, False)
            for kind, compared in (("One", one), ("All", every)):
                text = escape(ens.label(ens.methods[compared.best])) if compared.best >= 0 else NOT_AVAILABLE
                result[f"costLawFastest{kind}{name}"] = text
                names[kind][price] = rf"\emph{{{text}}}"
            for i, key in enumerate(ens.methods):
                if key in (SPIRAL, ROBUST, "exact_rotor", "magnus_adams4", "verlet", "fincham1992"):
                    ends = [float(x) for x in (one.value[i], one.low[i], one.high[i])]
                    result |= _slower(f"costLawSlow{macro_name(key)}{name}", ends, one.best == i)
        for kind, by_cost in names.items():
            if len(by_cost) > 1:
                result[f"costLawFastest{kind}{situation.key.capitalize()}"] = by_price(by_cost)
    return result


def by_price(names: Mapping[float, str]) -> str:
    """The method for each price of a torque, in words; a method that several prices have is named once."""
    prices: dict[str, list[float]] = {}
    for price, name in names.items():
        prices.setdefault(name, []).append(price)
    unit = " steps of direct Euler"
    clauses: list[str] = []
    for name, its_prices in prices.items():
        words = [_WORDS[price] for price in its_prices]
        costs = ", ".join(words[:-1]) + " or " + words[-1] if len(words) > 1 else words[0]
        if any(its_prices):
            costs, unit = costs + unit, ""
        if len(prices) == 1:
            return f"{name}, whether the torque costs {costs}"
        clauses.append(f"{name} if {'it' if clauses else 'the torque'} costs {costs}")
    return enumerated(clauses).replace("; and ", ", and " if len(clauses) == 2 else "; and ")


def _slower(name: str, ends: list[float], itself: bool) -> dict[str, str]:
    """A ratio of times with its interval, alone and together; of the fastest method, that it is this itself."""
    value, low, high = map(factor_or_infinite, ends)
    if itself:
        text = r"\num{1} (itself the fastest)"
        return {name: text, f"{name}Low": r"\num{1}", f"{name}High": r"\num{1}", f"{name}Full": text}
    return {name: value, f"{name}Low": low, f"{name}High": high, f"{name}Full": f"{value} ({low} to {high})"}


def _first_of_map(ens: EnsembleLaws, times: Mapping[str, float]) -> dict[str, str]:
    """The method that is the fastest in most cells of the map, and in how many."""
    best = np.array([analysis.fastest(ens, times, situation).best for situation in analysis.mapped(ens)])
    if not (best >= 0).any():
        return {}
    counts = np.bincount(best[best >= 0])
    return {
        "costLawMapMethod": escape(ens.label(ens.methods[int(counts.argmax())])),
        "costLawMapCells": str(int(counts.max())),
        "costLawMapAll": str(best.size),
    }
