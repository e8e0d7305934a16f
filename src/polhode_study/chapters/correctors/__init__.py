"""The chapter of symplectic correctors, see :mod:`polhode_study.chapters.correctors.chapter`."""
