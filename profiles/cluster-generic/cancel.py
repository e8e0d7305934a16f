#!/usr/bin/env python3
"""Remove jobs (the arguments are their numbers) from the queue.

Snakemake gives this two seconds, so it does not wait for long.
"""

import subprocess
import sys

from schedulers import scheduler

command = scheduler().cancel(sys.argv[1:])
# In its own session, so that it continues when this script is killed.
process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
try:
    sys.exit(process.wait(1.5))
except subprocess.TimeoutExpired:
    print(f"cluster-generic: {command[0]} takes long; it goes on by itself", file=sys.stderr)
