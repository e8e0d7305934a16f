"""A function in C as a kernel can call it: for a method whose step exists in C, or in anything that a C compiler links."""

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload


def from_c(file: str | Path, name: str, results: int) -> Callable[..., Any]:
    """The function ``name`` of a C file, or of a shared library, for kernels: tuples and numbers in, a tuple of ``results``
    floats out.

    In C it is ``void name(const double *state, const double *torque, ..., double dt, double *results)``: a pointer for each
    tuple, a double for each number, in the order of the call, and last where its results go. Kernels that call it are not kept
    on disk, are not laid out in vectors over bodies, and run on floats only: what counts their operations or derives them says
    that it cannot.

    Parameters
    ----------
    file : a source (``.c`` or ``.cpp``), compiled here with ``cc -O2 -ffp-contract=off``, or a library that is ready
    name : the function in it
    results : how many numbers it returns

    Raises
    ------
    ValueError
        If the source does not compile, if there is no compiler, or if the library has no such function.
    OSError
        If the library cannot be loaded.
    """
    path = Path(file)
    # The loader looks for a name without a folder in the system's folders alone.
    ready = str(path.absolute() if path.exists() else path)
    library = _compiled(path) if path.suffix in (".c", ".cpp") else ctypes.CDLL(ready)
    try:
        function = getattr(library, name)
    except AttributeError:
        raise ValueError(f'{file} has no function {name!r}; in C++ declare it extern "C"') from None
    function.restype = None
    address = ctypes.cast(function, ctypes.c_void_p).value

    def call(*arguments: Any) -> tuple[float, ...]:
        def passed(value: Any) -> Any:
            if isinstance(value, tuple):
                return (ctypes.c_double * len(value))(*map(number, value))
            return ctypes.c_double(number(value))

        def number(value: Any) -> float:
            if not isinstance(value, float | int):
                raise ValueError(f"{name} is compiled C: it takes floats, got {type(value).__name__}")
            return float(value)

        output = (ctypes.c_double * results)()
        function(*map(passed, arguments), output)
        return tuple(output)

    @intrinsic  # type: ignore[untyped-decorator]
    def linked(context: Any, arguments: Any) -> Any:
        returned = types.UniTuple(types.float64, results)

        def generate(codegen: Any, builder: Any, signature: Any, values: Any) -> Any:
            number = ir.DoubleType()
            passed = []
            for i, kind in enumerate(signature.args[0].types):
                value = builder.extract_value(values[0], i)
                if isinstance(kind, types.BaseTuple):
                    place = cgutils.alloca_once(builder, ir.ArrayType(number, len(kind)))
                    for k, of in enumerate(kind.types):
                        element = codegen.cast(builder, builder.extract_value(value, k), of, types.float64)
                        builder.store(element, cgutils.gep_inbounds(builder, place, 0, k))
                    passed.append(builder.bitcast(place, number.as_pointer()))
                else:
                    passed.append(codegen.cast(builder, value, kind, types.float64))
            output = cgutils.alloca_once(builder, ir.ArrayType(number, results))
            passed.append(builder.bitcast(output, number.as_pointer()))
            kind = ir.FunctionType(ir.VoidType(), [value.type for value in passed])
            builder.call(builder.inttoptr(ir.Constant(ir.IntType(64), address), kind.as_pointer()), passed)
            return builder.load(output)

        return returned(arguments), generate

    @overload(call)
    def compiled(*arguments):  # type: ignore[no-untyped-def]  # Numba compares this line with that of the lambda
        return lambda *arguments: linked(arguments)

    return call


def _compiled(source: Path) -> ctypes.CDLL:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise ValueError(f"{source} needs a C compiler, and there is no cc; compile it elsewhere, and name the library")
    with tempfile.TemporaryDirectory() as folder:  # once loaded, the file itself is not needed
        library = Path(folder, source.stem + ".so")
        command = [compiler, "-O2", "-ffp-contract=off", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise ValueError(f"{source} does not compile: {done.stderr.strip()[:1000]}")
        return ctypes.CDLL(str(library))
