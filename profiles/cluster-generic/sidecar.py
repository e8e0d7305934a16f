#!/usr/bin/env python3
"""Runs alongside Snakemake and, when that ends, removes what is left in the queue.

Snakemake cancels its jobs itself when it is interrupted, but not those whose state it is asking for at that moment, which
may be all of them. Where Snakemake is killed this ends, too, and leaves the jobs: they are found again at the next start.
"""

import os
import signal
import subprocess
import sys
import time

from schedulers import scheduler, unfinished


def sweep(*_: object) -> None:
    """Cancel what has not ended."""
    left = unfinished()
    if left:
        done = subprocess.run(scheduler().cancel(left), capture_output=True, text=True, check=False)
        print(f"cluster-generic: cancelled {', '.join(left)} {done.stderr.strip()}", file=sys.stderr)
    sys.exit(0)


signal.signal(signal.SIGTERM, sweep)
# Ctrl-C is meant for Snakemake, which then ends this.
signal.signal(signal.SIGINT, signal.SIG_IGN)
parent = os.getppid()
print("started", flush=True)  # Snakemake waits for a line
while os.getppid() == parent:
    time.sleep(1.0)
