"""The interactive page explorer.html, made from the data of the run; the report does not need it."""

from importlib.metadata import version


rule explorer:
    input:
        single_body=rules.gather.output[0],
        references=PLAN.files("references"),
        checks=PLAN.files("checks"),
        many_body=PLAN.files("many_body"),
        ensembles=PLAN.files("ensembles"),
        published=PLAN.published(),
        statements=PLAN.statements(),
        claims=rules.claims.output[0],
        cost=PLAN.files("cost"),
        cost_claims=rules.cost_claims.output[0],
        page=PLAN.page_sources(),
    output:
        PLAN.files("explorer"),
    log:
        f"{RESULTS}/logs/explorer.log",
    benchmark:
        f"{RESULTS}/benchmarks/explorer.tsv"
    group:
        "report"
    conda:
        "../envs/polhode.yml"
    resources:
        runtime=resources.minutes(5),
        mem_mb=resources.memory(),
        reporting=1,
    params:
        code=deferred(PLAN.script_code, "explorer"),
        plotly=version("plotly"),  # part of the page
        places=PLAN.places,
    script:
        "../scripts/explorer.py"
