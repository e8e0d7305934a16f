"""The compilation of numerical kernels, and the fixed signatures that let one compilation serve every problem.

A kernel is a small pure function on floats and tuples of floats. It is written once and inlined wherever it is used: in the
single-body driver and, over lanes, in the many-body engine. Three rules make it usable in both:

* it calls only kernels and ``math.sqrt``; the lanes vectorise only if no library call is left in the loop, not even in a
  branch that is never taken, and are four times slower otherwise;
* it branches only around plain arithmetic, which the compiler can turn into a selection; no early return, no exception
  (:func:`polhode.algebra.quaternion.cos_sinc` shows the pattern);
* it does not depend on fused multiply-add, so that plain Python, the driver and the lanes agree to the last bit.

Code compiled for a fixed signature is kept on disk for the next process (:mod:`polhode.compiling.cache`).

With ``NUMBA_DISABLE_JIT=1`` in the environment the decorators do nothing and everything runs as plain Python; the tests use
this to compare both versions.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar, cast

import numba
from numba import types
from numba.core import codegen
from numba.core.registry import CPUDispatcher

from polhode.compiling import cache

#: A quaternion ``(q0, qx, qy, qz)``, scalar first, unit, from body to lab.
Quaternion = tuple[float, float, float, float]
#: A three-vector of floats.
Vector = tuple[float, float, float]
#: The inertia of a body as used by the kernels, see :meth:`polhode.algebra.body.Body.coefficients`.
Inertia = tuple[float, float, float, float, float, float, float, float, float]
#: Everything that a method carries from step to step, of any length; the orientation comes first if it is a quaternion.
State = tuple[float, ...]

Function = TypeVar("Function", bound=Callable[..., Any])

float_type = types.float64
vector_type = types.UniTuple(types.float64, 3)
quaternion_type = types.UniTuple(types.float64, 4)
inertia_type = types.UniTuple(types.float64, 9)
parameters_type = types.Array(types.float64, 1, "C")
samples_type = types.Array(types.float64, 2, "C")
steps_type = types.Array(types.int64, 1, "C")

#: torque(t, q, omega, parameters) -> torque in the body frame.
torque_signature = vector_type(float_type, quaternion_type, vector_type, parameters_type)
#: This signature as a first-class argument: one driver then serves every torque without being compiled again. A torque that is
#: inlined would save 3 ns a step.
torque_type = types.FunctionType(torque_signature)
#: loads(t, r, v, q, omega, parameters, force, torque): writes forces (lab) and torques (body frames) on several bodies.
_rows = types.Array(types.float64, 2, "C")
loads_signature = types.void(float_type, _rows, _rows, _rows, _rows, parameters_type, _rows, _rows)
loads_type = types.FunctionType(loads_signature)


def kernel(function: Function) -> Function:
    """The function compiled so that LLVM inlines it into its caller.

    Inlining by LLVM instead of Numba (``inline="always"``) gives the same machine code here in half the compile time, because
    each kernel is then typed once instead of once per use.
    """
    if numba.config.DISABLE_JIT:
        return function
    return cast(Function, _Kernel(py_func=function, targetoptions=KERNEL_OPTIONS))


def hides_nothing(function: Function) -> Function:
    """Mark a kernel that compares, but through which no NaN of the orientation gets lost: put above ``@kernel``.

    The many-body engine tries steps whose orientation is NaN where a clump turns far (:mod:`polhode.compiling.short_turns`),
    and does so only with kernels that do not compare or are marked.
    """
    plain: Any = getattr(function, "py_func", function)
    plain.hides_nothing = True
    return function


#: Options for kernels: inlined by LLVM, without wrappers (see :class:`_Kernel`), and without reference counts: a kernel has
#: floats and tuples of floats only, yet the counting of the parameters of a torque kept LLVM from some optimisations.
KERNEL_OPTIONS = {
    "nopython": True,
    "forceinline": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,
}


class _Kernel(CPUDispatcher):  # type: ignore[misc]
    """A compiled function to be inlined.

    The wrappers through which Python and C call a function are omitted: each contains another copy of the inlined code, and
    they took more than half of the compile time. A call from Python compiles a second version, with wrappers.
    """

    def __call__(self, *arguments: Any) -> Any:
        return self._alone(*arguments)

    @cached_property
    def _alone(self) -> Callable[..., Any]:
        return cast(Callable[..., Any], numba.njit(error_model="numpy")(self.py_func))


def compiled(function: Function) -> Function:
    """The function compiled on its first use, to be called by drivers without inlining; it divides as IEEE 754 does."""
    return cast(Function, numba.njit(error_model="numpy")(function))


def subroutine(function: Function) -> Function:
    """The function compiled on its first use by other compiled code: a kernel that need not be inlined. It makes no arrays.

    Without wrappers and reference counts it compiles in two thirds of the time of :func:`compiled`.
    """
    if numba.config.DISABLE_JIT:
        return function
    return cast(Function, _Kernel(py_func=function, targetoptions=KERNEL_OPTIONS | {"forceinline": False}))


def compile_driver(function: Function, signature: Any, part: bool = False) -> Function:
    """A loop over steps, compiled for one explicit signature; it releases the interpreter lock and divides as IEEE 754 does.

    ``part``: only compiled code calls it, by its address; it makes no arrays. It then compiles in three quarters of the time.
    """
    return cast(Function, cache.compiled(function, signature, **(_PART_OPTIONS if part else _OPTIONS)))


def is_kept(function: Callable[..., Any], signature: Any, part: bool = False) -> bool:
    """Whether :func:`compile_driver` would find its code on disk."""
    return cache.is_on_disk(function, signature, **(_PART_OPTIONS if part else _OPTIONS))


def compile_torque(function: Function) -> Function:
    """A torque function, compiled for the fixed signature ``(t, q, omega, parameters) -> (tx, ty, tz)``."""
    return compile_driver(function, torque_signature)


def compile_loads(function: Function) -> Function:
    """The loads on several bodies, compiled for the fixed signature :data:`loads_signature`."""
    return compile_driver(function, loads_signature)


_OPTIONS = {"nogil": True, "error_model": "numpy"}
_PART_OPTIONS = {"error_model": "numpy", "no_cpython_wrapper": True, "_nrt": False}


def _use_widest_vectors() -> None:
    """Let LLVM use 512-bit vectors where available; its default is 256 bits because old processors reduced their clock rate.

    A step of the many-body engine takes a quarter less time. No result depends on it. The option is set before anything is
    compiled, and left alone if the user has set ``NUMBA_CPU_FEATURES``.
    """
    if numba.config.CPU_FEATURES is None:
        features = codegen.get_host_cpu_features()
        if "+avx512f" in features:
            numba.config.CPU_FEATURES = features + ",-prefer-256-bit"


_use_widest_vectors()
