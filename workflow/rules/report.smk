"""Every figure, table and number of the report, the report itself, and its provenance."""

from polhode_study import chapters

# There is a rule for each job, which has the names of its chapters and makes all their figures, tables and numbers: starting a job
# takes longer than drawing most figures.
for KEY, MEMBERS in chapters.jobs().items():

    rule:
        name:
            f"chapter_{KEY}"
        input:
            PLAN.needed(KEY),
            published=PLAN.published(),
        output:
            [
                shown("figures", chapter.title, f"{name}.png")
                for chapter in MEMBERS.values()
                for name in chapter.figures
            ],
            [
                shown("tables", chapter.title, f"{name}.csv")
                for chapter in MEMBERS.values()
                for name in chapter.tables
            ],
            PLAN.job_files(KEY),
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
            figures={key: chapter.figures for key, chapter in MEMBERS.items()},
            tables={key: chapter.tables for key, chapter in MEMBERS.items()},
            numbers=[key for key, chapter in MEMBERS.items() if chapter.numbers],
            macros=deferred(PLAN.used_macros),
            places=deferred(PLAN.job_places, KEY),
            code=deferred(PLAN.job_code, KEY),
        script:
            "../scripts/chapter.py"


# A chapter that is made with others is a target by its own name.
for TARGET in [key for key in chapters.all_chapters() if key not in chapters.jobs()]:

    rule:
        name:
            f"chapter_{TARGET}"
        input:
            PLAN.chapter_files(TARGET),
        localrule: True


rule report:
    input:
        PLAN.files("figures"),
        PLAN.files("tables"),
        PLAN.files("tables_csv"),
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
        PLAN.files("tables_csv"),
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
