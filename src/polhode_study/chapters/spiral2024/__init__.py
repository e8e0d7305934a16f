"""Comparison of SPIRAL with other methods: repetition of del Valle et al. (2024)."""
