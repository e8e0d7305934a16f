"""Systems of three linear equations, solved by Cramer's rule: for methods that solve one per step."""

from typing import Any

from polhode.kernel import kernel
from polhode.vector import axpy, cross, dot, scale


@kernel
def solve(x_row: Any, y_row: Any, z_row: Any, right: Any) -> Any:
    """The solution of three linear equations, given the rows of the matrix and the right-hand side.

    The columns of the inverse are the cross products of two rows each, divided by the determinant. Nothing is pivoted: the
    matrices of the methods here are the identity, or the inertia, plus terms proportional to the time step.
    """
    first = cross(y_row, z_row)
    sum_ = axpy(right[0], first, axpy(right[1], cross(z_row, x_row), scale(right[2], cross(x_row, y_row))))
    return scale(1.0 / dot(x_row, first), sum_)
