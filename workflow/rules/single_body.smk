"""The single-body comparison: a file for each problem, set of step sizes and method; then a single file of results."""

from polhode_study.plan import SINGLE_BODY as KINDS
from polhode_study.released import SINGLE_BODY, check_file

# There is one rule for each problem and part of its methods, because they differ in the files that a job makes. Files that are up
# to date are kept, so they are not removed before a job: update().
for PROBLEM, PARTS in PLAN.parts.items():
    for NUMBER, METHODS in enumerate(PARTS, 1):

        rule:
            name:
                f"single_body_{PROBLEM}_{NUMBER}"
            output:
                update(PLAN.part_paths(PROBLEM, METHODS)),
            log:
                f"{RESULTS}/logs/single_body/{PROBLEM}/{NUMBER}.log",
            benchmark:
                f"{RESULTS}/benchmarks/single_body/{PROBLEM}/{NUMBER}.tsv"
            priority: 3
            conda:
                "../envs/polhode.yml"
            resources:
                runtime=resources.single_body_minutes(STUDY.problems[PROBLEM], METHODS),
                mem_mb=resources.memory(),
            params:
                files=deferred(PLAN.origins, PLAN.part_paths(PROBLEM, METHODS)),
            script:
                "../scripts/single_body.py"


if PLAN.witnessed_problems:

    # What is run of the problems that come from the release takes less time than the start of a job for each.
    rule single_body_witnesses:
        output:
            update(PLAN.witness_paths(*KINDS)),
        log:
            f"{RESULTS}/logs/single_body/witnesses.log",
        benchmark:
            f"{RESULTS}/benchmarks/single_body/witnesses.tsv"
        priority: 3
        conda:
            "../envs/polhode.yml"
        resources:
            runtime=resources.minutes(),
            mem_mb=resources.memory(),
        params:
            files=deferred(PLAN.origins, PLAN.witness_paths(*KINDS)),
        script:
            "../scripts/single_body.py"


for NUMBER, CHECKS in enumerate(PLAN.check_parts, 1):

    rule:
        name:
            f"checks_{NUMBER}"
        input:
            PLAN.released(*map(check_file, CHECKS)),
        output:
            update(PLAN.files("checks", CHECKS)),
        log:
            f"{RESULTS}/logs/checks/{NUMBER}.log",
        benchmark:
            f"{RESULTS}/benchmarks/checks/{NUMBER}.tsv"
        priority: 2
        conda:
            "../envs/polhode.yml"
        resources:
            runtime=resources.minutes(),
            mem_mb=resources.memory(),
        params:
            files=deferred(PLAN.origins, PLAN.files("checks", CHECKS)),
            plain=PLAN.is_plain(CHECKS),
        script:
            "../scripts/checks.py"


rule gather:
    input:
        PLAN.released(SINGLE_BODY),
        PLAN.files("references"),
        PLAN.single_body_runs(),
    output:
        update(f"{RESULTS}/single_body.nc"),
    log:
        f"{RESULTS}/logs/gather.log",
    benchmark:
        f"{RESULTS}/benchmarks/gather.tsv"
    priority: 3
    group:
        "report"
    conda:
        "../envs/polhode.yml"
    resources:
        runtime=resources.minutes(5),
        mem_mb=resources.memory(),
        reporting=1,
    params:
        study=STUDY.json,
        code=deferred(PLAN.script_code, "gather"),
        methods=PLAN.methods_code,
    script:
        "../scripts/gather.py"


rule claims:
    input:
        single_body=rules.gather.output,
        checks=PLAN.files("checks"),
        many_body=PLAN.files("many_body"),
        published=PLAN.published(),
        statements=PLAN.claims(timed=False),
    output:
        update(f"{RESULTS}/claims.csv"),
    log:
        f"{RESULTS}/logs/claims.log",
    benchmark:
        f"{RESULTS}/benchmarks/claims.tsv"
    priority: 2
    group:
        "report"
    conda:
        "../envs/polhode.yml"
    resources:
        runtime=resources.minutes(5),
        mem_mb=resources.memory(),
        reporting=1,
    params:
        timed=False,
        code=deferred(PLAN.claims_code, False),
        places=PLAN.places,
    script:
        "../scripts/claims.py"
