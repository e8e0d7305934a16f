"""The documentation: pages written from the registry, the schema and measured results, and Sphinx around them.

``./reproduce docs`` writes the pages to ``docs/_generated``; Sphinx then builds everything, with warnings as errors. Formulas
are in the docstrings of the modules of methods and problems: editing them makes no result out of date. docutils turns them into
MathML, which browsers display without scripts or fonts from elsewhere. Measured numbers are those of the run in ``results`` if
it has all methods and problems, otherwise those of ``data/released/cost.nc``. Kernels are documented with
``NUMBA_DISABLE_JIT=1``, as plain functions.
"""
