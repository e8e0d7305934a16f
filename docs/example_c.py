"""A method whose step is in C (example_step.c), as a pattern to change."""

from pathlib import Path
from typing import Any

from polhode.compiling.from_c import from_c
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_synchronous, start_with_omega, stored_in_body_frame, torque_wanted_at_state

step = from_c(Path(__file__).with_name("example_step.c"), "step", results=7)


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state after a step: q, then omega."""
    return step(state, torque, body, dt)


METHOD = OneTorque(
    key="my_c_step",
    label="My step in C",
    source="docs/challenge.md",
    citation="delvalle2024",
    order_q=1,
    order_omega=1,
    normalises=True,
    start=start_with_omega,
    before_torque=torque_wanted_at_state,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
)
