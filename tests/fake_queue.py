#!/usr/bin/env python3
"""A queue that is none: qsub, bsub and the like for the tests.

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

COMMANDS = {
    "pbs": ("qsub", "qstat", "qdel"),
    "sge": ("qsub", "qstat", "qdel", "qconf"),
    "lsf": ("bsub", "bjobs", "bkill"),
    "htcondor": ("condor_submit", "condor_q", "condor_rm"),
}


def install(scheduler: str, folder: Path) -> dict[str, str]:
    """Put the commands of one scheduler into a folder; returns the variables with which they are found and work."""
    programs = folder / "bin"
    programs.mkdir(parents=True)
    for command in COMMANDS[scheduler]:
        (programs / command).write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" {command} "$@"\n')
        (programs / command).chmod(0o755)
    return {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "FAKE_QUEUE": str(folder / "jobs"),
        "FAKE_SCHEDULER": scheduler,
    }


def submitted(folder: Path) -> list[dict]:
    """What the jobs so far asked for, in order."""
    found = sorted((folder / "jobs").glob("*/asked.json"), key=lambda path: int(path.parent.name))
    return [json.loads(path.read_text()) | {"id": path.parent.name} for path in found]


# ---- the commands ----

QUEUE = Path(os.environ.get("FAKE_QUEUE", "."))


def enqueue(asked: dict, script: str, output: str, variables: bool) -> str:
    """Start the job; ``variables``: with those of whoever submits, otherwise with next to none."""
    QUEUE.mkdir(exist_ok=True)
    number = 1 + len(list(QUEUE.iterdir()))
    place = QUEUE / str(number)
    place.mkdir()
    (place / "asked.json").write_text(json.dumps(asked | {"script": script, "output": output}))
    bare = {"PATH": "/usr/bin:/bin", "HOME": os.environ.get("HOME", "/")}
    kept = bare if not variables or "FAKE_BARE" in os.environ else dict(os.environ)
    runner = [sys.executable, __file__, "run", script, output, str(place)]
    null = subprocess.DEVNULL
    subprocess.Popen(runner, env=kept, start_new_session=True, stdin=null, stdout=null, stderr=null)
    return str(number)


def run(script: str, output: str, place: str) -> None:
    """The job itself, and a note of its end."""
    with open(output, "ab") as log:
        process = subprocess.Popen(["/bin/sh", script], stdout=log, stderr=log, start_new_session=True)
    (Path(place) / "pid").write_text(str(process.pid))
    (Path(place) / "code").write_text(str(process.wait()))


def state(number: str) -> str:
    """waiting, running, done, unknown; a file called ``held`` makes it that."""
    place = QUEUE / number
    if not place.is_dir() or (place / "forgotten").exists():
        return "unknown"
    if (place / "held").exists():
        return "held"
    if (place / "code").exists():
        return "done"
    return "running" if (place / "pid").exists() else "waiting"


def kill(number: str) -> None:
    """End a job; its group, as a scheduler does."""
    place = QUEUE / number
    for _ in range(100):
        if (place / "pid").exists():
            break
        time.sleep(0.05)
    if not (place / "code").exists():
        os.killpg(int((place / "pid").read_text()), signal.SIGKILL)
    (place / "cancelled").touch()


def options(arguments: list[str], *names: str, flags: tuple[str, ...] = ()) -> argparse.Namespace:
    """Options that may repeat, and what is left; an unknown one is an error, as with the real command."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for name in names:
        parser.add_argument(name, action="append", default=[])
    for flag in flags:
        parser.add_argument(flag, action="store_true")
    parser.add_argument("rest", nargs="*")
    return parser.parse_args(arguments)


def qsub(arguments: list[str]) -> None:
    if os.environ["FAKE_SCHEDULER"] == "pbs":
        found = options(arguments, "-N", "-j", "-o", "-l", "-q", "-A", flags=("-V",))
        print(enqueue({"l": found.l, "q": found.q, "name": found.N[0]}, found.rest[0], found.o[0], found.V) + ".server")
    else:
        found = options(arguments, "-N", "-S", "-j", "-o", "-l", "-pe", "-q", "-P", flags=("-V", "-cwd", "-terse"))
        asked = {"l": found.l, "pe": [*found.pe, *found.rest[:-1]], "q": found.q, "name": found.N[0]}
        number = enqueue(asked, found.rest[-1], found.o[0], found.V)
        print(number if found.terse else f'Your job {number} ("{found.N[0]}") has been submitted')


def qstat(arguments: list[str]) -> None:
    if os.environ["FAKE_SCHEDULER"] == "pbs":
        number = arguments[-1].removesuffix(".server")
        now = state(number)
        if now == "unknown":
            print(f"qstat: Unknown Job Id {arguments[-1]}", file=sys.stderr)
            sys.exit(153)
        if now == "done" and (QUEUE / number / "history").exists():
            print(f"Job Id: {arguments[-1]}\n    job_state = F\n    Exit_status = 0")
            return
        if now == "done":
            print(
                f"qstat: {arguments[-1]} Job has finished, use -x or -H to obtain historical job information", file=sys.stderr
            )
            sys.exit(35)
        letter = {"waiting": "Q", "running": "R", "held": "H"}[now]
        print(f"Job Id: {arguments[-1]}\n    Job_Name = x\n    job_state = {letter}\n    queue = work")
    else:
        print("job-ID  prior   name       user         state submit/start at     queue          slots ja-task-ID")
        print("-" * 100)
        for place in QUEUE.iterdir():
            letter = {"waiting": "qw", "running": "r", "held": "Eqw"}.get(state(place.name))
            if letter:
                print(f"{place.name:>7} 0.55500 polhode-x  me           {letter:5} 11/22/2026 12:00:00 all.q@node        1")


def qdel(arguments: list[str]) -> None:
    for number in ",".join(arguments).split(","):
        kill(number.removesuffix(".server"))


def bsub(arguments: list[str]) -> None:
    found = options(arguments, "-J", "-o", "-n", "-R", "-M", "-W", "-q", "-P", flags=("-x",))
    asked = {"n": found.n[0], "R": found.R[0], "M": found.M[0], "W": found.W[0], "x": found.x, "q": found.q, "name": found.J[0]}
    print(f"Job <{enqueue(asked, found.rest[0], found.o[0], True)}> is submitted to default queue <normal>.")


def bjobs(arguments: list[str]) -> None:
    found = options(arguments, "-o", flags=("-noheader",))
    now = state(found.rest[0])
    if now == "unknown":
        print(f"Job <{found.rest[0]}> is not found", file=sys.stderr)
        return
    code = QUEUE / found.rest[0] / "code"
    ended = "DONE" if now == "done" and code.read_text() == "0" else "EXIT"
    print({"waiting": "PEND", "running": "RUN", "held": "PSUSP"}.get(now, ended))


def bkill(arguments: list[str]) -> None:
    for number in arguments:
        kill(number)


def condor_submit(arguments: list[str]) -> None:
    found = options(arguments, "-append", flags=("-terse",))
    lines = [line.partition(" = ") for line in Path(found.rest[0]).read_text().splitlines() if " = " in line]
    asked = {name: value for name, _, value in lines}
    variables = asked["getenv"] == "True"
    number = enqueue(asked | {"name": asked["batch_name"]}, asked["executable"], asked["output"], variables)
    print(f"{number}.0 - {number}.0" if found.terse else f"1 job(s) submitted to cluster {number}.")


def condor_q(arguments: list[str]) -> None:
    assert arguments[1:] == ["-autoformat", "JobStatus"]
    word = {"waiting": "1", "running": "2", "held": "5"}.get(state(arguments[0].removesuffix(".0")))
    if word:
        print(word)


def condor_rm(arguments: list[str]) -> None:
    for number in arguments:
        kill(number.removesuffix(".0"))


if __name__ == "__main__":
    name = sys.argv[1]
    if (QUEUE / "down").exists() and name in ("qstat", "bjobs", "condor_q"):
        sys.exit("the server does not answer")
    if name == "run":
        run(*sys.argv[2:])
    else:
        globals()[name](sys.argv[2:])
