"""The chapter of grains in motion, see :mod:`polhode.study.chapters.grains.chapter`."""
