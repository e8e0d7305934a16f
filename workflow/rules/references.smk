"""High-precision reference trajectories: one file per problem, made for several problems in each job."""

# There is one rule for each part of the problems, because they differ in the files that a job makes. Files that are up to date are
# kept, so they are not removed before a job: update().
for NUMBER, KEYS in enumerate(PLAN.reference_parts, 1):

    rule:
        name:
            f"references_{NUMBER}"
        output:
            update(PLAN.files("references", KEYS)),
        log:
            f"{RESULTS}/logs/references/{NUMBER}.log",
        benchmark:
            f"{RESULTS}/benchmarks/references/{NUMBER}.tsv"
        priority: 3
        conda:
            "../envs/polhode.yml"
        resources:
            runtime=resources.minutes(),
            mem_mb=resources.memory(),
        params:
            files=deferred(PLAN.origins, PLAN.files("references", KEYS)),
            times=deferred(PLAN.reference_times, KEYS),
        script:
            "../scripts/references.py"
