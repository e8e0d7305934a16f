"""The chapter of single impacts with friction, see :mod:`polhode.study.chapters.impacts.chapter`."""
