"""The theme of liquids at constant energy, see :mod:`polhode.study.themes.liquids.theme`."""
