"""High-precision reference trajectories, one file per problem."""


rule reference:
    output:
        f"{RESULTS}/references/{{problem}}.nc",
    log:
        f"{RESULTS}/logs/references/{{problem}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/references/{{problem}}.tsv"
    priority: 3
    conda:
        "../envs/polhode.yml"
    resources:
        runtime=resources.minutes(),
        mem_mb=resources.memory(),
    params:
        settings=PLAN.reference_settings,
        code=PLAN.reference_code,
    script:
        "../scripts/reference.py"
