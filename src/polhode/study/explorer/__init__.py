"""One page for a browser to play with the results: explorer.html, self-contained, made from the netCDF files of a run."""
