"""Methods as source code that runs without the package: generated from their kernels, with the same bits."""
