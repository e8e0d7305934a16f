"""The study: its runs, and how their files are gathered, fitted, judged, drawn and printed. Independent of Snakemake."""

import gc
import os

from polhode.interface.extras import require

require("gmpy2", "matplotlib", "rich", "seaborn", "snakemake", what="the study")

# A job of the workflow begins with importing some hundred thousand objects that live until it ends. Until they are there
# (:func:`polhode_study.workflow.entry.job_of`), Python's search for unreachable objects would go through them in vain.
if "POLHODE_HEAD" in os.environ:
    gc.set_threshold(100_000, 10, 1000)
