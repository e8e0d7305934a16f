"""Three-vector algebra as kernels on tuples of three numbers."""

from math import sqrt

from polhode.compiling.kernel import Vector, kernel


@kernel
def add(a: Vector, b: Vector) -> Vector:
    """The sum a + b (3,) of two vectors, in their common unit."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def scale(s: float, a: Vector) -> Vector:
    """The vector s a (3,), in the product of both units."""
    return (s * a[0], s * a[1], s * a[2])


@kernel
def axpy(s: float, a: Vector, b: Vector) -> Vector:
    """The vector s a + b (3,), in the unit of b, which s a must have, too."""
    return (s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2])


@kernel
def dot(a: Vector, b: Vector) -> float:
    """The scalar product a . b of two vectors (3,), a number in the product of both units."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a: Vector, b: Vector) -> Vector:
    """The vector product a x b (3,), in the product of both units."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel
def unit(a: Vector) -> Vector:
    """The unit vector a / |a| (3,) along a vector other than zero; it has no unit."""
    return scale(1.0 / sqrt(dot(a, a)), a)
