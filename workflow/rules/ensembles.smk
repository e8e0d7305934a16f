"""Every method on random bodies: the draw with its exact states, the errors of some methods in each job, one file of results."""

from polhode_study.released import ENSEMBLES

if STUDY.ensembles is not None:

    rule ensemble_states:
        output:
            PLAN.files("ensemble_states"),
        log:
            f"{RESULTS}/logs/ensemble_states.log",
        benchmark:
            f"{RESULTS}/benchmarks/ensemble_states.tsv"
        priority: 2
        conda:
            "../envs/polhode.yml"
        resources:
            runtime=resources.minutes(),
            mem_mb=resources.memory(),
        params:
            files=deferred(PLAN.origins, PLAN.files("ensemble_states")),
        script:
            "../scripts/ensemble_states.py"

    # There is one rule for each part of the methods, because they differ in the files that a job makes.
    for NUMBER, METHODS in enumerate(PLAN.ensemble_parts, 1):

        rule:
            name:
                f"ensemble_{NUMBER}"
            input:
                PLAN.files("ensemble_states"),
            output:
                update(PLAN.files("ensemble_runs", METHODS)),
            log:
                f"{RESULTS}/logs/ensembles/{NUMBER}.log",
            benchmark:
                f"{RESULTS}/benchmarks/ensembles/{NUMBER}.tsv"
            priority: 2
            conda:
                "../envs/polhode.yml"
            resources:
                runtime=resources.ensemble_minutes(STUDY.ensembles, METHODS),
                mem_mb=resources.memory(),
            params:
                files=deferred(PLAN.origins, PLAN.files("ensemble_runs", METHODS)),
                exact=deferred(PLAN.origin, *PLAN.files("ensemble_states")),
            script:
                "../scripts/ensemble.py"

    rule gather_ensembles:
        input:
            PLAN.released(ENSEMBLES),
            PLAN.files("ensemble_states"),
            PLAN.files("ensemble_runs"),
        output:
            update(f"{RESULTS}/ensembles.nc"),
        log:
            f"{RESULTS}/logs/gather_ensembles.log",
        benchmark:
            f"{RESULTS}/benchmarks/gather_ensembles.tsv"
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
            code=deferred(PLAN.script_code, "gather_ensembles"),
            methods=PLAN.methods_code,
        script:
            "../scripts/gather_ensembles.py"
