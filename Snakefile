"""polhode: from the configuration to the report. Rules are in workflow/rules, the code they call in src/polhode_study."""

import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.0")
sys.path.insert(0, str(Path(workflow.basedir) / "src"))

from polhode_study import head

head.prepare()


configfile: "config.yaml"


RUN = head.Head(workflow, config)
STUDY, PLAN, RESULTS = RUN.study, RUN.plan, RUN.plan.results


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
# longest; 2 for all other data; 1 for chapters and report. Nothing waits for notebooks and pages: they fill the cores that typesetting
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


RUN.finish()


onstart:
    RUN.start(log[0])


onsuccess:
    RUN.watch.succeeded()


onerror:
    RUN.fail()
