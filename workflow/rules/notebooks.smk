"""The notebooks, executed on the results of this run: one job each, so that they run in parallel."""

for NAME in STUDY.notebooks:

    rule:
        name:
            f"notebook_{NAME.replace('-', '_')}"
        input:
            PLAN.notebook_inputs(NAME),
        output:
            report(
                f"{RESULTS}/notebooks/{NAME}.html",
                caption="../report/notebook.rst",
                category="Notebooks",
                labels={"notebook": NAME},
            ),
            f"{RESULTS}/notebooks/{NAME}.ipynb",
        log:
            f"{RESULTS}/logs/notebooks/{NAME}.log",
        benchmark:
            f"{RESULTS}/benchmarks/notebooks/{NAME}.tsv"
        group:
            "report"
        conda:
            "../envs/polhode.yml"
        resources:
            runtime=resources.minutes(5),
            mem_mb=resources.memory(),
            reporting=1,
        params:
            name=NAME,
            code=deferred(PLAN.notebook_code, NAME),
        script:
            "../scripts/execute_notebook.py"
