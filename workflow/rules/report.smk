"""Every figure, table and number of the report, the report itself, and its provenance."""

# There is one rule for each chapter, that is, a few themes of the report with all their figures, tables and numbers: they read the
# same files, rest on the same analysis, and starting a job takes longer than drawing most figures.
for KEY, MEMBERS in themes.chapters().items():

    rule:
        name:
            f"chapter_{KEY}"
        input:
            PLAN.needed(KEY),
            published=PLAN.published(),
        output:
            [
                shown("figures", theme.title, f"{name}.png")
                for theme in MEMBERS.values()
                for name in theme.figures
            ],
            [
                shown("tables", theme.title, f"{name}.csv")
                for theme in MEMBERS.values()
                for name in theme.tables
            ],
            PLAN.chapter_files(KEY),
        log:
            f"{RESULTS}/logs/chapters/{KEY}.log",
        benchmark:
            f"{RESULTS}/benchmarks/chapters/{KEY}.tsv"
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
            figures={key: theme.figures for key, theme in MEMBERS.items()},
            tables={key: theme.tables for key, theme in MEMBERS.items()},
            numbers=[key for key, theme in MEMBERS.items() if theme.numbers],
            macros=deferred(PLAN.used_macros),
            places=deferred(PLAN.chapter_places, KEY),
            code=deferred(PLAN.chapter_code, KEY),
        script:
            "../scripts/chapter.py"


rule report:
    input:
        PLAN.files("figures"),
        PLAN.files("tables"),
        PLAN.files("numbers"),
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
        code=deferred(PLAN.script_code, "report"),
        commit=PLAN.commit,
    script:
        "../scripts/report.py"


# The captions of the report's LaTeX, for snakemake --report.
rule captions:
    input:
        numbers=PLAN.files("numbers"),
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
        code=deferred(PLAN.script_code, "captions"),
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
        code=deferred(PLAN.script_code, "provenance"),
        study=STUDY.json,
        commit=PLAN.commit,
        release=PLAN.release_commit,
    script:
        "../scripts/provenance.py"
