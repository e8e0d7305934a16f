"""JSBSim: an aircraft without aerodynamics, engines or ground, above a planet that does not rotate and does not attract."""

import tempfile
from pathlib import Path

import numpy as np
from polhode_rotations import quaternion

AIRCRAFT = """<?xml version="1.0"?>
<fdm_config name="body" version="2.0"><fileheader/>
<planet><rotation_rate unit="RAD/SEC"> 0.0 </rotation_rate></planet>
<metrics><wingarea unit="FT2"> 1 </wingarea><wingspan unit="FT"> 1 </wingspan><chord unit="FT"> 1 </chord>
<location name="AERORP" unit="IN"><x>0</x><y>0</y><z>0</z></location></metrics>
<mass_balance><ixx unit="SLUG*FT2"> {0!r} </ixx><iyy unit="SLUG*FT2"> {1!r} </iyy><izz unit="SLUG*FT2"> {2!r} </izz>
<emptywt unit="LBS"> 32.174049 </emptywt><location name="CG" unit="IN"><x>0</x><y>0</y><z>0</z></location></mass_balance>
<ground_reactions/><propulsion/><flight_control name="none"/><aerodynamics/>
<external_reactions>{3}</external_reactions>
</fdm_config>
"""
#: A moment whose magnitude and direction are set from outside, and friction along one axis, which JSBSim evaluates itself.
MOMENT = '<moment name="load" frame="{}"><direction><x>0</x><y>0</y><z>0</z></direction></moment>'
FRICTION = """<moment name="{name}" frame="BODY"><function><product><value>{factor!r}</value>
<property>velocities/{name}-rad_sec</property></product></function>
<direction><x>{0}</x><y>{1}</y><z>{2}</z></direction></moment>"""
#: Option -> integrator of the rate, integrator of the orientation, as JSBSim numbers them.
CHOICES = {
    "as shipped": None,
    "rate AB2, orientation Buss 2": (3, 7),
    "rate AB4, orientation Buss 2": (5, 7),
    "rate AB4, orientation local linearisation": (5, 8),
    "rate Euler, orientation Buss 1": (1, 6),
    "rate AB2, orientation local linearisation": (3, 8),
    "AB3": (4, 4),
    "AB4": (5, 5),
    "trapezoidal": (2, 2),
}


class Adapter:
    """JSBSim.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def version(self):
        """The version of the package, as text."""
        import jsbsim

        return jsbsim.__version__

    def _reactions(self, case):
        """The moments in the file of the aircraft."""
        if case.load == "velocity":
            axes = zip("pqr", np.eye(3, dtype=int).tolist(), strict=True)
            return "".join(FRICTION.format(*axis, name=name, factor=-float(case.value[0])) for name, axis in axes)
        return "" if case.load == "free" else MOMENT.format("LOCAL" if case.load == "lab" else "BODY")

    def _put(self, model, case):
        """The moment as a magnitude and a direction, lb ft."""
        torque = np.array(case.value)
        length = float(np.linalg.norm(torque))
        model["external_reactions/load/magnitude-lbsft"] = length
        for name, part in zip("lmn", torque / length, strict=True):
            model[f"external_reactions/load/{name}"] = float(part)

    def run(self, option, case, dt, samples):
        """Slugs and feet, with the numbers of the case.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.

        Raises
        ------
        RuntimeError
            If JSBSim stops before the last sample.
        """
        import jsbsim

        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "aircraft" / "body"
            folder.mkdir(parents=True)
            text = AIRCRAFT.format(*map(float, case.inertia), self._reactions(case))
            (folder / "body.xml").write_text(text)
            model = jsbsim.FGFDMExec(name, None)
            model.set_debug_level(0)
            model.load_model("body")
        model.set_dt(dt)
        model["simulation/gravity-model"] = 0
        q = np.asarray(case.q0)
        model["ic/h-sl-ft"] = 1e5
        model["ic/lat-gc-deg"] = 0.0
        model["ic/long-gc-deg"] = 0.0
        w, x, y, z = q
        model["ic/phi-rad"] = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
        model["ic/theta-rad"] = np.arcsin(np.clip(2 * (w * y - z * x), -1, 1))
        model["ic/psi-true-rad"] = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        for name, rate in zip("pqr", case.omega0, strict=True):
            model[f"ic/{name}-rad_sec"] = rate
        if CHOICES[option]:
            rate, position = CHOICES[option]
            model["simulation/integrator/rate/rotational"] = rate
            model["simulation/integrator/position/rotational"] = position
        if case.load in ("constant", "lab"):
            self._put(model, case)
        model.run_ic()
        ecef_to_local = np.array(model.get_propagate().get_Tl2b()).T @ np.array(model.get_propagate().get_Tec2b())
        q, omega, n = np.empty((len(samples), 4)), np.empty((len(samples), 3)), 0
        for i, wanted in enumerate(samples):
            while n < wanted:
                if not model.run():
                    raise RuntimeError("JSBSim stopped")
                n += 1
            # The planet does not rotate: its frame is at rest, and the local one at the start differs by a fixed rotation.
            matrix = np.array(model.get_propagate().get_Tec2b()).T
            q[i] = quaternion(ecef_to_local @ matrix)
            # The quaternion of a matrix has either sign; a formula that adds the rates of several steps needs one.
            if i and q[i] @ q[i - 1] < 0:
                q[i] *= -1
            omega[i] = [model[f"velocities/{name}-rad_sec"] for name in "pqr"]
        return q, omega
