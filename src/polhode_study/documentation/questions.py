"""Questions that users of engines asked in public, and what the engine atlas measures for each.

The texts are in ``questions.yaml``; their numbers are those of the released atlas, but for two that are computed here.
"""

import re
from collections.abc import Mapping
from functools import cache
from math import isfinite, isinf
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from pydantic.dataclasses import dataclass

from polhode.interface.declared import STRICT, declared
from polhode.simulate import simulate
from polhode_engines import cases
from polhode_study.documentation.markdown import number

FILE = Path(__file__).with_suffix(".yaml")
#: What a text asks the atlas for: {quantity of ENGINE OPTION under LOAD at STEP}; only the quantity is always there.
PLACE = re.compile(r"{(?P<quantity>[^ }]+)(?: of (?P<name>.+?))??(?: under (?P<load>[^ }]+))?(?: at (?P<step>[^ }]+))?}")


@dataclass(frozen=True, config=STRICT)
class Question:
    """One question.

    Parameters
    ----------
    title : str
        The question, in a few words.
    threads : mapping
        Name of each thread -> owner, repository and number.
    asked : str
        What was asked there.
    measured : str
        What the atlas says about it, with places (:data:`PLACE`) for what is measured.
    """

    title: str
    threads: Mapping[str, str]
    asked: str
    measured: str


@dataclass(frozen=True, config=STRICT)
class Questions:
    """The questions, and the threads that were looked for and not found."""

    not_read: tuple[str, ...]
    questions: tuple[Question, ...]


QUESTIONS = declared(Questions, FILE)


class Atlas:
    """The rows of the atlas, by engine and option, and what is said of them.

    Parameters
    ----------
    data : xr.Dataset
        The released atlas.
    """

    def __init__(self, data: xr.Dataset) -> None:
        self.data = data
        names = zip(data["key"].values, data["option"].values, strict=True)
        self.places = {f"{key} {option}": i for i, (key, option) in enumerate(names)}

    def filled(self, text: str) -> str:
        """A text with what is measured in its places.

        Raises
        ------
        ValueError
            If the atlas has no such quantity, row, load or step.
        """

        def measured(place: re.Match[str]) -> str:
            given = {name: value for name, value in place.groupdict().items() if value}
            try:
                return str(getattr(self, given.pop("quantity"))(**given))
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{FILE.name}: {place[0]}: the atlas does not have that: {error}") from None

        return PLACE.sub(measured, text)

    def row(self, name: str) -> Any:
        """The row of "engine option"."""
        return self.data.isel(engine=self.places[name])

    def order(self, name: str, load: str = "free") -> str:
        """Order of q."""
        return f"{float(self.row(name)['q_order'].sel(load=load)):.1f}"

    def error(self, name: str, step: str) -> str:
        """Error of q of the free body at a step, in radians."""
        return number(float(self.row(name)["q_error"].sel(load="free", step=float(step))), 2)

    def drift(self, name: str) -> str:
        """What became of the energy of the long free spin."""
        row = self.row(name)
        change, steps = float(row["energy_drift"]), int(row["long_steps"])
        if isinf(change):
            return f"it diverges after {steps:,} steps"
        return f"its energy changes by {_percent(change)} in {steps:,} steps"

    def momentum(self, name: str) -> str:
        """Relative change of the length of the momentum."""
        return _percent(float(self.row(name)["momentum_drift"]))

    def momentum_size(self, name: str) -> str:
        """The same as a number without a sign."""
        return number(abs(float(self.row(name)["momentum_drift"])), 1)

    def energy_size(self, name: str) -> str:
        """Relative change of the energy as a number without a sign."""
        return number(abs(float(self.row(name)["energy_drift"])), 1)

    def end(self, name: str) -> str:
        """What a free spin does in the end."""
        end = str(self.row(name)["end"].item())
        return f"turns about the axis of the {end}" if end.endswith("moment") else end

    def method(self, name: str) -> str:
        """The method identified, in words."""
        return str(self.row(name)["method_label"].item())

    def version(self, name: str) -> str:
        """The version of the engine."""
        return str(self.row(name)["version"].item())

    def diverging(self) -> int:
        """The number of rows in which a free spin diverges."""
        return int((self.data["end"] == "diverges").sum())

    def torque_alone(self) -> int:
        """The number of rows without the gyroscopic term."""
        return int((self.data["gyroscopic"] == "no").sum())

    def torque_alone_by_default(self) -> str:
        """The number of those that a user gets who chooses none."""
        return str(int(self.data["is_default"].values[self.data["gyroscopic"].values == "no"].sum()) or "none")

    def energy_before(self) -> str:
        """The first of :func:`rescaled_energies`."""
        return f"{rescaled_energies()[0]:.2f}"

    def energy_after(self) -> str:
        """The second of :func:`rescaled_energies`."""
        return f"{rescaled_energies()[1]:.4f}"


def _percent(share: float) -> str:
    if not isfinite(share):
        return "without bound"
    return f"{100 * share:.2g} %" if abs(share) > 1e-4 else f"{number(share, 2)} of itself"


@cache
def rescaled_energies(steps: int = 10_000) -> tuple[float, float]:
    """Energy at the start and in the end of a free spin with the rescaled kick, in units of L²/(2 I) with the middle moment.

    The body of the atlas and the step of its long spin, from a start about the axis of the largest moment.
    """
    free = cases.problem("free", (0.3, 0.1, 1.0))
    run = simulate(free, "rescaled_momentum", cases.LONG_STEP, cases.LONG_STEP * steps, samples=1)
    omega, inertia = run["omega"].values, np.array(cases.INERTIA)
    ratio = (inertia * omega**2).sum(axis=1) * inertia[1] / ((inertia * omega) ** 2).sum(axis=1)
    return float(ratio[0]), float(ratio[-1])


def questions(data: xr.Dataset) -> str:
    """The questions, each with what was asked and what the atlas measures."""
    atlas, parts = Atlas(data), []
    for question in QUESTIONS.questions:
        places = ", ".join(f"`{place}`" for place in question.threads.values())
        parts.append(
            f"**{question.title}** ({places})\n\n* *Asked:* {question.asked}\n* *Measured:* {atlas.filled(question.measured)}\n"
        )
    left = f"Not found, so not read: {', '.join(QUESTIONS.not_read)}.\n"
    return "\n".join([*parts, left])
