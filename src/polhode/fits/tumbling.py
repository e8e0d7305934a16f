"""Whether a free body tumbles as the exact one does."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

#: A relative change of energy or momentum in a long free spin that is worth a word.
NOTICED_CHANGE = 0.01
#: A share of the turns of the exact body that is worth a word; one turn more or less is the end of the run.
NOTICED_TURNS = 0.02


def tumbles_as_exact(changes: Sequence[float], turns: float, exact_turns: float) -> bool:
    """Whether a free body tumbles as the exact one does: changes up to :data:`NOTICED_CHANGE`, and not :func:`other_turns`.

    Numbers that were not measured (NaN) do not show it.

    Parameters
    ----------
    changes : sequence of float
        Of energy, of the length of the angular momentum, and of its vector in the lab, each relative, in long free spins.
    turns, exact_turns : float
        How often the body turns over about its middle axis, and how often the exact body does.
    """
    return all(abs(change) <= NOTICED_CHANGE for change in changes) and not other_turns(turns, exact_turns)


def other_turns(turns: float, exact_turns: float) -> bool:
    """Whether a body turns over more or less often than the exact one, or was not counted (NaN).

    By more than one turn, and by more than the part :data:`NOTICED_TURNS` of ``exact_turns``.
    """
    return not abs(turns - exact_turns) <= max(1.0, NOTICED_TURNS * exact_turns)


def tumbling(data: xr.Dataset) -> np.ndarray:
    """Whether the free body of each row tumbles as the exact one does (:func:`tumbles_as_exact`): an array (rows,) of bool.

    It rests on the long spin of the row, the vector of the angular momentum in 1000 s, and the turns of a T-handle in 120 s; a
    row of which one of them was not measured, or whose ``end`` is not ``tumbles``, does not. ``data``: the runs of the engines,
    with ``end``, ``energy_drift``, ``momentum_drift``, ``shipped_vector`` and ``shipped_turns`` over the rows, and the
    attribute ``exact_turns``.
    """
    changes = np.array([data[name].values for name in ("energy_drift", "momentum_drift", "shipped_vector")]).T
    exact = float(data.attrs["exact_turns"])
    rows = zip(data["end"].values, changes, data["shipped_turns"].values, strict=True)
    return np.array([str(end) == "tumbles" and tumbles_as_exact(tuple(row), float(turns), exact) for end, row, turns in rows])
