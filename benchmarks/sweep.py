"""How the workflow copes with a large sweep: start, run and gathering of any number of cells; see the README here.

Problems and methods are copies of one of each under other names, since only their number matters.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

HOME = Path(__file__).resolve().parents[1]
NEEDED = ("Snakefile", "config.yaml", "requirements.txt", "src", "workflow", "profiles", "data", "paper")
PROBLEM = """\
from dataclasses import replace

from polhode.problems.exponential_sphere import PROBLEM as BASE

PROBLEM = replace(BASE, key="{key}", label="{key}")
"""
METHOD = """\
from dataclasses import replace

from polhode.methods.spiral_leapfrog import METHOD as BASE

METHOD = replace(BASE, key="{key}", label="{key}")
"""


def copy(folder: Path, problems: int, methods: int, steps: int) -> None:
    """A checkout in ``folder`` with these numbers of problems and methods, and a configuration that runs all combinations."""
    for name in NEEDED:
        source = HOME / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, folder / name)
    keys = [f"problem_{i}" for i in range(problems)], [f"method_{i}" for i in range(methods)]
    for kind, text, names in (("problems", PROBLEM, keys[0]), ("methods", METHOD, keys[1])):
        for key in names:
            (folder / "src" / "polhode" / kind / f"{key}.py").write_text(text.format(key=key))
    default = yaml.safe_load((HOME / "config.yaml").read_text())["problems"]
    study = {"dt": {"fit": {"divisions": [8, 1024, steps]}}, "samples": 1, "check_until": 0.05}
    changes = {
        "digits": 20,
        "methods": keys[1],
        "checks": [],
        "cost": None,
        "many_body": None,
        "problems": dict.fromkeys(default) | dict.fromkeys(keys[0], study),
    }
    (folder / "sweep.yaml").write_text(yaml.safe_dump(changes))


def measured(folder: Path, *arguments: str) -> str:
    """Wall and CPU seconds and the memory of one command of Snakemake in a checkout, as text."""
    command = [sys.executable, "-m", "snakemake", "--configfile", "sweep.yaml", *arguments]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": ""})
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stdout[-3000:] + done.stderr[-3000:])
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return f"{wall:8.1f} s wall, {cpu:8.1f} s CPU, largest process so far {after.ru_maxrss / 2**20:5.2f} GiB"


def main() -> None:
    """Make the checkout, measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=100)
    parser.add_argument("--methods", type=int, default=50)
    parser.add_argument("--steps", type=int, default=20, help="step sizes of each")
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--plan-only", action="store_true", help="only start, run nothing")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="polhode-sweep-") as name:
        folder = Path(name)
        copy(folder, asked.problems, asked.methods, asked.steps)
        print(f"{asked.problems * asked.methods * asked.steps} cells", flush=True)
        target, cores = "results/single_body.nc", f"--cores={asked.cores}"
        print(f"start (dry run)     {measured(folder, '-n', cores, target)}", flush=True)
        if asked.plan_only:
            return
        print(f"run, gathering too  {measured(folder, cores, target)}", flush=True)
        rows = (folder / "results" / "benchmarks" / "gather.tsv").read_text().splitlines()
        gathering = dict(zip(rows[0].split("\t"), rows[1].split("\t"), strict=True))
        print(f"of it gathering     {gathering['s']} s wall, {gathering['max_rss']} MB")
        print(f"start, nothing new  {measured(folder, cores, target)}")
        files = [p for p in (folder / "results").rglob("*") if p.is_file()]
        print(f"{len(files)} files, {sum(p.stat().st_size for p in files) / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
