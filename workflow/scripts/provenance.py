"""Rule provenance: code, configuration, versions, machine and the cost of each rule."""

from pathlib import Path

from polhode.interface.storage import write_text
from polhode_study.provenance import provenance, to_json
from polhode_study.workflow.entry import HOME, job_of

with job_of(snakemake):
    plugins = [Path(path) for path in snakemake.config["plugins"]]
    settings = snakemake.params
    record = provenance(settings.study, plugins, HOME, Path(snakemake.config["results"]), snakemake.input, settings.release)
    write_text(snakemake.output[0], to_json(record))
