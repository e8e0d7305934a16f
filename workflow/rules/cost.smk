"""The cost of a step, measured with nothing else running, and the resulting time of a method to a target error."""


# The rule takes all cores to be alone on the machine. On a cluster the profile requests a whole node; the number of cores is
# unknown where jobs are submitted, and the job itself determines that of its node. No input makes it wait for the other jobs;
# its low priority does so as far as possible: with an ancient input Snakemake would not notice that a method was edited while
# cells run again for the same reason.
rule timing:
    output:
        f"{RESULTS}/timing.nc",
    log:
        f"{RESULTS}/logs/timing.log",
    benchmark:
        f"{RESULTS}/benchmarks/timing.tsv"
    priority: -1
    conda:
        "../envs/polhode.yml"
    threads: workflow.resource_settings.cores or 1
    resources:
        runtime=resources.minutes(),
        mem_mb=resources.memory(),
    params:
        settings=PLAN.timing_settings,
        code=PLAN.timing_code,
    script:
        "../scripts/timing.py"


rule cost:
    input:
        timing=rules.timing.output[0],
        single_body=rules.gather.output[0],
        many_body=PLAN.many_body(),
    output:
        f"{RESULTS}/cost.nc",
    log:
        f"{RESULTS}/logs/cost.log",
    benchmark:
        f"{RESULTS}/benchmarks/cost.tsv"
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
        code=later(PLAN.script_code, "cost"),
    script:
        "../scripts/cost.py"


# Separate from the other claims, whose file has the same bytes in every run.
rule cost_claims:
    input:
        cost=PLAN.cost(),
        single_body=rules.gather.output[0],
        published=PLAN.published(),
    output:
        f"{RESULTS}/cost_claims.csv",
    log:
        f"{RESULTS}/logs/cost_claims.log",
    benchmark:
        f"{RESULTS}/benchmarks/cost_claims.tsv"
    group:
        "report"
    conda:
        "../envs/polhode.yml"
    resources:
        runtime=resources.minutes(5),
        mem_mb=resources.memory(),
        reporting=1,
    params:
        code=later(PLAN.script_code, "cost_claims"),
        places=PLAN.places,
    script:
        "../scripts/cost_claims.py"
