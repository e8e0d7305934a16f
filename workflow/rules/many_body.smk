"""Energy of many bodies: one job for each scene, method and batch of step sizes, which runs all initial states."""

# There is one rule for each scene and batch, because they differ in the files that a job makes. Jobs are separate processes and
# may use several cores for their runs: snakemake --set-threads many_body_chess_1=4. An interrupted job starts again from its
# first run, which loses minutes at most. Logs are named after the first step of a batch: numbers change with the configuration.
for SCENE, PART in STUDY.scenes.items():
    for NUMBER, BATCH in enumerate(PART.batches, 1):

        rule:
            name:
                f"many_body_{SCENE}_{NUMBER}"
            output:
                PLAN.many_body_outputs(SCENE, BATCH),
            log:
                f"{RESULTS}/logs/many_body/{SCENE}/{{method}}/{BATCH[0].name}.log",
            benchmark:
                f"{RESULTS}/benchmarks/many_body/{SCENE}/{{method}}/{BATCH[0].name}.tsv"
            conda:
                "../envs/polhode.yml"
            threads: 1
            resources:
                runtime=resources.many_body_minutes(PART, BATCH),
                mem_mb=resources.memory(),
            params:
                scene=SCENE,
                settings=PLAN.many_body_settings(SCENE),
                code=PLAN.many_body_code(SCENE),
            script:
                "../scripts/many_body.py"


rule film:
    output:
        f"{RESULTS}/films/{{scene}}.nc",
    log:
        f"{RESULTS}/logs/films/{{scene}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/films/{{scene}}.tsv"
    group:
        "film"
    conda:
        "../envs/polhode.yml"
    resources:
        runtime=resources.minutes(),
        mem_mb=resources.memory(),
    params:
        settings=PLAN.film_settings,
        code=PLAN.film_code,
    script:
        "../scripts/film.py"


rule animation:
    input:
        rules.film.output,
    output:
        report(
            f"{RESULTS}/animation/{{scene}}.gif",
            caption="../report/animation.rst",
            category="Moving pictures",
            labels={"scene": "{scene}"},
        ),
    log:
        f"{RESULTS}/logs/animation/{{scene}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/animation/{{scene}}.tsv"
    group:
        "film"
    conda:
        "../envs/polhode.yml"
    resources:
        runtime=resources.minutes(5),
        mem_mb=resources.memory(),
    params:
        code=later(PLAN.script_code, "animation"),
    script:
        "../scripts/animation.py"


rule gather_many_body:
    input:
        PLAN.all_many_body_runs(),
    output:
        update(f"{RESULTS}/many_body.nc"),
    log:
        f"{RESULTS}/logs/gather_many_body.log",
    benchmark:
        f"{RESULTS}/benchmarks/gather_many_body.tsv"
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
        code=later(PLAN.script_code, "gather_many_body"),
        methods=PLAN.methods_code,
    script:
        "../scripts/gather_many_body.py"
