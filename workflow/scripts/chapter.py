"""Rules chapter_CHAPTER: the tables of a few themes, in both formats, their numbers for the text, and their figures."""

from pathlib import Path

from polhode.study.inputs import Inputs
from polhode.study.report import macros
from polhode.study.themes.rendering import render_figure, render_numbers, render_table
from polhode.study.workflow.entry import HOME, job_of, meter

with job_of(snakemake):
    asked = snakemake.params
    results = Path(snakemake.config["results"])
    used = macros.used((HOME / "paper").rglob("*.tex"))
    units = len(asked.numbers) + sum(len(names) for kind in (asked.figures, asked.tables) for names in kind.values())
    done = meter(snakemake, units).advance
    run = Inputs("")
    for theme, places in asked.places.items():
        inputs = run.sharing(**places)
        for name in asked.tables[theme]:
            print(name, flush=True)
            render_table(name, inputs, results / "tables")
            done()
        if theme in asked.numbers:
            render_numbers(theme, inputs, results / "numbers" / f"{theme}.tex", used)
            done()
        for name in asked.figures[theme]:
            print(name, flush=True)
            render_figure(name, inputs, results / "figures")
            done()
