"""The interactive page: explorer.html, self-contained, made from the netCDF files of a run."""
