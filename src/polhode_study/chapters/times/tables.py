"""What a step and a solution cost."""

import pandas as pd

from polhode.fits.step_times import in_frame
from polhode.interface.table import Table
from polhode_study.chapters.many_body.frames import times_to_level
from polhode_study.chapters.times.frames import counts
from polhode_study.inputs import Inputs


def speed_up(inputs: Inputs) -> Table:
    """The speed-up over direct Euler at the published target errors, with the angular velocity in either frame; a file only."""
    data = inputs.cost("published")
    data = data.sel(integrator=inputs.in_order(data["integrator"].values)).sortby("target_error", ascending=False)
    frame = data.to_dataframe(["integrator", "target_error", "frame"]).reset_index()
    frame["speed_up_of_spiral"] = 1 / frame["speed_up_spiral"].where(frame["speed_up_spiral"] != 0)
    names = {"integrator": "method", "frame": "frame", "target_error": "target_error", "dt": "dt", "steps": "steps"}
    names |= {"time_to_solution": "seconds", "speed_up_euler": "speed_up_over_euler"}
    return Table(frame[[*names, "speed_up_of_spiral"]].rename(columns=names))


def many_body_cost(inputs: Inputs) -> Table:
    """The time of a step in each scene, and of a run at the published energy error, with published values; a file only."""
    names = {"case": "scene", "integrator": "method", "step_time": "step_time_us", "dt": "dt", "steps": "steps", "cpu": "cpu_s"}
    frame = times_to_level(inputs).to_dataframe(["case", "integrator"]).reset_index()[[*names]].rename(columns=names)
    published = inputs.published_numbers("delvalle_many_body").set_index("method")
    for name in ("dt", "cpu"):
        column = f"published_{name}{'_s' * (name == 'cpu')}"
        frame[column] = frame["method"].map(published[name]).where(frame["scene"] == "chess")
    return Table(frame)


def operations(inputs: Inputs) -> Table:
    """The torques and operations of a step of every method, and their total relative to direct Euler; a file only."""
    return Table(counts(inputs))


def cost(inputs: Inputs) -> Table:
    """The time of a step of every method in every form, a row for each method and frame; a file only."""
    step, counted = inputs.cost("step"), inputs.cost("operations")
    data = pd.concat([in_frame(step, frame) for frame in map(str, step["frame"].values)], ignore_index=True)
    totals = counted["total"].to_series()
    data["operations"] = data["method"].map(totals)
    data["operations_to_euler"] = data["operations"] / totals["euler"]
    return Table(data)


def cost_claims(inputs: Inputs) -> Table:
    """The published statements about time, with the measurements of this run; a file only."""
    return Table(inputs.cost_claim_rows)
