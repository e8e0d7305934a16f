"""What a step costs, measured with nothing beside it, and how long a method then takes to a target error."""


# Alone on the machine: it takes all cores. On a cluster the profile asks for a whole node; there no number of cores is given
# where jobs are handed out, and the job itself finds those of its node. No input makes it wait for the fan-out, the low priority does as far as it can:
# behind an ancient input Snakemake would not see that a method was edited, while cells run again for the same reason.
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
        code=PLAN.script_code("cost"),
    script:
        "../scripts/cost.py"


# Apart from the other claims, whose file has the same bytes in every run.
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
        code=PLAN.script_code("cost_claims"),
        places=PLAN.places,
    script:
        "../scripts/cost_claims.py"


# The numbers of the text that are times; numbers.tex has the others, the same in every run.
rule cost_numbers:
    input:
        cost=PLAN.cost(),
        single_body=rules.gather.output[0],
        published=PLAN.published(),
        claims=rules.cost_claims.output[0],
        tex=PLAN.sources(),
    output:
        f"{RESULTS}/cost_numbers.tex",
    log:
        f"{RESULTS}/logs/cost_numbers.log",
    benchmark:
        f"{RESULTS}/benchmarks/cost_numbers.tsv"
    group:
        "report"
    conda:
        "../envs/polhode.yml"
    resources:
        runtime=resources.minutes(5),
        mem_mb=resources.memory(),
        reporting=1,
    params:
        code=PLAN.script_code("cost_numbers"),
        places=PLAN.places,
    script:
        "../scripts/cost_numbers.py"
