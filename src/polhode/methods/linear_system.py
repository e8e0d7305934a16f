"""Systems of three linear equations, solved by Cramer's rule: for methods that solve one per step.

The rows of the matrix and the right-hand side are three floats each; the solution has the unit of the right-hand side over the
unit of the matrix.
"""

from typing import Any

from polhode.algebra.vector import axpy, cross, dot, scale
from polhode.compiling.kernel import kernel


@kernel
def cramer(x_row: Any, y_row: Any, z_row: Any, right: Any) -> Any:
    """The determinant of three linear equations, a float, and their solution multiplied by the determinant, three floats.

    The columns of the inverse are the cross products of two rows each, divided by the determinant. Nothing is pivoted: the
    matrices of the methods here are the identity, or the inertia, plus terms proportional to the time step.
    """
    first = cross(y_row, z_row)
    sum_ = axpy(right[0], first, axpy(right[1], cross(z_row, x_row), scale(right[2], cross(x_row, y_row))))
    return dot(x_row, first), sum_


@kernel
def solve(x_row: Any, y_row: Any, z_row: Any, right: Any) -> Any:
    """The solution (3,) of three linear equations, given the rows (3,) of the matrix and the right-hand side (3,); a singular
    matrix is not looked for, and divides by zero.
    """
    determinant, sum_ = cramer(x_row, y_row, z_row, right)
    return scale(1.0 / determinant, sum_)


@kernel
def solve_or_huge(x_row: Any, y_row: Any, z_row: Any, right: Any) -> Any:
    """The solution (3,) of three linear equations, as :func:`solve`, but huge where they have none: the determinant is
    increased by 1e-300, so that plain Python does not divide by zero.
    """
    determinant, sum_ = cramer(x_row, y_row, z_row, right)
    return scale(1.0 / (determinant + 1e-300), sum_)
