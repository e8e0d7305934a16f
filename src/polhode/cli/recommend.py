"""Recommend a method and a step size: for a body and a torque of your own, colliding bodies, a liquid, or a test problem.

Six kinds of questions::

  polhode recommend --inertia 1 2 2.5 --omega 10 --torque lab --strength 0.5 --time 2 --error 1e-4 --torque-price 100
  polhode recommend my_case.yaml --error 1e-4
      All methods are run on this very problem. my_case.yaml, or my_case.py, holds body and torque; see docs/recommend.md.
  polhode recommend --torque-class friction --omega 10 --error 1e-4
      For bodies that are not known exactly, from the errors of random ones.
  polhode recommend --contact-time 1e-4 --error 1e-4
  polhode recommend --young 5e6 --poisson 0.3 --density 2500 --radius 1e-3 --speed 1 --error 1e-4
      For many bodies that collide, from the energy errors of the scenes; --error is that of the energy.
  polhode recommend --contact-time 1e-4 --friction 0.5 --restitution 0.7 --error 1e-2
  polhode recommend --contact-time 1e-4 --for bulk --error 5e-2
      For contacts with friction and damping: single impacts, or what is read off an assembly.
  polhode recommend chess --error 1e-4
  polhode recommend grain.csv --scale 1e-3 --young 1e8 --poisson 0.3 --density 2500 --speed 1 --error 1e-3
      For a scene of the library, or my_scene.py; for a clump of spheres in a file and its material.
  polhode recommend --liquid water64 --drift 0.01
  polhode recommend --liquid 1.2e-14
      For molecules at constant energy: a liquid that was run, or the period of the fastest libration (s); --drift is in kT per
      degree of freedom and ns.
  polhode recommend --problem heavy_top --error 1e-5
      From the measurements of the study on the test problem most like yours.

--torque-price is the time of one evaluation of your torque over that of a step of direct Euler, which `polhode bench` measures.
"""

import argparse
import re
import sys
import warnings
from math import isfinite
from pathlib import Path

from polhode import advice as advising
from polhode.advice import AdviceError, files
from polhode.advice.answer import Recommendation
from polhode.advice.from_measurements import from_measurements
from polhode.cli import UsageError, not_negative, positive
from polhode.interface.progress import Stage, watched

#: The options of each kind of question; the others serve all kinds.
KINDS: dict[str, tuple[str, ...]] = {
    "problem": ("problem",),
    "case": ("case", "inertia", "triangle", "omega", "orientation", "torque", "strength", "time", "laws", "limit"),
    "contacts": ("contact_time", "contacts", *advising.MATERIAL, "scale", *advising.RUBBING),
    "liquid": ("liquid", "drift"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``polhode recommend``."""
    parser.add_argument("--error", type=positive, help="error to stay below, between 0 and 1")
    parser.add_argument(
        "--torque-price", type=not_negative, metavar="P", help="cost of one torque in steps of direct Euler (0)"
    )
    torques = parser.add_mutually_exclusive_group()
    torques.add_argument(
        "--one-torque", action="store_const", const=True, help="only methods with one torque per step: the default"
    )
    torques.add_argument(
        "--several-torques",
        dest="one_torque",
        action="store_const",
        const=False,
        help="also methods with several torques per step",
    )
    parser.add_argument("--all", action="store_true", help="list all methods, including the variants as published")
    parser.add_argument("--json", action="store_true", help="print the answer for machines")
    parser.add_argument(
        "--results",
        type=Path,
        metavar="FOLDER",
        help="folder of a run (results, or the released data if they have more states or bodies or there is no run)",
    )
    body = parser.add_argument_group("a body and a torque of your own")
    body.add_argument(
        "case",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="a .yaml or .py file with body and torque; or a scene (its key or .py file), or the file of a clump",
    )
    body.add_argument(
        "--inertia",
        nargs="+",
        type=_finite,
        metavar="I",
        help="kg m^2: three principal moments, or a tensor: Ixx Iyy Izz Ixy Ixz Iyz as in LAMMPS, or its nine elements by rows",
    )
    body.add_argument(
        "--no-triangle", dest="triangle", action="store_const", const=False, help="allow moments that no rigid body has"
    )
    body.add_argument(
        "--omega", nargs="+", type=_finite, metavar="W", help="initial angular velocity, rad/s: its size, or three components"
    )
    body.add_argument(
        "--orientation", nargs=4, type=_finite, metavar=("Q0", "QX", "QY", "QZ"), help="initial quaternion, body to lab"
    )
    body.add_argument("--torque", metavar="CLASS", help="free, constant, time, lab, state, friction ...")
    body.add_argument("--strength", type=not_negative, metavar="S", help="angular acceleration by the torque over omega^2 (1)")
    body.add_argument("--time", type=positive, metavar="T", help="time to simulate, s")
    body.add_argument("--laws", action="store_true", help="answer for random bodies instead of one that is known")
    body.add_argument("--torque-class", metavar="CLASS", help="the same as --laws --torque CLASS")
    body.add_argument("--limit", type=positive, metavar="T", help="time limit of the answer, s of processor time (60)")
    contacts = parser.add_argument_group("many bodies that collide")
    contacts.add_argument("--contact-time", type=positive, metavar="T", help="duration of a contact, s; or else:")
    contacts.add_argument(
        "--contacts",
        type=positive,
        metavar="N",
        help="time in contact of each body, in contact times (16)",
    )
    contacts.add_argument("--young", type=positive, metavar="E", help="Young's modulus, Pa")
    contacts.add_argument("--poisson", type=_finite, metavar="NU", help="Poisson's ratio")
    contacts.add_argument("--density", type=positive, metavar="RHO", help="kg/m^3")
    contacts.add_argument("--radius", type=positive, metavar="R", help="of a sphere, m")
    contacts.add_argument("--speed", type=positive, metavar="V", help="at which it hits a wall, m/s")
    contacts.add_argument("--scale", type=positive, metavar="M", help="unit of length of the file of a clump, m (1)")
    contacts.add_argument("--friction", type=positive, metavar="MU", help="coefficient of friction")
    contacts.add_argument("--restitution", type=positive, metavar="E", help="normal coefficient of restitution")
    contacts.add_argument("--law", metavar="KEY", help="law of force of contacts with friction")
    contacts.add_argument(
        "--for",
        dest="purpose",
        choices=advising.PURPOSES,
        help="with friction: single impacts (the default), or what is read off an assembly",
    )
    liquids = parser.add_argument_group("molecules at constant energy")
    liquids.add_argument(
        "--liquid", type=_name_or_period, metavar="KEY", help="water64, or the period of the fastest libration of another, s"
    )
    liquids.add_argument("--drift", type=positive, metavar="D", help="of the energy, kT per degree of freedom and ns (0.01)")
    measured = parser.add_argument_group("a test problem of the study")
    measured.add_argument("--problem", metavar="KEY", help="test problem with a torque like yours, as in config.yaml")


def _name_or_period(text: str) -> str | float:
    """A word, or a positive number."""
    try:
        return positive(text)
    except argparse.ArgumentTypeError:
        if text[:1].isalpha():
            return text
        raise


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
    """Find the answer and print it.

    Raises
    ------
    UsageError
        For a question that is incomplete, contradictory, or has no answer; the message says what to ask.
    """
    if arguments.torque_class is not None:
        if arguments.torque is not None and arguments.torque != arguments.torque_class:
            raise UsageError("--torque and --torque-class name two torques; name one")
        arguments.laws, arguments.torque, arguments.torque_class = True, arguments.torque_class, None
    kind = _kind(arguments)
    try:
        with warnings.catch_warnings(record=True) as remarks:
            warnings.simplefilter("always", UserWarning)
            answer = _of_problem(arguments) if kind == "problem" else _of_body_or_contacts(arguments)
    except AdviceError as error:
        # Its first word may be an argument.
        raise UsageError(_in_options(_in_options(str(error)), r"^(\w+)(?=[: ])")) from error
    for said in sorted({str(remark.message) for remark in remarks if remark.category is UserWarning}):
        print(f"polhode recommend: {said}", file=sys.stderr)
    print(_in_options(answer.to_json() if arguments.json else str(answer)))
    return 0


def _kind(arguments: argparse.Namespace) -> str:
    """What is asked: a kind of :data:`KINDS`."""
    given = {kind: [name for name in names if getattr(arguments, name) not in (None, False)] for kind, names in KINDS.items()}
    kinds = [kind for kind, names in given.items() if names]
    # A scene or the file of a clump, with its material, friction or drift: what fits is decided there.
    if arguments.case is not None and arguments.case.suffix not in (".yaml", ".yml") and not {*kinds} & {"problem"}:
        kinds = ["case"]
    if len(kinds) > 1:
        first, second = (_option(given[kind][0]) for kind in kinds[:2])
        raise UsageError(f"{first} and {second} belong to different questions; ask one (--help shows the six kinds)")
    if not kinds:
        raise UsageError(
            "what for? A body of your own: --inertia, --omega, --torque, --time, or a FILE; colliding bodies: --contact-time; "
            "a liquid: --liquid; a test problem: --problem"
        )
    if arguments.error is None and kinds != ["liquid"] and not (kinds == ["case"] and arguments.case is not None):
        raise UsageError("--error is missing: the error to stay below, between 0 and 1")
    if arguments.case is not None and len(given["case"]) > 1:
        others = [name for name in given["case"] if name not in ("case", "time", "limit")]
        if others:
            raise UsageError(f"{_option(others[0])} is part of the case, which is in {arguments.case}")
    return kinds[0]


def _option(name: str) -> str:
    return {"case": "FILE", "purpose": "--for"}.get(name, f"--{name.replace('_', '-')}")


def _in_options(text: str, argument: str = r"`(\w+)`") -> str:
    """What :func:`polhode.recommend` says, with the arguments that it names as options."""
    names = {"error", "problem", "torque_price", "results", *KINDS["case"][1:], *KINDS["contacts"]}
    text = re.sub(argument, lambda match: _option(match[1]) if match[1] in names else match[0], text)
    return text.replace("triangle=False", "--no-triangle")


def _of_body_or_contacts(arguments: argparse.Namespace) -> Recommendation:
    """The answer of :func:`polhode.recommend`."""
    return advising.recommend(
        **{name: getattr(arguments, name) for name in (*KINDS["case"], *KINDS["contacts"], *KINDS["liquid"])},
        error=arguments.error,
        torque_price=arguments.torque_price,
        one_torque=arguments.one_torque,
        everything=arguments.all,
        results=arguments.results,
        progress=True,
    )


def _of_problem(arguments: argparse.Namespace) -> Recommendation:
    """The answer for a test problem, from the measurements of the study."""
    path = files.find("cost.nc", arguments.results)
    price = 0.0 if arguments.torque_price is None else arguments.torque_price
    try:
        with watched(Stage("looking up")):
            return from_measurements(
                path, arguments.problem, arguments.error, price, arguments.one_torque is not False, arguments.all
            )
    except AdviceError:
        raise
    except (OSError, RuntimeError, ValueError, LookupError, AttributeError) as error:
        # Any part of the file may be damaged: nothing else is read here.
        why = " ".join(str(error).split())
        again = "take it from the repository again" if files.is_released(path) else f"make it again: ./reproduce {path}"
        raise UsageError(
            f"{path} is damaged or not a cost.nc of this version ({type(error).__name__}: {why[:200]}); {again}"
        ) from error
