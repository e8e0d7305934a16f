"""Rule captions: what stands under the figures and tables of the report, a file each, for snakemake --report."""

from pathlib import Path

from polhode.study.captions import CaptionError, captions
from polhode.study.entry import study_of
from polhode.study.storage import write_text

with study_of(snakemake):
    sources = [Path(name) for name in snakemake.input.tex if name.endswith(".tex")]
    numbers = [Path(name) for name in snakemake.input if Path(name).name in ("numbers.tex", "cost_numbers.tex")]
    found = captions(sources, numbers)
    for output in map(Path, snakemake.output):
        name = f"{output.parent.name}/{output.stem}"
        if name not in found:
            raise CaptionError(f"paper/ has no caption for {name}; put it into a section, with a caption")
        write_text(output, found[name] + "\n")
