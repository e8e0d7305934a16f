#!/usr/bin/env python3
"""Print whether a job in the queue (the argument is its number) is running, success or failed."""

import sys

from schedulers import status

print(status(sys.argv[-1]))
