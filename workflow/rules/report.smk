"""Every figure, table and number of the report, the report itself, and where it all comes from."""


rule figure:
    input:
        single_body=rules.gather.output[0],
        references=PLAN.references(),
        checks=PLAN.checks(),
        published=PLAN.published(),
        cost=PLAN.cost_of_figure,
        many_body=PLAN.many_body_of_figure,
    output:
        f"{RESULTS}/figures/{{figure}}.pdf",
        f"{RESULTS}/figures/{{figure}}.png",
    log:
        f"{RESULTS}/logs/figures/{{figure}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/figures/{{figure}}.tsv"
    conda:
        "../envs/polhode.yml"
    params:
        code=PLAN.script_code("figure"),
        places=PLAN.places,
    script:
        "../scripts/figure.py"


rule table:
    input:
        single_body=rules.gather.output[0],
        references=PLAN.references(),
        checks=PLAN.checks(),
        published=PLAN.published(),
        cost=PLAN.cost_of_table,
        many_body=PLAN.many_body_of_table,
        claims=rules.claims.output[0],
    output:
        f"{RESULTS}/tables/{{table}}.tex",
        f"{RESULTS}/tables/{{table}}.csv",
    log:
        f"{RESULTS}/logs/tables/{{table}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/tables/{{table}}.tsv"
    conda:
        "../envs/polhode.yml"
    params:
        code=PLAN.script_code("table"),
        places=PLAN.places,
    script:
        "../scripts/table.py"


rule numbers:
    input:
        single_body=rules.gather.output[0],
        references=PLAN.references(),
        checks=PLAN.checks(),
        many_body=PLAN.many_body(),
        published=PLAN.published(),
        claims=rules.claims.output[0],
        tex=PLAN.sources(),
    output:
        f"{RESULTS}/numbers.tex",
    log:
        f"{RESULTS}/logs/numbers.log",
    benchmark:
        f"{RESULTS}/benchmarks/numbers.tsv"
    conda:
        "../envs/polhode.yml"
    params:
        code=PLAN.script_code("numbers"),
        places=PLAN.places,
        commit=PLAN.commit,
    script:
        "../scripts/numbers.py"


rule report:
    input:
        PLAN.figures(),
        PLAN.tables(),
        rules.numbers.output,
        rules.cost_numbers.output,
        tex=PLAN.sources(),
    output:
        f"{RESULTS}/report.pdf",
    log:
        f"{RESULTS}/logs/report.log",
    benchmark:
        f"{RESULTS}/benchmarks/report.tsv"
    conda:
        "../envs/polhode.yml"
    params:
        code=PLAN.script_code("report"),
        commit=PLAN.commit,
    script:
        "../scripts/report.py"


rule provenance:
    input:
        rules.report.output,
    output:
        f"{RESULTS}/provenance.json",
    log:
        f"{RESULTS}/logs/provenance.log",
    conda:
        "../envs/polhode.yml"
    params:
        code=PLAN.script_code("provenance"),
        study=STUDY.json,
        commit=PLAN.commit,
    script:
        "../scripts/provenance.py"
