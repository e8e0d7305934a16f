"""The cost of a step, measured with nothing else running, and the resulting time of a method to a target error."""


# The rule takes all cores to be alone on the machine. On a cluster the profile requests a whole node; the number of cores is
# unknown where jobs are submitted, and the job itself determines that of its node. It needs no results (methods that the study
# does not time have the released times, relative to those of direct Euler), and its priority puts it
# first: at the start of a run no other job has to end before it, and it compiles all methods on all cores for those that follow.
rule timing:
    input:
        PLAN.released_times(),
    output:
        f"{RESULTS}/timing.nc",
    log:
        f"{RESULTS}/logs/timing.log",
    benchmark:
        f"{RESULTS}/benchmarks/timing.tsv"
    priority: 4
    conda:
        "../envs/polhode.yml"
    threads: workflow.resource_settings.cores or 1
    resources:
        runtime=resources.minutes(),
        mem_mb=resources.memory(),
    params:
        settings=PLAN.timing_settings,
        problems=list(STUDY.problems),
        of_systems=PLAN.of_systems,
        code=PLAN.timing_code,
    script:
        "../scripts/timing.py"


rule cost:
    input:
        timing=rules.timing.output[0],
        single_body=rules.gather.output[0],
        many_body=PLAN.files("many_body"),
    output:
        f"{RESULTS}/cost.nc",
    log:
        f"{RESULTS}/logs/cost.log",
    benchmark:
        f"{RESULTS}/benchmarks/cost.tsv"
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
        study=STUDY.json,
        code=deferred(PLAN.script_code, "cost"),
    script:
        "../scripts/cost.py"


# Separate from the other claims, whose file has the same bytes in every run.
rule cost_claims:
    input:
        cost=PLAN.files("cost"),
        single_body=rules.gather.output[0],
        published=PLAN.published(),
    output:
        f"{RESULTS}/cost_claims.csv",
    log:
        f"{RESULTS}/logs/cost_claims.log",
    benchmark:
        f"{RESULTS}/benchmarks/cost_claims.tsv"
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
        code=deferred(PLAN.script_code, "cost_claims"),
        places=PLAN.places,
    script:
        "../scripts/cost_claims.py"
