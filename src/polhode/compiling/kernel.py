"""The compilation of numerical kernels, and the fixed signatures that let one compilation serve every problem.

A kernel is a small pure function on floats and tuples of floats. It is written once and inlined wherever it is used: in the
single-body driver and, over lanes, in the many-body engine. Three rules make it usable in both:

* it calls only kernels and ``math.sqrt``; the lanes vectorise only if no library call is left in the loop, not even in a
  branch that is never taken, and are four times slower otherwise;
* it branches only around plain arithmetic, which the compiler can turn into a selection; no early return, no exception
  (:func:`polhode.algebra.quaternion.cos_sinc` shows the pattern);
* it does not depend on fused multiply-add, so that plain Python, the driver and the lanes agree to the last bit.

Code compiled for a fixed signature is kept on disk for the next process (:mod:`polhode.compiling.cache`).

Numba is imported when something is compiled: most processes that import methods ask what these declare, or run kernels in plain
Python, and compile nothing. The types and signatures are in :mod:`polhode.compiling.signatures`; this module has them by name.

With ``NUMBA_DISABLE_JIT=1`` in the environment the decorators do nothing and everything runs as plain Python; the tests use
this to compare both versions.
"""

import os
import threading
from collections.abc import Callable, Mapping
from functools import cached_property, update_wrapper
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from polhode.compiling.signatures import float_type as float_type
    from polhode.compiling.signatures import inertia_type as inertia_type
    from polhode.compiling.signatures import loads_signature as loads_signature
    from polhode.compiling.signatures import loads_type as loads_type
    from polhode.compiling.signatures import parameters_type as parameters_type
    from polhode.compiling.signatures import quaternion_type as quaternion_type
    from polhode.compiling.signatures import samples_type as samples_type
    from polhode.compiling.signatures import steps_type as steps_type
    from polhode.compiling.signatures import torque_signature as torque_signature
    from polhode.compiling.signatures import torque_type as torque_type
    from polhode.compiling.signatures import vector_type as vector_type

#: A quaternion ``(q0, qx, qy, qz)``, scalar first, unit, from body to lab.
Quaternion = tuple[float, float, float, float]
#: A three-vector of floats.
Vector = tuple[float, float, float]
#: The inertia of a body as used by the kernels, see :meth:`polhode.algebra.body.Body.coefficients`.
Inertia = tuple[float, float, float, float, float, float, float, float, float]
#: Everything that a method carries from step to step, of any length; the orientation comes first if it is a quaternion.
State = tuple[float, ...]

Function = TypeVar("Function", bound=Callable[..., Any])

#: Whether nothing is compiled in this process.
DISABLED = os.environ.get("NUMBA_DISABLE_JIT", "").strip() not in ("", "0")
_making = threading.RLock()

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """A type or signature of :mod:`polhode.compiling.signatures`."""
        if not name.endswith(("_type", "_signature")):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from polhode.compiling import signatures

        return getattr(signatures, name)


def kernel(function: Function) -> Function:
    """The function compiled so that LLVM inlines it into its caller.

    Inlining by LLVM instead of Numba (``inline="always"``) gives the same machine code here in half the compile time, because
    each kernel is then typed once instead of once per use.
    """
    return function if DISABLED else cast(Function, Kernel(function, KERNEL_OPTIONS))


def hides_nothing(function: Function) -> Function:
    """Mark a kernel that compares, but through which no NaN of the orientation gets lost, and return it: put above
    ``@kernel``.

    The many-body engine tries steps whose orientation is NaN where a clump turns far (:mod:`polhode.compiling.short_turns`),
    and does so only with kernels that do not compare or are marked.
    """
    plain: Any = getattr(function, "py_func", function)
    plain.hides_nothing = True
    return function


#: Options for kernels: inlined by LLVM, without wrappers (see :class:`Kernel`), and without reference counts: a kernel has
#: floats and tuples of floats only, yet the counting of the parameters of a torque kept LLVM from some optimisations.
KERNEL_OPTIONS: Mapping[str, Any] = {
    "nopython": True,
    "forceinline": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,
}
#: Of functions that are not inlined and may make arrays.
COMPILED_OPTIONS = {name: value for name, value in KERNEL_OPTIONS.items() if name not in ("forceinline", "_nrt")}


class Kernel:
    """A function that is compiled when it is first called, or first taken into another compiled function.

    To a function that Numba compiles it is Numba's dispatcher. That of a kernel has no wrappers through which Python and C call
    a function: each contains another copy of the inlined code, and they took more than half of the compile time. A call from
    Python compiles a second version, with wrappers.

    Parameters
    ----------
    function : in plain Python, which remains unchanged: ``py_func``
    options : of a dispatcher without wrappers; None for a dispatcher with wrappers, which divides as IEEE 754 does
    """

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any] | None) -> None:
        update_wrapper(self, function)
        self.py_func, self._options = function, options
        self._dispatcher: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Call it from Python."""
        return self._alone(*arguments)

    def __repr__(self) -> str:
        return f"<kernel {self.py_func.__module__}.{self.py_func.__qualname__}>"

    @cached_property
    def _alone(self) -> Callable[..., Any]:
        from polhode.compiling.signatures import dispatcher_of

        return cast(Callable[..., Any], self.dispatcher if self._options is None else dispatcher_of(self.py_func))

    @property
    def dispatcher(self) -> Any:
        """Numba's dispatcher, one for all callers."""
        with _making:
            if self._dispatcher is None:
                from polhode.compiling.signatures import dispatcher_of

                self._dispatcher = dispatcher_of(self.py_func, self._options)
        return self._dispatcher

    @property
    def targetoptions(self) -> dict[str, Any]:
        """The options with which it is compiled, by name."""
        return cast(dict[str, Any], self.dispatcher.targetoptions)

    @property
    def _numba_type_(self) -> Any:
        """What Numba asks for the type of a value."""
        return self.dispatcher._numba_type_


def compiled(function: Function) -> Function:
    """The function compiled on its first use, to be called by drivers without inlining; it may make arrays."""
    return function if DISABLED else cast(Function, Kernel(function, COMPILED_OPTIONS))


def subroutine(function: Function) -> Function:
    """The function compiled on its first use by other compiled code: a kernel that need not be inlined. It makes no arrays.

    Without wrappers and reference counts it compiles in two thirds of the time of :func:`compiled`.
    """
    return function if DISABLED else cast(Function, Kernel(function, {**KERNEL_OPTIONS, "forceinline": False}))


def compile_driver(function: Function, signature: Any, part: bool = False) -> Function:
    """A loop over steps, compiled for one explicit signature; it divides as IEEE 754 does, and releases the interpreter lock.

    ``signature``: Numba's, such as one of :mod:`polhode.compiling.signatures`. ``part``: only compiled code calls it, by its
    address; it makes no arrays and releases no lock. It then compiles in three quarters of the time.
    """
    from polhode.compiling import cache

    return cast(Function, cache.compiled(function, signature, **(_PART_OPTIONS if part else _OPTIONS)))


def is_kept(function: Callable[..., Any], signature: Any, part: bool = False) -> bool:
    """Whether :func:`compile_driver`, with the same arguments, would find its code on disk."""
    from polhode.compiling import cache

    return cache.is_on_disk(function, signature, **(_PART_OPTIONS if part else _OPTIONS))


def compile_torque(function: Function) -> Function:
    """A torque function, compiled for the fixed signature ``(t, q, omega, parameters) -> (tx, ty, tz)``.

    t in s; q (4 numbers), the unit quaternion from body to lab; omega (3 numbers, rad/s) and the torque (N m) in the body
    frame; parameters, an array (n,) of floats whose units the torque defines. Numba's errors are raised.
    """
    from polhode.compiling.signatures import torque_signature

    return compile_driver(function, torque_signature)


def compile_loads(function: Function) -> Function:
    """The loads on several bodies, a kernel compiled for the fixed signature ``loads_signature``.

    ``loads(t, r, v, q, omega, parameters, force, torque)`` reads t (s), r and v (bodies, 3) in the lab (m, m/s), q (bodies, 4),
    unit quaternions from body to lab, omega (bodies, 3) in the frames of the bodies (rad/s) and parameters (n,). It writes
    force (bodies, 3) in the lab (N) and torque (bodies, 3) in the frames of the bodies (N m). Numba's errors are raised.
    """
    from polhode.compiling.signatures import loads_signature

    return compile_driver(function, loads_signature)


_OPTIONS = {"nogil": True, "error_model": "numpy"}
_PART_OPTIONS = {"error_model": "numpy", "no_cpython_wrapper": True, "_nrt": False}
