"""Names of the methods in the rows of the engine atlas, for those who read it without the candidates.

A row names all methods that it agrees with, with " = " between them, and behind a method in brackets how it was begun.
"""


def key_of(name: str) -> str:
    """The key of the method in one such name: ``spiral_leapfrog`` of ``spiral_leapfrog (stored)``."""
    return name.partition(" ")[0]
