"""What a method loses when it begins anew every N steps: at a change of the step, an impact, a restart from a file.

    python benchmarks/restarts.py

Thirty-two random bodies under gravity turn 16 rad with 16 steps a radian. Each is stopped after every N steps and started from
its orientation and angular velocity at that time. Printed are, as medians over the bodies, the error over that of a run without
restarts, and the torques over the steps.
"""

import numpy as np

from polhode.algebra import metrics
from polhode.ensembles import CLASSES, draw
from polhode.ensembles.many import Bodies, march
from polhode.methods import METHODS

COMPARED = (
    "magnus_adams4",
    "adams_bashforth4",
    "adams_bashforth3",
    "adams_bashforth2_buss",
    "exact_rotor_corrected",
    "exact_rotor",
    "spiral_leapfrog",
)
TORQUE, BODIES, RADIANS, PER_RADIAN, EVERY = "state", 32, 16, 16, (256, 64, 16, 4)


def main() -> None:
    """Print the table."""
    torque, bodies = CLASSES[TORQUE].compiled_torque, draw(BODIES).bodies(TORQUE)
    fine = march(bodies, METHODS["rkmk4"], torque, 2.0**-9, np.array([RADIANS * 512]))
    print("| method | " + " | ".join("never" if n == EVERY[0] else f"{n} steps" for n in EVERY) + " |")
    print("|---|" + "---|" * len(EVERY))
    for key in COMPARED:
        method, cells, first = METHODS[key], [], None
        for every in EVERY:
            now = bodies
            for _ in range(RADIANS * PER_RADIAN // every):
                q, omega, _ = march(now, method, torque, 1 / PER_RADIAN, np.array([every]))
                now = Bodies(bodies.moments, q[:, 0], omega[:, 0], bodies.parameters)
            error = np.maximum(
                metrics.geodesic_angle(now.q0, fine[0][:, 0]), np.linalg.norm(now.omega0 - fine[1][:, 0], axis=1)
            )
            first = error if first is None else first
            cells.append(f"{np.median(error / first):.2g}, {method.torques_in(every) / every:.2f}")
        print(f"| {method.label} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
