"""Recommend a method and a step size. There are four questions:

A MOTION: your body and its torque. Methods that can win are run on this very problem, with --all every one.
  polhode recommend --inertia 1 2 2.5 --omega 10 --torque lab --strength 0.5 --time 2 --error 1e-4
  polhode recommend my_case.yaml --error 1e-4             (or my_case.py; see docs/recommend.md)
A CLASS OF TORQUE: bodies that are not known exactly, from the errors of random ones.
  polhode recommend --torque-class friction --omega 10 --error 1e-4
  polhode recommend --torque-class lab --omega 10 --strength 5 --time 2 --error 1e-4     (random bodies are run)
  polhode recommend --spacecraft --inertia 0.007 0.035 0.036 --wheels 0 0.005 0 --omega 0.0011 --error 1e-6
CONTACTS of many bodies; elastic, with friction and restitution, or in bulk; a scene, or a clump of spheres in a file.
  polhode recommend --contact-time 1e-4 --error 1e-4      (or --young, --poisson, --density, --radius, --speed)
  polhode recommend --contact-time 1e-4 --friction 0.5 --restitution 0.7 --error 1e-2
  polhode recommend --contact-time 1e-4 --for bulk --error 5e-2
  polhode recommend chess --error 1e-4
A LIQUID of rigid molecules, by its name or the period of its fastest libration; at constant energy, or in a heat bath.
  polhode recommend --liquid water64 --length 10ns        (or --drift 0.001, in kT per degree of freedom and ns)
  polhode recommend --liquid 33fs
  polhode recommend --liquid spce --bath langevin --gamma 1/ps
"""

import argparse
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from math import inf, isfinite, radians
from pathlib import Path
from typing import NoReturn

from polhode import advice as advising
from polhode.advice import AdviceError
from polhode.advice.errors import Angle, in_radians
from polhode.cli import UsageError, not_negative, positive

#: What the four questions need, on the first lines of the help.
USAGE = """polhode recommend FILE | --inertia I I I --omega W --torque CLASS --time T  --error E
       polhode recommend --torque-class CLASS --omega W  --error E
       polhode recommend --contact-time T | SCENE | --young E --poisson NU --density RHO --radius R --speed V  --error E
       polhode recommend --liquid KEY | PERIOD  [--bath langevin --gamma RATE | --bath nose-hoover | --bath v-rescale]"""
#: A word in the place of a file that is the unit of the number before it.
UNIT = re.compile(r"[fpnumµkMGT]?(s|Pa|m|Hz)|[cm]m/s|m/s|rad/s|deg/s|k?g/[cm]?m\^?3|bar|psi|%")
#: The arguments of :func:`polhode.recommend` that are options of the same name.
ARGUMENTS = (
    *dict.fromkeys(name for *_, names in [*advising.QUESTIONS.values(), (advising.SPACECRAFT,)] for name in names),
    *("everything", "results"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``polhode recommend`` to its parser."""
    parser.usage = USAGE
    add = parser.add_argument_group("1. a motion: body and torque").add_argument
    of_body = "kg m^2: three principal moments, or a tensor: Ixx Iyy Izz Ixy Ixz Iyz as in LAMMPS, or its nine elements by rows"
    of_case = "a .yaml or .py file with body and torque, or the key of a test problem; of contacts: a scene (its key or .py "
    of_omega = "initial angular velocity, rad/s, or 3deg/s: its size, or three components"
    start = "initial quaternion, body to lab"
    add("case", nargs="?", metavar="FILE", help=f"{of_case}file), or the file of a clump")
    add("--inertia", nargs="+", type=_in("kg m^2", _finite), metavar="I", help=of_body)
    add("--omega", nargs="+", type=_in("rad/s", _rate), metavar="W", help=of_omega)
    add("--torque", metavar="CLASS", help="free, constant, time, lab, state, friction ...")
    add("--strength", type=not_negative, metavar="S", help="angular acceleration by the torque over omega^2 (1)")
    add("--time", type=_in("s"), metavar="T", help="time to simulate, s")
    add("--orientation", nargs=4, type=_finite, metavar=("Q0", "QX", "QY", "QZ"), help=start)
    triangle = "allow moments that no rigid body has"
    add("--no-triangle", dest="triangle", action="store_const", const=False, help=triangle)
    add("--problem", type=_without_option, help=argparse.SUPPRESS)
    add = parser.add_argument_group("2. a class of torque: with --omega; also --time and --strength").add_argument
    add("--torque-class", metavar="CLASS", help="as for --torque; random bodies under random torques of it")
    add("--laws", action="store_true", help="the same with --torque")
    of_wheels = "momentum of the wheels of a spacecraft in the body frame, N m s"
    add("--spacecraft", action="store_true", help="of random satellites with wheels; with FILE, or --inertia and --omega")
    add("--wheels", nargs=3, type=_in("N m s", _finite), metavar="H", help=of_wheels)
    add("--every", type=_in("s"), metavar="T", help="time between two samples of a controller, s")
    add = parser.add_argument_group("3. contacts").add_argument
    of_wall = "Young's modulus of walls of another material, Pa; rigid for one that does not give"
    purposes = "with friction: single impacts (the default), or what is read off an assembly"
    in_contact = "time in contact of each body, in contact times, of elastic ones (16)"
    add("--contact-time", type=_in("s"), metavar="T", help="duration of a contact, s; or else:")
    add("--young", type=_in("Pa"), metavar="E", help="Young's modulus, Pa")
    add("--poisson", type=_finite, metavar="NU", help="Poisson's ratio")
    add("--density", type=_in("kg/m^3"), metavar="RHO", help="kg/m^3")
    add("--radius", type=_in("m"), metavar="R", help="of a sphere, m")
    add("--speed", type=_in("m/s"), metavar="V", help="at which it hits a wall, m/s")
    add("--wall-young", type=_in("Pa", _positive_or_rigid), metavar="E", help=of_wall)
    add("--wall-poisson", type=_finite, metavar="NU", help="Poisson's ratio of these (by default as the spheres)")
    add("--scale", type=positive, metavar="M", help="unit of length of the file of a clump, m (1)")
    add("--friction", type=not_negative, metavar="MU", help="coefficient of friction; 0 is none")
    add("--restitution", type=positive, metavar="E", help="normal coefficient of restitution")
    add("--for", dest="purpose", choices=advising.PURPOSES, help=purposes)
    add(
        "--code",
        type=str,
        metavar="CODE",
        help="lammps or yade; of a liquid lammps, gromacs, openmm or (without a bath) amber: what to write there",
    )
    add("--law", metavar="KEY", help="law of force of contacts with friction")
    add("--contacts", type=positive, metavar="N", help=in_contact)
    add = parser.add_argument_group("4. a liquid").add_argument
    of_liquid = "water64, or the period of the fastest libration of another: 33fs, or 3.3e-14 (s)"
    of_drift = "of the energy, kT per degree of freedom and ns (0.01, for runs of 1 ns; 0.01/N for N ns)"
    add("--liquid", metavar="KEY", help=of_liquid)
    add("--molecule", metavar="FILE", help="in its place an XYZ or LAMMPS file whose fastest libration is measured")
    add("--liquid-density", type=positive, metavar="RHO", help="of the liquid of this molecule, g/cm^3 (1)")
    add("--drift", type=positive, metavar="D", help=of_drift)
    add("--length", metavar="T", help="of the run, in place of --drift: 10ns, or 1e-8 (s)")
    add("--bath", metavar="BATH", help="langevin, nose-hoover or v-rescale: the run is in a heat bath")
    add("--gamma", metavar="RATE", help="friction of the bath langevin: 1/ps, or 1e12 (1/s)")
    add("--bias", type=positive, metavar="K", help="by how many K temperatures may be off in the bath (0.5)")
    add = parser.add_argument_group("every question").add_argument
    of_run = "folder of a run (results, or the released data if they have more states or bodies or there is no run)"
    of_error = "error to stay below, between 0 and 1; 0.01deg or 1e-4rad: of the orientation alone; of liquids it is --drift"
    add("--error", type=_error, help=of_error)
    add("--all", dest="everything", action="store_true", help="run or list all methods, including the variants as published")
    add("--why", action="store_true", help="say how the answer is known, what would change it, and show other methods")
    add("--json", action="store_true", help="print the answer for machines")
    add("--results", type=Path, metavar="FOLDER", help=of_run)
    bodies = parser.add_argument_group("questions 1 and 2")
    of_price = "time of one torque in steps of direct Euler, which `polhode bench` measures (100)"
    of_limit = "time limit, s, compilation included (without it 60 s of processor time after the compilation)"
    bodies.add_argument("--torque-price", type=not_negative, metavar="P", help=of_price)
    add = bodies.add_mutually_exclusive_group().add_argument
    add(
        "--one-torque",
        action="store_const",
        const=True,
        help="only methods with one torque per step: the default, not of --spacecraft and of files with wheels or a controller",
    )
    several = "also methods with several torques per step"
    add("--several-torques", dest="one_torque", action="store_const", const=False, help=several)
    bodies.add_argument("--limit", type=positive, metavar="T", help=of_limit)


def _in(unit: str, read: Callable[[str], float] = positive) -> Callable[[str], float]:
    """The reader of an option in a unit, which messages name."""

    def number(text: str) -> float:
        try:
            return read(text)
        except argparse.ArgumentTypeError as error:
            unlike = not re.search("finite", str(error))
            raise argparse.ArgumentTypeError(f"{error}{f'; write it in {unit}, without the unit' * unlike}") from None

    return number


def _error(text: str) -> float:
    """An error, which may be an angle with its unit."""
    error = in_radians(text)
    value = positive(str(error))
    return Angle(value) if isinstance(error, Angle) else value


def _positive_or_rigid(text: str) -> float:
    """A positive number, or infinity."""
    return inf if text.lower() in ("rigid", "inf") else positive(text)


def _without_option(text: str) -> NoReturn:
    """Test problems are asked for as files are."""
    raise argparse.ArgumentTypeError(f"a test problem is named without an option: polhode recommend {text}")


def _rate(text: str) -> float:
    """An angular velocity in rad/s, which may be written in degrees: ``3deg/s``."""
    in_degrees = text.removesuffix("deg/s")
    return _finite(text) if in_degrees == text else radians(_finite(in_degrees))


def _finite(text: str) -> float:
    """An option that is a finite number."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}") from None
    if not isfinite(value):
        raise argparse.ArgumentTypeError(f"must be finite, got {text}")
    return value


def run(arguments: argparse.Namespace) -> int:
    """Find the answer and print it; returns the exit status, 0.

    Raises
    ------
    UsageError
        For a question that is incomplete, contradictory, or has no answer; the message says what to ask.
    """
    # Options that give an argument of another name, as they were written.
    written = {"one_torque": "--several-torques"} if arguments.one_torque is False else {}
    if arguments.case is not None and UNIT.fullmatch(arguments.case) and not Path(arguments.case).exists():
        raise UsageError(
            f"FILE: {arguments.case} is a unit; write numbers in SI units and without them, such as --young 5e6, or a period "
            "as --liquid 33fs"
        )
    if arguments.torque_class is not None:
        written |= {"laws": "--torque-class", "torque": "--torque-class"}
        if arguments.torque is not None and arguments.torque != arguments.torque_class:
            raise UsageError("--torque and --torque-class name two torques; name one")
        arguments.laws, arguments.torque, arguments.torque_class = True, arguments.torque_class, None
    try:
        with warnings.catch_warnings(record=True) as remarks:
            warnings.simplefilter("always", UserWarning)
            answer = advising.recommend(**{name: getattr(arguments, name) for name in ARGUMENTS}, progress=True)
    except AdviceError as error:
        # Its first word may be an argument.
        raise UsageError(_in_options(_in_options(str(error), written), written, r"^(\w+)(?=[: ])")) from error
    for said in sorted({str(remark.message) for remark in remarks if remark.category is UserWarning}):
        print(f"polhode recommend: {said}", file=sys.stderr)
    print(_in_options(answer.to_json() if arguments.json else answer.why() if arguments.why else str(answer), {}))
    return 0


def _in_options(text: str, written: Mapping[str, str], argument: str = r"`(\w+)`") -> str:
    """What :func:`polhode.recommend` says, with the arguments that it names as options; ``written``: those of another name."""
    names = {name: f"--{name.replace('_', '-')}" for name in ARGUMENTS}
    names |= {"why": "--why", "case": "FILE", "purpose": "--for", "triangle": "--no-triangle", "everything": "--all", **written}
    text = re.sub(argument, lambda match: names.get(match[1], match[0]), text)
    return text.replace("triangle=False", "--no-triangle")
