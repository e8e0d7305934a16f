"""What every script of the workflow begins with: the study of this run, and everything printed goes to the rule's log."""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from polhode.study import interruption
from polhode.study.configuration import Study, resolve

#: The house: the folder of the Snakefile. Scripts run with its src on their path.
HOME = Path(__file__).resolve().parents[3]


def share_library() -> None:
    """Let the processes that the workflow starts find this library, installed or not."""
    paths = [str(HOME / "src"), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))


@contextmanager
def study_of(snakemake: Any) -> Iterator[Study]:
    """The study of the run that ``snakemake`` belongs to; output and a traceback go to its log.

    The last line of an error is printed as well, so that the terminal says what went wrong without opening the log.
    """
    interruption.end_with_head()
    with open(snakemake.log[0], "w", encoding="utf-8") as log, redirect_stdout(log), redirect_stderr(log):
        try:
            yield resolve(snakemake.config, HOME, checked=True)  # by the Snakefile
        except Exception as error:
            traceback.print_exc()
            print(f"rule {snakemake.rule}: {error}", file=sys.__stderr__)
            raise SystemExit(1) from None
