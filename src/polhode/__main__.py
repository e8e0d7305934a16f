"""``python -m polhode`` is ``polhode``."""

import gc
import sys

# What is imported lives to the end of the command: to look for garbage in it takes a twentieth of a short one.
gc.set_threshold(100_000, 50, 50)

from polhode.cli import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
