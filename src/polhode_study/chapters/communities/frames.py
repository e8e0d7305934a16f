"""What table, figure and numbers of the first page share: codes by the atlas, and steps for nine bodies in ten."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import gamma, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from polhode.fits import grain_changes, impact_errors, laws, satellite_steps
from polhode.fits.atlas_names import key_of
from polhode_study.chapters.grains import frames as grains
from polhode_study.chapters.impacts import frames as impacts
from polhode_study.chapters.laws import frames as law_frames
from polhode_study.chapters.laws.frames import SMOOTH, EnsembleLaws
from polhode_study.inputs import Inputs, NotInRun

#: The largest overlap is (15 m v^2 / (16 sqrt(R) E*))^(2/5), and a contact lasts so many times that over v.
HERTZ = 4 * sqrt(pi) * gamma(2 / 5) / (5 * gamma(9 / 10)) * (15 / 16) ** (2 / 5)
#: The errors per radian that games and spacecraft accept.
GAME, SPACE = 1e-2, 1e-6
#: The usual rate of a game, Hz.
FRAMES = 60.0
#: Engines of discrete elements, of games and robotics, and of spacecraft: key in the atlas, and the option that counts; empty:
#: what a user gets who chooses nothing. Two releases of YADE have different defaults, the newest is first. Bullet's multibodies
#: are damped as shipped, its rigid bodies are not.
DEM = (("yade", ""), ("yade", "aspherical"), ("lammps", "rigid"), ("kratosdem", ""))
GAMES = (
    ("ode", ""),
    ("pybullet", "rigidbody"),
    ("sapien", "CPU"),
    ("rapier3d", ""),
    ("mujoco", ""),
    ("drake", ""),
    ("dartpy", ""),
    ("brax", ""),
    ("newton", "XPBD"),
    ("ammo", ""),
)
SPACECRAFT = (("bsk", ""),)
#: A torque of the start of a step that is used for all of it, and the same method with the torque in the middle of its kick.
FROZEN, CENTRED = "spiral_synchronous", "spiral_leapfrog"
#: The code whose contact update the grains were run with.
CODE = "LAMMPS"
#: What spacecraft run.
RUNGE_KUTTA = "rk4"


@dataclass(frozen=True)
class Code:
    """A row of the atlas: a code, its method (key, name), its orders under a torque constant in the body and in the lab."""

    name: str
    version: str
    method: str
    label: str
    constant: float
    lab: float

    @property
    def release(self) -> str:
        """Its name with the first number of its version."""
        return f"{self.name} {self.version.partition('.')[0]}"


def with_wheels(inputs: Inputs, error: float) -> dict[str, float]:
    """Method -> the steps a radian of the faster of spin and nutation sufficient for 90 % of random satellites, fewest torques
    first."""
    steps = satellite_steps.read(inputs.released_path(satellite_steps.SATELLITES)).sufficient(error)
    return dict(sorted(steps.items(), key=lambda item: inputs.declared(item[0], "torques_per_step", 1) * item[1]))


def codes(inputs: Inputs, chosen: Iterable[tuple[str, str]]) -> list[Code]:
    """The rows of the atlas for some engines with an option, in their order; engines that it lacks are left out."""
    atlas = inputs.atlas
    rows = []
    for key, option in chosen:
        at = (atlas["key"] == key) & ((atlas["option"] == option) if option else (atlas["is_default"] == 1))
        for i in np.flatnonzero(at.values)[:1]:
            row = atlas.isel(engine=i)
            order = row["q_order"]
            texts = {name: str(row[name].values) for name in ("label", "version", "method", "method_label")}
            engine = texts["label"].partition(" (")[0]  # Bullet (PyBullet): the engine, and after it the package
            orders = (float(order.sel(load=load)) for load in ("constant", "lab"))
            # Also a leapfrog whose angular velocity is read half a step old is that method.
            method = " = ".join(map(key_of, texts["method"].split(" = ")))
            rows.append(Code(engine, texts["version"], method, texts["method_label"], *orders))
    return rows


def damped(inputs: Inputs) -> list[str]:
    """The engines that stop every free spin as they are shipped."""
    atlas = inputs.atlas
    stops = np.char.endswith(atlas["option"].values.astype(str), "as shipped") & (atlas["energy_drift"].values < -0.99)
    return [str(label).partition(" (")[0] for label in atlas["label"].values[stops]]


def without_gyroscopic_term(inputs: Inputs) -> list[str]:
    """The engines that leave the gyroscopic term out as a user gets them."""
    atlas = inputs.atlas
    leaves = (atlas["is_default"].values == 1) & (atlas["gyroscopic"].values == "no")
    return [str(label).partition(" (")[0] for label in atlas["label"].values[leaves]]


@dataclass(frozen=True)
class Steps:
    """Steps per radian under smooth torques: sufficient for half of the bodies, and for nine in ten."""

    half: float
    most: float

    @property
    def rate(self) -> float:
        """Hz sufficient for nine in ten of the bodies that turn once a second."""
        return 2 * pi * self.most


def steps(ens: EnsembleLaws, method: str, error: float) -> Steps:
    """The steps of a method for an error per radian; :class:`NotInRun` if the ensembles have it not."""
    row = law_frames.of_method(ens, SMOOTH, method, error)
    if not row.method:
        raise NotInRun(f"the ensembles of this run have not the method {method}")
    return Steps(row.steps[0], row.steps[2])


def serving(ens: EnsembleLaws, allowed: NDArray[np.bool_], error: float) -> str:
    """Of the methods ``allowed``, that with the fewest torques per radian for nine bodies in ten.

    Raises
    ------
    NotInRun
        If none reaches the error on nine bodies in ten.
    """
    work = laws.spread(ens.work(ens.rows(SMOOTH), error).reshape(len(ens.methods), -1), axis=1).high
    usable = np.where(allowed & ens.recommendable & np.isfinite(work), work, np.inf)
    if not len(usable) or not np.isfinite(usable.min()):
        raise NotInRun(f"no method reaches an error of {error:g} per radian on nine bodies in ten")
    return ens.methods[int(np.argmin(usable))]


def without_outputs(inputs: Inputs, ens: EnsembleLaws) -> NDArray[np.bool_]:
    """The methods with one torque a step that need no others where their state is read, as a game does after each step."""
    return law_frames.one_torque(ens) & ~_declares(inputs, ens, "torques_per_output")


def several(inputs: Inputs, ens: EnsembleLaws) -> NDArray[np.bool_]:
    """The methods with several torques a step that do not damp or heat."""
    return law_frames.several_torques(ens) & ~_declares(inputs, ens, "caution")


def single(inputs: Inputs, ens: EnsembleLaws) -> NDArray[np.bool_]:
    """The methods with one torque a step that do not damp or heat."""
    return law_frames.one_torque(ens) & ~_declares(inputs, ens, "caution")


def _declares(inputs: Inputs, ens: EnsembleLaws, name: str) -> NDArray[np.bool_]:
    return np.array([bool(inputs.declared(key, name, 0)) for key in ens.methods])


def of_impacts(inputs: Inputs) -> dict[str, float]:
    """Errors of the spin that 95 random impacts in 100 do not exceed (:func:`polhode.fits.impact_errors.served`), % of its
    largest change: as codes have it, with all cures, and the largest change by another method of rotation.
    """
    spin = impacts.random(inputs).sel(quantity="spin")
    others = [key for key in spin["integrator"].values if key not in impacts.APART]
    change = abs(spin["by_method"].sel(integrator=others) - spin["by_method"].sel(integrator=impact_errors.LEADING))
    errors = {
        "codes": spin["by_stage"].sel(stage=impact_errors.LIKE_CODES),
        "cured": spin["by_stage"].sel(stage=impact_errors.CURED),
        "method": change.max("integrator"),
    }
    return {name: 100 * impact_errors.served(values.values) for name, values in errors.items()}


@dataclass(frozen=True)
class Slope:
    """How the contact update of a code at the contact time over ``division`` changes the slope in a drum, degrees, and the
    scatter of runs.
    """

    division: int
    change: float
    low: float
    high: float
    scatter: float


def slope(inputs: Inputs) -> Slope:
    """The change of the slope in a rotating drum with the contact update of LAMMPS, at the longest step that is stated,
    against the shortest step with all corrections.

    Raises
    ------
    NotInRun
        If neither the run nor the release has the drum.
    """
    data = grains.data_of(inputs, "drum")
    change = grain_changes.changes(data, "angle", CODE).get(grains.STATED)
    if change is None:
        raise NotInRun("the drum was not run with this step")
    return Slope(grains.STATED, change.value, change.low, change.high, grains.scatter(data, "angle"))


def contact_time(young: float, poisson: float, density: float, radius: float, speed: float) -> float:
    """The time, s, of a head-on contact of a sphere with a wall of its material, :data:`HERTZ` (m^2 / R E*^2 v)^(1/5).

    Parameters
    ----------
    young, poisson, density : of the material; Pa, 1, kg/m^3
    radius, speed : of the sphere; m, m/s
    """
    mass, reduced = 4 / 3 * pi * radius**3 * density, young / (2 * (1 - poisson**2))
    return float(HERTZ * (mass**2 / (radius * reduced**2 * speed)) ** 0.2)


def grouped(ens: EnsembleLaws, rows: Iterable[Code]) -> dict[str, list[str]]:
    """Method -> the codes that run it, for the methods that the ensembles have."""
    by_method: dict[str, list[str]] = {}
    for row in rows:
        if row.method in ens.methods:
            by_method.setdefault(row.method, []).append(row.name)
    return by_method


def contact_orders(inputs: Inputs) -> dict[str, float]:
    """Code -> the order of its spins after impacts, the median over those of data/released/contacts.nc.

    Raises
    ------
    NotInRun
        If there is no such file.
    """
    data = inputs.released_data("contacts.nc")
    others = data.sel(code=data["code"] != "polhode", quantity="spin")
    return {
        str(label): float(np.median(order)) for label, order in zip(others["label"].values, others["order"].values, strict=True)
    }
