"""Every figure, table and number of the report, the report itself, and where it all comes from."""

# A rule for each theme. Starting a job takes longer than drawing most figures.
for THEME, NAMES in jobs.FIGURES_BY_THEME.items():

    rule:
        name:
            f"figures_{THEME}"
        input:
            single_body=PLAN.single_body_of(THEME),
            published=PLAN.published(),
            cost=PLAN.cost_of(THEME),
            many_body=PLAN.many_body_of(THEME, films=True),
        output:
            expand(f"{RESULTS}/figures/{{name}}.pdf", name=NAMES),
            [shown("figures", THEME, f"{name}.png") for name in NAMES],
        log:
            f"{RESULTS}/logs/figures/{THEME}.log",
        benchmark:
            f"{RESULTS}/benchmarks/figures/{THEME}.tsv"
        group:
            "report"
        conda:
            "../envs/polhode.yml"
        resources:
            runtime=resources.minutes(5),
            mem_mb=resources.memory(),
            reporting=1,
        params:
            names=list(NAMES),
            code=PLAN.script_code("figures"),
            places=PLAN.places,
        script:
            "../scripts/figures.py"


for THEME, NAMES in jobs.TABLES_BY_THEME.items():

    rule:
        name:
            f"tables_{THEME}"
        input:
            single_body=rules.gather.output[0],
            references=PLAN.references(),
            checks=PLAN.checks(),
            published=PLAN.published(),
            cost=PLAN.cost_of(THEME, claims=True),
            many_body=PLAN.many_body_of(THEME),
            claims=rules.claims.output[0],
        output:
            expand(f"{RESULTS}/tables/{{name}}.tex", name=NAMES),
            [shown("tables", THEME, f"{name}.csv") for name in NAMES],
        log:
            f"{RESULTS}/logs/tables/{THEME}.log",
        benchmark:
            f"{RESULTS}/benchmarks/tables/{THEME}.tsv"
        group:
            "report"
        conda:
            "../envs/polhode.yml"
        resources:
            runtime=resources.minutes(5),
            mem_mb=resources.memory(),
            reporting=1,
        params:
            names=list(NAMES),
            code=PLAN.script_code("tables"),
            places=PLAN.places,
        script:
            "../scripts/tables.py"


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
    group:
        "report"
    conda:
        "../envs/polhode.yml"
    resources:
        runtime=resources.minutes(5),
        mem_mb=resources.memory(),
        reporting=1,
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
        report(
            update(f"{RESULTS}/report.pdf"),
            caption="../report/report.rst",
            category="Report",
        ),
    log:
        f"{RESULTS}/logs/report.log",
    benchmark:
        f"{RESULTS}/benchmarks/report.tsv"
    group:
        "report"
    conda:
        "../envs/polhode.yml"
    resources:
        runtime=resources.minutes(5),
        mem_mb=resources.memory(),
        reporting=1,
    params:
        code=PLAN.script_code("report"),
        commit=PLAN.commit,
    script:
        "../scripts/report.py"


# The captions of the report's LaTeX, for snakemake --report.
rule captions:
    input:
        rules.numbers.output,
        rules.cost_numbers.output,
        tex=PLAN.sources(),
    output:
        PLAN.captions(),
    log:
        f"{RESULTS}/logs/captions.log",
    benchmark:
        f"{RESULTS}/benchmarks/captions.tsv"
    group:
        "report"
    conda:
        "../envs/polhode.yml"
    resources:
        runtime=resources.minutes(5),
        mem_mb=resources.memory(),
        reporting=1,
    params:
        code=PLAN.script_code("captions"),
    script:
        "../scripts/captions.py"


# Last of all: it holds the checksums of what the run left.
rule provenance:
    input:
        PLAN.products(),
    output:
        f"{RESULTS}/provenance.json",
    log:
        f"{RESULTS}/logs/provenance.log",
    group:
        "report"
    conda:
        "../envs/polhode.yml"
    resources:
        runtime=resources.minutes(5),
        mem_mb=resources.memory(),
        reporting=1,
    params:
        code=PLAN.script_code("provenance"),
        study=STUDY.json,
        commit=PLAN.commit,
    script:
        "../scripts/provenance.py"
