"""Vectors, quaternions, the inertia of a body and distances between states, as kernels and array functions.

Only what is true without a method, a problem or a step lives here; it imports :mod:`polhode.compiling` and checks of arguments.
"""
