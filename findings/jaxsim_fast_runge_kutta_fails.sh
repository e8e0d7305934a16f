#!/usr/bin/env bash
# JaxSim: the three integrators on a body in free flight.
# Guess: a free body without collision shapes is the simplest case, and each of the integrators offered steps it; the fast one is the
# usual fourth-order one with contact forces taken once a step, so that without contacts the two are the same.
# What happens: RungeKutta4Fast raises UnboundLocalError for a model without contact points; the other two take the step.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q jaxsim==0.9.0
"$folder/env/bin/python" - <<'PYTHON'
from importlib.metadata import version

import jaxsim.api as js

BODY = """<sdf version="1.7"><model name="body"><link name="link"><inertial><pose>0 0 0 0 0 0</pose><mass>1</mass>
<inertia><ixx>1</ixx><ixy>0</ixy><ixz>0</ixz><iyy>2</iyy><iyz>0</iyz><izz>3</izz></inertia></inertial></link></model></sdf>"""
seen = {}
for kind in js.model.IntegratorType:
    model = js.model.JaxSimModel.build_from_model_description(BODY, is_urdf=False, time_step=0.01, gravity=0.0, integrator=kind)
    data = js.data.JaxSimModelData.build(model, base_angular_velocity=(0.3, 0.4, 1.0))
    try:
        js.model.step(model, data)
        seen[kind.name] = "a step"
    except Exception as error:
        seen[kind.name] = f"{type(error).__name__}: {error}"
print("jaxsim", version("jaxsim"))
for name, said in seen.items():
    print(f"{name}: {said}")
assert seen["SemiImplicitEuler"] == seen["RungeKutta4"] == "a step"
assert seen["RungeKutta4Fast"].startswith("UnboundLocalError"), "a body without contact points is stepped now"
PYTHON
