"""Rules theme_THEME: the tables of one theme, each in both formats, its numbers for the text of the report, and its figures."""

from pathlib import Path

from polhode.study.inputs import Inputs
from polhode.study.report import macros
from polhode.study.themes.rendering import render_figure, render_numbers, render_table
from polhode.study.workflow.entry import HOME, job_of, meter

with job_of(snakemake):
    asked = snakemake.params
    inputs = Inputs(**asked.places)
    done = meter(snakemake, len(asked.tables) + len(snakemake.output.numbers) + len(asked.figures)).advance
    for name in asked.tables:
        print(name, flush=True)
        render_table(name, inputs, Path(snakemake.output.tables[0]).parent)
        done()
    for path in snakemake.output.numbers:
        render_numbers(asked.theme, inputs, path, macros.used((HOME / "paper").rglob("*.tex")))
        done()
    for name in asked.figures:
        print(name, flush=True)
        render_figure(name, inputs, Path(snakemake.output.figures[0]).parent)
        done()
