"""The small compiler of kernels: how they are compiled, kept on disk, laid out in lanes, and run on other numbers.

No method and no problem is named here; ``in_advance``, ``operations`` and ``trials`` find them in the registries.
"""
