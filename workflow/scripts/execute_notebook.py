"""Rules notebook_NAME: one notebook, executed on the results, as a page and as a notebook with its outputs.

The file is not called notebook.py: Python searches the folder of a script for modules, and nbconvert imports one of that name.
"""

from polhode.study import notebooks
from polhode.study.storage import write_text
from polhode.study.workflow.entry import HOME, study_of

with study_of(snakemake) as study:
    done = notebooks.execute(HOME / "notebooks" / f"{snakemake.params.name}.ipynb", study.results)
    for remark in done.remarks:
        print(remark)
    page, notebook = snakemake.output
    write_text(page, notebooks.page(done.notebook))
    write_text(notebook, notebooks.text(done.notebook))
