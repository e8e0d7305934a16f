"""A liquid of rigid molecules in a periodic box: a many-body scene whose sites attract and repel each other."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, isfinite, pi, sqrt
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from polhode.algebra.metrics import rotation_matrix
from polhode.interface.arguments import SINGLE, array, positive, regular_file, shown, text, whole
from polhode.interface.arrays import Arrays, about
from polhode.manybody import sites
from polhode.manybody.contact import Setup
from polhode.manybody.forces import FORCES
from polhode.manybody.law import ForceLaw, SitePair
from polhode.manybody.molecule import LARGEST, Molecule
from polhode.manybody.placement import BoxTooFull, State, check_number, checked_state, directions, motion_variables
from polhode.manybody.units import SYSTEMS, Units

#: A run is lost when its energy has changed by this many kT a molecule.
LOST_KT = 1.5
#: Orientations that are tried for each molecule of a lattice.
TRIES = 50
#: Cells along each edge of the box by which molecules are put in order, a power of two.
CELLS = 16
#: How far the box must exceed the molecule: a molecule must not see two images of another.
ROOM = 4.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Fluid:
    """Rigid molecules in a periodic cube centred at the origin, at constant energy.

    Lengths, times and energies are in the units of its molecules: of ``real`` ones angstrom, fs and kcal/mol.

    Parameters
    ----------
    key, label, source : str
        Name in the configuration and in files; name in figures; publication and where in it.
    molecules : tuple of (Molecule, count)
        The molecules and how many of each, or a function that returns this tuple when it is first needed; :attr:`clumps` is
        the tuple.
    box : float
        Edge of the cube; inf for molecules in empty space.
    temperature : float
        K, or in units of epsilon.
    horizon : float
        Time simulated by default.
    law : str or ForceLaw
        The law of force, a key of :data:`polhode.manybody.forces` or an object; its ``cutoff`` is at most half the box.
    dt : float, optional
        A usual time step, for films; by default a thousandth of the horizon.
    states : tuple of path
        Files with equilibrated states, as :meth:`save_state` writes them.
    mixing : "arithmetic" or "geometric"
        How sigma of two sites is found from those of both; epsilon is their geometric mean.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or an impossible value; the message says which.
    """

    key: str
    label: str
    molecules: tuple[tuple[Molecule, int], ...] | Callable[[], tuple[tuple[Molecule, int], ...]] = field(repr=False)
    box: float
    temperature: float
    horizon: float
    law: str | ForceLaw = "shifted_power"
    source: str = ""
    dt: float | None = None
    states: tuple[Path, ...] = ()
    mixing: str = "arithmetic"

    # What the engine knows of other scenes is not there.
    linear = walls_move = False

    def __post_init__(self) -> None:
        for name in ("key", "label", "source"):
            text(f"fluid: {name}", getattr(self, name), empty=name == "source")
        where = f"fluid {self.key!r}"
        for name in ("box", "temperature", "horizon"):
            value = getattr(self, name)
            if name == "box" and isinstance(value, float) and value == inf:
                continue
            if positive(f"{where}: {name}", value) > LARGEST:
                raise ValueError(f"{where}: {name} must be at most {LARGEST:g}, got {shown(value)}; see its unit")
        if self.dt is not None:
            positive(f"{where}: dt", self.dt)
        if not isinstance(self.states, tuple | list) or not all(isinstance(path, str | PathLike) for path in self.states):
            raise TypeError(f"{where}: states must be a tuple of paths of files, got {shown(self.states)}")
        if not isinstance(self.law, str | ForceLaw) or not self.force_law.for_sites:
            laws = ", ".join(key for key, law in FORCES.items() if law.for_sites)
            raise ValueError(f"{where}: law must be one between sites, such as {laws}; got {shown(self.law)}")
        if self.mixing not in ("arithmetic", "geometric"):
            raise ValueError(f"{where}: mixing must be 'arithmetic' or 'geometric', got {shown(self.mixing)}")
        if isfinite(self.box) and 2 * self.cutoff > self.box:
            raise ValueError(
                f"{where}: the cut-off of the law, {self.cutoff:g}, must be at most half the box, {self.box / 2:g}; "
                "see law.with_parameters(cutoff=...)"
            )
        if not callable(self.molecules):
            _ = self.clumps

    @cached_property
    def clumps(self) -> tuple[tuple[Molecule, int], ...]:
        """The molecules and how many there are of each, pairs (Molecule, count); scenes of clumps have the same attribute.

        Raises
        ------
        TypeError, ValueError
            If ``molecules`` gives anything else, molecules have different units or do not fit into the box, or nothing acts.
        """
        given, where = self.molecules() if callable(self.molecules) else self.molecules, f"fluid {self.key!r}"
        pairs = given if isinstance(given, tuple | list) else ()
        if not pairs or not all(isinstance(p, tuple) and len(p) == 2 and isinstance(p[0], Molecule) for p in pairs):
            raise ValueError(f"{where}: molecules must be pairs of a Molecule and how many there are, got {shown(given)}")
        for molecule, count in pairs:
            whole(f"{where}: the number of molecules {molecule.key!r}", count, least=1, most=2**31)
        if len({molecule.units for molecule, _ in pairs}) > 1:
            raise ValueError(f"{where}: all molecules must have the same units, got {', '.join(m.units for m, _ in pairs)}")
        if not any((molecule.charges != 0).any() or (molecule.epsilon > 0).any() for molecule, _ in pairs):
            raise ValueError(f"{where}: no site of its molecules has a charge or an epsilon; nothing acts")
        longest = max(molecule.reach for molecule, _ in pairs)
        if ROOM * longest > self.box:
            raise ValueError(f"{where}: the box, {self.box:g}, must be longer than {ROOM * longest:g} for these molecules")
        return tuple(pairs)

    def __len__(self) -> int:
        return sum(number for _, number in self.clumps)

    @property
    def units(self) -> Units:
        """The system of units of all numbers of this fluid."""
        return SYSTEMS[self.clumps[0][0].units]

    @property
    def force_law(self) -> ForceLaw:
        """The law of force between sites, with the parameters of this fluid."""
        return FORCES[self.law] if isinstance(self.law, str) else self.law

    @property
    def cutoff(self) -> float:
        """The distance beyond which sites exert no force on each other, in the fluid's unit of length."""
        return float(self.force_law.value("cutoff"))

    @property
    def every_molecule(self) -> list[Molecule]:
        """The :class:`polhode.manybody.Molecule` of each molecule, in the order used by all arrays over molecules.

        Raises
        ------
        ValueError
            If there are more molecules than can be simulated.
        """
        check_number(f"fluid {self.key!r}", len(self), "molecules")
        return [molecule for molecule, number in self.clumps for _ in range(number)]

    @property
    def usual_step(self) -> float:
        """The time step of films, in the fluid's unit of time: ``dt``, or a thousandth of the horizon."""
        return self.horizon / 1000 if self.dt is None else self.dt

    @property
    def degrees_of_freedom(self) -> tuple[int, int]:
        """The numbers of degrees of freedom of translation, without the motion of the whole, and of rotation: two ints."""
        turning = sum(number * (molecule.degrees_of_freedom - 3) for molecule, number in self.clumps)
        return 3 * (len(self) - 1), turning

    @property
    def thermal(self) -> float:
        """k_B T at the temperature of the fluid, in its unit of energy (kcal/mol of ``real`` units)."""
        return self.units.boltzmann * self.temperature

    # ---- initial states ----

    def initial_state(self, seed: int) -> State:
        """A state of equilibrium, determined by the seed, in the units of the fluid.

        The first seeds give the states of the files, further ones their places with new random velocities. In equilibrium
        velocities do not depend on places, so both are fair samples at the temperature. A fluid without files starts on a
        lattice with random orientations: let it run first (:meth:`equilibrated`).

        Raises
        ------
        polhode.manybody.BoxTooFull
            If the molecules of a fluid without files would take more than the volume of the box.
        TypeError, ValueError
            If the seed is no whole number from 0 on, a file cannot be read, or there is neither a file nor a box.
        """
        seed = whole(f"fluid {self.key!r}: seed", seed, least=0, most=2**63 - 1)
        if self.states:
            state = self.read_state(self.states[seed % len(self.states)])
            return state if seed < len(self.states) else self.with_velocities(state, seed)
        if self.box == inf:
            raise ValueError(f"fluid {self.key!r} has no box; give the initial state yourself")
        # Of each molecule its largest site alone.
        largest = [(count, float(np.where(molecule.epsilon > 0, molecule.sigma, 0).max())) for molecule, count in self.clumps]
        if (fraction := sum(count * pi / 6 * sigma**3 for count, sigma in largest) / self.box**3) > 1:
            raise BoxTooFull(
                f"fluid {self.key!r}: the largest sites of all {len(self)} molecules would take {100 * fraction:.4g} % of the "
                f"volume of the box of {self.box:g}; use a larger box or fewer molecules"
            )
        check_number(f"fluid {self.key!r}", len(self), "molecules")
        across = next(n for n in range(1, len(self) + 1) if n**3 >= len(self))
        lattice = np.stack(np.meshgrid(*[np.arange(across)] * 3, indexing="ij"), -1).reshape(-1, 3)
        generator = np.random.Generator(np.random.PCG64(seed))
        places = generator.permutation(len(lattice))[: len(self)]
        still = np.zeros((len(self), 3))
        r = (lattice[places] + 0.5) * (self.box / across) - self.box / 2
        state = State(r, still, self._roomy(r, generator), still.copy())
        return self.with_velocities(self.in_order(state), seed)

    def _roomy(self, r: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Random orientations: for each molecule the one, of some, with most room between its sites and those before it."""
        q = np.empty((len(self), 4))
        placed: list[np.ndarray] = []
        molecules = self.every_molecule
        furthest = 2 * max(molecule.reach for molecule in molecules) + max(m.sigma.max() for m in molecules)
        for i, molecule in enumerate(molecules):
            tries = directions(generator, TRIES, 4)
            turned = np.einsum("tij,sj->tsi", rotation_matrix(tries), molecule.sites)
            away = r[:i] - r[i]
            away -= self.box * np.round(away / self.box)
            near = np.flatnonzero((away**2).sum(1) < furthest**2)
            room = np.full(TRIES, inf)
            if near.size:
                others = np.concatenate([away[j] + placed[j] for j in near])
                room = ((turned[:, :, None] - others) ** 2).sum(-1).min((1, 2))
            best = int(np.argmax(room))
            q[i] = tries[best]
            placed.append(turned[best])
        return q

    def in_order(self, state: State) -> State:
        """The state with the molecules of each kind in an order in which neighbours are near each other (Morton's).

        What a molecule looks at then lies near in memory too. All four arrays have the same new order, in the same units.
        """
        cells = np.floor((state.r / self.box % 1.0) * CELLS).astype(np.int64).clip(0, CELLS - 1)
        bits = [((cells[:, axis] >> bit) & 1) << (3 * bit + axis) for bit in range(CELLS.bit_length() - 1) for axis in range(3)]
        code = np.sum(bits, axis=0)
        kind = np.repeat(np.arange(len(self.clumps)), [number for _, number in self.clumps])
        order = np.lexsort((code, kind))
        return State(state.r[order], state.v[order], state.q[order], state.omega[order])

    def with_velocities(self, state: State, seed: int) -> State:
        """The state with new random velocities v and omega at the temperature of the fluid, and no momentum as a whole.

        They follow Maxwell's distribution, are in the units of the fluid, and are determined by the ``seed``, an int from 0 on.
        """
        generator = np.random.Generator(np.random.PCG64([seed, 1]))
        masses, moments = self._masses_and_moments()
        kt = self.thermal / self.units.energy
        v = np.sqrt(kt / masses)[:, None] * generator.standard_normal((len(self), 3))
        v -= (masses[:, None] * v).sum(0) / masses.sum()
        omega = np.sqrt(kt / moments) * generator.standard_normal((len(self), 3))
        free = np.array([molecule.degrees_of_freedom for molecule in self.every_molecule])
        omega[free < 6, 0] = 0.0
        omega[free < 5] = 0.0
        return State(state.r.copy(), v, state.q.copy(), omega)

    def equilibrated(
        self,
        duration: float,
        dt: float,
        seed: int = 0,
        method: str = "no_squish",
        draws: int = 50,
        state: State | None = None,
    ) -> State:
        """The state after a run in which all velocities are replaced ``draws`` times by random ones (Andersen's thermostat).

        A dense lattice may need a first run with very short steps: pass its state to the next.

        Parameters
        ----------
        duration, dt : length of the whole run and time step, in the fluid's unit of time
        seed : determines the velocities, and the initial state if there is no ``state``
        method : key of a method
        draws : how many times velocities are drawn, each time after an equal part of the run
        state : where to begin, by default :meth:`initial_state`

        Raises
        ------
        ValueError
            If the run blows up, or its last part does not conserve the energy: take a shorter step. Other errors come from
            :func:`polhode.manybody.simulate`.
        """
        from polhode.manybody.simulation import simulate_arrays  # needs fluids itself

        state = self.initial_state(seed) if state is None else state
        for draw in range(draws):
            run = simulate_arrays(self, method, dt, state=state, t_end=duration / draws, samples=1, record=True)
            if "lost_at" in run.attributes and draw == draws - 1:
                raise ValueError(f"fluid {self.key!r}: the energy is not conserved with dt = {dt:g}; take a shorter step")
            after = State(*(run.variables[name][1][-1] for name in ("r", "v", "q", "omega")))
            if not np.isfinite(after.r).all():
                raise ValueError(f"fluid {self.key!r}: the start blew up with dt = {dt:g}; take a shorter step or a larger box")
            state = self.with_velocities(after, seed + 1000 * (draw + 1))
        return state

    def read_state(self, path: str | Path) -> State:
        """The state in an npz file with arrays ``r``, ``v``, ``q`` and ``omega`` (or ``w``), and the edge ``L`` of the box.

        They are in the units of the fluid; q is (molecules, 4), scalar first, the others are (molecules, 3). In the file the
        box has its corner at the origin, in the state its centre.

        Raises
        ------
        TypeError, FileNotFoundError, ValueError
            If there is no such file, it is not such a file, or its arrays or box do not fit this fluid; naming the file.
        """
        path = regular_file("state file", path)
        form = "a state is an npz file with the arrays r, v, q, omega and L, as save_state writes it"
        with open(path, "rb") as stream:
            if stream.read(2) != b"PK":
                raise ValueError(f"{path}: is no npz file; {form}")
        try:
            with open(path, "rb") as stream, np.load(stream) as file:
                stored = {name: file[name] for name in ("r", "v", "q", "omega", "w", "L") if name in file}
        except Exception as error:  # whatever NumPy and zipfile raise for a file that is damaged, or is something else
            said = shown(f"{type(error).__name__}: {error}")
            raise ValueError(f"{path}: cannot be read ({said[1:-1]}); {form}") from None
        stored.setdefault("omega", stored.pop("w", None))
        arrays = {}
        for name, size in (("r", 3), ("v", 3), ("q", 4), ("omega", 3)):
            if stored.get(name) is None:
                raise ValueError(f"{path}: there is no array {name!r}; {form}")
            arrays[name] = array(f"{path}: {name}", stored[name], columns=size)
        if "L" not in stored:
            raise ValueError(f"{path}: there is no array 'L'; {form}")
        box = positive(f"{path}: L, the edge of the box,", stored["L"])
        if abs(box / self.box - 1) > 1e-9:
            raise ValueError(f"{path}: its box is {box:g} long, that of fluid {self.key!r} is {self.box:g}")
        norms = np.linalg.norm(arrays["q"], axis=-1, keepdims=True)
        if (bad := np.flatnonzero(np.abs(norms - 1) > SINGLE)).size:
            raise ValueError(f"{path}: q[{bad[0]}] is not a unit quaternion; divide it by its norm")
        arrays["r"] = arrays["r"] - self.box / 2
        arrays["q"] = arrays["q"] / norms  # to the last digit
        return checked_state(f"{path}", len(self), State(**arrays))

    def save_state(self, path: str | Path, state: State) -> None:
        """Write a state in the units of this fluid to the npz file ``path``, for :meth:`read_state`.

        A name that does not end in ``.npz`` gets this ending.
        """
        np.savez(path, r=state.r + self.box / 2, v=state.v, q=state.q, omega=state.omega, L=self.box)

    def _masses_and_moments(self) -> tuple[np.ndarray, np.ndarray]:
        bodies = {molecule.key: molecule.body() for molecule, _ in self.clumps}
        every = [bodies[molecule.key] for molecule in self.every_molecule]
        return np.array([body.mass for body in every]), np.array([body.inertia for body in every])

    # ---- for pictures ----

    def solids(self) -> dict[str, np.ndarray]:
        """The sites as spheres for pictures: arrays by name, lengths in the fluid's unit.

        ``kind`` (molecules,) is the index of each molecule's kind. Of the n sites of all kinds ``sphere_kind`` (n,) is the
        index of the kind, ``centre`` (n, 3) the place in the body frame, and ``radius`` (n,) 0.7 times sigma/2. A site without
        a Lennard-Jones potential has half of the largest radius, and if none has one, 0.35 times the largest reach.
        """
        kinds = [molecule for molecule, _ in self.clumps]
        radius = np.concatenate([np.where(molecule.epsilon > 0, molecule.sigma / 2, 0.0) for molecule in kinds])
        largest = radius.max() or max(molecule.reach for molecule in kinds)
        return {
            "kind": np.repeat(np.arange(len(kinds), dtype="int32"), [number for _, number in self.clumps]),
            "sphere_kind": np.repeat(np.arange(len(kinds), dtype="int32"), [len(molecule.sites) for molecule in kinds]),
            "centre": np.concatenate([molecule.sites for molecule in kinds]),
            "radius": 0.7 * np.where(radius > 0, radius, largest / 2),
        }

    def outline(self) -> dict[str, float | str]:
        """The box as attributes of files, by name: ``box``, its edge, and ``box_units``, the unit of length."""
        return {"box": self.box, "box_units": self.units.names["length"]}

    # ---- for the engine ----

    @cached_property
    def setup(self) -> Setup:
        """The arrays of molecules and box that the engine reads, in coherent units: energies are mass length^2 / time^2."""
        kinds = [molecule for molecule, _ in self.clumps]
        numbers = [number for _, number in self.clumps]
        which = np.repeat(np.arange(len(kinds)), numbers)
        bodies = [molecule.body() for molecule in kinds]
        acting = [(molecule.charges != 0) | (molecule.epsilon > 0) for molecule in kinds]
        parameters = [np.stack([m.epsilon, m.sigma, m.charges], 1)[some] for m, some in zip(kinds, acting, strict=True)]
        rows, types = np.unique(np.concatenate(parameters), axis=0, return_inverse=True)
        sizes = np.array([len(of_one) for of_one in parameters], np.int64)
        types_of = np.split(types.ravel(), np.cumsum(sizes)[:-1])
        places = [molecule.sites[some] for molecule, some in zip(kinds, acting, strict=True)]
        along = [np.abs(at[:, 0]).max(initial=0.0) for at in places]
        beside = [np.hypot(at[:, 1], at[:, 2]).max(initial=0.0) for at in places]
        extents = np.array([[molecule.reach for molecule in kinds], along, beside, *np.zeros((3, len(kinds)))])
        unit, count = sites.UNIT_OF_MARGINS * self.cutoff, len(self)
        return Setup(
            masses=np.array([body.mass for body in bodies])[which],
            inertias=np.array([body.coefficients() for body in bodies])[which],
            first=(np.cumsum(sizes) - sizes)[which],
            many=sizes[which],
            spheres=np.ascontiguousarray(np.hstack([np.vstack([at.T, np.full(len(at), unit)]) for at in places])),
            extents=np.ascontiguousarray(extents[:, which]),
            materials=np.zeros(count, np.int64),
            constants=self._constants(rows),
            bookkeeping=self.force_law.bookkeeping(),
            gravity=np.zeros(3),
            walls=np.zeros(0, np.int64),
            drum=np.zeros(2),
            shaking=np.zeros(4),
            periods=np.full(3, self.box) if isfinite(self.box) else np.zeros(0),
            layout=sites.layout_of([types_of[kind] for kind in which]),
            classes=len(rows),
            most=int(sizes.max()),
            half=self.box / 2,
        )

    def _constants(self, rows: np.ndarray) -> np.ndarray:
        """For every pair of types of sites (epsilon, sigma, charge) whether both attract, whether both have charges, the square
        of the cut-off, and the constants of the law."""
        units, law = self.units, self.force_law
        constants = []
        for epsilon, sigma, charge in rows:
            for other_epsilon, other_sigma, other_charge in rows:
                middle = (sigma + other_sigma) / 2 if self.mixing == "arithmetic" else sqrt(sigma * other_sigma)
                pair = SitePair(
                    sqrt(epsilon * other_epsilon) / units.energy, middle, units.coulomb / units.energy * charge * other_charge
                )
                both = float(pair.epsilon > 0), float(pair.charge != 0)
                constants.append((*both, self.cutoff**2, *law.constants_of(pair)))
        return np.array(constants)

    # ---- results ----

    def named(self, method: str, dt: float, seed: int | None, at: np.ndarray, steps: int, outcome: Mapping[str, Any]) -> Arrays:
        """The outcome of a run with names, in the units of the fluid; each variable has the attribute ``units``.

        Over ``time``: ``kinetic_translation``, ``kinetic_rotation``, ``potential``, ``energy``; ``energy_change`` since the
        start, kT per degree of freedom; ``temperature_translation``, ``temperature_rotation``; ``momentum`` (time, axis); if
        recorded, ``r``, ``v``, ``omega`` (time, molecule, axis; omega in the body frame), ``q`` (time, molecule, quaternion;
        body to lab, scalar first). The scalar ``steps`` is the number of steps. A run whose energy has changed by
        :data:`LOST_KT` kT a molecule has the attributes ``lost_at``, a time, and ``lost_by``, ``heating`` or ``cooling``; one
        that has diverged has ``diverged``, a time.

        Parameters
        ----------
        method, dt, seed : key of the method, time step, and the seed of the initial state or None
        at : array (samples,) of the numbers of the steps at whose ends the fluid was read
        steps : how many steps were taken
        outcome : what :func:`polhode.manybody.simulation.run` returns
        """
        units = self.units
        kinetic, potential = outcome["energies"].T * units.energy
        of_centres = outcome["kinetic_of_centres"] * units.energy
        moving, turning = self.degrees_of_freedom
        of_turning, energy = kinetic - of_centres, kinetic + potential
        unit, k = units.names["energy"], units.boltzmann

        def temperature(kinetic_energy: np.ndarray, freedoms: int) -> np.ndarray:
            return 2 * kinetic_energy / (max(freedoms, 1) * k)

        of_energy = {
            "kinetic_translation": (of_centres, "kinetic energy of the centres of mass"),
            "kinetic_rotation": (of_turning, "kinetic energy of rotation"),
            "potential": (potential, "potential energy"),
            "energy": (energy, "total energy"),
        }
        data: dict[str, Any] = {name: ("time", values, about(meaning, unit)) for name, (values, meaning) in of_energy.items()}
        change = (energy - energy[0]) / ((moving + 3 + turning) * self.thermal)
        data["energy_change"] = ("time", change, about("change of the energy since the start, kT per degree of freedom"))
        degree = units.names["temperature"]
        for name, values, freedoms in (("translation", of_centres, moving), ("rotation", of_turning, turning)):
            data[f"temperature_{name}"] = ("time", temperature(values, freedoms), about(f"temperature of {name}", degree))
        speed = f"{units.names['length']} {units.names['time']}-1"
        data["momentum"] = (
            ("time", "axis"),
            outcome["momenta"][:, :3],
            about("momentum, lab frame", f"{units.names['mass']} {speed}"),
        )
        data["steps"] = ((), steps, about("steps"))
        coordinates: dict[str, Any] = {
            "time": ("time", at * float(dt), about("time", units.names["time"])),
            "axis": ("axis", ["x", "y", "z"], {"long_name": "axis"}),
        }
        if motion := motion_variables(outcome["motion"], "molecule", units.names["length"], units.names["time"]):
            data |= motion
            coordinates["kind"] = ("molecule", [m.key for m in self.every_molecule], {"long_name": "kind of molecule"})
            coordinates["quaternion"] = ("quaternion", ["0", "x", "y", "z"], {"long_name": "quaternion component"})
        attributes: dict[str, Any] = {
            "scene": self.key,
            "method": method,
            "law": self.force_law.key,
            "dt": float(dt),
            "dt_units": units.names["time"],
            **({} if seed is None else {"seed": seed}),
            **self.outline(),
            "temperature": self.temperature,
            "temperature_units": degree,
        }
        with np.errstate(invalid="ignore"):
            away = ~(np.abs(energy - energy[0]) <= LOST_KT * len(self) * self.thermal)
        if away.any():
            first = int(np.argmax(away))
            attributes["lost_at"] = float(at[first] * dt)
            attributes["lost_by"] = "heating" if not energy[first] < energy[0] else "cooling"
        if outcome["diverged"] >= 0:
            attributes["diverged"] = float(int(outcome["diverged"]) * dt)
        return Arrays(data, coordinates, attributes)

    def with_law(self, law: str | ForceLaw) -> "Fluid":
        """A copy of the fluid with another law of force.

        A law that is given by its key takes over the parameters ``cutoff`` and ``inner`` that both it and the present one have.

        Raises
        ------
        KeyError, ValueError
            If there is no such law, it does not act between sites, or its cut-off is longer than half the box.
        """
        if isinstance(law, str) and FORCES[law].for_sites:
            both = self.force_law.all_parameters.keys() & FORCES[law].all_parameters.keys()
            values = {name: self.force_law.value(name) for name in ("cutoff", "inner") if name in both}
            law = FORCES[law].with_parameters(**values)
        return replace(self, law=law)
