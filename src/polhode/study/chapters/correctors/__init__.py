"""The chapter of symplectic correctors, see :mod:`polhode.study.chapters.correctors.chapter`."""
