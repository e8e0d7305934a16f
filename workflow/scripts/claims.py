"""Rule claims: what the publications state, beside what this run measured."""

from polhode.study.claims import judge
from polhode.study.entry import study_of

with study_of(snakemake):
    judge(snakemake.input.single_body[0], snakemake.input.published, snakemake.input.claims, snakemake.output[0])
