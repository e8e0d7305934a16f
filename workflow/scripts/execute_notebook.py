"""Rules notebook_NAME: one notebook, executed on the results, as a page and as a notebook with its outputs.

The file is not called notebook.py: Python searches the folder of a script for modules, and nbconvert imports one of that name.
"""

import sys

# The reader of notebooks imports jsonschema, which would take two seconds to compile a grammar of web addresses for a check
# that no notebook needs, and does without if there is none.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

from polhode.interface.storage import write_text  # noqa: E402
from polhode_study import notebooks  # noqa: E402
from polhode_study.workflow.entry import HOME, study_of  # noqa: E402

with study_of(snakemake) as study:
    notebook, remarks = notebooks.execute(HOME / "notebooks" / f"{snakemake.params.name}.ipynb", study.results)
    for remark in remarks:
        print(remark)
    for path, text in zip(snakemake.output, (notebooks.page(notebook), notebooks.text(notebook)), strict=True):
        write_text(path, text)
