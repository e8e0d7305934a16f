"""The study: what is run, how its files are gathered, fitted, judged, drawn and printed. No Snakemake in here."""
