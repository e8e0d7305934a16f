"""The theme of symplectic correctors, see :mod:`polhode.study.themes.correctors.theme`."""
