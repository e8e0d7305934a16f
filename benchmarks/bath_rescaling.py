"""Water under velocity rescaling around several methods: which temperatures and which potential energy they sample.

``python benchmarks/bath_rescaling.py`` writes ``data/released/bath_rescaling.csv``, with a row for each method and step: SPC/E
water (``water64``) at 300 K with a relaxation time of 100 fs, three starts, of which the first tenth is left out. Errors are
standard errors from 20 blocks of each. It takes five minutes.
"""

import argparse
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

HOME = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HOME / "src"))

from polhode import manybody  # noqa: E402

METHODS = ("omelyan1998", "spiral_leapfrog", "fincham1992", "exact_rotor", "no_squish", "magnus_adams4")
#: Steps, relaxation time, duration of a run and time between samples, fs; temperature, K; starts, and blocks of each.
STEPS, TIME, DURATION, BETWEEN, TEMPERATURE, STARTS, BLOCKS = (2.0, 4.0, 6.0), 100.0, 4e5, 40.0, 300.0, 3, 20


def row_of(method: str, dt: float) -> dict[str, object]:
    """Means and standard errors: temperatures in K, potential energy in kT a molecule.

    ``left`` is the energy less the heat of the bath, which the method itself makes, in kT per degree of freedom and ns.
    """
    fluid, blocks, left = manybody.scenes["water64"], [], []
    for seed in range(STARTS):
        bath = manybody.VelocityRescaling(TIME, temperature=TEMPERATURE, seed=seed)
        samples = round(DURATION / BETWEEN)
        run = manybody.simulate(fluid, method, dt, t_end=DURATION + 0.5 * dt, samples=samples, bath=bath, seed=seed)
        late = run.isel(time=slice(samples // 10, None))
        kinds = [f"temperature_{word}{kind}" for word in ("carried_", "") for kind in ("translation", "rotation")]
        readings = [*(late[name].values for name in kinds), late["potential"].values / fluid.thermal / len(fluid)]
        blocks += [block.mean(1) for block in np.array_split(np.array(readings), BLOCKS, axis=1)]
        energy = (run["energy"] - run["heat"]).values / fluid.thermal / sum(bath.degrees_of_freedom(fluid))
        left.append((energy[-1] - energy[0]) / (DURATION * 1e-6))
    table = np.array(blocks)
    names = "carried_translation", "carried_rotation", "translation", "rotation", "potential"
    row: dict[str, object] = {"method": method, "dt": dt}
    for name, values in zip(names, table.T, strict=True):
        row |= {name: round(float(values.mean()), 4), f"{name}_error": round(float(values.std(ddof=1)) / len(values) ** 0.5, 4)}
    return row | {"left": round(float(np.mean(left)), 4), "left_error": round(float(np.std(left, ddof=1) / STARTS**0.5), 4)}


def main() -> None:
    """Run all, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", type=Path, default=HOME / "data" / "released" / "bath_rescaling.csv")
    path = parser.parse_args().csv
    rows = []
    for method, dt in product(METHODS, STEPS):
        rows.append(row_of(method, dt))
        print(rows[-1], flush=True)
    pd.DataFrame(rows).to_csv(path, index=False)


if __name__ == "__main__":
    main()
