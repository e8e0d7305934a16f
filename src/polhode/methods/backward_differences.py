r"""Loads continued over a step from those of earlier steps, by backward differences, and when to trust them.

With four loads known, the cubic through :math:`M_n, M_{n-1}, M_{n-2}, M_{n-3}` is

.. math::

   M(t_n + c\,\Delta t) = M_n + c\,\nabla M_n + \frac{c(c+1)}{2}\nabla^2 M_n + \frac{c(c+1)(c+2)}{6}\nabla^3 M_n,
   \qquad \nabla M_n = M_n - M_{n-1}

and with fewer the differences that are not known are zero. The load that is found at the end of the step is compared with this
prediction. A *miss* is an error of more than half of the largest backward difference. A smooth load has single misses where it
passes through zero; five in a row take fewer than some seven steps a period.

A discontinuity is missed at most four times in a row, and is then out of the memory. Nothing is changed on its account: the
weights of the four loads after a jump add up to the impulse of a jump in the middle of the step in which it occurred, so that
its impulse is right on average. In general a jump of size J in the derivative of order r, :math:`\sigma` steps before a load is
found, costs an impulse of :math:`-J\,\Delta t^{r+1} B_{r+1}(\sigma)/(r+1)!` with the Bernoulli polynomial B, by the formula of
Euler and Maclaurin. To forget the earlier loads at once would leave this sum incomplete. Misses that last longer are those of
an unstable or unresolved motion. From the fifth in a row on, only the first difference is used, which is stable for longer
steps.

A load is a torque (3,) in N m, in the body frame, or a force (3,) in N, in the lab frame. The memory of the loads is 14 floats:
the prediction for the load to come, the last load and its first and second difference (3 each), the number of loads known, up
to 4, and the number of misses in a row.
"""

from typing import Any

from polhode.algebra.vector import add, dot
from polhode.compiling.kernel import hides_nothing, kernel

#: A miss is an error whose square exceeds this part of the square of the largest difference. The ratio of the lengths is O(dt)
#: for a smooth load and 1 at a jump; a half is in between.
TOLERATED = 0.25
#: The number of steps for which a discontinuity is in the memory: that many misses in a row change nothing.
MEMORY = 4.0
ZERO = (0.0, 0.0, 0.0)
#: The memory before the first step: prediction, load and two differences, the number of loads known, and of misses in a row.
NOTHING = (0.0,) * 14


@kernel
def subtract(a: Any, b: Any) -> Any:
    """The vector a - b (3,), from two vectors (3,) in one unit and frame."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@hides_nothing
@kernel
def continued(memory: Any, load: Any) -> Any:
    """The three backward differences of the load that are to be used, the load that they predict for the end of the step (each
    (3,), in the unit of the load), and the new memory (14,), from the old memory and the load (3,) at the beginning of the
    step.
    """
    predicted, last, last_first, last_second = memory[:3], memory[3:6], memory[6:9], memory[9:12]
    known, missed = memory[12], memory[13]
    first = subtract(load, last) if known > 0.5 else ZERO
    second = subtract(first, last_first) if known > 1.5 else ZERO
    third = subtract(second, last_second) if known > 2.5 else ZERO

    largest = dot(first, first)
    squared = dot(second, second)
    largest = squared if squared > largest else largest
    squared = dot(third, third)
    largest = squared if squared > largest else largest
    # A prediction from a single load always misses by the first difference: counted from two on.
    miss = subtract(load, predicted)
    squared = dot(miss, miss)
    squared = squared if known > 1.5 else 0.0
    missed = missed + 1.0 if squared > TOLERATED * largest else 0.0

    known = 1.0 if missed > MEMORY else known
    second = ZERO if missed > MEMORY else second
    third = ZERO if missed > MEMORY else third
    end = add(load, add(first, add(second, third)))
    known = known + 1.0 if known < 3.5 else known
    return first, second, third, end, end + load + first + second + (known, missed)
