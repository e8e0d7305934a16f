"""polhode: from the configuration to the report. Rules are in workflow/rules, the code they call in src/polhode/study."""

import gc
import shlex
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.utils import min_version

min_version("9.0")

# Planning makes a million small objects that live until its end; looking for garbage among them takes a quarter of its time.
gc.set_threshold(100_000, 50, 50)

# To tell the language of a script, Snakemake imports nbformat, and this jsonschema, which would take two seconds to compile a
# grammar of web addresses for a check that nothing here needs, and does without if there is none (jsonschema's issue 1428).
sys.modules.setdefault("rfc3987_syntax", None)

HOME = Path(workflow.basedir)
sys.path.insert(0, str(HOME / "src"))

from snakemake_logger_plugin_polhode import LogHandler

from polhode.interface import netcdf
from polhode.interface.reading import read
from polhode.study import configuration, products, storage, themes
from polhode.study.plan import deferred
from polhode.study.released import ENSEMBLES, MANY_BODY, SINGLE_BODY, check_file
from polhode.study.workflow import (
    entry,
    locks,
    resources,
    scheduling,
    signals,
    starting,
    watching,
    written,
)

signals.lead()
starting.hasten()
try:
    entry.share_library()
    # Snakemake's own reader would report neither file nor line.
    read("config.yaml")
except configuration.ConfigurationError as error:
    raise WorkflowError(str(error)) from None


configfile: "config.yaml"


cores = workflow.resource_settings.cores
if workflow.is_main_process and cores is not None and cores < 1:
    # Snakemake would wait forever for a free core.
    raise WorkflowError(f"--cores must be at least 1, got {cores}")
try:
    # The checks of the head process need not be repeated by its jobs.
    STUDY = configuration.resolve(
        config,
        HOME,
        ["config.yaml", *workflow.overwrite_configfiles],
        checked=not workflow.is_main_process,
    )
except configuration.ConfigurationError as error:
    raise WorkflowError(str(error)) from None
# Scripts do not know which file named a plug-in.
config["plugins"] = [str(path) for path in STUDY.plugins]
if workflow.is_main_process:
    logger.info(STUDY.estimate.summary())
PLAN = products.Products(STUDY, HOME)
RESULTS = PLAN.results
# From here on this run has the results to itself if it starts jobs: a dry run, --unlock and so on change nothing.
STARTS = locks.will_run(workflow)
if workflow.is_main_process:
    try:
        locks.begin(RESULTS) if STARTS else storage.check_folder(RESULTS)
    except (locks.LockedError, OSError, netcdf.UnreadableFile) as error:
        raise WorkflowError(str(error)) from None

# Progress and the outcome at the end are shown instead of Snakemake's log.
WATCH = watching.Watch(PLAN.units, RESULTS, HOME)
if STARTS:
    WATCH.attach(LogHandler.current)


wildcard_constraints:
    method="|".join(STUDY.methods),
    scene="|".join([*STUDY.scenes, "none"]),


localrules:
    all,
    data,
    notebooks,


rule all:
    default_target: True
    input:
        f"{RESULTS}/provenance.json",
        PLAN.products(),
        PLAN.captions(),
        PLAN.every_run(),


rule data:
    input:
        PLAN.data(),
        PLAN.every_run(),


rule notebooks:
    input:
        PLAN.files("notebooks"),


report: "workflow/report/workflow.rst"


# Priorities of the rules: 4 for the timing, which must be alone; 3 for references and single bodies, whose gathering takes
# longest; 2 for all other data; 1 for themes and report. Nothing waits for notebooks and pages: they fill the cores that typesetting
# leaves.
include: "workflow/rules/common.smk"
include: "workflow/rules/references.smk"
include: "workflow/rules/single_body.smk"
include: "workflow/rules/many_body.smk"
include: "workflow/rules/ensembles.smk"
include: "workflow/rules/cost.smk"
include: "workflow/rules/notebooks.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/explorer.smk"


# Files changed accidentally since they were written are made again, also by a run for a target that is newer than they are.
if workflow.is_main_process:
    try:
        for line in written.mend(
            RESULTS, dry=not STARTS, order=scheduling.orders(workflow)
        ):
            print(line, file=sys.stderr)
    except netcdf.UnreadableFile as error:
        raise WorkflowError(str(error)) from None


# Snakemake writes the path of Python unquoted into the commands of its jobs, including spaces and quotes (its issue 2645). This
# comes last, because the code above may start a Python process of its own.
sys.executable = shlex.quote(sys.executable)


onstart:
    locks.begin(RESULTS)
    signals.stop_jobs_on_signals()
    scheduling.look_when_a_job_ends(workflow)
    entry.forget_failures(RESULTS)
    WATCH.logfile = log[0]


onsuccess:
    WATCH.succeeded()


onerror:
    WATCH.failed()
    locks.sweep(Path(RESULTS))
