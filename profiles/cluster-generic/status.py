#!/usr/bin/env python3
"""Say of a job in the queue (the argument is its number) whether it is running, success or failed."""

import sys

from schedulers import status

print(status(sys.argv[-1]))
