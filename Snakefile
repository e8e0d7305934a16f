"""polhode: from the configuration to the report. Rules are in workflow/rules; what they call is in src/polhode/study."""

import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

min_version("9.0")


configfile: "config.yaml"


HOME = Path(workflow.basedir)
sys.path.insert(0, str(HOME / "src"))

from polhode.study import configuration, entry, jobs, resources, written

entry.share_library()
try:
    STUDY = configuration.resolve(config, HOME, workflow.configfiles)
    configuration.compile_plugins(STUDY)
except configuration.ConfigurationError as error:
    raise WorkflowError(str(error)) from None
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
