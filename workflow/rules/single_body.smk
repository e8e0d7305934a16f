"""The single-body comparison: one literal job per problem, method and step size, then one file of results."""


rule cell:
    output:
        f"{RESULTS}/cells/{{problem}}/{{method}}/{{dt}}.nc",
    log:
        f"{RESULTS}/logs/cells/{{problem}}/{{method}}/{{dt}}.log",
    params:
        settings=PLAN.cell_settings,
        code=PLAN.cell_code,
    run:
        cells.run_cell(
            wildcards.problem,
            wildcards.method,
            float(wildcards.dt),
            params.settings,
            output[0],
            log[0],
        )


rule long_run:
    output:
        f"{RESULTS}/{{kind}}/{{problem}}/{{method}}/{{dt}}.nc",
    log:
        f"{RESULTS}/logs/{{kind}}/{{problem}}/{{method}}/{{dt}}.log",
    params:
        settings=PLAN.long_run_settings,
        code=PLAN.cell_code,
    run:
        cells.run_cell(
            wildcards.problem,
            wildcards.method,
            float(wildcards.dt),
            params.settings,
            output[0],
            log[0],
        )


rule targets:
    output:
        f"{RESULTS}/targets/{{problem}}/{{method}}.nc",
    log:
        f"{RESULTS}/logs/targets/{{problem}}/{{method}}.log",
    params:
        settings=PLAN.target_settings,
        code=PLAN.target_code,
    run:
        targets.run_targets(
            STUDY, wildcards.problem, wildcards.method, output[0], log[0]
        )


rule check:
    output:
        f"{RESULTS}/checks/{{check}}.nc",
    log:
        f"{RESULTS}/logs/checks/{{check}}.log",
    params:
        code=PLAN.check_code,
    run:
        checks.run_check(STUDY, wildcards.check, output[0], log[0])


rule gather:
    input:
        PLAN.references(),
        PLAN.cells(),
        PLAN.long_runs(),
        PLAN.targets(),
    output:
        f"{RESULTS}/single_body.nc",
    log:
        f"{RESULTS}/logs/gather.log",
    benchmark:
        f"{RESULTS}/benchmarks/gather.tsv"
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
        code=PLAN.script_code("gather"),
        methods=PLAN.methods_code,
    script:
        "../scripts/gather.py"


rule claims:
    input:
        single_body=rules.gather.output,
        checks=PLAN.checks(),
        many_body=PLAN.many_body(),
        published=PLAN.published(),
    output:
        f"{RESULTS}/claims.csv",
    log:
        f"{RESULTS}/logs/claims.log",
    benchmark:
        f"{RESULTS}/benchmarks/claims.tsv"
    group:
        "report"
    conda:
        "../envs/polhode.yml"
    resources:
        runtime=resources.minutes(5),
        mem_mb=resources.memory(),
        reporting=1,
    params:
        code=PLAN.script_code("claims"),
        places=PLAN.places,
    script:
        "../scripts/claims.py"
