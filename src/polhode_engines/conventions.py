"""What the numbers of a run mean: order and direction of the quaternion, frame and units of the spin, found from the rows.

From one row to the next the body turns by the rotation between its two orientations. Under the right conventions that is the
angular velocity times the step, up to terms of higher order in the step; under wrong ones it points elsewhere. How far it is
off, over the angle turned, decides between sixteen conventions. The angle turned itself is the same under all of them, and its
ratio to the product of angular velocity and step is one, or that of the units to rad and seconds.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from polhode.algebra.quaternion import of_axes
from polhode_engines.run_files import Rows

#: Conventions whose rotations are this many times further off than the best ones are wrong.
WORSE = 4.0
#: What rotations may miss at most, over their angles.
CREDIBLE = 0.6
#: Units of angles and of time, in rad and s.
ANGLES = {"rad": 1.0, "degrees": math.pi / 180, "revolutions": 2 * math.pi, "revolutions per minute": 2 * math.pi / 60}
TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12, "fs": 1e-15, "hours": 3600.0, "days": 86400.0}
#: A ratio comes from units if it agrees within the second factor: integrators turn by a few per cent more or less in large
#: steps, in small ones by less, as the square of the angle turned; the first is what a step of 0 rad may miss.
UNITS_CLOSE, UNITS_WITHIN = 1.05, 1.25
#: A quaternion may differ from unit length by so many units of its last printed place.
LENGTH_WITHIN = 4.0


@dataclass(frozen=True)
class Convention:
    """How the numbers of a row are to be read.

    Parameters
    ----------
    scalar : "first" or "last", of the quaternion
    direction : "body to lab" or "lab to body"
    quantity : "angular velocity" or "angular momentum"
    frame : "body" or "lab", of this vector
    angle, time : their units
    rows_ahead : 1 if the vector in a row belongs to the orientation in the next
    """

    scalar: str = "first"
    direction: str = "body to lab"
    quantity: str = "angular velocity"
    frame: str = "body"
    angle: str = "rad"
    time: str = "s"
    rows_ahead: int = 0

    def __str__(self) -> str:
        units = {"rad": "rad/s", "revolutions per minute": "revolutions per minute"}.get(self.angle, f"{self.angle} per second")
        spin = f"{self.quantity} in the {self.frame} frame" + (f", {units}" if self.quantity == "angular velocity" else "")
        ahead = ", written before the orientation of the same row has been advanced" if self.rows_ahead else ""
        return f"scalar {self.scalar}; {self.direction}; {spin}{ahead}; time in {self.time}"

    def states(self, rows: Rows, inertia: np.ndarray, axes: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """q (n, 4), scalar first, body to lab, and omega (n, 3) in the body frame, rad per unit of time of the file.

        q is of unit length where it is so but for what printing has cut off; otherwise it keeps the length of the rows.
        ``inertia`` (3,) are the principal moments, in the unit that a momentum of the file needs. ``axes`` (3, 3) has the
        principal axes, in the frame of the file, as columns; the states are of the principal frame. Without it the frame
        of the file is the principal one. Where a vector belongs to the next orientation there is one state less than rows.
        """
        q = np.roll(rows.q, 1, axis=1) if self.scalar == "last" else rows.q
        length = np.linalg.norm(q, axis=1, keepdims=True)
        if rows.q_unit and np.nanmax(np.abs(length - 1)) < LENGTH_WITHIN * rows.q_unit:
            q = q / length  # what printing has cut off
        if self.direction == "lab to body":
            q = q * (1, -1, -1, -1)
        omega = rows.spin
        if self.rows_ahead:
            q, omega = q[1:], omega[:-1]
        if self.frame == "lab":
            omega = turned_back(q / np.linalg.norm(q, axis=1, keepdims=True), omega)
        if axes is not None and not np.array_equal(axes, np.eye(3)):
            q, omega = turned_by(q, of_axes(axes.tolist())), omega @ axes
        if self.quantity == "angular momentum":
            omega = omega / inertia
        return q, omega * ANGLES[self.angle]


@dataclass(frozen=True)
class Fit:
    """A convention with how well rotations fit it: the median of what is missing over the angle turned, and their ratio.

    The angle turned is divided by omega dt, in rad and the time of the file; ``angle`` is the angle turned, rad.
    """

    convention: Convention
    miss: float
    ratio: float
    angle: float = 1.0

    @property
    def factor(self) -> float:
        """What the units of the convention leave of the ratio, without a unit: 1 if the body turns by omega dt."""
        return self.ratio / (ANGLES[self.convention.angle] * TIMES[self.convention.time])

    @property
    def is_explained(self) -> bool:
        """Whether units explain the ratio: it is the ratio of the units but for what a method may miss in such a step."""
        return self.factor > 0 and abs(math.log(self.factor)) < _units_within(self.angle)


def turned_back(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The components (n, 3) of lab vectors v (n, 3) in the body frames of unit quaternions q (n, 4), in the unit of v.

    q is scalar first and takes body to lab.
    """
    u, s = -q[:, 1:], q[:, :1]
    turned: np.ndarray = v + 2 * np.cross(u, np.cross(u, v) + s * v)
    return turned


def turned_by(q: np.ndarray, r: Sequence[float]) -> np.ndarray:
    """The products q r (n, 4) of quaternions q (n, 4) with one quaternion r (4,), scalar first."""
    s, v, w, u = q[:, :1], q[:, 1:], r[0], np.array(r[1:])
    return np.hstack([s * w - v @ u[:, None], s * u + w * v + np.cross(v, u)])


def rotations(q: np.ndarray) -> np.ndarray:
    """The rotation vectors (n - 1, 3), rad, in the body frame, from each of n orientations to the next.

    q (n, 4) are quaternions, scalar first, body to lab; their lengths and signs do not matter.
    """
    a, b = q[:-1], q[1:]
    s = (a * b).sum(1)
    v = a[:, :1] * b[:, 1:] - b[:, :1] * a[:, 1:] - np.cross(a[:, 1:], b[:, 1:])
    sign, size = np.where(s < 0, -1.0, 1.0), np.linalg.norm(v, axis=1)
    angle = 2 * np.arctan2(size, np.abs(s))
    with np.errstate(all="ignore"):
        return np.asarray(np.where(size > 0, sign * angle / size, 0.0)[:, None] * v)


def misses(q: np.ndarray, omega: np.ndarray, dt: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The relative miss (n - 1,) of the rotations between rows from omega dt, and the ratio (n - 1,) of both along omega.

    The miss is the length of the difference over the angle turned, with omega before, after or in the mean of each step,
    whichever fits best by the median over all steps; the ratio is always with the mean. q (n, 4) is scalar first, body to lab,
    omega (n, 3) in the body frame, in rad and the time of ``dt``, which is a number, or has one for each of the n - 1
    rotations.
    """
    turned = rotations(q)
    with np.errstate(all="ignore"):
        along = dt
        dt = np.reshape(dt, (-1, 1))
        angle = np.linalg.norm(turned, axis=1)
        mean = (omega[:-1] + omega[1:]) / 2
        off = [np.linalg.norm(turned - dt * w, axis=1) / angle for w in (mean, omega[:-1], omega[1:])]
        best = off[int(np.argmin([np.nanmedian(misses) for misses in off]))]
        ratio = (turned * mean).sum(1) / (along * (mean * mean).sum(1))
    return best, ratio


def fits(
    rows: Rows, inertia: np.ndarray, dt: float | np.ndarray, rows_ahead: int = 0, axes: np.ndarray | None = None
) -> Iterator[Fit]:
    """Every convention that names of columns allow, with its units, and how well the rows fit it.

    A constant factor is no miss: units explain it, or a method that turns too little in large steps, or a fault of the code.

    Parameters
    ----------
    inertia : (3,), principal moments, in the unit that a momentum of the file needs
    dt : the time from row to row, in the unit of the file, a number or (n - 1,)
    rows_ahead : 1 if a vector belongs to the orientation in the next row
    axes : (3, 3), the principal axes in the frame of the file, as columns; by default they are that frame
    """
    dt = dt[rows_ahead:] if isinstance(dt, np.ndarray) else dt
    frames = (rows.frame,) if rows.frame else ("body", "lab")
    quantities = (rows.quantity,) if rows.quantity else ("angular velocity", "angular momentum")
    scalars = (rows.scalar,) if rows.scalar else ("first", "last")
    for scalar, direction, quantity, frame in product(scalars, ("body to lab", "lab to body"), quantities, frames):
        plain = Convention(scalar, direction, quantity, frame, rows_ahead=rows_ahead)
        q, omega = plain.states(rows, inertia, axes)
        ratio = float(np.nanmedian(misses(q, omega, dt)[1]))
        turned = float(np.nanmedian(np.linalg.norm(rotations(q), axis=1)))
        angle, time = units_of(ratio, quantity, turned)
        miss = float(np.nanmedian(misses(q, omega, dt * abs(ratio))[0]))
        yield Fit(replace(plain, angle=angle, time=time), miss, ratio, turned)


def _units_within(turned: float) -> float:
    """The logarithm of the factor within which a ratio comes from units, where steps turn a body by so many rad."""
    return math.log(min(UNITS_WITHIN, UNITS_CLOSE + turned * turned))


def units_of(ratio: float, quantity: str, turned: float = 1.0) -> tuple[str, str]:
    """The names of units of angle and time that explain the ratio of the angle turned to omega dt; rad and s if none do.

    They are keys of :data:`ANGLES` and :data:`TIMES`. ``quantity`` is as in :class:`Convention`; ``turned`` is the angle
    turned in a step, rad, with which more is allowed for errors of a method.
    """
    angles = ANGLES if quantity == "angular velocity" else {"rad": 1.0}
    for angle, time in product(angles, TIMES):
        if ratio > 0 and abs(math.log(ratio / (ANGLES[angle] * TIMES[time]))) < _units_within(turned):
            return angle, time
    return "rad", "s"


def plausible(candidates: Sequence[Fit]) -> list[Fit]:
    """The conventions that may be right, the best first; those with a factor that no units explain come last.

    They miss by at most :data:`WORSE` times what the best one misses, and by less than :data:`CREDIBLE`; there may be none.
    """
    ordered = sorted(
        (candidate for candidate in candidates if math.isfinite(candidate.miss)), key=lambda candidate: candidate.miss
    )
    likely = [fit for fit in ordered if fit.miss <= WORSE * ordered[0].miss + 1e-9 and fit.miss < CREDIBLE]
    return sorted(likely, key=lambda fit: not fit.is_explained)
