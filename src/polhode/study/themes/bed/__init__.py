"""The theme of a settling bed, see :mod:`polhode.study.themes.bed.theme`."""
