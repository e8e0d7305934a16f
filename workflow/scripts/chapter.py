"""Rules chapter_CHAPTERS: the tables of a few chapters, in both formats, their numbers for the text, and their figures."""

from pathlib import Path

from polhode_study.chapters import texts
from polhode_study.chapters.rendering import render_figure, render_numbers, render_table
from polhode_study.inputs import Inputs
from polhode_study.report import macros
from polhode_study.workflow.entry import HOME, job_of

with job_of(snakemake):
    asked = snakemake.params
    results = Path(snakemake.config["results"])
    used = macros.used(texts(HOME))
    run = Inputs("")
    for chapter, places in asked.places.items():
        inputs = run.sharing(**places)
        for name in asked.tables[chapter]:
            print(name, flush=True)
            render_table(name, inputs, results / "tables")
        if chapter in asked.numbers:
            render_numbers(chapter, inputs, results / "numbers" / f"{chapter}.tex", used)
        for name in asked.figures[chapter]:
            print(name, flush=True)
            render_figure(name, inputs, results / "figures")
