#!/usr/bin/env python3
"""Put a job script of Snakemake (the last argument) into the queue; prints its number."""

import subprocess
import sys
from pathlib import Path

from schedulers import read_job, remember, scheduler

speak = scheduler()
job = read_job(Path(sys.argv[-1]))
command = speak.submit(job)
done = subprocess.run(command, capture_output=True, text=True, check=False)
sys.stderr.write(done.stderr)
if done.returncode != 0:
    sys.exit(f"cluster-generic: {' '.join(command)}\nended with {done.returncode}: {done.stdout.strip()}")
number = speak.number(done.stdout)
remember(number, job)
print(number)
