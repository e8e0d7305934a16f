"""Advice for many bodies that collide: the step as a share of the contact time, from the energy errors of the scenes.

The energy of bodies that only collide changes with the resolution of their contacts, whatever their size, stiffness and speed:
what counts is the step over the contact time. The contact time of a scene is that of a head-on collision with a wall, the
shortest for bodies that do not turn, by Hertz's theory: 2.87 (m^2 / (R E*^2 v))^(1/5), with 1/E* = 2 (1 - nu^2)/E (Landau and
Lifshitz, Theory of Elasticity, Sec. 9; Johnson, Contact Mechanics, Eq. 11.24).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import nan, pi
from pathlib import Path

import numpy as np
import xarray as xr

from polhode.advice import files
from polhode.advice.answer import Choice, Recommendation, listed
from polhode.advice.errors import AdviceError
from polhode.arguments import positive
from polhode.manybody.contact import collision_time
from polhode.manybody.material import Material
from polhode.methods import METHODS
from polhode.study.storage import group_names, read_dataset

#: The part of the runs of a scene (seeds) that must meet the error.
SERVED = 0.9
#: The variable asked about: the largest |dE/E0| of a run.
VARIABLE = "energy_error_largest"
#: The method to recommend if it is as good as any other: the one that most scenes have run, and the cheapest of these.
USUAL = "spiral_leapfrog"
#: Steps within this factor of the largest count as equally large: seeds scatter by more.
CLOSE = 1.1
#: Largest factor by which a step may lie below the finest one that was run.
FARTHEST = 3.0
#: The smallest number of seeds of a scene from which a spread is taken.
FEWEST = 5


@dataclass(frozen=True)
class Curve:
    """The energy errors of a method on a scene.

    Parameters
    ----------
    scene, label : key of the group and its name
    method : key
    share : (n,)
        Steps over the contact time, ascending.
    errors : (n, seeds)
        The largest |dE/E0| of each run; infinite where it blew up.
    contacts : float
        The horizon in contact times.
    """

    scene: str
    label: str
    method: str
    share: np.ndarray
    errors: np.ndarray
    contacts: float

    def largest(self, error: float, exponent: float, part: float = SERVED) -> float:
        """The largest share with which, as with all smaller ones, ``part`` of the runs stay below ``error``.

        Between two steps that were run the error is a power of the step. Below the finest one, and for a scene that was run
        with a single step, it is that of ``exponent``.
        """
        found = _quantile(self.errors, part)
        good = found <= error
        count = len(good) if good.all() else int(np.argmin(good))
        if count == 0 or len(good) == 1:
            return float(self.share[0] * (error / found[0]) ** (1 / exponent)) if np.isfinite(found[0]) else 0.0
        if count == len(good) or not np.isfinite(found[count]):
            return float(self.share[count - 1])
        x, y = np.log(self.share[count - 1 : count + 1]), np.log(found[count - 1 : count + 1])
        return float(np.exp(x[0] + (np.log(error) - y[0]) / (y[1] - y[0]) * (x[1] - x[0])))

    def is_extrapolated(self, share: float) -> bool:
        """Whether a share lies outside of what was run."""
        return not 0.999 * self.share[0] <= share <= 1.001 * self.share[-1]

    @property
    def exponent(self) -> float:
        """The power of the step with which the error grows, over all steps; NaN from less than three."""
        found = _quantile(self.errors, 0.5)
        good = np.isfinite(found)
        return float(np.polyfit(np.log(self.share[good]), np.log(found[good]), 1)[0]) if good.sum() >= 3 else nan


def _quantile(errors: np.ndarray, part: float) -> np.ndarray:
    """The value below which ``part`` of the runs of each row lie: one of the values, since some may be infinite."""
    ordered = np.sort(errors, axis=1)
    return np.asarray(ordered[:, min(ordered.shape[1] - 1, int(np.ceil(part * ordered.shape[1])) - 1)])


def contact_time(young: float, poisson: float, density: float, radius: float, speed: float) -> float:
    """The contact time of a sphere with a wall of the same material that it hits head on, s, by Hertz's theory.

    Parameters
    ----------
    young, poisson, density : of the material; Pa, 1, kg/m^3
    radius, speed : of the sphere; m, m/s

    Examples
    --------
    >>> round(contact_time(5e6, 0.3, 2500.0, 1e-3, 1.0), 7)
    0.0003091
    """
    try:
        material = Material(density=density, young=young, poisson=poisson)
        mass = 4 / 3 * pi * positive("radius", radius, "m") ** 3 * density
        return collision_time(mass, radius, material.reduced, positive("speed", speed, "m/s"))
    except (TypeError, ValueError) as error:
        raise AdviceError(str(error)) from None


def of_contacts(
    time: float, error: float, results: Path | None = None, everything: bool = False, how: str = ""
) -> Recommendation:
    """The answer for many bodies whose contacts last ``time`` (s).

    Parameters
    ----------
    time : duration of a contact, s
    error : largest relative error of the energy
    results : folder of a run; the released data by default
    everything : list all methods, including the variants that reproduce publications' code
    how : where the contact time comes from, in words

    Raises
    ------
    AdviceError
        If the scenes do not reach this error.
    """
    path = files.find("many_body.nc", results)
    try:
        found = list(curves(path))
    except (OSError, RuntimeError, ValueError, LookupError, AttributeError) as failure:
        why = " ".join(str(failure).split())
        raise AdviceError(f"{path} is damaged or not a many_body.nc of this version ({why[:200]})") from failure
    chosen = _comparable(found)
    if not chosen:
        raise AdviceError(f"{path} holds no scene with {FEWEST} states or more; name another run: --results")
    exponents = {key: float(np.nanmedian([c.exponent for c in own])) for key, own in chosen.items()}
    exponents = {key: exponent for key, exponent in exponents.items() if exponent > 0}
    shares = {key: min(c.largest(error, exponents[key]) for c in own) for key, own in chosen.items() if key in exponents}
    advisable = {key: share for key, share in shares.items() if share > 0 and not _as_published(key)}
    if not advisable:
        raise AdviceError(f"--error: no method stays below {error:g} in all scenes")
    largest = max(advisable.values())
    key = USUAL if advisable.get(USUAL, 0.0) * CLOSE >= largest else max(advisable, key=lambda each: advisable[each])
    share, own, exponent = advisable[key], chosen[key], exponents[key]
    finest = min(float(c.share[0]) for c in own)
    if share < finest / FARTHEST:
        raise AdviceError(
            f"--error: {error:g} would need steps of T/{1 / share:.0f}, far below the finest that was run, T/{1 / finest:.0f}; "
            "ask for a larger one"
        )
    spread = [c.largest(error, exponent, part) for c in own for part in (0.5, SERVED)]
    low, high = min(spread), max(spread)
    rows = [
        Choice(
            method, _label(method), time * s, relative=share / s if s else None, mark=f"T/{1 / s:.0f}" if s else "not reached"
        )
        for method, s in sorted(shares.items(), key=lambda item: (-item[1], item[0]))
        if everything or (s > 0 and not _as_published(method))
    ]
    rows.sort(key=lambda row: row.method != key)
    scenes = "; ".join(
        f"{c.label} ({c.errors.shape[1]} states of {c.contacts:,.0f} contact times, "
        + (f"T/{1 / c.share[0]:.0f} to " if len(c.share) > 1 else "only ")
        + f"T/{1 / c.share[-1]:.0f}) T/{1 / (own_share := c.largest(error, exponent)):.0f}"
        + (", extrapolated" if c.is_extrapolated(own_share) else "")
        for c in own
    )
    remarks = []
    if any(share >= 0.999 * c.share[-1] for c in own if len(c.share) > 1):
        remarks.append("This is the coarsest step that was run; a longer one may do as well.")
    others = [m for m, s in advisable.items() if m != key and s * CLOSE >= share]
    if others:
        remarks.append(
            "Equally good within what the states decide: "
            + listed([_label(m) for m in sorted(others)])
            + ". Take what the code has."
        )
    return Recommendation(
        question=f"Many bodies, contacts of {time:.4g} s{f' ({how})' if how else ''}, relative energy error below {error:g}",
        best=Choice(key, _label(key), time * share, relative=1.0, mark=f"T/{1 / share:.0f}"),
        sentence=f"Take {_label(key)} ({key}) with dt = T_contact/{1 / share:.0f} = {time * share:.3g} s.",
        interval=(time * low, time * high),
        interval_means=f"Interval: T/{1 / low:.0f} to T/{1 / high:.0f}, from the scene that asks most to the one that asks "
        f"least, each with {SERVED:.0%} or half of its states.",
        alternatives=rows,
        evidence=[
            f"{SERVED:.0%} of the states of every scene stay below the error, the largest |dE/E0| of a run, with this and all "
            f"smaller steps: {scenes}.",
            f"Between the steps that were run, and beyond them where said, the error is a power of dt: here {exponent:.2g}.",
            "Contact time: head on against a wall, by Hertz's theory, 2.87 (m^2/(R E*^2 v))^(1/5). All contacts are "
            "elastic and without friction; friction has not been run, and a torque that depends on omega costs most methods "
            "an order: see `polhode recommend --torque friction`.",
            f"From {path}" + (", which comes with polhode." if files.is_released(path) else "."),
        ],
        error=error,
        kind="contacts",
        asked={"contact_time": time, "error": error},
        remarks=remarks,
        shown=len(rows) if everything else 5,
    )


def _comparable(found: list[Curve]) -> dict[str, list[Curve]]:
    """The curves of the methods on all scenes that at least half of the methods ran, for those that ran all of them."""
    ran: dict[str, set[str]] = {}
    for curve in found:
        ran.setdefault(curve.scene, set()).add(curve.method)
    methods = {curve.method for curve in found}
    scenes = {scene for scene, those in ran.items() if 2 * len(those) >= len(methods)}
    return {
        key: [c for c in found if c.method == key and c.scene in scenes]
        for key in sorted(methods)
        if all(key in ran[scene] for scene in scenes)
    }


def curves(path: Path) -> Iterator[Curve]:
    """The energy errors of every method on every scene of a many_body.nc that has more than one step and several seeds."""
    for name in group_names(path):
        data = read_dataset(path, name)
        if VARIABLE not in data or "contact_time" not in data.attrs or data.sizes.get("seed", 0) < FEWEST:
            continue
        yield from _curves(name, data)


def _curves(name: str, data: xr.Dataset) -> Iterator[Curve]:
    time, horizon = float(data.attrs["contact_time"]), float(data.attrs["horizon"])
    data = data.sortby("dt")
    for key in data["integrator"].values:
        own = data.sel(integrator=key)
        errors = own[VARIABLE].transpose("dt", "seed").values
        lost = own["diverged"].transpose("dt", "seed").values.astype(bool)
        errors = np.where(lost, np.inf, errors)
        run = ~np.isnan(errors).any(axis=1)
        if run.any():
            yield Curve(
                name, str(data.attrs.get("label", name)), str(key), own["dt"].values[run] / time, errors[run], horizon / time
            )


def _as_published(key: str) -> bool:
    from polhode.study.analysis.ranking import AS_PUBLISHED

    return key.endswith(AS_PUBLISHED)


def _label(key: str) -> str:
    return METHODS[key].label if key in METHODS else key
