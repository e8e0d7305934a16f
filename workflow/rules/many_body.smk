"""Energy of many bodies: a file for each scene, step size and method, with all initial states; then a single file."""

from polhode_study.released import MANY_BODY

# There is one rule for each scene and part of its methods, as for single bodies. Jobs are separate processes and may use several
# cores for their runs: snakemake --set-threads many_body_chess_1=4.
for SCENE, PARTS in PLAN.scene_parts.items():
    for NUMBER, PART in enumerate(PARTS, 1):

        rule:
            name:
                f"many_body_{SCENE}_{NUMBER}"
            output:
                update(PLAN.scene_paths(SCENE, PART)),
            log:
                f"{RESULTS}/logs/many_body/{SCENE}/{NUMBER}.log",
            benchmark:
                f"{RESULTS}/benchmarks/many_body/{SCENE}/{NUMBER}.tsv"
            priority: 2
            conda:
                "../envs/polhode.yml"
            threads: 1
            resources:
                runtime=resources.many_body_minutes(STUDY.scenes[SCENE], PART),
                mem_mb=resources.memory(),
            params:
                files=deferred(PLAN.origins, PLAN.scene_paths(SCENE, PART)),
            script:
                "../scripts/many_body.py"


if PLAN.witnessed_scenes:

    rule many_body_witnesses:
        output:
            update(PLAN.witness_paths("many_body_runs")),
        log:
            f"{RESULTS}/logs/many_body/witnesses.log",
        benchmark:
            f"{RESULTS}/benchmarks/many_body/witnesses.tsv"
        priority: 2
        conda:
            "../envs/polhode.yml"
        resources:
            runtime=resources.minutes(),
            mem_mb=resources.memory(),
        params:
            files=deferred(PLAN.origins, PLAN.witness_paths("many_body_runs")),
        script:
            "../scripts/many_body.py"


rule film:
    output:
        f"{RESULTS}/films/{{scene}}.nc",
    log:
        f"{RESULTS}/logs/films/{{scene}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/films/{{scene}}.tsv"
    priority: 2
    group:
        "film"
    conda:
        "../envs/polhode.yml"
    resources:
        runtime=resources.minutes(),
        mem_mb=resources.memory(),
    params:
        files=PLAN.origin_by_wildcards("films"),
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
        code=deferred(PLAN.script_code, "animation"),
    script:
        "../scripts/animation.py"


rule gather_many_body:
    input:
        PLAN.released(MANY_BODY),
        PLAN.files("many_body_runs"),
    output:
        update(f"{RESULTS}/many_body.nc"),
    log:
        f"{RESULTS}/logs/gather_many_body.log",
    benchmark:
        f"{RESULTS}/benchmarks/gather_many_body.tsv"
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
        code=deferred(PLAN.script_code, "gather_many_body"),
        methods=PLAN.methods_code,
    script:
        "../scripts/gather_many_body.py"
