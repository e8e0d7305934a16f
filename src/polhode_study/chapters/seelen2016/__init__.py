"""Improved PCDM in four cases: repetition of Seelen et al. (2016)."""
