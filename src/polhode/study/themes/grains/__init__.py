"""The theme of grains in motion, see :mod:`polhode.study.themes.grains.theme`."""
