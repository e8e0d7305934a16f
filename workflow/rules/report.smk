"""Every figure, table and number of the report, the report itself, and its provenance."""

# There is one rule for each theme: its figures, tables and numbers read the same files and rest on the same analysis, and starting
# a job takes longer than drawing most figures.
for KEY, THEME in themes.all_themes().items():

    rule:
        name:
            f"theme_{KEY}"
        input:
            PLAN.needed(KEY),
            published=PLAN.published(),
        output:
            [shown("figures", THEME.title, f"{name}.png") for name in THEME.figures],
            [shown("tables", THEME.title, f"{name}.csv") for name in THEME.tables],
            figures=expand(f"{RESULTS}/figures/{{name}}.pdf", name=THEME.figures),
            tables=expand(f"{RESULTS}/tables/{{name}}.tex", name=THEME.tables),
            numbers=[PLAN.numbers_of(KEY)] if THEME.numbers else [],
        log:
            f"{RESULTS}/logs/themes/{KEY}.log",
        benchmark:
            f"{RESULTS}/benchmarks/themes/{KEY}.tsv"
        priority: 1
        group:
            "report"
        conda:
            "../envs/polhode.yml"
        resources:
            runtime=resources.minutes(5),
            mem_mb=resources.memory(),
            reporting=1,
        params:
            theme=KEY,
            figures=list(THEME.figures),
            tables=list(THEME.tables),
            macros=later(PLAN.used_macros) if THEME.numbers else "",
            places=later(PLAN.theme_places, KEY),
            code=later(PLAN.theme_code, KEY),
        script:
            "../scripts/theme.py"


rule report:
    input:
        PLAN.figures(),
        PLAN.tables(),
        PLAN.numbers(),
        tex=PLAN.sources(),
    output:
        report(
            update(f"{RESULTS}/report.pdf"),
            caption="../report/report.rst",
            category="Report",
        ),
        report(
            update(f"{RESULTS}/supplement.pdf"),
            caption="../report/supplement.rst",
            category="Report",
        ),
    log:
        f"{RESULTS}/logs/report.log",
    benchmark:
        f"{RESULTS}/benchmarks/report.tsv"
    priority: 1
    group:
        "report"
    conda:
        "../envs/polhode.yml"
    resources:
        runtime=resources.minutes(5),
        mem_mb=resources.memory(),
        reporting=1,
    params:
        code=later(PLAN.script_code, "report"),
        commit=PLAN.commit,
    script:
        "../scripts/report.py"


# The captions of the report's LaTeX, for snakemake --report.
rule captions:
    input:
        numbers=PLAN.numbers(),
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
        code=later(PLAN.script_code, "captions"),
    script:
        "../scripts/captions.py"


# The last rule, since it stores the checksums of all other files.
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
        code=later(PLAN.script_code, "provenance"),
        study=STUDY.json,
        commit=PLAN.commit,
    script:
        "../scripts/provenance.py"
