"""Time a step of the compiled kernels beside the same arithmetic in C: ``python benchmarks/compare.py``.

The C is generated from the kernels (:mod:`polhode.export`). ``c`` has one method of each group written by hand, a witness that
shares nothing with the generator; of a method with both the faster one counts. The system's compiler compiles them into a
temporary folder, and they are called through ctypes. All sides run the same problem, with the torque behind a function pointer.
Short runs of all methods and sides take turns, and the fastest of each counts: the one with which other work on the machine
interfered least. ``--readme`` writes the table of all methods to ``benchmarks/README.md``, and the part of it that the report
states to :data:`STATED`; run it on an idle machine.
"""

import argparse
import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from time import thread_time_ns

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "src"))

import polhode  # noqa: E402
from polhode.export import LANGUAGES  # noqa: E402
from polhode.methods.protocol import Method  # noqa: E402
from polhode.problems.problem import Problem  # noqa: E402
from polhode_study.provenance import host  # noqa: E402

#: All methods, each with the normalisation that it declares.
METHODS = tuple(polhode.methods)
SOURCES = sorted((HERE / "c").glob("*.c"))
TORQUES = HERE / "c" / "torques.c"
#: The methods that are written by hand as well.
WITNESSES = tuple(
    key
    for source in SOURCES
    for key in re.findall(
        r"^(?:ONE_TORQUE|ONE_TORQUE_WARM_UP|SEVERAL_TORQUES)\((\w+),", source.read_text(encoding="utf-8"), re.MULTILINE
    )
)
#: The problems whose torques they contain, in the order of their table.
PROBLEMS = ("free_asymmetric_top", "spiral_cylinder", "asymmetric_heavy_top", "damped_top", "lab_torque")
#: The problems that are timed if nothing else is wanted, with the heads of their columns.
TIMED = {"spiral_cylinder": "constant torque", "asymmetric_heavy_top": "gravity", "damped_top": "friction"}
#: The largest ratio of times, kernel to C, that is acceptable.
LIMIT = 1.3
README = HERE / "README.md"
#: The times of which the report states the extra time of SPIRAL's step over that of direct Euler.
STATED = HERE.parent / "data" / "published" / "two_codings.csv"
#: The lines of the README between which the table stands.
MARKS = "<!-- written by compare.py --readme -->", "<!-- end of what compare.py writes -->"
#: No fused multiply-add and no fast-math: the arithmetic is that of the kernels.
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-std=c11", "-Wall", "-Wextra", "-shared", "-fPIC")
#: Without combining scalars into vectors the results are those of the kernels, bit for bit. With it, gcc 12 forms products
#: and sums by one instruction (vfmaddsub), in spite of ``-ffp-contract=off``.
SAME_BITS = ("-fno-tree-slp-vectorize",)
#: Additional flags to try; the faster version counts.
VARIANTS = ((), SAME_BITS)


class NoCompiler(RuntimeError):
    """There is no C compiler to compare with."""


def compiler() -> str:
    """The C compiler: that of the environment variable CC, or the first available of cc, gcc and clang.

    Raises
    ------
    NoCompiler
        If there is none.
    """
    named = os.environ.get("CC")
    for name in [named] if named else ["cc", "gcc", "clang"]:
        if shutil.which(name):
            return name
    raise NoCompiler(
        f"CC names {named!r}, which is not there"
        if named
        else "no C compiler found (cc, gcc, clang); install one, or name it by the environment variable CC"
    )


def library(folder: str | Path, extra: tuple[str, ...] = (), methods: Iterable[Method] | None = None) -> ctypes.CDLL:
    """The generated C of all methods, or of these, compiled into ``folder`` with :data:`FLAGS` and some more, and loaded.

    Raises
    ------
    NoCompiler
        If there is none.
    RuntimeError
        If the compiler does not compile it; the message is its own.
    """
    # A step without a call, as in the kernels and by hand; gcc alone would leave some.
    inlined = "#define inline inline __attribute__((always_inline))\n"
    files = {}
    for method in polhode.methods.values() if methods is None else methods:
        behind = f'#include "{HERE / "c" / "generated.h"}"\nGENERATED({method.key})\n'
        files[method.key] = Path(folder) / f"{method.key}.c"
        files[method.key].write_text(f"{inlined}{LANGUAGES['c'].source(method)}{behind}", encoding="utf-8")
    return _loaded(Path(folder) / f"generated{''.join(extra)}.so", [*files.values(), TORQUES], extra, list(files))


def witnesses(folder: str | Path, extra: tuple[str, ...] = ()) -> ctypes.CDLL:
    """The methods written by hand, likewise."""
    return _loaded(Path(folder) / f"witnesses{''.join(extra)}.so", SOURCES, extra, WITNESSES)


def _loaded(made: Path, sources: Sequence[Path], extra: tuple[str, ...], methods: Sequence[str]) -> ctypes.CDLL:
    command = [compiler(), *FLAGS, *extra, *map(str, sources), "-o", str(made), "-lm"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{run.stderr}")
    loaded = ctypes.CDLL(str(made))
    for name in methods:
        pointer = ctypes.POINTER(ctypes.c_double)
        function = getattr(loaded, name)
        function.restype = None
        function.argtypes = [pointer] * 3 + [ctypes.c_int, pointer, ctypes.c_double, ctypes.c_long, pointer, pointer]
    return loaded


def in_c(loaded: ctypes.CDLL, key: str, case: Problem, dt: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """q and omega after a number of steps of the C version.

    ``case`` is one of :data:`PROBLEMS`, perhaps with other parameters, body or initial state.
    """
    given = [np.array(values, dtype=float) for values in (case.q0, case.omega0, case.body.coefficients())]
    q, omega = np.empty(4), np.empty(3)
    pointers = [a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for a in (*given, case.parameter_array, q, omega)]
    getattr(loaded, key)(*pointers[:3], PROBLEMS.index(case.key), pointers[3], dt, steps, *pointers[4:])
    return q, omega


def in_python(key: str, case: Problem, dt: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """q and omega after a number of steps of the compiled kernels."""
    torque, parameters, at = case.compiled_torque, case.parameter_array, np.array([steps])
    q, omega, _, _ = polhode.methods[key].integrate(case.q0, case.omega0, case.body.coefficients(), torque, parameters, dt, at)
    return q[0], omega[0]


def nanoseconds(run: Callable[[], object]) -> float:
    """The processor time of a run."""
    start = thread_time_ns()
    run()
    return thread_time_ns() - start


def measure(
    libraries: Sequence[ctypes.CDLL], methods: Sequence[str], problem: str, steps: int, rounds: int, dt: float = 1e-4
) -> dict[str, tuple[float, float]]:
    """Method -> nanoseconds per step of the kernels and of the C version: the fastest of all rounds and libraries.

    Everything runs once before it is timed. From the fastest run of so many steps that of none is taken off: a call from
    Python costs as much as a thousand steps.
    """
    case = polhode.problems[problem]
    sides = {key: [in_python, *(partial(in_c, of) for of in libraries if hasattr(of, key))] for key in methods}
    runs = {
        (key, i, length): partial(side, key, case, dt, length)
        for key in methods
        for i, side in enumerate(sides[key])
        for length in (0, steps)
    }
    for run in runs.values():
        run()
    best = dict.fromkeys(runs, np.inf)
    for _ in range(rounds):
        for name, run in runs.items():
            best[name] = min(best[name], nanoseconds(run))
    result = {}
    for key in methods:
        ours, *theirs = ((best[key, i, steps] - best[key, i, 0]) / steps for i in range(len(sides[key])))
        result[key] = ours, min(theirs)
    return result


def compiler_version() -> str:
    """Name and version of the compiler, as its macro ``__VERSION__`` has it; only that of gcc lacks the name."""
    macros = subprocess.run([compiler(), "-dM", "-E", "-x", "c", os.devnull], capture_output=True, text=True, check=True).stdout
    found = re.search(r'^#define __VERSION__ "(.+)"', macros, re.MULTILINE)
    version = found.group(1).strip() if found else "unknown"
    return version if re.search("clang", version, re.IGNORECASE) else f"gcc {version}"


def table(times: dict[str, dict[str, tuple[float, float]]], how: str) -> str:
    """The table of the README in Markdown, with what was measured in front and what follows from it behind.

    Parameters
    ----------
    times : problem -> method -> ns per step of the kernels and of C
    how : the machine, the versions and the way of measuring, a paragraph
    """
    heads = [TIMED.get(problem, f"`{problem}`") for problem in times]
    rows = [
        f"| `{key}` | "
        + " | ".join(f"{of[key][0]:.1f} | {of[key][1]:.1f} | {of[key][0] / of[key][1]:.2f}" for of in times.values())
        for key in sorted(next(iter(times.values())))
    ]
    ratios = {(key, head): a / b for head, of in zip(heads, times.values(), strict=True) for key, (a, b) in of.items()}
    (key, head), largest = max(ratios.items(), key=lambda item: item[1])
    above = sorted({f"`{key}`" for (key, _), ratio in ratios.items() if ratio > LIMIT})
    verdict = f"Ratios above {LIMIT}: {', '.join(above)}." if above else f"No ratio is above {LIMIT}."
    return "\n".join(
        [
            how,
            "",
            "| method | " + " | ".join(f"{head}: kernels | C | ratio" for head in heads) + " |",
            "|---" * (1 + 3 * len(heads)) + "|",
            *(f"{row} |" for row in rows),
            "",
            f"{verdict} The largest is {largest:.2f} (`{key}`, {head}), the median {np.median(list(ratios.values())):.2f}.",
        ]
    )


def stated(times: dict[str, dict[str, tuple[float, float]]]) -> str:
    """The file :data:`STATED`, with as many digits as the table of the README.

    Parameters
    ----------
    times : problem -> method -> ns per step of the kernels and of C
    """
    rows = [
        f"{problem},{key},{of[key][0]:.1f},{of[key][1]:.1f}"
        for problem, of in times.items()
        for key in ("euler", "spiral_leapfrog")
    ]
    head = (
        "# Nanoseconds per step in two codings of the same arithmetic: part of the table in benchmarks/README.md, written with"
    )
    return "\n".join(
        [head, "# it by benchmarks/compare.py --readme. omega in the body frame.", "problem,method,kernels,c", *rows, ""]
    )


def with_table(text: str, made: str) -> str:
    """The text of the README with this table between its :data:`MARKS`."""
    before, rest = text.split(MARKS[0])
    return f"{before}{MARKS[0]}\n\n{made}\n\n{MARKS[1]}{rest.split(MARKS[1])[1]}"


def main() -> None:
    """Print a table, or the reason why there is none; put it into the README if that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", choices=sorted(METHODS), default=sorted(METHODS), metavar="KEY")
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(TIMED), metavar="PROBLEM")
    parser.add_argument("--steps", type=int, default=50_000, help="steps of one run (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=150, help="how often each is timed (default: %(default)s)")
    parser.add_argument("--readme", action="store_true", help="write the table of all methods to benchmarks/README.md")
    arguments = parser.parse_args()
    if arguments.readme and (len(arguments.methods) < len(METHODS) or list(TIMED) != arguments.problems):
        parser.error("--readme writes the table of all methods: leave out --methods and --problems")
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        try:
            libraries = [made(folder, extra) for made in (library, witnesses) for extra in VARIANTS]
        except NoCompiler as reason:
            print(f"Nothing is compared: {reason}.")
            return
        times = {}
        for problem in arguments.problems:
            print(f"{problem}; {compiler()} {' '.join(FLAGS[:3])}, and with {' '.join(SAME_BITS)}: the faster one")
            print(f"{'method':28s}{'kernels':>10s}{'C':>10s}{'ratio':>8s}   (ns per step)", flush=True)
            times[problem] = measure(libraries, arguments.methods, problem, arguments.steps, arguments.rounds)
            for key, (ours, theirs) in times[problem].items():
                print(f"{key:28s}{ours:10.1f}{theirs:10.1f}{ours / theirs:8.2f}", flush=True)
    if arguments.readme:
        machine = host()
        how = (
            f"Nanoseconds per step, each method with the normalisation that it declares: the fastest of {arguments.rounds} "
            f"runs of {arguments.steps:,} steps.\n{machine['cpu']}, {machine['system']}; {compiler_version()}, "
            f"Numba {machine['numba']}, Python {machine['python']};\nload average {load:.1f} on {machine['cores']} cores "
            f"at the beginning."
        )
        README.write_text(with_table(README.read_text(encoding="utf-8"), table(times, how)), encoding="utf-8")
        STATED.write_text(stated(times), encoding="utf-8")
        print(f"written to {README.relative_to(Path.cwd()) if README.is_relative_to(Path.cwd()) else README}")


if __name__ == "__main__":
    main()
