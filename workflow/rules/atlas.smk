"""The engine atlas: one job for each physics engine, and one file of all. Without atlas: in the configuration there is none."""

if PLAN.engines:

    for KEY in PLAN.engines:

        rule:
            name:
                f"engine_{KEY}"
            output:
                f"{RESULTS}/atlas/{KEY}.nc",
            log:
                f"{RESULTS}/logs/atlas/{KEY}.log",
            benchmark:
                f"{RESULTS}/benchmarks/atlas/{KEY}.tsv"
            priority: 2
            conda:
                "../envs/polhode.yml"
            resources:
                runtime=resources.minutes(60),
                mem_mb=resources.memory(),
            params:
                engine=KEY,
                files=deferred(PLAN.origins, PLAN.files("engine_rows", [KEY])),
                install=STUDY.atlas.install,
                present=deferred(PLAN.engine_present, KEY),
            script:
                "../scripts/engine.py"

    rule gather_atlas:
        input:
            PLAN.files("engine_rows"),
        output:
            update(f"{RESULTS}/atlas.nc"),
        log:
            f"{RESULTS}/logs/gather_atlas.log",
        benchmark:
            f"{RESULTS}/benchmarks/gather_atlas.tsv"
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
            code=deferred(PLAN.script_code, "gather_atlas"),
            methods=PLAN.methods_code,
        script:
            "../scripts/gather_atlas.py"
