"""Arrays of numbers as the page holds them."""

import base64
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

#: Bits kept of the mantissa of what is only drawn: a relative error below 2.5e-4. The page shows three digits of it.
DRAWN = 12


def numbers(values: ArrayLike, kind: str = "f8", bits: int = DRAWN) -> dict[str, Any]:
    """An array for the page: its shape and its bytes, little-endian, in base 64; ``kind`` is ``f8``, or ``f4`` if only drawn.

    JSON has neither infinity nor NaN, and decimal digits would take twice the space. What is only drawn is rounded to
    ``bits`` bits: the zeros after them are compressed best.
    """
    array = np.asarray(values, float)
    if kind == "f4":
        mantissa, exponent = np.frexp(array)
        array = np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits)
    with np.errstate(over="ignore"):  # values beyond single precision become infinite and are not drawn
        content = np.ascontiguousarray(array, f"<{kind}").tobytes()
    return {"shape": list(array.shape), kind: base64.b64encode(content).decode()}
