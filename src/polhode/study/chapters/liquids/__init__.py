"""The chapter of liquids at constant energy, see :mod:`polhode.study.chapters.liquids.chapter`."""
