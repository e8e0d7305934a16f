"""Gather the files of single runs into the data files for readers: single_body.nc, many_body.nc, cost.nc."""
