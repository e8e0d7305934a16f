"""Double-double arithmetic as kernels: a number is the unevaluated sum of two doubles, and carries about 32 digits.

Sums and products of two doubles are split exactly into a double and its rounding error (Dekker, Numer. Math. 18 (1971) 224;
Knuth, The Art of Computer Programming 2, Sec. 4.2.2). The code is compiled without fused multiply-add and without fast-math, on
which these identities rest; plain Python gives the same bits.
"""

from math import sqrt

from polhode.compiling.kernel import kernel

#: (high, low): the value is high + low, and high is the double nearest to it.
Pair = tuple[float, float]
#: Splits a double into two halves of 26 bits.
SPLITTER = 134217729.0


@kernel
def two_sum(a: float, b: float) -> Pair:
    """a + b exactly, as the pair (high, low) of the rounded sum and its rounding error (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@kernel
def quick_two_sum(a: float, b: float) -> Pair:
    """As :func:`two_sum`, a pair (high, low), but only for abs(a) >= abs(b), which is not checked (Dekker)."""
    s = a + b
    return s, b - (s - a)


@kernel
def two_product(a: float, b: float) -> Pair:
    """a b as the pair (high, low) of the rounded product and its rounding error (Dekker); exact without over- and underflow."""
    p = a * b
    c = SPLITTER * a
    a_high = c - (c - a)
    a_low = a - a_high
    d = SPLITTER * b
    b_high = d - (d - b)
    b_low = b - b_high
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


@kernel
def add(a: Pair, b: Pair) -> Pair:
    """a + b of two pairs as a pair (high, low)."""
    s, e = two_sum(a[0], b[0])
    t, f = two_sum(a[1], b[1])
    s, e = quick_two_sum(s, e + t)
    return quick_two_sum(s, e + f)


@kernel
def subtract(a: Pair, b: Pair) -> Pair:
    """a - b of two pairs as a pair (high, low)."""
    return add(a, (-b[0], -b[1]))


@kernel
def multiply(a: Pair, b: Pair) -> Pair:
    """a b of two pairs as a pair (high, low)."""
    p, e = two_product(a[0], b[0])
    return quick_two_sum(p, e + (a[0] * b[1] + a[1] * b[0]))


@kernel
def times(a: float, b: Pair) -> Pair:
    """a b, the product of a double and a pair, as a pair (high, low)."""
    p, e = two_product(a, b[0])
    return quick_two_sum(p, e + a * b[1])


@kernel
def divide(a: Pair, b: Pair) -> Pair:
    """a / b of two pairs as a pair (high, low), by three steps of long division; b must not be 0."""
    first = a[0] / b[0]
    rest = subtract(a, times(first, b))
    second = rest[0] / b[0]
    rest = subtract(rest, times(second, b))
    third = rest[0] / b[0]
    high, low = quick_two_sum(first, second)
    return quick_two_sum(high, low + third)


@kernel
def inverse_root(a: Pair) -> Pair:
    """1 / sqrt(a) of a positive pair as a pair (high, low), by two steps of Newton's iteration from the double result."""
    x = (1.0 / sqrt(a[0]), 0.0)
    for _ in range(2):
        rest = subtract((1.0, 0.0), multiply(a, multiply(x, x)))
        x = add(x, times(0.5, multiply(x, rest)))
    return x
