r"""Random numbers that are a function of their address: Philox4x64-10 of Salmon et al. (2011), the generator of NumPy's
``Philox``.

A block of four words is a scrambled counter of four words, under a key of two. Noise addressed in this way, by seed, molecule
and step, does not depend on the order in which it is computed, on lanes, workers, samples or restarts.

A word makes two independent normal numbers (Box and Muller 1958): with u and w its upper and lower 32 bits,

.. math::

   \sqrt{-2 \ln\frac{u + 1/2}{2^{32}}}\,
   \Bigl(\cos\frac{2\pi (w + 1/2)}{2^{32}},\; \sin\frac{2\pi (w + 1/2)}{2^{32}}\Bigr) .

They end at 6.8 standard deviations. Logarithm, cosine and sine come from the mathematical library: their last digit may differ
from one machine to another, as the last digit of everything that Numba compiles may.
"""

from math import cos, log, pi, sin, sqrt
from typing import Any

import numpy as np

from polhode.compiling.kernel import kernel

# Constants as 64-bit words: with a Python int Numba would make floats of them.
MULTIPLIERS = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
WEYL = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
HALF, LOWER = np.uint64(32), np.uint64(0xFFFFFFFF)
ROUNDS = 10

UNIT = 2.0**-32


@kernel
def product(a: Any, b: Any) -> Any:
    """The upper and the lower 64 bits, two ``numpy.uint64``, of the product of two words ``numpy.uint64``."""
    a1, a0, b1, b0 = a >> HALF, a & LOWER, b >> HALF, b & LOWER
    low, left, right = a0 * b0, a1 * b0, a0 * b1
    middle = (low >> HALF) + (left & LOWER) + (right & LOWER)
    return a1 * b1 + (left >> HALF) + (right >> HALF) + (middle >> HALF), (low & LOWER) | (middle << HALF)


@kernel
def block(counter: Any, key: Any) -> Any:
    """Four random words, from a counter of four words and a key of two, all ``numpy.uint64``."""
    a, b, c, d = counter
    first, second = key
    for _ in range(ROUNDS):
        high, low = product(MULTIPLIERS[0], a)
        other_high, other_low = product(MULTIPLIERS[1], c)
        a, b, c, d = other_high ^ b ^ first, other_low, high ^ d ^ second, low
        first, second = first + WEYL[0], second + WEYL[1]
    return a, b, c, d


@kernel
def halves(word: Any) -> Any:
    """u + 1/2 and w + 1/2, with u and w the upper and the lower 32 bits of a word ``numpy.uint64``."""
    return float(word >> HALF) + 0.5, float(word & LOWER) + 0.5


@kernel
def normals_of_halves(upper: float, lower: float) -> Any:
    """Two independent normal numbers of mean 0 and variance 1, from the :func:`halves` of a random word."""
    radius = sqrt(-2.0 * log(UNIT * upper))
    angle = 2.0 * pi * UNIT * lower
    return radius * cos(angle), radius * sin(angle)


@kernel
def two_normals(word: Any) -> Any:
    """Two independent normal numbers of mean 0 and variance 1, from a random word ``numpy.uint64``."""
    upper, lower = halves(word)
    return normals_of_halves(upper, lower)


@kernel
def uniform(word: Any) -> float:
    """A number between 0 and 1, without either, from a random word ``numpy.uint64``: the middles of 2^53 intervals."""
    return (float(word >> np.uint64(11)) + 0.5) * 2.0**-53
