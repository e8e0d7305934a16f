"""The chapter of liquids at constant energy, see :mod:`polhode_study.chapters.liquids.chapter`."""
