"""Single impacts with friction whose exact solutions are kept, with all digits, in ``known_impacts.yaml`` beside this file.

They are a clump of three spheres, spheres of one and of two sizes, and a sphere on a plane: that of test 4 of Chung and Ooi,
Granul. Matter 13 (2011) 643, at several angles, and those of test 5 (with one normal velocity), 6 (with a spin) and 8 (two
sizes, the larger sphere stiffer or not), each with its first material. ``python -m polhode.references.known_impacts`` computes
the file again, which takes some minutes.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import mpmath

from polhode.interface.reading import load_yaml
from polhode.references.impact import HertzMindlin, Impact, ImpactBody, ImpactSolution, solve

FILE = Path(__file__).with_name("known_impacts.yaml")
DIGITS = 34
#: Digits of the numbers that define an impact.
EXACT = 60
#: alpha of Tsuji's dashpot for the coefficients of restitution 0.98 and 0.5, of contacts that push and never pull.
ALPHA = {"0.98": "0.01443858420722681577", "0.5": "0.57081367878199001538"}
#: Angles of incidence at the contact, degrees from the normal, of the tests of Chung and Ooi.
ANGLES = {
    "4": (2, 5, 10, 20, 30, 45, 60, 75, 85),
    "5": (10, 25, 40, 55, 70, 80),
    "6": (10, 25, 40, 55, 70, 80),
    "8a": (10, 30, 55, 75),
    "8b": (10, 30, 55, 75),
}
#: Vectors of a body after an impact, of :class:`polhode.references.impact.BodyState`, and the ledger after it.
VECTORS = ("r", "velocity", "q", "omega")
LEDGER = ("kinetic", "dissipated_normal", "dissipated_tangential", "sliding", "made_by_law")

oxide = partial(ImpactBody.sphere, "0.0025", "4000", young="3.8e11", poisson="0.23")
steel = partial(ImpactBody.sphere, "1e-5", "7850", young="2.08e11", poisson="0.30")
alloy = partial(ImpactBody.sphere, "0.1", "2700", young="7.0e10", poisson="0.33")


@cache
def known_impacts() -> Mapping[str, Impact]:
    """The impacts by their keys, such as ``sphere_45`` or ``test_6_25`` (test of Chung and Ooi, angle in degrees).

    They are impacts on a rigid plane, and of two spheres; their numbers are exact decimals in SI units.
    """
    rubbing = partial(Impact, _clump(), friction="0.3")
    still = ("0", "0", "0")
    soft = partial(ImpactBody.sphere, young="1e7", poisson="0.3")
    equal = partial(soft, "0.005", "2500")
    large = soft("0.005", "1800", ("0.1", "0.2", "0.3"), omega=("-60", "10", "30"))
    impacts = {
        "sphere_3": Impact(_at_angle(3), HertzMindlin(), friction="0.092"),
        "sphere_45": Impact(_at_angle(45), HertzMindlin()),
        "sphere_60": Impact(_at_angle(60), HertzMindlin(), friction="0.092"),
        "clump": rubbing(HertzMindlin()),
        "clump_damped": rubbing(HertzMindlin("0.3")),
        "clump_holds": Impact(_clump(), HertzMindlin()),
        "two_spheres": Impact(
            equal(("-1", "0.6", "0.2"), omega=("0", "0", "30")),
            HertzMindlin(),
            partner=equal(still, omega=("20", "-10", "0")),
            normal=("1", "0", "0"),
        ),
        "two_sizes": Impact(
            soft("0.003", "2500", ("-0.8", "0.3", "-0.4"), omega=("50", "20", "10")),
            HertzMindlin("0.2"),
            friction="0.2",
            partner=large,
            normal=("2", "0.5", "0.3"),
        ),
    }
    return impacts | {f"test_{test}_{angle}": chung_ooi(test, angle) for test, angles in ANGLES.items() for angle in angles}


def chung_ooi(test: str, angle: Any) -> Impact:
    """The impact of test "4", "5", "6", "8a" or "8b" of Chung and Ooi at an ``angle`` of incidence of the contact point.

    The angle is a number in degrees from the normal.
    """
    with mpmath.workdps(EXACT):
        slope, restitution = mpmath.tan(mpmath.radians(angle)), "0.98" if test == "4" else "0.5"
        law = HertzMindlin() if test == "5" else HertzMindlin(ALPHA[restitution])
        if test == "4":
            return Impact(_at_angle(angle), law, friction="0.092")
        if test == "5":
            return Impact(steel((5 * slope, 0, -5)), law, friction="0.3")
        if test == "6":
            return Impact(alloy((0, 0, "-0.2"), omega=(0, -2 * slope, 0)), law, friction="0.4")
        young = "7.0e13" if test == "8a" else "7.0e10"
        partner = ImpactBody.sphere("0.5", "2700000", (0, 0, 0), young=young, poisson="0.33")
        body = alloy(("-0.2", 0, 0), omega=(0, 2 * slope, 0))
        return Impact(body, law, friction="0.4", partner=partner, normal=("1", "0", "0"))


def _at_angle(degrees: Any) -> ImpactBody:
    """The sphere of Chung and Ooi's test 4, at an angle from the normal of the plane."""
    with mpmath.workdps(EXACT):
        angle, speed = mpmath.radians(degrees), mpmath.mpf("3.9")
        return oxide((speed * mpmath.sin(angle), mpmath.mpf(0), -speed * mpmath.cos(angle)))


def _clump() -> ImpactBody:
    """Three spheres in a row, whose last one touches; one moment is made larger, so that all three differ."""
    with mpmath.workdps(EXACT):
        a = mpmath.mpf("0.0025")
        m = 4 * mpmath.pi * a**3 * 2700 / 3
        along = 6 * m * a**2 / 5
        across = along + 2 * m * a**2
        return ImpactBody(
            3 * m,
            [along, across, mpmath.mpf("1.1") * across],
            a,
            ("1", "0.3", "-1"),
            omega=("200", "300", "-150"),
            q=("1", "0.2", "0.35", "0.1"),
            offset=(a, 0, 0),
            young="7e10",
            poisson="0.33",
        )


@dataclass(frozen=True)
class KnownImpact:
    """The solution of an impact as the file has it, as decimal strings.

    Parameters
    ----------
    duration : s
    changes : what the contact does, and from which time on, s
    bodies : for each of them r (m, lab frame, from the point of the first touch), velocity (m/s, lab frame), q (body to lab)
        and omega (rad/s, body frame) where the normal force ends
    ledger : energies there, J: fields of :class:`polhode.references.impact_motion.Energies`
    """

    duration: str
    changes: str
    bodies: list[dict[str, list[str]]]
    ledger: dict[str, str]


@cache
def stored() -> Mapping[str, KnownImpact]:
    """The solutions in the file, by the keys of :func:`known_impacts`."""
    return {impact: KnownImpact(**fields) for impact, fields in load_yaml(FILE).items()}


def lines(impact: str, solution: ImpactSolution, digits: int) -> Iterator[str]:
    """The lines of the YAML file for the solution of the impact with the key ``impact``, numbers with so many digits."""

    def text(x: Any) -> str:
        return f"'{mpmath.nstr(x, digits, strip_zeros=False)}'"

    changes = "; ".join(f"{what.replace(',', '')} from {float(time):.6g}" for time, what in solution.changes)
    yield from (f"{impact}:", f"  duration: {text(solution.duration)}", f"  changes: {changes}", "  bodies:")
    for body in solution.end.bodies:
        for i, name in enumerate(VECTORS):
            yield f"  {' ' if i else '-'} {name}: [{', '.join(map(text, getattr(body, name)))}]"
    yield "  ledger:"
    for name in LEDGER:
        yield f"    {name}: {text(getattr(solution.end.energies, name))}"


def main() -> None:
    """Solve all known impacts and write :data:`FILE`; standard error shows the progress."""
    made = [f"# Exact impacts, {DIGITS} digits, SI units: see known_impacts.py, which makes this file."]
    for impact, definition in known_impacts().items():
        made += lines(impact, solve(definition, DIGITS), DIGITS)
        print(impact, file=sys.stderr, flush=True)
    FILE.write_text("\n".join(made) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
