"""How long all methods take to compile from nothing: ``python benchmarks/compile_time.py``.

Each measurement is a new process with an empty folder for compiled code, and compiles everything by itself. Printed are the
seconds of the processor for the drivers of one body, with ``--systems`` also for those of systems of bodies, in all and for the
slowest methods. Imports are listed apart. Other work on the machine makes processor seconds longer, by up to a half.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import process_time, thread_time

HERE = Path(__file__).resolve().parent
#: Seconds of one processor, for the drivers of all methods on one body.
TARGET = 60.0


def measured(methods: Sequence[str], systems: bool) -> dict[str, float]:
    """Seconds for each method and for ``imports``, in this process, which should have compiled nothing yet."""
    sys.path.insert(0, str(HERE.parent / "src"))
    import polhode

    found = {"imports": process_time()}
    for key in methods or polhode.methods:
        start = thread_time()
        polhode.methods[key].compile(systems)
        found[key] = thread_time() - start
    return found


def in_new_process(methods: Sequence[str], systems: bool) -> dict[str, float]:
    """The same from a process of its own, with nothing on disk."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--here", *(["--systems"] if systems else []), "--methods", *methods]
        done = subprocess.run(command, env=os.environ | {"POLHODE_CACHE_DIR": folder}, stdout=subprocess.PIPE, check=True)
    seconds: dict[str, float] = json.loads(done.stdout)
    return seconds


def main() -> None:
    """Print the seconds of all methods, and of the slowest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="*", default=[], metavar="KEY", help="all by default")
    parser.add_argument("--systems", action="store_true", help="the drivers of systems of bodies too")
    parser.add_argument("--slowest", type=int, default=8, help="how many methods are listed (default: %(default)s)")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.here:
        print(json.dumps(measured(arguments.methods, arguments.systems)))
        return
    seconds = in_new_process(arguments.methods, arguments.systems)
    imports = seconds.pop("imports")
    total = sum(seconds.values())
    what = "one body and systems" if arguments.systems else "one body"
    print(f"{len(seconds)} methods, {what}: {total:.1f} s, {total / len(seconds):.2f} s a method; imports {imports:.1f} s")
    if not arguments.methods and not arguments.systems:
        print(f"target: {TARGET:g} s; {'met' if total < TARGET else 'missed'}")
    for key in sorted(seconds, key=lambda one: -seconds[one])[: arguments.slowest]:
        print(f"{key:28s}{seconds[key]:6.2f}")


if __name__ == "__main__":
    main()
