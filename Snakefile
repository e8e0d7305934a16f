"""polhode: from the configuration to the report. Rules are in workflow/rules; what they call is in src/polhode/study."""

import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.utils import min_version

min_version("9.0")

HOME = Path(workflow.basedir)
sys.path.insert(0, str(HOME / "src"))

from polhode.study import configuration, entry, jobs, written
from polhode.study.reading import read

entry.share_library()
try:
    # Snakemake's own reader would say neither file nor line.
    read("config.yaml")
except configuration.ConfigurationError as error:
    raise WorkflowError(str(error)) from None


configfile: "config.yaml"


try:
    STUDY = configuration.resolve(
        config,
        HOME,
        ["config.yaml", *workflow.overwrite_configfiles],
        checked=not workflow.is_main_process,
    )
    configuration.compile_plugins(STUDY)
except configuration.ConfigurationError as error:
    raise WorkflowError(str(error)) from None
if workflow.is_main_process:
    logger.info(STUDY.estimate.summary())
PLAN = jobs.Plan(STUDY, HOME)
RESULTS = PLAN.results

# What an accident has changed since it was written is made again.
if workflow.is_main_process:
    for line in written.mend(RESULTS, dry=workflow.dryrun):
        print(line, file=sys.stderr)


onstart:
    entry.forget_failures(RESULTS)


onerror:
    print(entry.failures(RESULTS), file=sys.stderr)


wildcard_constraints:
    problem="|".join(STUDY.problems),
    method="|".join(STUDY.methods),
    check="|".join(configuration.CHECKS),
    scene="|".join([*STUDY.scenes, "none"]),


localrules:
    all,
    data,


rule all:
    default_target: True
    input:
        f"{RESULTS}/report.pdf",
        f"{RESULTS}/provenance.json",
        PLAN.animations(),
        PLAN.data(),


rule data:
    input:
        PLAN.data(),


include: "workflow/rules/references.smk"
include: "workflow/rules/single_body.smk"
include: "workflow/rules/many_body.smk"
include: "workflow/rules/cost.smk"
include: "workflow/rules/report.smk"
