#!/usr/bin/env python3
"""A queue that is none: the qsub, qstat and qdel of PBS and of SGE for the tests.

They take the arguments of the real ones, run the job at once and in the background, and answer as the real ones do.

The folder FAKE_QUEUE holds a folder for each job, FAKE_SCHEDULER says whose commands they are.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

#: Scheduler -> the options of its qsub with a value, and without one; an unknown one is an error, as with the real command.
OPTIONS = {
    "pbs": (("-N", "-j", "-o", "-l", "-q", "-A"), ("-V",)),
    "sge": (("-S", "-j", "-o", "-l", "-q"), ("-V", "-cwd", "-terse")),
}
#: Scheduler -> what a job finds in its environment: its number, and the folder where it was submitted.
VARIABLES = {"pbs": ("PBS_JOBID", "PBS_O_WORKDIR"), "sge": ("JOB_ID", "SGE_O_WORKDIR")}


def install(scheduler: str, folder: Path) -> dict[str, str]:
    """Put the commands of one scheduler into a folder; returns the variables with which they are found and work."""
    programs = folder / "bin"
    programs.mkdir(parents=True)
    for command in ("qsub", "qstat", "qdel"):
        (programs / command).write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" {command} "$@"\n')
        (programs / command).chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "FAKE_QUEUE": str(folder / "jobs"), "FAKE_SCHEDULER": scheduler}


def submitted(folder: Path) -> list[dict]:
    """What the jobs so far asked for, in order."""
    paths = sorted((folder / "jobs").glob("*/asked.json"), key=lambda path: int(path.parent.name))
    return [json.loads(path.read_text()) | {"id": path.parent.name} for path in paths]


# ---- the commands ----

QUEUE = Path(os.environ.get("FAKE_QUEUE", "."))
SCHEDULER = os.environ.get("FAKE_SCHEDULER", "pbs")


def qsub(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    values, flags = OPTIONS[SCHEDULER]
    for name in values:
        parser.add_argument(name, action="append", default=[])
    for name in flags:
        parser.add_argument(name, action="store_true")
    if SCHEDULER == "sge":
        parser.add_argument("-pe", nargs=2, default=[])
    parser.add_argument("script")
    options = parser.parse_args(arguments)
    QUEUE.mkdir(exist_ok=True)
    place = QUEUE / str(1 + len(list(QUEUE.iterdir())))
    place.mkdir()
    number = f"{place.name}.server" if SCHEDULER == "pbs" else place.name
    (place / "asked.json").write_text(json.dumps(vars(options)))
    # The real ones keep a copy, too; Snakemake removes its own.
    script = place / Path(options.script).name
    script.write_bytes(Path(options.script).read_bytes())
    output = (
        os.path.join(options.o[0], f"{number}.OU") if os.path.isdir(options.o[0]) else options.o[0].replace("$JOB_ID", number)
    )
    bare = {"PATH": "/usr/bin:/bin", "HOME": os.environ.get("HOME", "/")}
    environment = bare if not options.V or "FAKE_BARE" in os.environ else dict(os.environ)
    environment |= dict(zip(VARIABLES[SCHEDULER], (number, os.getcwd()), strict=True))
    runner = [sys.executable, __file__, "run", str(script), os.path.abspath(output), str(place)]
    null = subprocess.DEVNULL
    subprocess.Popen(runner, cwd="/", env=environment, start_new_session=True, stdin=null, stdout=null, stderr=null)
    print(number)


def run(arguments: list[str]) -> None:
    """The job itself, and a note of its end."""
    script, output, place = arguments
    with open(output, "ab") as log:
        process = subprocess.Popen(["/bin/sh", script], stdout=log, stderr=log, start_new_session=True)
    (Path(place) / "pid").write_text(str(process.pid))
    (Path(place) / "code").write_text(str(process.wait()))


def qstat(arguments: list[str]) -> None:
    """Tests put files into the folder of a job: ``error``, it is held by one; ``history``, it is remembered as finished."""
    if (QUEUE / "down").exists():
        sys.exit("cannot connect to the server")
    option, number = arguments
    place = QUEUE / number.removesuffix(".server")
    ended = (place / "code").exists() or not place.is_dir()
    if SCHEDULER == "pbs":
        assert option == "-f"
        if ended and (place / "history").exists():
            print(f"qstat: {number} Job has finished, use -x or -H to obtain historical job information", file=sys.stderr)
            sys.exit(35)
        if ended:
            print(f"qstat: Unknown Job Id {number}", file=sys.stderr)
            sys.exit(153)
        print(f"Job Id: {number}\n    Job_Name = x\n    job_state = R\n    queue = work")
    else:
        assert option == "-j"
        if ended:
            print(f"Following jobs do not exist or permissions are not sufficient: \n{number}", file=sys.stderr)
            sys.exit(1)
        print(f"==============\njob_number:                 {number}")
        if (place / "error").exists():
            print("error reason          1:      can't get password entry for user")


def qdel(arguments: list[str]) -> None:
    for number in arguments:
        place = QUEUE / number.removesuffix(".server")
        for _ in range(100):
            if (place / "pid").exists():
                break
            time.sleep(0.05)
        if not (place / "code").exists():
            os.killpg(int((place / "pid").read_text()), signal.SIGKILL)
        (place / "cancelled").touch()


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2:])
