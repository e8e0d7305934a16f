"""The types, fixed signatures and dispatchers of compiled functions. To import this module is to import Numba.

That takes half a second: modules that define kernels import this one in the functions that compile, or ask
:mod:`polhode.compiling.kernel` for a name.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numba
from numba import types
from numba.core import codegen
from numba.core.registry import CPUDispatcher

float_type = types.float64
vector_type = types.UniTuple(types.float64, 3)
quaternion_type = types.UniTuple(types.float64, 4)
inertia_type = types.UniTuple(types.float64, 9)
parameters_type = types.Array(types.float64, 1, "C")
samples_type = types.Array(types.float64, 2, "C")
tables_type = types.Array(types.float64, 3, "C")
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
#: pause(n) -> the step to run to before the next call; n itself to end the run (:mod:`polhode.compiling.marching`).
pause_signature = types.int64(types.int64)
pause_type = types.FunctionType(pause_signature)


def dispatcher_of(function: Callable[..., Any], options: Mapping[str, Any] | None = None) -> Any:
    """Numba's dispatcher of a function: without wrappers and with these options, or else with wrappers."""
    if options is None:
        return numba.njit(error_model="numpy")(function)
    return CPUDispatcher(py_func=function, targetoptions=dict(options))


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
