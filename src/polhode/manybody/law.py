"""The definition of a force law: kernels for one contact, and what it declares of itself.

A law is one file of :mod:`polhode.manybody.forces` or a file of your own. It has one of two kernels, on floats and tuples of
floats (:mod:`polhode.compiling.kernel`), which serve pairs of spheres and spheres at walls alike:

``normal(overlap, radius, constants) -> (force, energy)``
    A force along the line of centres that depends on the overlap alone, such as that of Hertz. Nothing else is compiled into
    the loop over steps: no velocities are kept, and no history.
``contact(touch, history, constants) -> Response``
    Anything else, given a :class:`Touch`, and the numbers that the contact has kept since the last step.

``constants`` is what the law's Python function of this name makes of the two materials and the law's parameters, once for each
pair of materials.

A law between the sites of molecules has two kernels instead, ``lennard_jones(squared, constants) -> (slope, energy)`` and
``coulomb(squared, constants) -> (slope, energy)``, of which those that two sites have parameters for are added up. They get the
square of the distance r, answer -V'(r)/r and V(r), and count up to the law's parameter ``cutoff``; ``constants`` are made of a
:class:`SitePair`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from polhode.interface.arguments import flag, function, number, plain_name, shown, text, whole
from polhode.manybody.material import Material, MaterialPair
from polhode.registry import nearest


class Touch(NamedTuple):
    """One contact as a law sees it: lab frame, SI units; the first surface is that of the clump that the force acts on.

    All vectors have three components.

    Parameters
    ----------
    overlap : m, positive
    radius : R*, 1/R* = 1/R1 + 1/R2; at a wall that of the sphere
    mass : m* of the two bodies; at a wall that of the clump
    normal : unit vector from the second surface to the first
    middle, before : the normal in the middle of the step and at its beginning; of a new contact both are ``normal``
    velocity : of the first surface against the second at the contact point, now
    spin : angular velocity of the first body against the second, now, rad/s
    moved : how far the first surface has moved against the second since the last step
    rolled : how far the first body has turned against the second in that time, a rotation vector
    twirl, twirl_after : by how much both have turned together about ``middle``, rad: the parts by which springs turn before and
        after an increment, usually the halves
    share : the part of the step since the two surfaces met: 1 unless the contact is new
    """

    overlap: float
    radius: float
    mass: float
    normal: Any
    middle: Any
    before: Any
    velocity: Any
    spin: Any
    moved: Any
    rolled: Any
    twirl: float
    twirl_after: float
    share: float


class Response(NamedTuple):
    """What a law answers: vectors of three components, and tuples of floats.

    Parameters
    ----------
    force, couple : on the first body, lab frame; the second gets the opposite (N, N m). The force acts at the contact point
    history : the numbers that the contact keeps; those of a new contact are zero
    stored : energies of the normal and the tangential spring, J
    work : dissipated since the last step by the normal and the tangential dashpot and by sliding, and taken by the law, J
    """

    force: Any
    couple: Any
    history: Any
    stored: Any
    work: Any


class SitePair(NamedTuple):
    """Two sites of molecules, in the units of the fluid (energies in mass length^2/time^2).

    Parameters
    ----------
    epsilon, sigma : of the Lennard-Jones potential 4 epsilon ((sigma/r)^12 - (sigma/r)^6)
    charge : product of both charges times the constant of Coulomb's law
    """

    epsilon: float
    sigma: float
    charge: float


@dataclass(frozen=True)
class Parameter:
    """A parameter of a law.

    Parameters
    ----------
    default : float or str
    meaning : str
        What it is, in a few words.
    unit : str
    least, most : float
        The range of a number.
    choices : tuple of str
        The values of a parameter that is a word.
    """

    default: float | str
    meaning: str
    unit: str = "1"
    least: float = 0.0
    most: float = inf
    choices: tuple[str, ...] = ()

    def checked(self, name: str, value: Any) -> float | str:
        """The ``value`` as a float, or as one of the words, if it is possible; ``name`` is what the message calls it.

        Raises
        ------
        TypeError, ValueError
            If it is no number or none of the words, or outside the range.
        """
        if self.choices:
            if value not in self.choices:
                raise ValueError(f"{name} must be {' or '.join(map(repr, self.choices))}, got {shown(value)}")
            return str(value)
        if isinstance(value, float) and value == inf == self.most:
            return inf
        if number(name, value, least=self.least, unit=self.unit) > self.most:
            raise ValueError(f"{name} must be at most {self.most:g}, got {value!r}")
        return float(value)


#: What a step makes of a contact, for all laws with a ``contact`` kernel: the first choice is the default.
BOOKKEEPING = MappingProxyType(
    {
        "start": Parameter(
            "touch", "the first increment: that since the touch, or of the whole step", choices=("touch", "whole")
        ),
        "plane": Parameter(
            "middle", "where increments are taken: in the middle of the step, or at its end", choices=("middle", "end")
        ),
        "dashpot": Parameter(
            "predicted",
            "the velocity of dashpots: predicted for now, or as the method hands it out",
            choices=("predicted", "handed"),
        ),
        "arms": Parameter(
            "point",
            "arms of velocity and torque: to the contact point; the radius; the radius, but for the torque between spheres",
            choices=("point", "radius", "radius of the velocity"),
        ),
        "twirl": Parameter(
            "on",
            "whether springs turn with the spin of both bodies about the normal: by halves around an increment; no; before it",
            choices=("on", "off", "before"),
        ),
        "displacement": Parameter(
            "poses",
            "what springs take for the way of a step: that between two poses; the velocity of dashpots times the step; or "
            "this with radii as arms along the plane, and the velocities of centres times (a + b)/(a + b - overlap)",
            choices=("poses", "velocity", "stretched velocity"),
        ),
    }
)
#: The choices of other codes; ``slip`` is for laws with friction.
AS_IN = MappingProxyType(
    {
        "LAMMPS": {
            "start": "whole",
            "plane": "end",
            "dashpot": "handed",
            "arms": "radius of the velocity",
            "twirl": "off",
            "displacement": "velocity",
            "slip": "radial of the sum",
        },
        "YADE": {
            "start": "whole",
            "plane": "end",
            "dashpot": "handed",
            "arms": "point",
            "twirl": "before",
            "displacement": "stretched velocity",
            "slip": "radial without dashpot",
            "increment": "end",
        },
    }
)
#: Two materials with which the constants of a law are tried.
_TRIAL = MaterialPair(Material(1000.0, 1e6, 0.3), Material(2000.0, 1e7, 0.2))
_TRIAL_SITES = SitePair(1.0, 1.0, -1.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class ForceLaw:
    """A law of the forces between spheres, and between spheres and walls, or between sites; see the module for its kernels.

    Parameters
    ----------
    key, label : str
        Name in calls and files; name in figures.
    source : str
        Publication and equation numbers.
    parameters : mapping
        Name -> :class:`Parameter`.
    conserves_energy : bool
        Whether contacts give back all the energy that they store.
    onset : float
        The force begins as overlap^onset, its dashpot included; between sites the overlap is that of the cut-off. A leapfrog
        then leaves an error dt^(1 + onset) at the edges of a contact.
    constants : function (:class:`polhode.manybody.material.MaterialPair`, mapping of parameters) -> tuple of floats; of a
        :class:`SitePair` for sites
    normal, contact : kernels, one of the two
    lennard_jones, coulomb : kernels, both, in place of these
    history : int
        How many numbers ``contact`` keeps.
    end : kernel (history) -> work
        What the law takes when a contact ends, as ``work`` of :class:`Response`; by default nothing.
    values : mapping
        Chosen values of parameters, see :meth:`with_parameters`.
    origin : ForceLaw, optional
        The law with the same kernels from which this one was made by :meth:`with_parameters`.

    Raises
    ------
    TypeError, ValueError
        If a declaration has the wrong type or an impossible value; the message names the law and the field.
    """

    key: str
    label: str
    source: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    conserves_energy: bool
    onset: float
    constants: Callable[..., tuple[float, ...]] = field(repr=False)
    normal: Callable[..., Any] | None = field(default=None, repr=False)
    contact: Callable[..., Any] | None = field(default=None, repr=False)
    lennard_jones: Callable[..., Any] | None = field(default=None, repr=False)
    coulomb: Callable[..., Any] | None = field(default=None, repr=False)
    history: int = 0
    end: Callable[..., Any] | None = field(default=None, repr=False)
    values: Mapping[str, float | str] = field(default_factory=dict)
    origin: "ForceLaw | None" = field(default=None, repr=False)

    def __post_init__(self) -> None:
        text("law: key", self.key, empty=False)
        plain_name("law key", self.key)
        where = f"law {self.key}:"
        for name in ("label", "source"):
            text(f"{where} {name}", getattr(self, name), empty=False)
        flag(f"{where} conserves_energy", self.conserves_energy)
        number(f"{where} onset", self.onset, least=0.0)
        whole(f"{where} history", self.history, least=0)
        function(f"{where} constants", self.constants)
        kinds = self.normal is not None, self.contact is not None, self.for_sites
        if sum(kinds) != 1 or self.for_sites != (self.coulomb is not None):
            raise ValueError(f"{where} a law has one of the kernels normal and contact, or both lennard_jones and coulomb")
        for name in ("normal", "contact", "lennard_jones", "coulomb", "end"):
            function(f"{where} {name}", getattr(self, name), optional=True)
        if self.contact is None and (self.history or self.end):
            raise ValueError(f"{where} only a law with the kernel contact has a history or an end")
        if self.for_sites and "cutoff" not in self.parameters:
            raise ValueError(f"{where} a law between sites has a parameter cutoff")
        if not isinstance(self.parameters, Mapping) or not all(isinstance(p, Parameter) for p in self.parameters.values()):
            raise TypeError(f"{where} parameters must be a dict of name to Parameter, got {shown(self.parameters)}")
        for name, value in self.values.items():
            if name not in self.all_parameters:
                raise ValueError(
                    f"{where} there is no parameter {shown(name)}; {nearest(str(name), list(self.all_parameters))}"
                )
            self.all_parameters[name].checked(f"{where} {name}", value)
        for value in self.constants_of(self._trial):
            if not isinstance(value, float):
                raise TypeError(f"{where} constants must return floats, got {shown(value)}")

    @property
    def for_sites(self) -> bool:
        """Whether the law acts between the sites of molecules."""
        return self.lennard_jones is not None

    @property
    def _trial(self) -> MaterialPair | SitePair:
        return _TRIAL_SITES if self.for_sites else _TRIAL

    @cached_property
    def all_parameters(self) -> Mapping[str, Parameter]:
        """The parameters of the law by name and, if it has velocities or a history, the ones in :data:`BOOKKEEPING`."""
        return {**self.parameters, **(BOOKKEEPING if self.contact else {})}

    def with_parameters(self, **values: float | str) -> "ForceLaw":
        """The law with other values of some of its parameters, by their names and in their units.

        Raises
        ------
        TypeError, ValueError
            If the law has no such parameter, or the value is impossible; the message names the parameter.

        Examples
        --------
        >>> from polhode import manybody
        >>> rough = manybody.forces["hertz_mindlin_tsuji"].with_parameters(friction=0.3, restitution=0.8)
        """
        return replace(self, values={**self.values, **values}, origin=self)

    def as_in(self, code: str) -> "ForceLaw":
        """The law with the contact update of another code, ``LAMMPS`` or ``YADE``: of :data:`AS_IN` the parameters it has.

        Raises
        ------
        ValueError
            If there is no such code.
        """
        if code not in AS_IN:
            raise ValueError(f"there is no contact update of {shown(code)}; {nearest(str(code), list(AS_IN))}")
        return self.with_parameters(**{name: word for name, word in AS_IN[code].items() if name in self.all_parameters})

    def value(self, name: str) -> float | str:
        """The value of the parameter with this name, in the unit that it declares, or its word.

        Raises
        ------
        KeyError
            If the law has no such parameter.
        """
        value = self.values.get(name, self.all_parameters[name].default)
        return value if isinstance(value, str) else float(value)

    def constants_of(self, pair: MaterialPair | SitePair, **others: float | str) -> tuple[float, ...]:
        """The constants that the kernels get of two materials or sites, :attr:`width` floats.

        The function ``constants`` of the law makes them; the file of the law says what they are, and in which units. ``others``
        are parameters with other values for this pair.

        Raises
        ------
        TypeError, ValueError
            If a parameter in ``others`` does not exist, or its value is impossible.
        """
        checked = {}
        for name, value in others.items():
            if name not in self.parameters:
                raise ValueError(
                    f"law {self.key}: there is no parameter {shown(name)} of a pair of materials; "
                    f"{nearest(str(name), list(self.parameters))}"
                )
            checked[name] = self.parameters[name].checked(f"law {self.key}: {name}", value)
        return tuple(self.constants(pair, {**{name: self.value(name) for name in self.parameters}, **checked}))

    def bookkeeping(self) -> np.ndarray:
        """The choices of :data:`BOOKKEEPING` as an array (8,) of numbers without a unit; zeros of a law without them.

        In this order: 1 for an increment since the touch, for planes of the middle, and for a predicted velocity; 1 for an arm
        to the contact point and 0 for the radius, of velocity, of torque between spheres and of torque at walls; how many
        halves of the turn about the normal come before an increment; and the place of ``displacement`` among its choices.
        """
        if self.contact is None:
            return np.zeros(8)
        start, plane, dashpot, arms, twirl, displacement = map(self.value, BOOKKEEPING)
        shorter = {"point": (1, 1, 1), "radius": (0, 0, 0), "radius of the velocity": (0, 1, 0)}[str(arms)]
        halves = {"on": 1, "off": 0, "before": 2}[str(twirl)]
        way = BOOKKEEPING["displacement"].choices.index(str(displacement))
        return np.array((start == "touch", plane == "middle", dashpot == "predicted", *shorter, halves, way), dtype=float)

    @cached_property
    def width(self) -> int:
        """How many constants the kernels take, the length of :meth:`constants_of`."""
        return len(self.constants_of(self._trial))

    @cached_property
    def compiled_once(self) -> "ForceLaw":
        """The law from which this one was derived by other values of its parameters, or itself: they share compiled code."""
        return self.origin.compiled_once if self.origin else self

    @cached_property
    def parts(self) -> dict[str, Any]:
        """What the many-body engine has compiled so far for the law, by name; empty at first, and filled by the engine."""
        return {}
