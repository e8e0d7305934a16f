"""The theme of single impacts with friction, see :mod:`polhode.study.themes.impacts.theme`."""
