"""Symplectic integration of quaternions: NO_SQUISH and its arbitrary moment."""
