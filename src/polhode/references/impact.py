"""One impact with friction and damping, to any number of digits: what steps of contacts are measured against.

A rigid body touches a rigid plane or a second body with one sphere. The state is followed from the first touch, delta = 0, to
the end of the normal force, as the solution of the differential equations to which the step of a frictional contact converges:

    d(delta)/dt = w = -u . n,      u = v_p1 - v_p2, the relative velocity at the point of contact,
    d(xi)/dt = v_t + Omega x xi,   v_t = u - (u . n) n,
    F = F_n n - k_t xi - theta gamma_t v_t,    |k_t xi| <= mu F_n.

n points from the second body, or the plane, to the first. Omega turns the spring with the normal and, unless ``twirl`` is
off, about it with the mean spin (omega_1 + omega_2) . n / 2, in which a plane counts as a body at rest. The incremental law
integrates the force, d(F_el)/dt = -k_t v_t + Omega x F_el, instead of xi; xi is F_el / k_t then. While it slips, xi keeps the
length mu F_n / k_t; what the motion would add along xi slides. theta in [0, 1] is the largest part of the tangential dashpot
that leaves the sum within the cone |F_t| <= mu F_n. The laws (:class:`LinearSpring`, :class:`HertzMindlin`,
:class:`ViscoelasticHertz`) give F_n, k_t and gamma_t.

Power laws of delta have no Taylor series at the first touch. With delta = s^4 and dt = 4 s^3 d(theta) all of them are
polynomials in s and w (:mod:`polhode.references.impact_motion`), and :class:`polhode.references.taylor.Series` expands them.
Changes between sticking and slipping are located as roots of the expansions. Nothing is shared with the engine of many bodies.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import gmpy2
import mpmath

from polhode.references.impact_motion import Coefficients, Energies, Motion, integrate
from polhode.references.precision import digits_and_guard
from polhode.references.taylor import agreement, to_mpmath

#: Also a number of mpmath. A float counts as the binary number it is, a string as the decimal number that it spells.
Number = float | str | Fraction | Any
#: Digits in which masses of spheres are computed; more cannot be asked for.
MOST_DIGITS = 120


@dataclass(frozen=True)
class ImpactBody:
    """A rigid body at the first touch, with the sphere that touches.

    Parameters
    ----------
    mass : number
        kg
    inertia : sequence of 3 numbers
        Principal moments, kg m^2.
    radius : number
        Radius of the sphere that touches, m.
    velocity : sequence of 3 numbers
        Of the centre of mass, lab frame, m/s.
    omega : sequence of 3 numbers
        Angular velocity, body frame, rad/s.
    q : sequence of 4 numbers
        Orientation, body to lab, scalar first; it is normalised.
    offset : sequence of 3 numbers
        Centre of the sphere from the centre of mass, body frame, m.
    young, poisson : number
        Young's modulus (Pa) and Poisson's ratio, for the laws of Hertz.
    """

    mass: Number
    inertia: Sequence[Number]
    radius: Number
    velocity: Sequence[Number]
    omega: Sequence[Number] = (0, 0, 0)
    q: Sequence[Number] = (1, 0, 0, 0)
    offset: Sequence[Number] = (0, 0, 0)
    young: Number = 0
    poisson: Number = 0

    def __post_init__(self) -> None:
        for name, length in (("inertia", 3), ("velocity", 3), ("omega", 3), ("q", 4), ("offset", 3)):
            if len(getattr(self, name)) != length:
                raise ValueError(f"impact body: {name} has {length} components, got {getattr(self, name)!r}")
        for name, values in (("mass", [self.mass]), ("radius", [self.radius]), ("inertia", self.inertia)):
            if not all(0 < float(x) < math.inf for x in values):
                raise ValueError(f"impact body: {name} must be positive and finite, got {getattr(self, name)!r}")

    @classmethod
    def sphere(cls, radius: Number, density: Number, velocity: Sequence[Number], **others: Any) -> "ImpactBody":
        """A homogeneous sphere of a density in kg/m^3; ``others`` are further arguments of the class.

        ``radius`` in m, ``velocity`` (3,) in m/s, lab frame.

        Raises
        ------
        ValueError
            If a vector has a wrong length, or radius or density is not positive and finite.
        """
        with mpmath.workdps(MOST_DIGITS):
            a = _mpf(radius)
            mass = 4 * mpmath.pi * a**3 * _mpf(density) / 3
            return cls(mass, [2 * mass * a**2 / 5] * 3, radius, velocity, **others)


@dataclass(frozen=True)
class LinearSpring:
    """F_n = k_n delta + gamma_n w, k_t constant, gamma_t constant.

    Parameters
    ----------
    normal, tangential : number
        Stiffness k_n and k_t, N/m.
    damping, tangential_damping : number
        gamma_n and gamma_t, kg/s.
    """

    normal: Number
    tangential: Number
    damping: Number = 0
    tangential_damping: Number = 0

    def coefficients(self, contact: "ContactConstants") -> Coefficients:
        """The law as polynomials in s = delta^(1/4) and w, SI units; it does not depend on the constants of the contact."""
        values = [_mpfr(x) for x in (self.normal, self.damping, self.tangential, self.tangential_damping)]
        return Coefficients(0, 4, 0, *values)


@dataclass(frozen=True)
class HertzMindlin:
    """Hertz and Mindlin with the damping of Tsuji et al., Powder Technol. 71 (1992) 239.

    F_n = 4/3 E* sqrt(R*) delta^(3/2) + gamma w,    gamma = alpha sqrt(4/3 E* sqrt(R*) m*) delta^(1/4),
    k_t = 8 G* sqrt(R* delta),                      gamma_t = tangential_damping gamma.

    1/E* is the sum of (1 - nu^2)/E over both bodies, 1/G* that of (2 - nu)/G, 1/R* that of 1/radius, 1/m* that of 1/mass.

    Parameters
    ----------
    alpha : number
        Damping, without unit.
    tangential_damping : number
        The tangential dashpot in parts of the normal one.
    """

    alpha: Number = 0
    tangential_damping: Number = 1

    def coefficients(self, contact: "ContactConstants") -> Coefficients:
        """The law as polynomials in s = delta^(1/4) and w, SI units, from the constants of the contact."""
        damping = _mpfr(self.alpha) * gmpy2.sqrt(contact.hertz * contact.mass)
        return Coefficients(1, 5, 1, contact.hertz, damping, contact.mindlin, damping * _mpfr(self.tangential_damping))


@dataclass(frozen=True)
class ViscoelasticHertz:
    """Hertz with the viscoelastic dashpot of Brilliantov et al., Phys. Rev. E 53 (1996) 5382, and Mindlin's k_t.

    F_n = 4/3 E* sqrt(R*) (delta^(3/2) + 3/2 relaxation sqrt(delta) w),    gamma_t = tangential_damping times that of w.

    Parameters
    ----------
    relaxation : number
        A in s.
    tangential_damping : number
        The tangential dashpot in parts of the normal one.
    """

    relaxation: Number
    tangential_damping: Number = 0

    def coefficients(self, contact: "ContactConstants") -> Coefficients:
        """The law as polynomials in s = delta^(1/4) and w, SI units, from the constants of the contact."""
        damping = 3 * contact.hertz * _mpfr(self.relaxation) / 2
        return Coefficients(2, 4, 0, contact.hertz, damping, contact.mindlin, damping * _mpfr(self.tangential_damping))


@dataclass(frozen=True)
class Impact:
    """An impact, from the first touch on.

    Parameters
    ----------
    body : ImpactBody
        It touches from above, along ``normal``.
    law : LinearSpring, HertzMindlin or ViscoelasticHertz
    friction : number
        Coulomb's mu; ``math.inf`` never slips, 0 has no tangential force at all.
    partner : ImpactBody, optional
        The other body; without one, the plane z = 0.
    incremental : bool
        Integrate the increments of the tangential force, not of the displacement.
    arm : {"middle", "radius"}
        Where the force acts and slip is measured: in the middle of the overlap (on a plane: on the plane), or at one radius
        from the centre of each sphere.
    twirl : bool
        Turn the spring about the normal with the mean spin of both bodies.
    attraction : bool
        Let damping pull at the end, until delta = 0. Otherwise the impact ends where F_n = 0. It needs a friction of 0
        or infinity.
    normal : sequence of 3 numbers
        From the partner to the body; it is normalised. With a plane it is z.
    wall : (young, poisson), optional
        The material of the plane, for the laws of Hertz; without it the plane is rigid.
    """

    body: ImpactBody
    law: LinearSpring | HertzMindlin | ViscoelasticHertz
    friction: Number = math.inf
    partner: ImpactBody | None = None
    incremental: bool = False
    arm: str = "middle"
    twirl: bool = True
    attraction: bool = False
    normal: Sequence[Number] = (0, 0, 1)
    wall: tuple[Number, Number] | None = None

    def __post_init__(self) -> None:
        if self.arm not in ("middle", "radius"):
            raise ValueError(f'impact: arm is "middle" or "radius", got {self.arm!r}')
        if not float(self.friction) >= 0:
            raise ValueError(f"impact: friction must not be negative, got {self.friction!r}")
        if self.attraction and 0 < float(self.friction) < math.inf:
            raise ValueError("impact: with attraction the friction must be 0 or math.inf; the cone of a pull has no meaning")
        if self.partner is None and [float(x) for x in self.normal] != [0, 0, 1]:
            raise ValueError("impact: the plane is z = 0, so its normal is (0, 0, 1); turn the body instead")
        if self.partner is not None and self.wall is not None:
            raise ValueError("impact: wall is the material of a plane; a partner has young and poisson of its own")


@dataclass(frozen=True)
class BodyState:
    """A body at one time, in numbers of mpmath.

    Attributes
    ----------
    r, velocity : tuple of 3
        Centre of mass (m), counted from the point of the first touch, and its velocity (m/s), lab frame.
    q : tuple of 4
        Orientation, body to lab.
    omega, omega_lab : tuple of 3
        Angular velocity in the body frame and in the lab frame, rad/s.
    """

    r: tuple[Any, ...]
    velocity: tuple[Any, ...]
    q: tuple[Any, ...]
    omega: tuple[Any, ...]
    omega_lab: tuple[Any, ...]


@dataclass(frozen=True)
class ImpactState:
    """An impact at one time, in numbers of mpmath.

    Attributes
    ----------
    t : mpf
        Time since the first touch, s.
    bodies : tuple of BodyState
        The body and, if there is one, its partner.
    overlap, rate : mpf
        delta (m) and its rate w (m/s).
    normal_force : mpf
        F_n, N.
    spring : tuple of 3
        Force of the tangential spring on the body, lab frame, N.
    energies : Energies
        The ledger, J.
    """

    t: Any
    bodies: tuple[BodyState, ...]
    overlap: Any
    rate: Any
    normal_force: Any
    spring: tuple[Any, ...]
    energies: Energies


@dataclass(frozen=True)
class ImpactSolution:
    """What :func:`solve` returns.

    Attributes
    ----------
    duration : mpf
        From the first touch to the end, s.
    start, end : ImpactState
        ``end`` has its ledger closed: what the springs still hold is counted as dissipated by the normal dashpot and as made by
        the law.
    states : list of ImpactState
        At the times asked for.
    changes : list of (mpf, str)
        Times (s) at which the contact changes between sticking and slipping, or its tangential dashpot, and to what.
    """

    duration: Any
    start: ImpactState
    end: ImpactState
    states: list[ImpactState]
    changes: list[tuple[Any, str]]


@dataclass(frozen=True)
class ContactConstants:
    """Effective constants of a contact, numbers of gmpy2: mass m* (kg), 4/3 E* sqrt(R*) and 8 G* sqrt(R*) (both N/m^1.5).

    The latter two, ``hertz`` and ``mindlin``, are 0 for a :class:`LinearSpring`, which needs neither.
    """

    mass: Any
    hertz: Any
    mindlin: Any


def solve(impact: Impact, digits: int = 34, times: Sequence[Number] = (), order: int | None = None) -> ImpactSolution:
    """The motion of an impact from the first touch to the end of the normal force, to ``digits`` decimal digits.

    Parameters
    ----------
    digits : int
        From 1 to 100.
    times : sequence of numbers
        Times (s) since the first touch at which the state is wanted as well, in ascending order.
    order : int, optional
        Order of the expansions; by default the one with the least work. Step sizes follow from it.

    Raises
    ------
    ValueError
        If the bodies do not approach, a law of Hertz lacks a material, a tangential dashpot acts without a normal one, the
        times do not ascend, a time is not within the impact, or ``digits`` is out of bounds.
    ArithmeticError
        If the impact cannot be followed to its end.
    """
    if not 1 <= digits <= MOST_DIGITS - 20:
        raise ValueError(f"digits must lie between 1 and {MOST_DIGITS - 20}, got {digits!r}")
    with digits_and_guard(digits):
        bits = mpmath.mp.prec
        with gmpy2.context(gmpy2.get_context(), precision=bits):
            motion = _motion(impact)
            wanted = [_mpfr(t) for t in times]
            if wanted != sorted(wanted) or (wanted and wanted[0] < 0):
                raise ValueError(f"times must be ascending and not negative, got {list(times)!r}")
            start, at_times, end, changes = integrate(motion, wanted, bits, order)
            if len(at_times) < len(wanted):
                raise ValueError(f"the impact ends at t = {float(end.t)!r} s, before time {times[len(at_times)]!r}")
            return ImpactSolution(
                to_mpmath(end.t),
                _state(start),
                _state(end),
                [_state(state) for state in at_times],
                [(to_mpmath(t), name) for t, name in changes],
            )


def self_agreement(impact: Impact, digits: int = 34, solution: ImpactSolution | None = None) -> float:
    """The decimal digits that the end of an impact shares with the end from a run of higher precision and other steps.

    ``solution`` is the solution to ``digits`` digits, if it is known already. The result is a float, rounded down to a tenth.
    The other run has a lower order and shorter steps. With an order far above the usual one, steps become so long that the end
    is hard to find. It raises the errors of :func:`solve`.
    """
    finer = solve(impact, digits + 10, order=digits + 15)
    return agreement(vectors(solution or solve(impact, digits)), vectors(finer), digits + 10)


def vectors(solution: ImpactSolution) -> tuple[tuple[Any, ...], ...]:
    """Duration, motion and energies at the end of an impact as vectors, for :func:`polhode.references.taylor.agreement`.

    In order: the duration (1,), s; for each body its velocity (3,), m/s, lab frame, omega (3,), rad/s, body frame, and q (4,),
    body to lab, scalar first; the kinetic energy (1,) and the energies of
    :attr:`polhode.references.impact_motion.Energies.lost` (4,), J.
    """
    bodies = [x for body in solution.end.bodies for x in (body.velocity, body.omega, body.q)]
    ledger = solution.end.energies
    return ((solution.duration,), *bodies, (ledger.kinetic,), tuple(ledger.lost))


def _state(snapshot: Any) -> ImpactState:
    def convert(x: Any) -> Any:
        if isinstance(x, Energies):
            return Energies(*map(to_mpmath, x))
        return tuple(map(convert, x)) if isinstance(x, (tuple, list)) else to_mpmath(x)

    t, bodies, overlap, rate, force, spring, energies = (convert(x) for x in snapshot)
    return ImpactState(t, tuple(BodyState(*body) for body in bodies), overlap, rate, force, spring, energies)


def _motion(impact: Impact) -> Motion:
    """The equations of motion of an impact, with numbers of gmpy2 in the current precision."""
    bodies = [body for body in (impact.body, impact.partner) if body is not None]
    mass = [_mpfr(body.mass) for body in bodies]
    radius = [_mpfr(body.radius) for body in bodies]
    reduced = 1 / sum(1 / m for m in mass)
    curvature = sum(1 / a for a in radius)
    hertz = mindlin = gmpy2.mpfr(0)
    if not isinstance(impact.law, LinearSpring):
        materials = [(body.young, body.poisson) for body in bodies] + ([impact.wall] if impact.wall else [])
        young, poisson = zip(*(map(_mpfr, material) for material in materials), strict=True)
        if not all(e > 0 for e in young):
            raise ValueError("impact: a law of Hertz needs young (Pa) and poisson of every body")
        root = gmpy2.sqrt(1 / curvature)
        hertz = 4 * root / (3 * sum((1 - nu * nu) / e for e, nu in zip(young, poisson, strict=True)))
        mindlin = 8 * root / sum((2 - nu) * 2 * (1 + nu) / e for e, nu in zip(young, poisson, strict=True))
    law = impact.law.coefficients(ContactConstants(reduced, hertz, mindlin))
    return Motion(
        law=law,
        friction=_mpfr(impact.friction),
        incremental=impact.incremental,
        middle=impact.arm == "middle",
        twirl=impact.twirl,
        attraction=impact.attraction,
        normal=_unit(impact.normal),
        mass=mass,
        radius=radius,
        inertia=[tuple(map(_mpfr, body.inertia)) for body in bodies],
        offset=[tuple(map(_mpfr, body.offset)) for body in bodies],
        velocity=[tuple(map(_mpfr, body.velocity)) for body in bodies],
        omega=[tuple(map(_mpfr, body.omega)) for body in bodies],
        q=[_unit(body.q) for body in bodies],
    )


def _unit(values: Sequence[Number]) -> tuple[Any, ...]:
    numbers = [_mpfr(x) for x in values]
    length = gmpy2.sqrt(sum(x * x for x in numbers))
    if not length > 0:
        raise ValueError(f"impact: a direction or an orientation must not be zero, got {list(values)!r}")
    return tuple(x / length for x in numbers)


def _mpfr(x: Number) -> Any:
    """A number of gmpy2 in the current precision."""
    if isinstance(x, mpmath.mpf):
        sign, mantissa, exponent, _ = x._mpf_
        value = gmpy2.mpfr(int(mantissa)) * gmpy2.exp2(exponent) if abs(exponent) < 2**20 else gmpy2.mpfr(float(x))
        return -value if sign else value
    return gmpy2.mpfr(x)


def _mpf(x: Number) -> Any:
    """A number of mpmath in the current precision."""
    return mpmath.mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else mpmath.mpf(x)
