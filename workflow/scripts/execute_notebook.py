"""Rules notebook_NAME: one notebook, executed on the results, as a page and as a notebook with its outputs.

The file is not called notebook.py: Python searches the folder of a script for modules, and nbconvert imports one of that name.
"""

import sys

# The reader of notebooks imports jsonschema, which would take two seconds to compile a grammar of web addresses for a check
# that no notebook needs, and does without if there is none.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

from polhode.study import notebooks  # noqa: E402
from polhode.study.storage import write_text  # noqa: E402
from polhode.study.workflow.entry import HOME, study_of  # noqa: E402

with study_of(snakemake) as study:
    done = notebooks.execute(HOME / "notebooks" / f"{snakemake.params.name}.ipynb", study.results)
    for remark in done.remarks:
        print(remark)
    page, notebook = snakemake.output
    write_text(page, notebooks.page(done.notebook))
    write_text(notebook, notebooks.text(done.notebook))
