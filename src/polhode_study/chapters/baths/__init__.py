"""The chapter of liquids in a heat bath, see :mod:`polhode_study.chapters.baths.chapter`."""
