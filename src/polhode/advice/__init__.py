"""Advice: which method and which step for a body of one's own; from runs, from laws, and for many bodies from contacts."""
