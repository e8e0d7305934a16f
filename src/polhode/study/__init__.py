"""The study: its runs, and how their files are gathered, fitted, judged, drawn and printed. Independent of Snakemake."""
