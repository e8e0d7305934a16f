"""Satellites with wheels on the page: what ``polhode recommend --spacecraft`` answers from, and the words of its answers.

``satellites.js`` finds the answer for the numbers that a reader types, as :mod:`polhode.advice.from_satellites` does: from the
same steps of the released satellites, the same times of steps, and with the same sentences.
"""

from collections.abc import Collection
from typing import Any

from polhode.advice import SMALLEST_ERROR, from_satellites
from polhode.advice.answer import known_as
from polhode.advice.cases import LARGEST, SMALLEST
from polhode.advice.prices import COST, USUAL, prices
from polhode.fits import satellite_steps
from polhode_study.chapters.communities.frames import SPACE
from polhode_study.explorer.packing import numbers
from polhode_study.inputs import Inputs, NotInRun


def satellites(inputs: Inputs, methods: Collection[str]) -> dict[str, Any] | None:
    """The steps of random satellites, what a step and a torque take, and the words of an answer.

    None without the released satellites or times of steps, or if ``methods``, the methods of the page, lack some of theirs.
    """
    try:
        path = inputs.released_path(satellite_steps.SATELLITES)
        folder = _times(inputs)
    except NotInRun:
        return None
    data, priced = satellite_steps.read(path), prices(USUAL, folder)
    if not set(data.methods) <= set(methods):
        return None
    count = len(data.ratios)
    return {
        "about": f"From {count} random satellites with h/(Iω) from 0 to {data.ratios.max():.3g}, under gravity alone, with "
        f"thrusters that fire, or with a controller that samples, each run for {data.radians:g} radians of the faster of spin "
        "and nutation. Steps are counted in radians of this rate: with a wheel of momentum h along y a body nutates at "
        "h/√(IxIz).",
        "methods": data.methods,
        "labels": [known_as(key) for key in data.methods],
        "errors": data.errors.tolist(),
        "steps": numbers(data.steps),
        "every": numbers(data.every),
        "torques": [inputs.declared(key, "torques_per_step", 1) for key in data.methods],
        "starting": [from_satellites.starting_torques(key) for key in data.methods],
        "step_time": [priced.step.get(key, 0.0) for key in data.methods],
        "moving_time": [data.exact_motion * priced.unit if key == from_satellites.EXACT else 0.0 for key in data.methods],
        "unit": priced.unit,
        "constants": from_satellites.constants(),
        "shares": from_satellites.shares(count),
        "words": from_satellites.WORDS,
        "limits": {"rates": [SMALLEST, LARGEST], "error": [SMALLEST_ERROR, 1.0]},
        "example": {**from_satellites.CUBESAT, "every": None, "time": None, "below": SPACE},
    }


def _times(inputs: Inputs) -> Any:
    """The folder with the times of steps of the run, or else of the release; :class:`NotInRun` if neither has any."""
    try:
        return inputs.file("cost").parent
    except NotInRun:
        return inputs.released_path(COST).parent
