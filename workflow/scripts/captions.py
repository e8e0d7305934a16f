"""Rule captions: captions of the figures and tables of the report, one file each, for snakemake --report."""

from pathlib import Path

from polhode.interface.storage import write_text
from polhode_study.report.captions import CaptionError, captions
from polhode_study.workflow.entry import job_of

with job_of(snakemake):
    sources = [Path(name) for name in snakemake.input.tex if name.endswith(".tex")]
    numbers = [Path(name) for name in snakemake.input.numbers]
    texts = captions(sources, numbers, Path(snakemake.config["results"], "tables"))
    for output in map(Path, snakemake.output):
        name = f"{output.parent.name}/{output.stem}"
        if name not in texts:
            raise CaptionError(f"paper/ has no caption for {name}; put it into a section, with a caption")
        write_text(output, texts[name] + "\n")
