"""A method as one file of C99 that needs nothing else: :func:`source`."""

from collections.abc import Callable
from typing import Any

from polhode.algebra.body import coefficients_of
from polhode.export.translator import Translator, as_comment, exploded
from polhode.export.values import QUAT, VEC3, Argument, Struct, Unknown, members_of_state
from polhode.methods.fourth_order_start import fourth_order_step
from polhode.methods.one_body import SOME_BODY, normalised
from polhode.methods.protocol import Method, OneTorque, SeveralTorques
from polhode.version import __version__

#: A body: the numbers that the kernels read (:meth:`polhode.algebra.body.Body.coefficients`).
INERTIA = Struct("inertia", (("moments", VEC3), ("reciprocals", VEC3), ("gyroscopic", VEC3)))
#: What a kernel of a method does, if it does not say itself.
ROLES = {
    "start": "The state from which the first step begins.",
    "before_torque": "The first part of a step, and the q and omega at which the torque is needed.",
    "after_torque": "The rest of a step, given the torque in the body frame.",
    "step": "One step from the time t.",
    "read": "q and omega (body frame) at the whole time.",
    "stored": "The angular velocity (body frame) that the method carries.",
    "normalised": "The state with its quaternion divided by its norm.",
}
_ALGEBRA = """#include <math.h>

typedef struct { double w, x, y, z; } quat; /* Hamilton's, scalar first, from body to lab */
typedef struct { double x, y, z; } vec3;
/* Ix, Iy, Iz; 1/Ix, 1/Iy, 1/Iz; (Iy - Iz)/Ix, (Iz - Ix)/Iy, (Ix - Iy)/Iz: see inertia_of */
typedef struct { vec3 moments, reciprocals, gyroscopic; } inertia;"""
_TORQUE = """/* The torque in the body frame at the time t; parameters are handed on as they are. */
typedef vec3 (*torque_function)(double t, quat q, vec3 omega, const void *parameters);"""
_CONSTRUCTORS = """static inline vec3 vec3_of(double x, double y, double z)
{
    const vec3 v = {x, y, z};
    return v;
}

static inline quat quat_of(double w, double x, double y, double z)
{
    const quat q = {w, x, y, z};
    return q;
}"""


def remembered(state: Any, q: Any, omega: Any) -> Any:
    """The state after a step of the warm-up: q and omega of its end, and what the method remembers of torques."""
    return q + omega + state[7:]


def source(method: Method) -> str:
    """A method in C: its kernels, everything that they call, and the types.

    The functions are those of :mod:`polhode.methods.protocol` with the key of the method before their names. They take and
    return structures by value, allocate nothing and have no state of their own. Compiled without contraction
    (``-ffp-contract=off``) and without fast-math they give the bits of the kernels.

    Parameters
    ----------
    method : Method
        A registered one or one's own; its source must be at hand.

    Raises
    ------
    Untranslatable
        If a kernel is more than arithmetic, conditions and loops of fixed length; the message names it and the line.

    Examples
    --------
    >>> import polhode
    >>> text = source(polhode.methods["euler"])
    >>> print(text[text.index("static inline euler_state euler_after") :].partition("}\\n\\n")[0] + "}")
    static inline euler_state euler_after_torque(euler_state state, vec3 torque, inertia body, double dt)
    {
        const quat q = state.q;
        vec3 omega = state.omega;
        omega = axpy(dt, euler_equations(omega, torque, body), omega);
        const euler_state result = {increment(dt, derivative(q, omega), q), omega};
        return result;
    }
    """
    trial = Translator()
    _translate(trial, method, Unknown("", (), length=method.state_width))
    state = members_of_state(method.key, method.state_width, [*trial.parts, *trial.uses], trial.pieces, trial.shapes)
    file = Translator(shapes=trial.shapes)
    file.structs = {struct.name: struct for struct in (QUAT, VEC3, INERTIA)}
    file.defined = {struct.name: struct for struct in file.shapes.values()}
    first_step = _translate(file, method, state)
    said = {state.name: f"/* What {method.label} carries from step to step. */\n"}
    structs = [struct for struct in file.structs.values() if struct not in (QUAT, VEC3, INERTIA)]
    guard = f"POLHODE_{method.key.upper()}_H"
    parts = [
        "\n".join(as_comment(_head(method))),
        f"#ifndef {guard}\n#define {guard}",
        _ALGEBRA,
        _TORQUE,
        *(said.get(struct.name, "") + struct.declaration() for struct in structs),
        "\n".join(file.lines_of_constants()),
        _CONSTRUCTORS,
        *file.texts,
        _run(method, first_step),
        "#endif",
    ]
    return "\n\n".join(text for text in parts if text) + "\n"


def _translate(file: Translator, method: Method, state: Struct) -> str:
    """All kernels of a method, for states of this structure; returns the name of the function that warms up, if it has one."""
    numbers = method.numbers_of(SOME_BODY)[INERTIA.width :]
    body = Struct(INERTIA.name, INERTIA.members, constants=tuple(numbers))
    of: dict[str, Argument] = {
        **{"q": QUAT, "omega": VEC3, "torque": VEC3, "state": state, "body": body, "dt": None, "t": None},
        "parameters": file.parameters,
    }
    wanted = Struct(f"{method.key}_wanted", (("state", state), ("q", QUAT), ("omega", VEC3)), nested=True)
    reading = Struct(f"{method.key}_reading", (("q", QUAT), ("omega", VEC3)), nested=True)
    results = {"before_torque": wanted, "read": reading, "stored": VEC3}

    def add(role: str, kernel: Callable[..., Any], arguments: list[Argument]) -> None:
        file.function(kernel, arguments, results.get(role, state), f"{method.key}_{role}", ROLES.get(role, ""))

    file.function(coefficients_of, [VEC3], body if not numbers else INERTIA, "inertia_of")
    roles = method.kernels()
    for role in sorted(roles, key=list(ROLES).index):
        handed = {**of, "torque": file.torque} if role == "step" else of
        add(role, getattr(method, role), [handed[name] for name in roles[role]])
    if method.normalisation(None):
        add("normalised", normalised, [state])
    if isinstance(method, OneTorque) and method.warm_up_steps:
        warm_up = [QUAT, VEC3, VEC3, None, None, body, file.torque, file.parameters]
        add("remembered", remembered, [state, QUAT, VEC3])
        return file.function(fourth_order_step, warm_up, reading)[0]
    return ""


def _head(method: Method) -> str:
    """What stands at the beginning of the file: name, sources, equations, and how to call the functions."""
    kernel: Any = getattr(method, "step" if isinstance(method, SeveralTorques) else "after_torque")
    text = getattr(kernel, "py_func", kernel).__globals__.get("__doc__") or ""
    return "\n".join(
        [
            f"{method.label}: a step of the rotation of a rigid body, in C99 and C++.",
            "",
            f"Source: {method.source}.",
            *([f"Ours: {method.reconstruction}"] if method.reconstruction else []),
            *([method.note] if method.note else []),
            "",
            text.strip(),
            "",
            f"{method.key}_run at the end shows a run, with body = inertia_of(moments). q takes body to lab; omega, torque and",
            "moments are in the body frame along the principal axes; units are SI or any others that fit together.",
            f"Generated from the kernels of {method.key} by polhode {__version__}, BSD-3-Clause. Compiled with",
            "-ffp-contract=off and without -ffast-math, it gives the bits of polhode.",
        ]
    )


def _run(method: Method, first_step: str) -> str:
    """The loop over the steps of a run: how the parts of a step go together.

    ``first_step`` : the function that takes q and omega through a step of the warm-up.
    """
    key, normalises = method.key, method.normalisation(None)
    unit = f"state = {key}_normalised(state);"
    if not isinstance(method, OneTorque):
        opening = f"{key}_start(q, omega, body)"
        step = [f"state = {key}_step(state, (double)n * dt, dt, body, torque, parameters);", *([unit] if normalises else [])]
    else:
        opening = f"{key}_start(q, omega, torque(0.0, q, omega, parameters), body, dt)"
        time = f"((double)n + {float(method.torque_time)!r}) * dt" if method.torque_time else "(double)n * dt"
        step = [
            f"{key}_wanted wanted = {key}_before_torque(state, body, dt);",
            f"const vec3 moment = torque({time}, wanted.q, wanted.omega, parameters);",
            f"state = {key}_after_torque(wanted.state, moment, body, dt);",
        ]
        if normalises and method.rotates_before_torque:
            step[1:1] = [f"wanted.state = {key}_normalised(wanted.state);", "wanted.q = wanted.state.q;"]
        else:
            step[0] = f"const {step[0]}"
        if method.warm_up_steps:
            arguments = "wanted.q, wanted.omega, moment, (double)n * dt, dt, body, torque, parameters"
            step += [
                f"if (n < {method.warm_up_steps}) {{",
                f"    const {key}_reading end = {first_step}({arguments});",
                f"    state = {key}_remembered(state, end.q, end.omega);",
                "}",
            ]
        step += [unit] if normalises and not method.rotates_before_torque else []
    closing = [f"return {key}_read(state, vec3_of(0.0, 0.0, 0.0), body, dt);"]
    if isinstance(method, OneTorque) and not method.torque_time:
        closing = [
            f"const {key}_wanted wanted = {key}_before_torque(state, body, dt);",
            "const vec3 moment = torque((double)steps * dt, wanted.q, wanted.omega, parameters);",
            f"return {key}_read(wanted.state, moment, body, dt);",
        ]
    arguments = "quat q, vec3 omega, inertia body, torque_function torque, const void *parameters, double dt, long steps"
    lines = [
        "/* q and omega after so many steps from those at t = 0. A program with a loop of its own calls the parts of a step in",
        "   this order. */",
        *exploded(f"static inline {key}_reading {key}_run({arguments})", 0),
        "{",
        *exploded(f"{key}_state state = {opening};", 1),
        "    for (long n = 0; n < steps; n++) {",
        *(line for one in step for line in exploded(one.lstrip(), 2 + one.startswith(" "))),
        "    }",
        *(line for one in closing for line in exploded(one, 1)),
        "}",
    ]
    return "\n".join(lines)
