r"""What runs of water in a heat bath say: temperatures and energies with intervals, and the longest step with a small bias.

The blocks of all starts count as independent, without the first :data:`DROPPED` of each; those shorter than
:data:`INDEPENDENT` are joined. Intervals are Student's. The mean of both temperatures at the place of a step where the scheme
has them right, T, follows from the heat that the bath takes out, which is known much better than T itself: where the energy
without a bath would drift by d (kT per degree of freedom and time),

.. math::

   T = T_0 \left( 1 + \frac{2 d\,t}{e^{2 \gamma t} - 1} \right) \quad\text{(B A O A B)}, \qquad
   T = T_0 \left( 1 + \frac{d\,t}{\sinh \gamma t} \right) \quad\text{(O B A B O)},

with the friction gamma and the time t between two O: both are :math:`T_0 (1 + d/\gamma)` for short t. Friction and noise as
forces have this for any t: where the kinetic energy of half steps is the same before and after a kick, and the bath gives
:math:`-d\,t` in a step, :math:`\langle f v \rangle` with :math:`f = -\gamma v_- + R`, :math:`v = (v_- + v_+)/2` is
:math:`\gamma (kT_0 - m \langle v^2 \rangle)`. Every reading is corrected by its regression on the scatter of T about this value
(a control variate). Readings of chains of thermostats, which hold T themselves, are not corrected.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil, expm1, inf, isfinite, nan, sinh, sqrt

import numpy as np
import xarray as xr

from polhode.fits import NotInRun
from polhode.fits.liquid_drifts import largest_steps
from polhode.fits.seed_statistics import Estimate, mean

#: The released runs, and the check of a run.
RELEASED, CHECK = "full/checks/baths.nc", "baths"
#: The blocks of each start that are left out, and the time in fs over which means count as independent.
DROPPED, INDEPENDENT = 2, 3000.0
#: Temperatures, and the scheme in whose runs they are right between the kicks.
KINDS, BETWEEN_KICKS = ("translation", "rotation"), "BAOAB"
#: Friction and noise as forces, once a step.
AS_FORCES = "LAMMPS"
#: Runs with chains of Nose-Hoover thermostats, which hold temperatures between the kicks as well.
CHAINS = "CHAINS"
#: Readings of structure: the first peak of the radial distribution, and the cosine between neighbouring dipoles. The factor of
#: Kirkwood of a box changes too slowly for intervals from blocks of a few picoseconds.
STRUCTURE = ("peak", "cosine")
#: Steps whose potential energy with B A O A B counts as right: a single libration has no bias of its angle, and what the gap
#: between rotation and translation leaves is below the interval of the truth there.
SHORT = 2.0
#: The bias of the potential energy of a molecule to stay below, kT.
OF_ENERGY = 0.01
#: The longest step whose biases c dt^2 is fitted to, fs: beyond it the fourth order shows.
FITTED = 4.0


@dataclass(frozen=True)
class Bias:
    """A difference from the truth, ``value``, with the ends ``low`` and ``high`` of its interval (NaN without one).

    All are in K for temperatures and in kT for potential energies.
    """

    value: float
    low: float
    high: float

    @property
    def largest(self) -> float:
        """The largest size that the interval allows, in the unit of the bias; infinite without an interval."""
        return max(abs(self.low), abs(self.high)) if isfinite(self.low) else inf

    @property
    def smallest(self) -> float:
        """The smallest size that the interval allows, in the unit of the bias; NaN without an interval."""
        return 0.0 if self.low <= 0 <= self.high else min(abs(self.low), abs(self.high))


@dataclass(frozen=True)
class LongestStep:
    """The longest step with a bias below what is allowed, fs.

    Parameters
    ----------
    certain : float
        The longest whose interval is below it, while no shorter one is shown to have more; 0 for none.
    possible : float
        The longest up to which it may be; 0 for none.
    fitted : Estimate
        The step at which c dt^2 is as large as allowed, with the interval of c; its end may be infinite.
    """

    certain: float
    possible: float
    fitted: Estimate

    @property
    def range_of_fit(self) -> str:
        """The interval of the fitted step in words, in fs."""
        low, high = self.fitted.low, self.fitted.high
        return f"{low:.2g} to {high:.2g}" if isfinite(high) else f"{low:.2g} or more"


def longest_step(biases: Mapping[float, Bias], allowed: float) -> LongestStep:
    """The longest steps (fs) with a bias below ``allowed``.

    ``biases``: step in fs, ascending -> the bias with this step; ``allowed`` in the same unit, K or kT.
    """
    _, possible = largest_steps(biases, allowed)
    certain = max((dt for dt, bias in biases.items() if dt <= possible and bias.largest < allowed), default=0.0)
    return LongestStep(certain, possible, _fitted_step(biases, allowed))


def _fitted_step(biases: Mapping[float, Bias], allowed: float) -> Estimate:
    """The step at which c dt^2 has the size ``allowed``, by least squares over steps to :data:`FITTED`; NaN without any."""
    short = {dt: bias for dt, bias in biases.items() if dt <= FITTED and isfinite(bias.low)}
    if not short:
        return Estimate(nan)
    squares, values = np.array(list(short)) ** 2, np.array([bias.value for bias in short.values()])
    weights = squares / np.array([(bias.high - bias.low) / 2 for bias in short.values()]) ** 2
    curvature, half = abs(float(weights @ values / (weights @ squares))), float(weights @ squares) ** -0.5
    ends = (curvature, curvature + half, curvature - half)
    return Estimate(*(sqrt(allowed / end) if end > 0 else inf for end in ends))


class BathRun:
    """The starts of one case: ``data`` over seed and block, of a dataset of :data:`CHECK`, at the bath's ``temperature``, K.

    Its attributes are ``temperature`` (K), ``duration``, ``dt`` and ``exchange`` (fs), ``friction`` (1/ps), ``scene`` and
    ``scheme``.
    """

    def __init__(self, data: xr.Dataset, temperature: float) -> None:
        self.temperature, self.duration = temperature, float(data["duration"])
        blocks = np.arange(data.sizes["block"])[DROPPED:]
        joined = ceil(INDEPENDENT * data.sizes["block"] / self.duration - 1e-9)
        pieces = np.array_split(blocks, max(1, len(blocks) // joined))
        of_blocks = {str(name): variable.transpose("seed", "block").values for name, variable in data.data_vars.items()}
        self._values = {name: np.stack([values[:, piece].mean(1) for piece in pieces], 1) for name, values in of_blocks.items()}
        self._times = np.array([piece.mean() + 0.5 for piece in pieces]) * self.duration / data.sizes["block"]
        self.scene, self.scheme = str(data["scene"].values), str(data["scheme"].values)
        self.friction, self.dt, self.exchange = (float(data[name]) for name in ("friction", "dt", "exchange"))

    @property
    def is_lost(self) -> bool:
        """Whether one of the runs broke down."""
        return not np.isfinite(self._values["rotation"]).all()

    @cached_property
    def drift(self) -> Estimate:
        """The drift of the energy less the heat of the bath, kT per ns and degree of freedom; NaN if a run is lost.

        The mean over the starts, with its interval.
        """
        blocks = self._values["left"]
        if not np.isfinite(blocks).all():
            return Estimate(nan)
        return mean(np.polyfit(self._times * 1e-6, blocks.T, 1)[0])

    @property
    def place(self) -> str:
        """The prefix of the variables with the temperatures that the scheme has right: ``middle_`` (between the kicks) or
        nothing.
        """
        return "middle_" if self.scheme in (BETWEEN_KICKS, CHAINS) else ""

    @property
    def balance(self) -> float:
        """The mean temperature of translation and rotation by the heat of the bath, K (see the module).

        NaN with chains of thermostats, and if a run is lost.
        """
        if self.scheme == CHAINS:
            return nan
        turn, drift = self.friction * 1e-3 * self.exchange, self.drift.value * 1e-6 * self.exchange
        if self.scheme == BETWEEN_KICKS:
            share = 2 * drift / expm1(2 * turn)
        else:
            share = drift / (turn if self.scheme == AS_FORCES else sinh(turn))
        return self.temperature * (1 + share)

    def reading(self, name: str) -> Estimate:
        """The mean of the variable ``name`` of the dataset over blocks and starts, in its unit there, with its interval.

        It is corrected as :meth:`steadied` says.
        """
        return mean(self.steadied(self._values[name]).ravel())

    def steadied(self, values: np.ndarray) -> np.ndarray:
        """Values (seeds, blocks) less what the scatter of the temperature explains of them, in the same shape and unit.

        With chains of thermostats, and if a run is lost, the values are returned unchanged.
        """
        balance = self.balance
        if not isfinite(balance):
            return values
        excess: np.ndarray = np.mean([self._values[f"{self.place}{kind}"] for kind in KINDS], axis=0) - balance
        scatter = excess - excess.mean()
        return values - float((scatter * (values - values.mean())).sum() / (scatter**2).sum()) * excess

    @property
    def excess(self) -> Estimate:
        """The mean of both temperatures where the scheme has them right, above the bath's, K, without a correction."""
        both = np.mean([self._values[f"{self.place}{kind}"] for kind in KINDS], axis=0)
        return mean(both.ravel() - self.temperature)

    @property
    def configurational(self) -> Estimate:
        """The temperature of rotation by torques and their divergence, K, with its interval by the delta method."""
        squares, divergence = self._values["squares"], self._values["divergence"]
        ratio = squares.mean() / divergence.mean()
        return mean((ratio + (squares - ratio * divergence) / divergence.mean()).ravel() * self.temperature)

    def biases(self, truth: Estimate) -> dict[str, Bias]:
        """The biases of both temperatures where the scheme has them right, K, and of the potential energy of a molecule, kT.

        The keys are ``translation``, ``rotation`` and ``potential``; ``truth`` is the true potential energy of a molecule, kT
        (:meth:`BathRuns.truth`).
        """
        result = {}
        for kind in KINDS:
            of_kind = self.reading(f"{self.place}{kind}")
            result[kind] = Bias(*(end - self.temperature for end in (of_kind.value, of_kind.low, of_kind.high)))
        return result | {"potential": self.above("potential", truth)}

    def above(self, name: str, truth: Estimate) -> Bias:
        """The reading of the variable ``name`` less its true value ``truth``, with the interval of both, in the unit of the
        variable.
        """
        reading = self.reading(name)
        value = reading.value - truth.value
        half = np.hypot(reading.high - reading.value, truth.high - truth.value)
        return Bias(value, value - half, value + half)


class BathRuns:
    """All cases of a dataset of :data:`CHECK`: ``cases`` by key, and the ``temperature`` of the bath, K."""

    def __init__(self, data: xr.Dataset) -> None:
        self.temperature = float(data.attrs["temperature"])
        self.cases = {str(key): BathRun(data.sel(case=key), self.temperature) for key in data["case"].values}

    def of(self, scene: str) -> list[BathRun]:
        """The cases of a scene; :class:`NotInRun` if there are none."""
        if not (chosen := [case for case in self.cases.values() if case.scene == scene]):
            raise NotInRun(f"the runs in heat baths have none of {scene}")
        return chosen

    def ladder(self, scene: str, scheme: str, friction: float) -> dict[float, BathRun]:
        """The runs of a scheme with a ``friction`` in 1/ps, by step in fs, ascending; :class:`NotInRun` if there are none."""
        chosen = [case for case in self.of(scene) if (case.scheme, case.friction) == (scheme, friction)]
        if not chosen:
            raise NotInRun(f"the runs in heat baths have no {scheme} with a friction of {friction:g}/ps in {scene}")
        return {case.dt: case for case in sorted(chosen, key=lambda case: case.dt)}

    def truth(self, scene: str, name: str = "potential") -> Estimate:
        """The mean reading of all runs with B A O A B and steps to :data:`SHORT`; :class:`NotInRun` without any.

        Each run counts by the inverse square of its interval.

        ``name``: a variable of the dataset, in its unit there: K for temperatures, kT for the potential energy of a molecule.
        """
        short = [case for case in self.of(scene) if case.scheme == BETWEEN_KICKS and case.dt <= SHORT]
        readings = [case.reading(name) for case in short]
        if not readings:
            raise NotInRun(f"the runs in heat baths have none of {scene} with {BETWEEN_KICKS} and up to {SHORT:g} fs")
        halves = np.array([reading.high - reading.value for reading in readings])
        weights = 1 / halves**2
        value = float(weights @ [reading.value for reading in readings] / weights.sum())
        half = float(weights.sum() ** -0.5)
        return Estimate(value, value - half, value + half)

    def longest_steps(
        self, scene: str, scheme: str, friction: float, bias: float, of_energy: float = OF_ENERGY
    ) -> dict[str, LongestStep]:
        """The longest steps with which temperatures are within ``bias`` K, and the potential energy within ``of_energy`` kT.

        The keys are ``translation``, ``rotation`` and ``potential``; ``friction`` is in 1/ps. Lost runs do not count;
        :class:`NotInRun` if there are no such runs.
        """
        truth = self.truth(scene)
        of_steps: Mapping[float, Mapping[str, Bias]] = {
            dt: case.biases(truth) for dt, case in self.ladder(scene, scheme, friction).items() if not case.is_lost
        }
        return {
            name: longest_step({dt: of_step[name] for dt, of_step in of_steps.items()}, allowed)
            for name, allowed in ((KINDS[0], bias), (KINDS[1], bias), ("potential", of_energy))
        }
