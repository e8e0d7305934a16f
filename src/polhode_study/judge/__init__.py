"""Statements of the publications compared with measurements: the claims and their verdicts."""
