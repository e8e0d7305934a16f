"""The steps a radian that random satellites need: what :mod:`polhode.ensembles.satellites` has measured, for any error."""

import json
from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np

from polhode.fits import laws
from polhode.fits.largest_step import SHARE_OF_CASES

#: The released file.
SATELLITES = "satellites.json"
#: So many steps between two samples of a controller count as the only one.
AS_SAMPLES = 1.05


@dataclass(frozen=True)
class SatelliteSteps:
    """Steps a radian of the faster of spin and nutation.

    Parameters
    ----------
    methods : keys
    errors : (errors,) rad, of a radian turned, descending
    steps : (satellites, methods, errors) steps a radian; infinite where there is none
    every : (satellites,) radians between two samples of the controller; infinite where there is none
    ratios : (satellites,) the momentum of the wheels over the momentum of the spin
    radians : in a run
    exact_motion : time of the exact motion for a radian, in steps of direct Euler
    """

    methods: list[str]
    errors: np.ndarray
    steps: np.ndarray
    every: np.ndarray
    ratios: np.ndarray
    radians: float
    exact_motion: float

    def needed(self, error: float) -> np.ndarray:
        """Steps a radian, (satellites, methods), for an ``error`` (rad) of a radian that is at most the largest measured one.

        Between two errors, and below the smallest, as a power of the error; infinite where one of the two has no step. 0 where
        a single step between two samples of a controller is short enough.
        """
        at = int(np.clip(np.searchsorted(-self.errors, -error), 1, len(self.errors) - 1))
        coarse, fine = self.steps[..., at - 1], self.steps[..., at]
        share = np.log(error / self.errors[at - 1]) / np.log(self.errors[at] / self.errors[at - 1])
        with np.errstate(invalid="ignore"):
            steps = np.exp(np.log(coarse) + share * (np.log(fine) - np.log(coarse)))
        steps = np.maximum(steps, fine) if share > 1 else steps
        steps = np.where(np.isfinite(coarse) & np.isfinite(fine), steps, inf)
        return np.where(steps <= AS_SAMPLES / self.every[:, None], 0.0, steps)

    def sufficient(self, error: float, share: float = SHARE_OF_CASES) -> dict[str, float]:
        """Key of a method -> the steps a radian that are sufficient for this share of the satellites.

        ``error`` (rad) of a radian turned, as for :meth:`needed`.
        """
        return dict(zip(self.methods, map(float, laws.quantile(self.needed(error).T, share)), strict=True))


def read(path: Path) -> SatelliteSteps:
    """The steps in a file such as the released :data:`SATELLITES`.

    Raises
    ------
    OSError, ValueError, LookupError
        If it is none of these files.
    """
    data = json.loads(path.read_text(encoding="utf-8"))
    rows = list(data["satellites"].values())
    methods = list(rows[0]["steps"])
    return SatelliteSteps(
        methods,
        np.array(data["errors"], float),
        np.array([[row["steps"][key] for key in methods] for row in rows], float),
        np.array([row["every"] or inf for row in rows], float),
        np.array([row["ratio"] for row in rows], float),
        float(data["radians"]),
        float(data["exact_motion"]),
    )
