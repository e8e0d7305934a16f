"""``python -m polhode`` is ``polhode``."""

import sys

from polhode.cli import main

sys.exit(main())
