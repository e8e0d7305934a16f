"""Methods as source code that runs without the package: generated from their kernels, with the same bits.

Examples
--------
>>> import polhode
>>> from polhode.export import LANGUAGES
>>> text = LANGUAGES["c"].source(polhode.methods["euler"])
>>> print(text[text.index("POLHODE_FUNCTION euler_state euler_after") :].partition("}\\n\\n")[0] + "}")
POLHODE_FUNCTION euler_state euler_after_torque(euler_state state, polhode_vec3 torque, polhode_inertia body, double dt)
{
    const polhode_quat q = state.q;
    polhode_vec3 omega = state.omega;
    omega = euler_axpy(dt, euler_euler_equations(omega, torque, body), omega);
    const euler_state result = {euler_increment(dt, euler_derivative(q, omega), q), omega};
    return result;
}
"""

from collections.abc import Mapping

from polhode.export.c import C
from polhode.export.csharp import CSharp
from polhode.export.fortran import Fortran
from polhode.export.javascript import JavaScript
from polhode.export.numpy_arrays import NumPy
from polhode.export.program import Program
from polhode.export.rust import Rust

#: The languages by the name that the command ``polhode code`` knows.
LANGUAGES: Mapping[str, Program] = {
    language.name: language for language in (C(), CSharp(), Fortran(), JavaScript(), NumPy(), Rust())
}
