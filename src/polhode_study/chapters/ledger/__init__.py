"""Statements of the publications, corrections to their texts, and the place of each of their items in this work."""
