"""The chapter of single impacts with friction, see :mod:`polhode_study.chapters.impacts.chapter`."""
