"""The definition of a many-body scene: clumps of one material in a box or a drum, their initial motion, the time simulated."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from math import isfinite, pi, sqrt

import numpy as np

from polhode.interface.arguments import number, positive, shown, text, vector, whole
from polhode.manybody.clump import Clump
from polhode.manybody.contact import PLANES, collision_time
from polhode.manybody.forces import FORCES
from polhode.manybody.law import ForceLaw
from polhode.manybody.material import Material, MaterialPair
from polhode.manybody.placement import BoxTooFull, State, check_number, directions, place_at_random
from polhode.manybody.walls import AXES, Drum, Shaking
from polhode.registry import nearest

#: A clump whose mass is so many times more or less than its material would give it has it in another unit, perhaps.
UNLIKE = 10.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Scene:
    """Clumps in a box centred at the origin.

    Parameters
    ----------
    key, label, source : str
        Name in the configuration and in files; name in figures; publication and where in it.
    kinds : tuple of (Clump, count)
        The clumps and how many of each, or a function that returns this tuple when it is first needed.
    material : Material
        The material of clumps and walls.
    box : float
        Edge of the cube, m; inf for no walls (then supply the initial state yourself).
    speed : float
        Initial speed of every centre of mass, m/s, in a random direction.
    spin : float
        Initial angular speed of every clump, rad/s, about a random axis.
    horizon : float
        Time simulated by default, s.
    dt : float, optional
        Time step that the publication names, s; see :attr:`usual_step`.
    law : str or ForceLaw
        The law of force, a key of :data:`polhode.manybody.forces` or an object.
    gravity : (x, y, z)
        Acceleration, m/s^2.
    walls : Material or "rigid", optional
        The material of the walls, by default that of the clumps.
    materials : mapping
        Materials of kinds of clumps, by their keys, where they differ from ``material``.
    between : mapping
        Parameters of the law between two kinds of clumps, or one and ``"wall"``, where they differ from those of the law:
        ``{("rod", "wall"): {"friction": 0.1}}``.
    settles_in : Scene, optional
        The scene of a smaller box in which the clumps settle first. Its state at its horizon, in the middle of the floor of
        this box, is the initial state: its walls are taken away.
    drum : Drum, optional
        The clumps are in a drum, of which ``box`` is the length.
    shaking : Shaking, optional
        How all walls are shaken.
    periodic : tuple of "x", "y", "z"
        The axes along which the box has no walls and everything is repeated after its length.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or an impossible value; the message says which.
    """

    key: str
    label: str
    kinds: tuple[tuple[Clump, int], ...] | Callable[[], tuple[tuple[Clump, int], ...]] = field(repr=False)
    material: Material
    box: float
    speed: float
    spin: float
    horizon: float
    source: str = ""
    dt: float | None = None
    law: str | ForceLaw = "hertz"
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    walls: Material | str | None = None
    materials: Mapping[str, Material] = field(default_factory=dict)
    between: Mapping[tuple[str, str], Mapping[str, float | str]] = field(default_factory=dict)
    settles_in: "Scene | None" = None
    drum: Drum | None = None
    shaking: Shaking | None = None
    periodic: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("key", "label", "source"):
            text(f"scene: {name}", getattr(self, name), empty=name != "key")
        where = f"scene {self.key!r}"
        if not isinstance(self.material, Material):
            raise TypeError(f"{where}: material must be a polhode.manybody.Material, got {shown(self.material)}")
        number(f"{where}: speed", self.speed, least=0.0, unit="m/s")
        number(f"{where}: spin", self.spin, least=0.0, unit="rad/s")
        positive(f"{where}: horizon", self.horizon, "s")
        if self.dt is not None:
            positive(f"{where}: dt", self.dt, "s")
        if not (isinstance(self.box, float) and self.box == float("inf")):
            positive(f"{where}: box", self.box, "m")
        if not isinstance(self.law, str | ForceLaw):
            raise TypeError(f"{where}: law must be a key or a ForceLaw, got {shown(self.law)}")
        # A law of a user's own may be loaded after the scene that names it.
        if (isinstance(self.law, ForceLaw) or self.law in FORCES) and self.force_law.for_sites:
            raise ValueError(
                f"{where}: law must be one between spheres, got {self.force_law.key!r}, which acts between the sites of "
                "molecules (polhode.manybody.Fluid)"
            )
        object.__setattr__(self, "gravity", vector(f"{where}: gravity", self.gravity, 3))
        if not (isinstance(self.walls, Material | None) or (isinstance(self.walls, str) and self.walls == "rigid")):
            raise TypeError(f"{where}: walls must be a Material, 'rigid' or None, got {shown(self.walls)}")
        if not isinstance(self.drum, Drum | None):
            raise TypeError(f"{where}: drum must be a polhode.manybody.Drum or None, got {shown(self.drum)}")
        if not isinstance(self.shaking, Shaking | None):
            raise TypeError(f"{where}: shaking must be a polhode.manybody.Shaking or None, got {shown(self.shaking)}")
        known = isinstance(self.periodic, tuple | list) and all(isinstance(x, str) and x in AXES for x in self.periodic)
        if not known or len(set(self.periodic)) < len(self.periodic):
            raise ValueError(f"{where}: periodic must be some of 'x', 'y' and 'z' in a tuple, got {shown(self.periodic)}")
        if self.periodic and self.box == float("inf"):
            raise ValueError(f"{where}: periodic sides need a box of finite length")
        if self.drum and set(self.periodic) - {self.drum.axis}:
            raise ValueError(
                f"{where}: a drum can be periodic along its axis alone, {self.drum.axis!r}, got {shown(self.periodic)}"
            )
        for name, mapping in (("materials", self.materials), ("between", self.between)):
            if not isinstance(mapping, Mapping):
                raise TypeError(f"{where}: {name} must be a mapping, got {shown(mapping)}")
        for pair, values in self.between.items():
            by_name = isinstance(values, Mapping) and all(isinstance(name, str) for name in values)
            if not (isinstance(pair, tuple) and len(pair) == 2 and by_name):
                raise TypeError(f"{where}: between must map pairs of keys to mappings of parameters, got {shown(self.between)}")
        for name, material in self.materials.items():
            if not isinstance(material, Material):
                raise TypeError(f"{where}: materials[{name!r}] must be a polhode.manybody.Material, got {shown(material)}")
        if not isinstance(self.settles_in, Scene | None):
            raise TypeError(f"{where}: settles_in must be a polhode.manybody.Scene or None, got {shown(self.settles_in)}")
        if self.settles_in is not None and not self.settles_in.box < self.box:
            raise ValueError(f"{where}: settles_in must have a smaller box than {self.box:g} m, got {self.settles_in.box:g} m")
        if not callable(self.kinds):
            _ = self.clumps

    @cached_property
    def clumps(self) -> tuple[tuple[Clump, int], ...]:
        """The kinds of clump and the number of each, pairs (Clump, count).

        Warns
        -----
        UserWarning
            If a clump has a mass of its own that makes it much lighter or heavier than its material, by :data:`UNLIKE` times.

        Raises
        ------
        TypeError, ValueError
            If ``kinds`` gives anything else, two kinds have one key, materials or parameters are for a kind that there is not,
            or a clump could touch two images of another in a periodic box.
        """
        kinds = self.kinds() if callable(self.kinds) else self.kinds
        pairs = kinds if isinstance(kinds, tuple | list) else ()
        if not pairs or not all(isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], Clump) for pair in pairs):
            raise ValueError(f"scene {self.key!r}: kinds must be pairs of a clump and how many there are, got {shown(kinds)}")
        counted = tuple(
            (clump, whole(f"scene {self.key!r}: the number of clumps {clump.key!r}", count, least=1, most=2**31))
            for clump, count in pairs
        )
        self._check_keys([clump for clump, _ in counted])
        for clump, _ in counted:
            density = self.material_of(clump).density
            if clump.mass is not None and not 1 / UNLIKE < clump.mass / clump.volume / density < UNLIKE:
                warnings.warn(
                    f"scene {self.key!r}: clump {clump.key!r} has a mass of its own, {clump.mass:.3g} kg, which is "
                    f"{clump.mass / clump.volume:.3g} kg/m^3; its material has {density:.3g}. The mass counts, the density "
                    "only sets the Rayleigh step; is its unit kg (mass_scale)?",
                    stacklevel=2,
                )
            if self.periodic and not 4 * clump.reach < self.box:
                raise ValueError(
                    f"scene {self.key!r}: clump {clump.key!r} could touch two images of another: the box, which is "
                    f"periodic, is {self.box:g} m long and must be longer than {4 * clump.reach:g} m"
                )
        return counted

    def _check_keys(self, clumps: Sequence[Clump]) -> None:
        """Refuse two clumps of one key, and materials and parameters of kinds that there are not."""
        where, first = f"scene {self.key!r}", dict[str, Clump]()
        for clump in clumps:
            other = first.setdefault(clump.key, clump)
            if not (np.array_equal(clump.centres, other.centres) and np.array_equal(clump.radii, other.radii)):
                raise ValueError(f"{where}: two kinds of clumps have the key {clump.key!r}; give one another, key=...")
        for name, given in (("materials", self.materials), ("between", {key: 0 for pair in self.between for key in pair})):
            known = [*first, *(["wall"] if name == "between" else [])]
            if unknown := [key for key in given if key not in known]:
                raise ValueError(
                    f"{where}: {name}: there is no kind of clump {shown(unknown[0])}; {nearest(str(unknown[0]), known)}"
                )
        if isinstance(self.law, ForceLaw) or self.law in FORCES:
            for pair, values in self.between.items():
                try:
                    self.force_law.with_parameters(**values)
                except (TypeError, ValueError) as error:
                    raise ValueError(f"{where}: between {pair}: {error}") from None

    @cached_property
    def every_clump(self) -> list[Clump]:
        """The :class:`polhode.manybody.Clump` of each clump, in the order used by all arrays over clumps.

        Raises
        ------
        ValueError
            If there are more clumps than can be simulated.
        """
        check_number(f"scene {self.key!r}", len(self), "clumps")
        return [clump for clump, count in self.clumps for _ in range(count)]

    def __len__(self) -> int:
        return sum(count for _, count in self.clumps)

    def solids(self) -> dict[str, np.ndarray]:
        """The shapes of the clumps as arrays by name: ``kind`` (clumps,), the index of each clump's kind, and the spheres.

        Of the n spheres of all kinds ``sphere_kind`` (n,) is the index of the kind, ``centre`` (n, 3) the place in the body
        frame, m, and ``radius`` (n,), m.
        """
        kinds = [clump for clump, _ in self.clumps]
        number = {id(clump): i for i, clump in enumerate(kinds)}
        return {
            "kind": np.array([number[id(clump)] for clump in self.every_clump], "int32"),
            "sphere_kind": np.repeat(np.arange(len(kinds), dtype="int32"), [len(clump.radii) for clump in kinds]),
            "centre": np.concatenate([clump.centres for clump in kinds]),
            "radius": np.concatenate([clump.radii for clump in kinds]),
        }

    def outline(self) -> dict[str, float | str]:
        """The box, and the drum if there is one, as attributes of files, by name.

        These are ``box``, its edge (m), and of a drum ``drum_radius`` (m), ``drum_axis`` ("x", "y" or "z") and ``drum_rate``,
        its angular velocity about this axis (rad/s). Each number has its unit, a string, in ``..._units``.
        """
        values: dict[str, float | str] = {"box": self.box, "box_units": "m"}
        if self.drum:
            values |= {"drum_radius": self.drum.radius, "drum_radius_units": "m", "drum_axis": self.drum.axis}
            values |= {"drum_rate": self.drum.rate, "drum_rate_units": "rad s-1"}
        return values

    def material_of(self, clump: Clump) -> Material:
        """The material of a kind of clump: the material of the scene, unless ``materials`` names the kind."""
        return self.materials.get(clump.key, self.material)

    def _at_wall(self, material: Material) -> MaterialPair:
        return MaterialPair(material, self.walls if isinstance(self.walls, Material) else None if self.walls else material)

    @property
    def force_law(self) -> ForceLaw:
        """The law of force between spheres, with the parameters of this scene."""
        return FORCES[self.law] if isinstance(self.law, str) else self.law

    def constants(self) -> tuple[np.ndarray, np.ndarray]:
        """The material of each kind of clump as a number, (kinds,), and the constants of the law for every pair of materials.

        These are (pairs, width), in SI units, as the law makes them (:meth:`polhode.manybody.ForceLaw.constants_of`). The pairs
        of the first material with all materials and with the wall come first, then the pairs of the second, and so on. Clumps
        of one key have one number.
        """
        keys, law = list(dict.fromkeys(clump.key for clump, _ in self.clumps)), self.force_law
        material = {clump.key: self.material_of(clump) for clump, _ in self.clumps}
        rows = []
        for key in keys:
            for two in (*keys, "wall"):
                others = {**self.between.get((two, key), {}), **self.between.get((key, two), {})}
                pair = self._at_wall(material[key]) if two == "wall" else MaterialPair(material[key], material[two])
                rows.append(law.constants_of(pair, **others))
        return np.array([keys.index(clump.key) for clump, _ in self.clumps]), np.array(rows)

    @property
    def wall_numbers(self) -> list[int]:
        """The numbers of the walls that there are: 0 to 5, planes at -x, x, -y, y, -z and z; 6 to 8, a drum about x, y or z."""
        planes = [wall for wall in range(PLANES) if AXES[wall // 2] not in self.periodic]
        if self.drum is None:
            return planes
        axis = AXES.index(self.drum.axis)
        return [*(wall for wall in planes if wall // 2 == axis), PLANES + axis]

    @property
    def periods(self) -> list[float]:
        """The lengths along x, y and z after which everything is repeated, m: 0 along other axes; empty if there are none."""
        return [self.box if axis in self.periodic else 0.0 for axis in AXES] if self.periodic else []

    @property
    def walls_move(self) -> bool:
        """Whether walls can do work on the clumps."""
        return self.shaking is not None or (self.drum is not None and self.drum.rate != 0.0)

    @property
    def linear(self) -> bool:
        """Whether all clumps are rods, whose axial spin only friction can change."""
        return all(clump.linear for clump, _ in self.clumps)

    @property
    def solid_fraction(self) -> float:
        """Total volume of the clumps as a fraction of the volume of the box or drum, without a unit; 0 in an infinite box.

        The volume is ``Clump.volume``, of a loaded sphere more than it fills.
        """
        whole = pi * self.drum.radius**2 * self.box if self.drum else self.box**3
        return sum(count * clump.volume for clump, count in self.clumps) / whole

    def with_spin(self, spin: float) -> "Scene":
        """This scene with another initial spin in rad/s; a seed keeps its positions, orientations and directions."""
        narrow = None if self.settles_in is None else self.settles_in.with_spin(spin)
        return replace(self, spin=spin, settles_in=narrow)

    def scaled(self, count: int) -> "Scene":
        """A scene of about ``count`` clumps with this mixture and density, in a box or drum that grows with them.

        Raises
        ------
        TypeError, ValueError
            If ``count`` is no positive whole number.
        """
        count = whole(f"scene {self.key!r}: count", count, least=1)
        kinds = [(clump, max(1, round(count * number / len(self)))) for clump, number in self.clumps]
        grown = (sum(number for _, number in kinds) / len(self)) ** (1 / 3)
        drum = replace(self.drum, radius=grown * self.drum.radius) if self.drum else None
        narrow = None if self.settles_in is None else self.settles_in.scaled(count)
        return replace(self, kinds=tuple(kinds), box=self.box * grown, drum=drum, settles_in=narrow)

    def initial_state(self, seed: int) -> State:
        """Random positions, orientations and directions of motion, determined by the seed; or what has settled from them.

        Every quantity has its own generator, so that scenes that differ only in speed or spin share everything else.
        Clumps settle with the leapfrog SPIRAL in steps of a twentieth of the contact time.

        Raises
        ------
        polhode.manybody.placement.BoxTooFull
            If the clumps do not fit; the message says how full the box is.
        TypeError, ValueError
            If the seed is no whole number from 0 on, or the scene has no box.
        """
        seed = whole(f"scene {self.key!r}: seed", seed, least=0, most=2**63 - 1)
        if not isfinite(self.box):
            raise ValueError(f"scene {self.key!r} has no box; give the initial state yourself")
        if self.settles_in is not None:
            settled = _settled(self.settles_in, seed)
            down = np.array([0.0, 0.0, (self.settles_in.box - self.box) / 2])
            return State(settled.r + down, settled.v.copy(), settled.q.copy(), settled.omega.copy())
        room = pi * self.drum.radius**2 * self.box if self.drum else self.box**3
        if (fraction := sum(count * clump.solid_volume for clump, count in self.clumps) / room) > 1:
            name = "drum" if self.drum else "box"
            raise BoxTooFull(
                f"scene {self.key!r}: all {len(self)} clumps would take {100 * fraction:.4g} % of the volume of the {name} of "
                f"{self.box:g} m; use a larger {name} or fewer clumps"
            )
        places, motions, turns = (np.random.Generator(np.random.PCG64(s)) for s in np.random.SeedSequence(seed).spawn(3))
        clumps = self.every_clump
        r, q = place_at_random(
            clumps, self.box, places, where=f"scene {self.key!r}, seed {seed}", drum=self.drum, periodic=self.periodic
        )
        v = self.speed * directions(motions, len(clumps))
        omega = self.spin * directions(turns, len(clumps))
        return State(r, v, q, omega)

    @property
    def rayleigh_step(self) -> float:
        """pi R sqrt(rho/G)/(0.1631 nu + 0.8766) of the smallest sphere, s: the time a Rayleigh wave takes round half of it.

        Of several materials the least over the kinds of clumps, with the smallest sphere and the material of each.

        Thornton and Randall (1988); del Valle et al. (2024) mark it in Fig. 7.
        """
        spheres = [(float(clump.radii.min()), self.material_of(clump)) for clump, _ in self.clumps]
        return min(pi * radius * sqrt(m.density / m.shear) / (0.1631 * m.poisson + 0.8766) for radius, m in spheres)

    @property
    def p_wave_step(self) -> float:
        """R sqrt(rho/E) of the smallest sphere, s: what YADE calls the P-wave time step.

        Of several materials the least over the kinds of clumps, with the smallest sphere and the material of each.
        """
        spheres = [(float(clump.radii.min()), self.material_of(clump)) for clump, _ in self.clumps]
        return min(radius * sqrt(m.density / m.young) for radius, m in spheres)

    @property
    def usual_step(self) -> float:
        """The time step of timings, s: ``dt``, or the Rayleigh step of a scene that declares none."""
        return self.rayleigh_step if self.dt is None else self.dt

    def contact_time(self, speed: float | None = None) -> float:
        """The shortest contact of a whole clump with a wall that it hits head on without turning, s.

        2.87 (m^2/(R E*^2 v))^(1/5) by Hertz, whatever the law of the scene (of linear springs `recommend` takes pi sqrt(m/k));
        with the mass of the clump and the radius of its largest sphere; the minimum over all kinds. The whole clump rebounds,
        not one sphere, which is why a time step may exceed the Rayleigh step.

        Parameters
        ----------
        speed : float, optional
            m/s; by default that of the scene.

        Raises
        ------
        TypeError, ValueError
            If the speed is not positive, or the time is too short or too long for a number.
        """
        at = self.speed if speed is None else speed
        if number(f"scene {self.key!r}: speed", at, least=0.0, unit="m/s") == 0:
            raise ValueError(f"scene {self.key!r}: contact_time needs a positive speed, got {at!r}")
        solids = [(clump, self.material_of(clump)) for clump, _ in self.clumps]
        try:
            shortest = min(
                collision_time(clump.body(m.density).mass, float(clump.radii.max()), self._at_wall(m).reduced, at)
                for clump, m in solids
            )
        except ArithmeticError:
            shortest = 0.0
        if not (shortest > 0 and isfinite(shortest)):
            raise ValueError(
                f"scene {self.key!r}: the time of a contact at {at:g} m/s is too short or too long for a number; see the units "
                "of speed, young and density"
            )
        return shortest


@cache
def _settled(scene: Scene, seed: int) -> State:
    """The state of a scene at its horizon."""
    from polhode.manybody.simulation import simulate_arrays  # needs scenes itself

    run = simulate_arrays(scene, "spiral_leapfrog", scene.contact_time() / 20, seed, samples=1, record=True).variables
    return State(*(run[name][1][-1] for name in ("r", "v", "q", "omega")))
