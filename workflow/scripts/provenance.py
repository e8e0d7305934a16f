"""Rule provenance: code, configuration, versions, machine and the cost of each rule."""

from pathlib import Path

from polhode.study.provenance import provenance, to_json
from polhode.study.storage import write_text
from polhode.study.workflow.entry import HOME, job_of

with job_of(snakemake):
    plugins = [Path(path) for path in snakemake.config["plugins"]]
    settings = snakemake.params
    record = provenance(settings.study, plugins, HOME, Path(snakemake.config["results"]), snakemake.input, settings.release)
    write_text(snakemake.output[0], to_json(record))
