"""Three-vector algebra as kernels on tuples."""

from math import sqrt

from polhode.compiling.kernel import Vector, kernel


@kernel
def add(a: Vector, b: Vector) -> Vector:
    """a + b, three components. In their common unit."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def scale(s: float, a: Vector) -> Vector:
    """s a, three components."""
    return (s * a[0], s * a[1], s * a[2])


@kernel
def axpy(s: float, a: Vector, b: Vector) -> Vector:
    """s a + b, three components."""
    return (s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2])


@kernel
def dot(a: Vector, b: Vector) -> float:
    """a . b, a number in the product of both units."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a: Vector, b: Vector) -> Vector:
    """a x b, three components. In the product of both units."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel
def unit(a: Vector) -> Vector:
    """a / |a|, three components without a unit."""
    return scale(1.0 / sqrt(dot(a, a)), a)
