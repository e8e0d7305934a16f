"""Rule provenance: code, configuration, versions, machine and the cost of each rule."""

from pathlib import Path

from polhode.study import provenance
from polhode.study.storage import write_text
from polhode.study.workflow.entry import HOME, study_of

with study_of(snakemake) as study:
    found = provenance.provenance(study, HOME, Path(study.results), snakemake.input)
    write_text(snakemake.output[0], provenance.to_json(found))
