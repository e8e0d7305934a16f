"""Advice from ensembles: the step sufficient for 90 % of random bodies under random torques of a class.

For bodies that are not known exactly: grains, a family of satellites, a first guess. The errors are those of ensembles.nc, and
the steps per radian those of :mod:`polhode.fits.laws`.
"""

from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from polhode.advice import evidence, files
from polhode.advice.answer import SHOWN, Choice, Recommendation, joined_names, known_as, price_in_words
from polhode.advice.cases import ALIASES, unknown_torque
from polhode.advice.cautions import at_outputs, drift, restarts
from polhode.advice.errors import AdviceError, BeyondLaws
from polhode.advice.prices import USUAL, prices
from polhode.ensembles.draw import STRONGEST, WEAKEST
from polhode.fits import law_file, laws, ranking
from polhode.fits.largest_step import SHARE_OF_CASES
from polhode.interface.arrays import PlainDataset
from polhode.interface.netcdf import sizes_of
from polhode.methods import METHODS

if TYPE_CHECKING:
    import xarray as xr

#: The parts of the bodies between which the interval of a step lies.
LOW, HIGH = 0.02, 0.98
#: The errors of a run.
ERRORS = "ensembles.nc"
#: A time beyond that of the runs by less than this factor counts as theirs.
BEYOND = 1.001
#: The most methods named as not distinguished from the best.
NAMED = 4


def from_laws(
    torque: str,
    error: float,
    omega: float,
    time: float | None = None,
    torque_price: float = USUAL,
    one_torque: bool = True,
    everything: bool = False,
    results: Path | None = None,
) -> Recommendation:
    """The answer to :func:`polhode.advice.for_class` from the errors of random bodies.

    Parameters
    ----------
    torque : torque class, or a word for several of them
    error : of each radian, or at the end of a ``time``: the angle in rad, and of omega relative to its initial size
    omega : size of the initial angular velocity, rad/s
    time : time to simulate, s
    torque_price : the time of one torque in steps of direct Euler
    one_torque : whether only methods with one torque in a step may be recommended
    everything : whether all methods are listed
    results : folder of a run; by default a run or the released data, whichever have more bodies

    Raises
    ------
    BeyondLaws
        If the bodies were not run for this time.
    AdviceError
        If the class of torque is not known, or no method has a step for the error.
    """
    path, data, why = _file(results)
    with evidence.of_this_version(path):
        known = [str(key) for key in data["torque_class"].values]
        classes = _classes(torque, known)
        data = data.sel(torque_class=classes)
        radians = None if time is None else omega * time
        longest = float(data.attrs["radians"] if isinstance(data, PlainDataset) else data["radians"].values.max())
        if radians is not None and radians > BEYOND * longest:
            raise BeyondLaws(f"time: the random bodies were run for {longest:g} rad, not for {radians:.3g}")
        if isinstance(data, PlainDataset):
            total = longest
            steps, for_twice = np.moveaxis(law_file.steps_of_bodies(data, [error, 2 * error], radians)[0], -1, 0)
        else:
            (steps, for_twice), total = _steps(data, error, radians)
        torques = data["torques_per_step"].values.astype(int)
        variants = data["variant"].values.astype(bool)
        keys = [str(key) for key in data["integrator"].values]
        labels = [str(label) for label in data["label"].values]
        titles = [str(label) for label in data["class_label"].values]
        title = " or ".join(titles)
    bodies = steps.shape[-1]
    priced = prices(torque_price, results, anywhere=True)
    # Per radian: (class, method, body).
    step_time = np.array([priced.step.get(key, np.nan) for key in keys]) + torques * torque_price * priced.unit
    work = steps * step_time[:, None]
    # Bodies under all classes of one word count together, as in the tables of the article: (method, class and body).
    hardest = laws.quantile(steps, SHARE_OF_CASES)
    steps, for_twice = (np.moveaxis(each, 1, 0).reshape(len(keys), -1) for each in (steps, for_twice))
    half, served = laws.spread(steps).median, laws.quantile(steps, SHARE_OF_CASES)
    cost = served * step_time
    allowed = np.isfinite(cost) & ~variants & ((torques == 1) | (not one_torque))
    if not allowed.any():
        raise AdviceError(
            f"no method has a step that is sufficient for {SHARE_OF_CASES:.0%} of the bodies and an error of {error:g}"
            + (f" over {radians:.3g} rad" if radians is not None else "")
            + "; ask for a larger error or a shorter time"
        )
    order = [int(i) for i in np.argsort(np.where(np.isfinite(cost), cost, inf), kind="stable")]
    best = next(i for i in order if allowed[i])
    is_exact = classes == ["free"] and ranking.WITHOUT_TORQUE in keys and bool(allowed[keys.index(ranking.WITHOUT_TORQUE)])
    if is_exact:
        best = keys.index(ranking.WITHOUT_TORQUE)
        order.insert(0, order.pop(order.index(best)))
    few, many = (float(laws.quantile(steps[best], fraction)) for fraction in (LOW, HIGH))
    rows = [
        Choice(
            keys[i],
            known_as(keys[i], labels[i]),
            1 / (served[i] * omega),
            seconds=None if radians is None else float(cost[i] * radians),
            relative=float(cost[i] / cost[best]),
            mark=f"{served[i]:.3g} steps a radian",
        )
        for i in order
        if np.isfinite(cost[i]) and (everything or allowed[i])
    ]
    first = next(row for row in rows if row.method == keys[best])
    rivals = [i for i in order if allowed[i] and i != best and cost[i] < 2 * cost[best]]
    level = [i for i in rivals if not _is_better(work[:, best], work[:, i])]
    shown = len(rows) if everything else SHOWN
    remarks = drift(keys[best], [row.method for row in rows[:shown]] + [keys[i] for i in level[:NAMED]])
    alone = next((row for row in rows if row.method in _one_torque(keys, torques, allowed)), None)
    number = f"{half[best]:.3g}"
    remarks.append(f"Median: {number} step{'s' * (number != '1')} per radian (the value in the report).")
    if len(titles) > 1:
        worst = int(np.argmax(hardest[:, best]))
        remarks.append(
            f"Under the hardest of these torques, {titles[worst]}, {SHARE_OF_CASES:.0%} of the bodies need "
            f"{hardest[worst, best]:.3g} steps a radian, dt = {1 / (hardest[worst, best] * omega):.4g} s."
        )
    if torques[best] > 1 and alone is not None:
        remarks.append(
            f"With one torque in a step: {alone.label} ({alone.method}) with dt = {alone.dt:.4g} s, "
            f"{alone.relative:.2f} times as long."
        )
    if level:
        remarks.append(
            "Not distinguished from it body by body (95 % interval of the median ratio of times): "
            + joined_names([labels[i] for i in level[:NAMED]])
            + (" and others." if len(level) > NAMED else ".")
        )
    unknown = [label for key, label, variant in zip(keys, labels, variants, strict=True) if not (variant or key in priced.step)]
    if unknown:
        remarks.append(f"Not compared, since no file has the time of their steps: {joined_names(unknown)}.")
    worse = float(np.mean(for_twice[best] > served[best]))
    over = f"over {radians:.3g} rad" if radians is not None else "per radian turned"
    return Recommendation(
        question=f"Any body turning at {omega:g} rad/s, torque: {title}, error below {error:g} {over}, "
        f"{price_in_words(torque_price, priced.unit)}",
        best=first,
        sentence=f"Take {first.label} ({first.method}) with dt = 1/({served[best]:.3g} x {omega:g} rad/s) = {first.dt:.4g} s, "
        f"{served[best]:.3g} steps a radian at the initial angular velocity, "
        + ("or any other one: without a torque it is exact, " if is_exact else "")
        + (f"for {time:g} s." if radians is not None else "for the error of each radian."),
        serves=f"It is sufficient for {SHARE_OF_CASES:.0%} of {bodies} random bodies; for {worse:.0%} the error is more than "
        "twice the error asked for."
        + (f" For {HIGH:.0%} take dt = {1 / (many * omega):.4g} s." if isfinite(many) else "")
        + (f" Their torques are at most {STRONGEST:g} omega^2 (`strength`)." if classes != ["free"] else ""),
        costs=""
        if is_exact
        else f"A radian takes {served[best] * torques[best]:.3g} evaluations of the torque."
        + at_outputs(keys[best], [row for row in rows if allowed[keys.index(row.method)]]),
        changes=[
            f"a torque stronger than {STRONGEST:g} omega^2 (`strength`), more than {total:g} rad (`time`), or starts at rest "
            "(`inertia`, or a file): they are run for you",
            "your own body (`inertia`)",
            *restarts(METHODS.get(keys[best])),
        ],
        interval=(1 / (many * omega), 1 / (few * omega)),
        interval_means=f"Interval: for the middle {HIGH - LOW:.0%} of the bodies the largest step lies between "
        f"{1 / (many * omega):.3g} and {1 / (few * omega):.3g} s.",
        alternatives=rows,
        evidence=[
            f"{bodies} random bodies (all possible ratios of the moments, torques of strength {WEAKEST:g} to {STRONGEST:g} "
            f"omega^2) were run with {data.sizes['step']} steps; {SHARE_OF_CASES:.0%} of them stay below the error with this "
            "step and all finer ones.",
            "Error: the larger of the angle in rad and |omega - exact| over the initial |omega|, "
            + (
                f"at {total:g} rad; before that, as after the {radians:.3g} rad asked for, it is hardly ever larger."
                if path.name == files.LAWS and radians is not None and radians < total
                else f"at {total:g} rad."
            ),
            f"Times: steps measured on {priced.known_from()}.",
            f"From {files.named(path, ', the laws of a run with so many bodies, which come with polhode')}. {why}".strip(),
        ],
        error=error,
        kind="laws",
        asked={
            "torque": torque,
            "omega": omega,
            "time": time,
            "error": error,
            "torque_price": torque_price,
            "one_torque": one_torque,
        },
        remarks=remarks,
        shown=shown,
    )


def _file(results: Path | None) -> tuple[Path, "xr.Dataset | PlainDataset", str]:
    """The errors of a run or the released laws, whichever have more bodies: path, contents, and why if there are both."""
    contents: dict[Path, xr.Dataset | PlainDataset] = {}
    sizes: dict[Path, int] = {}
    for path in evidence.places(ERRORS, results, files.LAWS):
        if path.name == files.LAWS:
            contents[path] = evidence.table(path)
            sizes[path] = contents[path].sizes["body"]
        else:
            with evidence.of_this_version(path):
                sizes[path] = sizes_of(path).get("body", 0)
    path, _, why = evidence.richest(sizes, lambda bodies: (bodies,), "bodies")
    return path, contents[path] if path in contents else evidence.read(path), why


def _classes(torque: str, known: list[str]) -> list[str]:
    """The classes of a word, all of which the file must hold."""
    keys = laws.TOGETHER.get(torque, (ALIASES.get(torque, torque),))
    for key in keys:
        if key not in known:
            raise AdviceError(unknown_torque(torque, [*known, *laws.TOGETHER, *ALIASES]))
    return list(keys)


def _steps(data: "xr.Dataset", error: float, radians: float | None) -> tuple[np.ndarray, float]:
    """Steps per radian (2, class, method, body) for an error after so many radians and for twice it, and the checkpoint (rad).

    The checkpoint is the first one after the radians asked for.
    """
    ends = data["radians"].values
    at = len(ends) - 1 if radians is None else min(int(np.searchsorted(ends, radians)), len(ends) - 1)
    total = float(ends[at])
    target = error if radians is None else error / total
    steps = laws.steps_per_radian(data.isel(radians=slice(0, at + 1)), [target, 2 * target])["steps"]
    return steps.transpose("target", "torque_class", "integrator", "body").values, total


def _one_torque(keys: list[str], torques: np.ndarray, allowed: np.ndarray) -> set[str]:
    """The methods with one torque in a step among those that may be recommended."""
    return {key for key, number, may in zip(keys, torques, allowed, strict=True) if number == 1 and may}


def _is_better(work: np.ndarray, other: np.ndarray) -> bool:
    """Whether the interval of the median ratio of two works (class, body) says that the first is smaller."""
    ratio = laws.paired(work, other)
    return isfinite(ratio.high) and ratio.high < 1
