"""The chapter of grains in motion, see :mod:`polhode_study.chapters.grains.chapter`."""
