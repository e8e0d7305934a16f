"""Files of runs: the same motion in headers, units and formats of other programs is read alike; bad files are refused."""

import bz2
import gzip
import io
import json
import lzma
import os
import warnings
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode
from polhode.cli import main
from polhode_engines import candidates, own_code
from polhode_engines.conventions import TIMES, fits, plausible
from polhode_engines.run_files import RunFileError, of_arrays, read_run

INERTIA = np.array([0.6, 1.0, 1.4])
DT, COUNT = 0.2, 30


def rate(y, tensor):
    q, w = y[:4], y[4:]
    turned = 0.5 * np.array([-q[1:] @ w, *(q[0] * w + np.cross(q[1:], w))])
    return np.array([*turned, *np.linalg.solve(tensor, -np.cross(w, tensor @ w))])


def motion(tensor, dt=DT, count=COUNT):
    """Rows (n, 7) of classical Runge-Kutta 4, written out: q body to lab, scalar first, normalised; omega in the body."""
    y, rows = np.array([0.7, 0.1, 0.5, 0.5, 0.48, 0.36, 0.8]), []
    for _ in range(count):
        rows.append(y)
        a = rate(y, tensor)
        b = rate(y + dt / 2 * a, tensor)
        c = rate(y + dt / 2 * b, tensor)
        d = rate(y + dt * c, tensor)
        y = y + dt / 6 * (a + 2 * b + 2 * c + d)
        y = np.array([*(y[:4] / np.linalg.norm(y[:4])), *y[4:]])
    return np.array(rows)


ROWS = motion(np.diag(INERTIA))
T, Q, W = DT * np.arange(COUNT), ROWS[:, :4], ROWS[:, 4:]
LAST = Q[:, [1, 2, 3, 0]]
TURN = Rotation.from_quat(LAST)
EULER = TURN.as_euler("ZYX")[:, ::-1]  # roll, pitch, yaw
MOMENTUM = TURN.apply(W * INERTIA)
DEGREES = np.degrees(W)


def table(header, *columns, separator=",", digits="{:.17g}", end="\n", times=None):
    """Text with a header and rows; times may be words."""
    numbers = np.column_stack(columns)
    lines = [separator.join(digits.format(x) for x in row) for row in numbers]
    if times is not None:
        lines = [f"{word}{separator}{line}" for word, line in zip(times, lines, strict=True)]
    return end.join([header, *lines] if header else lines) + end


def stamps(form):
    start = datetime(2026, 8, 26, tzinfo=UTC)
    return [form(start + timedelta(milliseconds=200 * k)) for k in range(COUNT)]


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def dump(columns="id c_q[1] c_q[2] c_q[3] c_q[4] omegax omegay omegaz", rows=None, step=1, more=()):
    text = ""
    for k, row in enumerate(ROWS if rows is None else rows):
        numbers = " ".join(f"{x:.17g}" for x in row)
        text += f"ITEM: TIMESTEP\n{k * step}\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS pp pp pp\n0 1\n0 1\n0 1\n"
        text += f"ITEM: ATOMS {columns}\n7 {numbers}\n" + "".join(f"{line}\n" for line in more)
    return text


def aem(version, kind, order, rows, epochs, extra=()):
    head = [f"CCSDS_AEM_VERS = {version}", "CREATION_DATE = 2026-08-26T00:00:00", "META_START", "OBJECT_NAME = A", *extra]
    lines = [f"{epoch} {' '.join(f'{x:.17g}' for x in row)}" for epoch, row in zip(epochs, rows, strict=True)]
    return "\n".join([*head, f"ATTITUDE_TYPE = {kind}", *order, "META_STOP", "DATA_START", *lines, "DATA_STOP", ""])


ISO = stamps(lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%S.%f"))
USUAL = table("t,qw,qx,qy,qz,wx,wy,wz", T, Q, W)
RECORDS = [{"t": t, "q": list(q), "omega": list(w)} for t, q, w in zip(T.tolist(), Q.tolist(), W.tolist(), strict=True)]
EPOCH_NS = [1_719_324_000_123_456_789 + 200_000_000 * k for k in range(COUNT)]

#: Text or bytes of a file, and what the command is told besides.
VALID: dict[str, tuple[str | bytes, dict]] = {
    "names": (USUAL, {}),
    "no names": (table("", T, Q, W, separator=" "), {}),
    "names in a comment": (table("# t qw qx qy qz wx wy wz", T, Q, W, separator=" "), {}),
    "comma and blank": (table("t, qw, qx, qy, qz, wx, wy, wz", T, Q, W, separator=", "), {}),
    "tabs": (table("t\tqw\tqx\tqy\tqz\twx\twy\twz", T, Q, W, separator="\t"), {}),
    "bars": (table("t|qw|qx|qy|qz|wx|wy|wz", T, Q, W, separator="|"), {}),
    "quoted": (table('"t","qw","qx","qy","qz","wx","wy","wz"', T, Q, W), {}),
    "carriage returns": (table("t,qw,qx,qy,qz,wx,wy,wz", T, Q, W, end="\r\n"), {}),
    "decimal commas": (table("t;qw;qx;qy;qz;wx;wy;wz", T, Q, W, separator=";").replace(".", ","), {}),
    "decimal commas, tabs": (table("t\tqw\tqx\tqy\tqz\twx\twy\twz", T, Q, W, separator="\t").replace(".", ","), {}),
    "decimal commas, blanks": (table("t qw qx qy qz wx wy wz", T, Q, W, separator=" ").replace(".", ","), {}),
    "byte order mark": (USUAL.encode("utf-8-sig"), {}),
    "UTF-16": (USUAL.encode("utf-16"), {}),
    "UTF-16 without a mark": (USUAL.encode("utf-16-le"), {}),
    "Latin-1": (USUAL.replace("t,qw", "t [µs],qw").encode("latin-1").replace(b"t [\xb5s]", b"t") + b"# \xb0\n", {}),
    "gzip": (gzip.compress(USUAL.encode()), {}),
    "bzip2": (bz2.compress(USUAL.encode()), {}),
    "xz": (lzma.compress(USUAL.encode()), {}),
    "Fortran exponents": (table("t,qw,qx,qy,qz,wx,wy,wz", T, Q, W, digits="{:.16e}").replace("e", "D"), {}),
    "Fortran without the letter": (
        table("", T, Q, W + 1e-103, digits="{:.16e}").replace("e-01", "E-001").replace("E-001", "-001"),
        {},
    ),
    "hexadecimal": (
        "t,qw,qx,qy,qz,wx,wy,wz\n"
        + "".join(",".join(float(x).hex() for x in (t, *y)) + "\n" for t, y in zip(T, ROWS, strict=True)),
        {},
    ),
    "parentheses": (
        "".join(
            f"{t:.17g} ({' '.join(map(repr, y[:4].tolist()))}) ({' '.join(map(repr, y[4:].tolist()))})\n"
            for t, y in zip(T, ROWS, strict=True)
        ),
        {},
    ),
    "units below the names": (table("t,qw,qx,qy,qz,wx,wy,wz\nms,-,-,-,-,deg/s,deg/s,deg/s", T * 1000, Q, DEGREES), {}),
    "scalar last by names": (table("time,q_x,q_y,q_z,q_w,w_x,w_y,w_z", T, LAST, W), {}),
    "q_0": (table("time,q_0,q_1,q_2,q_3,w_1,w_2,w_3", T, Q, W), {}),
    "quat_w": (table("t_s,quat_w,quat_x,quat_y,quat_z,omega_x_rad_s,omega_y_rad_s,omega_z_rad_s", T, Q, W), {}),
    "other columns": (table("t,x,y,z,qw,qx,qy,qz,vx,wx,wy,wz,fx", T, T, T, T, Q, T, W, T), {}),
    "a column of words": (USUAL.replace("\n", ",ok\n").replace("wz,ok", "wz,status"), {}),
    "rates in degrees": (table("t,qw,qx,qy,qz,wx [deg/s],wy [deg/s],wz [deg/s]", T, Q, DEGREES), {}),
    "rates in degrees, by an end": (table("t,qw,qx,qy,qz,gx_dps,gy_dps,gz_dps", T, Q, DEGREES), {}),
    "rates in revolutions": (table("t,qw,qx,qy,qz,wx (rpm),wy (rpm),wz (rpm)", T, Q, W * 30 / np.pi), {}),
    "ms": (table("t[ms],qw,qx,qy,qz,wx,wy,wz", T * 1000, Q, W), {}),
    "us": (table("time_us,qw,qx,qy,qz,wx,wy,wz", np.round(T * 1e6), Q, W), {}),
    "hours": (table("time [h],qw,qx,qy,qz,wx,wy,wz", T / 3600, Q, W), {}),
    "days": (table("t_d,qw,qx,qy,qz,wx,wy,wz", T / 86400, Q, W), {}),
    "Julian dates": (
        table("mjd,qw,qx,qy,qz,wx,wy,wz", Q, W, times=[f"{60000 + 0.2 * k / 86400:.14f}" for k in range(COUNT)]),
        {},
    ),
    "ISO": (table("time,qw,qx,qy,qz,wx,wy,wz", Q, W, times=ISO), {}),
    "ISO with a zone": (table("utc,qw,qx,qy,qz,wx,wy,wz", Q, W, times=[f"{word}+02:00" for word in ISO]), {}),
    "ISO with a blank": (table("time qw qx qy qz wx wy wz", Q, W, separator=" ", times=[w.replace("T", " ") for w in ISO]), {}),
    "time of day": (table("clock,qw,qx,qy,qz,wx,wy,wz", Q, W, times=[word[11:] for word in ISO]), {}),
    "seconds since 1970": (
        table("time,qw,qx,qy,qz,wx,wy,wz", Q, W, times=[f"{n // 10**9}.{n % 10**9:09d}" for n in EPOCH_NS]),
        {},
    ),
    "PX4": (table("timestamp,q[0],q[1],q[2],q[3],rollspeed,pitchspeed,yawspeed", np.round(T * 1e6) + 123456789, Q, W), {}),
    "PX4, topics": (
        table(
            "timestamp,timestamp_sample,q[0],q[1],q[2],q[3],delta_q_reset[0],delta_q_reset[1],delta_q_reset[2],delta_q_reset[3],xyz[0],"
            "xyz[1],xyz[2]",
            np.round(T * 1e6),
            T * 1e6,
            Q,
            Q,
            W,
        ),
        {},
    ),
    "PX4, PlotJuggler": (
        table(
            "__time,/vehicle_attitude/q.00,/vehicle_attitude/q.01,/vehicle_attitude/q.02,/vehicle_attitude/q.03,"
            "/vehicle_angular_velocity/xyz.00,/vehicle_angular_velocity/xyz.01,/vehicle_angular_velocity/xyz.02,"
            "/vehicle_acceleration/xyz.00,/vehicle_acceleration/xyz.01,/vehicle_acceleration/xyz.02",
            T,
            Q,
            W,
            W + 1,
        ),
        {},
    ),
    "ArduPilot": (table("TimeUS,Roll_deg,Pitch_deg,Yaw_deg,GyrX,GyrY,GyrZ", T * 1e6, np.degrees(EULER), W), {}),
    "MAVLink": (table("time_boot_ms,q1,q2,q3,q4,rollspeed,pitchspeed,yawspeed", T * 1e3, Q, W), {}),
    "ROS 1": (
        table(
            "%time,field.header.seq,field.header.stamp,field.header.frame_id,field.orientation.x,field.orientation.y,field.orientation.z,"
            "field.orientation.w,field.orientation_covariance0,field.angular_velocity.x,field.angular_velocity.y,"
            "field.angular_velocity.z,field.linear_acceleration.x",
            LAST,
            T,
            W,
            T,
            times=[f"{n + 777 * k},{k},{n},base_link" for k, n in enumerate(EPOCH_NS)],
        ),
        {},
    ),
    "ROS 1, odometry": (
        table(
            "%time,field.pose.pose.position.x,field.pose.pose.orientation.x,field.pose.pose.orientation.y,field.pose.pose.orientation.z,"
            "field.pose.pose.orientation.w,field.twist.twist.linear.x,field.twist.twist.angular.x,field.twist.twist.angular.y,"
            "field.twist.twist.angular.z",
            T,
            LAST,
            T,
            W,
            times=EPOCH_NS,
        ),
        {},
    ),
    "ROS 2": (
        table(
            "header.stamp.sec,header.stamp.nanosec,orientation.x,orientation.y,orientation.z,orientation.w,angular_velocity.x,"
            "angular_velocity.y,angular_velocity.z",
            LAST,
            W,
            times=[f"{n // 10**9},{n % 10**9}" for n in EPOCH_NS],
        ),
        {},
    ),
    "ROS, PlotJuggler": (
        table(
            "__time,/imu/orientation/x,/imu/orientation/y,/imu/orientation/z,/imu/orientation/w,/imu/angular_velocity/x,"
            "/imu/angular_velocity/y,/imu/angular_velocity/z,/odom/twist/angular/x,/odom/twist/angular/y,/odom/twist/angular/z",
            LAST,
            W,
            W + 1,
            times=[f"{n // 10**9}.{n % 10**9:09d}" for n in EPOCH_NS],
        ),
        {},
    ),
    "Basilisk": (
        table(
            "time [ns],sigma_BN[0],sigma_BN[1],sigma_BN[2],omega_BN_B[0],omega_BN_B[1],omega_BN_B[2]", T * 1e9, TURN.as_mrp(), W
        ),
        {},
    ),
    "MRPs in the shadow set": (table("t,mrp_1,mrp_2,mrp_3,w1,w2,w3", T, Rotation.from_quat(-LAST).as_mrp(), W), {}),
    "42": (table("t,qbn1,qbn2,qbn3,qbn4,wbn1,wbn2,wbn3", T, LAST, W), {}),
    "42, momentum": (table("t qbn_1 qbn_2 qbn_3 qbn_4 Hvn_1 Hvn_2 Hvn_3", T, LAST, MOMENTUM, separator=" "), {}),
    "rotation vectors": (table("t,rotvec_x,rotvec_y,rotvec_z,wx,wy,wz", T, TURN.as_rotvec(), W), {}),
    "Euler angles in degrees": (table("t,roll [deg],pitch [deg],yaw [deg],p,q,r", T, np.degrees(EULER), W), {}),
    "Euler angles in rad": (table("t,roll_rad,pitch_rad,yaw_rad,p [deg/s],q [deg/s],r [deg/s]", T, EULER, DEGREES), {}),
    "spaces in names": (
        table(
            "Time (s),Quaternion W,Quaternion X,Quaternion Y,Quaternion Z,Angular Velocity X (deg/s),"
            "Angular Velocity Y (deg/s),Angular Velocity Z (deg/s)",
            T,
            Q,
            DEGREES,
        ),
        {},
    ),
    "JSBSim": (
        table(
            "Time,P (deg/s),Q (deg/s),R (deg/s),P dot (deg/s^2),P_{inertial} (deg/s),Q_{inertial} (deg/s),R_{inertial} (deg/s),"
            "Phi (deg),Q(1)_{LOCAL},Q(2)_{LOCAL},Q(3)_{LOCAL},Q(4)_{LOCAL},Q(1)_{ECI},Q(2)_{ECI},Q(3)_{ECI},Q(4)_{ECI}",
            T,
            DEGREES + 1,
            T,
            DEGREES,
            T,
            Q[:, [1, 0, 2, 3]],
            Q,
        ),
        {},
    ),
    "LaTeX": (table("$t$,$q_{0}$,$q_{1}$,$q_{2}$,$q_{3}$,$\\omega_{x}$,$\\omega_y$,\\omega_z", T, Q, W), {}),
    "comments behind rows": (USUAL.replace("\n", "  # ok\n", 9), {}),
    "units apart": (table("t [s] q0 [-] q1 [-] q2 [-] q3 [-] wx [rad/s] wy [rad/s] wz [rad/s]", T, Q, W, separator="  "), {}),
    "camel case": (table("timeMs,quatW,quatX,quatY,quatZ,angVelX,angVelY,angVelZ", T * 1e3, Q, W), {}),
    "index of pandas": (
        ",".join(["", USUAL.split("\n")[0]]) + "\n" + "".join(f"{k},{row}\n" for k, row in enumerate(USUAL.split("\n")[1:-1])),
        {},
    ),
    "columns named by the user": (table("", W, T, Q), {"columns": "wx,wy,wz,t [s],qw,qx,qy,qz"}),
    "columns of others left out": (table("zeit,a,b,c,d,e,f,g,h", T, T, Q, W), {"columns": "t,-,qw,qx,qy,qz,wx,wy,wz"}),
    "several bodies": (
        table("id,t,qw,qx,qy,qz,wx,wy,wz", *(np.repeat(x, 2, axis=0) for x in (T, Q, W)), times=[3, 8] * COUNT).replace(
            "id,t", "id,t", 1
        ),
        {"body": 8},
    ),
    "NPZ": (npz(t=T, q=LAST, omega=W, inertia=INERTIA), {}),
    "NPZ, other names": (npz(time_ms=T * 1e3, quaternion=Q, angular_velocity=W, x=np.zeros(5)), {}),
    "NPZ, dates": (npz(t=np.datetime64("2026-08-26") + (T * 1e9).round().astype("timedelta64[ns]"), q=Q, omega=W), {}),
    "NPZ, words": (npz(t=np.array(ISO), q=Q, omega=W), {}),
    "NPY": (npy(np.column_stack([T, ROWS])), {}),
    "NPY, structured": (npy(np.rec.fromarrays([T, *ROWS.T], names="t,qw,qx,qy,qz,wx,wy,wz")), {}),
    "JSON, rows": (json.dumps(RECORDS), {}),
    "JSON, columns": (json.dumps({"t": T.tolist(), "q": Q.tolist(), "omega": W.tolist(), "inertia": [0.6, 1, 1.4]}), {}),
    "JSON, named rows": (
        json.dumps(
            {
                "author": "x",
                "rows": [
                    dict(zip(["t", "qw", "qx", "qy", "qz", "wx", "wy", "wz"], [t, *y], strict=True))
                    for t, y in zip(T.tolist(), ROWS.tolist(), strict=True)
                ],
            }
        ),
        {},
    ),
    "JSON, nested": (
        json.dumps(
            [
                {"t": t, "orientation": dict(zip("wxyz", q, strict=True)), "angular_velocity": dict(zip("xyz", w, strict=True))}
                for t, q, w in zip(T.tolist(), Q.tolist(), W.tolist(), strict=True)
            ]
        ),
        {},
    ),
    "JSON, lists": (json.dumps(np.column_stack([T, ROWS]).tolist()), {}),
    "JSON lines": ("\n".join(map(json.dumps, RECORDS)), {}),
    "JSON of pandas": (
        json.dumps(
            {
                key: {str(k): x for k, x in enumerate(column.tolist())}
                for key, column in zip(
                    ["t", "qw", "qx", "qy", "qz", "wx", "wy", "wz"], np.column_stack([T, ROWS]).T, strict=True
                )
            }
        ),
        {},
    ),
    "LAMMPS": (dump(), {"dt": DT}),
    "LAMMPS, every tenth step": (dump(step=10), {"dt": DT / 10}),
    "LAMMPS, time": (dump().replace("ITEM: NUMBER", "ITEM: TIME\n{}\nITEM: NUMBER").format(*(DT * np.arange(COUNT))), {}),
    "LAMMPS, several": (dump(more=["8 1 0 0 0 1 0 0"]), {"dt": DT, "body": 7}),
    "AEM 1.0": (aem("1.0", "QUATERNION/RATE", ["QUATERNION_TYPE = LAST"], np.column_stack([LAST, DEGREES]), ISO), {}),
    "AEM 1.0, scalar first": (
        aem("1.0", "QUATERNION/RATE", ["QUATERNION_TYPE = FIRST"], np.column_stack([Q, DEGREES]), ISO),
        {},
    ),
    "AEM 2.0": (aem("2.0", "QUATERNION/ANGVEL", ["ANGVEL_FRAME = SC_BODY_1"], np.column_stack([LAST, DEGREES]), ISO), {}),
    "AEM, days of the year": (
        aem(
            "2.0",
            "QUATERNION/ANGVEL",
            [],
            np.column_stack([LAST, W]),
            stamps(lambda m: m.strftime("%Y-%jT%H:%M:%S.%f")),
            ["COMMENT dt: 0.2"],
        ),
        {},
    ),
    "settings": ("# inertia: 0.6 1 1.4, torque: free; dt = 200 ms\n# every: 1\n" + table("", Q, W, separator=" "), {}),
    "settings twice": ("# dt: 0.2\n# dt = 0.2 # s\n".replace(" # s", "") + table("", Q, W, separator=" "), {}),
    "settings with units": (
        "# inertia [kg m^2]: 0.6 1 1.4\n# dt: 0.2 s\n# torque: free\n# damping: 0 1/s\n" + table("", Q, W),
        {},
    ),
    "prose": ("# The step dt is constant, torque switched off, inertia of a brick.\n" + USUAL, {}),
    "a title": ("Run 5 of my code\n\n" + table("", T, Q, W, separator=" "), {}),
}


def states_of(path, inertia=INERTIA, **options):
    """What is read: the run, t in s, q scalar first and body to lab, and omega in the body frame in rad/s."""
    rows = read_run(path, **{name: options[name] for name in ("body", "columns") if name in options})
    run = own_code.own_run(rows, None if "inertia" in rows.settings else inertia, dt=options.get("dt"))
    convention = plausible(list(fits(run.rows, run.inertia, run.dt * run.every)))[0].convention
    return run, convention, *convention.states(run.rows, run.inertia)


@pytest.mark.parametrize("case", VALID)
def test_the_same_motion_is_read_from_every_kind_of_file(case, tmp_path):
    content, options = VALID[case]
    path = tmp_path / "run.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run, convention, q, omega = states_of(path, **options)
    assert run.dt * run.every * TIMES[convention.time] == pytest.approx(DT, rel=1e-12) and not run.rows.remarks
    signs = np.sign((q * Q).sum(1, keepdims=True))
    assert np.abs(q * signs - Q).max() < 2e-14 and np.abs(omega - W).max() < 1e-13 * (10 if "Euler" in case else 1)
    np.testing.assert_array_equal(run.inertia, INERTIA)


def test_an_autopilot_and_angles_are_identified(tmp_path):
    """The whole way, where reading loses digits or units are found from the rows."""
    for case in ("PX4", "ArduPilot", "AEM 2.0", "Basilisk"):
        path = tmp_path / "run.csv"
        path.write_text(VALID[case][0])
        answer = own_code.identify_files([path], INERTIA)
        assert answer.identified and answer.methods == ("rk4",) and answer.dt == pytest.approx(DT, rel=1e-15), case


@pytest.mark.parametrize("form", ["six", "nine", "matrix", "line of comment"])
def test_a_tensor_is_brought_to_its_principal_axes(form, tmp_path):
    """Independent of the code: the moments and axes of numpy.linalg.eigh, and a tensor that they make diagonal."""
    tensor = np.array([[0.9, -0.12, 0.08], [-0.12, 1.1, 0.15], [0.08, 0.15, 1.3]])
    six = [0.9, 1.1, 1.3, -0.12, 0.08, 0.15]
    rows = of_arrays(DT, Q, W)
    given = {"six": six, "nine": list(tensor.ravel()), "matrix": tensor}.get(form)
    if form == "line of comment":
        path = tmp_path / "run.csv"
        path.write_text(f"# inertia: {' '.join(map(str, six))}\n{USUAL}")
        rows = read_run(path)
    run = own_code.own_run(rows, given, ("constant", (0.1, 0.2, 0.3)))
    np.testing.assert_allclose(run.inertia, np.linalg.eigh(tensor)[0], rtol=1e-14)
    np.testing.assert_allclose(run.axes @ np.diag(run.inertia) @ run.axes.T, tensor, atol=1e-15)
    assert np.linalg.det(run.axes) == pytest.approx(1, abs=1e-15)
    np.testing.assert_allclose(run.axes @ run.value, (0.1, 0.2, 0.3), atol=1e-15)
    # A free body keeps the length of this momentum: rows of the tensor are turned by these axes.
    spin = motion(tensor, dt=0.01)[:, 4:]
    lengths = np.linalg.norm((spin @ run.axes) * run.inertia, axis=1)
    assert np.ptp(lengths) < 1e-9
    plain = own_code.own_run(rows, np.diag(INERTIA))
    np.testing.assert_array_equal(plain.axes, np.eye(3))


def test_times_far_from_zero_keep_their_digits(tmp_path):
    """Nanoseconds since 1970 have 19 digits, a float has 16: steps of 1/300 s, rounded to ns, are those of the file."""
    path = tmp_path / "run.csv"
    words = [str(1_719_324_000_123_456_789 + round(k * 1e9 / 300)) for k in range(COUNT)]
    path.write_text(table("time [ns],qw,qx,qy,qz,wx,wy,wz", Q, W, times=words))
    rows = read_run(path)
    np.testing.assert_array_equal(rows.t, [round(k * 1e9 / 300) / 1e9 for k in range(COUNT)])
    assert own_code.spacing(rows) == 1 / 300 and rows.t_unit == 1e-9 and rows.time_unit == "ns"
    path.write_text(table("time,qw,qx,qy,qz,wx,wy,wz", Q, W, times=[f"{1719324000 + 0.2 * k:.9f}" for k in range(COUNT)]))
    rows = read_run(path)  # printed floats, which are multiples of 2^-22 s
    assert 2e-7 < rows.t_unit < 1e-6 and own_code.spacing(rows) == DT


#: Changes to a good file, and what its one remark says.
ODD_ROWS = {
    "stars": (lambda lines: [*lines[:9], lines[9].replace(lines[9].split(",")[4], "*****"), *lines[10:]], ""),
    "a word": (
        lambda lines: [*lines[:9], lines[9].replace(lines[9].split(",")[4], "oops"), *lines[10:]],
        "line 10: 'oops' is no number",
    ),
    "no time": (
        lambda lines: [*lines[:9], "nan," + lines[9].partition(",")[2], *lines[10:]],
        "line 10: the time is no finite number",
    ),
    "cut": (lambda lines: [*lines[:-1], lines[-1][:40]], f"line {COUNT + 1}: 3 values instead of 8"),
    "null characters": (lambda lines: [*lines, "\0" * 300], f"line {COUNT + 2}: null characters"),
    "the names again": (lambda lines: [*lines[:9], lines[0], *lines[9:]], ""),
    "a remark of the program": (lambda lines: [*lines[:9], "Warning: step halved", *lines[9:]], "line 10: no numbers"),
    "zeros": (
        lambda lines: [*lines[:9], lines[9].split(",")[0] + ",0,0,0,0,1,1,1", *lines[10:]],
        "line 10: a quaternion of zeros",
    ),
    "an empty field": (lambda lines: [*lines[:9], lines[9].split(",")[0] + ",,,,,,,", *lines[10:]], "line 10: no numbers"),
    "too large": (lambda lines: [*lines[:9], lines[9].rpartition(",")[0] + ",1e250", *lines[10:]], ""),
    "a number of 5000 digits": (lambda lines: [*lines[:9], lines[9].rpartition(",")[0] + "," + "9" * 5000, *lines[10:]], ""),
}


@pytest.mark.parametrize("case", ODD_ROWS)
def test_odd_rows_are_named_and_others_read(case, tmp_path):
    change, words = ODD_ROWS[case]
    path = tmp_path / "run.csv"
    path.write_text("\n".join(change(USUAL.strip().split("\n"))))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run, _, q, _ = states_of(path)
    assert run.dt == DT and len(q) >= COUNT - 1
    assert len(run.rows.remarks) == bool(words) and all(words in remark for remark in run.rows.remarks)


def cut(content):
    return content[: len(content) // 2]


BINARY = npz(t=T, q=Q, omega=W)
#: Text or bytes, options, and what the message says.
BAD: dict[str, tuple[str | bytes, list[str], str]] = {
    "empty": ("", [], "has no rows of numbers"),
    "names alone": ("t,qw,qx,qy,qz,wx,wy,wz\n", [], "has no rows of numbers; line 1 is"),
    "one row": ("\n".join(USUAL.split("\n")[:2]), [], "has 1 row of finite numbers: write at least 14"),
    "zeros in front": (b"\0" * 600, [], "holds no text"),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0\0", [], "holds no text"),
    "HDF5": (b"\x89HDF\r\n\x1a\n", [], "is an HDF5 file; write"),
    "ROS bag": (b"#ROSBAG V2.0\n\0\0", [], "rostopic echo"),
    "XML": ("<?xml version='1.0'?><aem/>", [], "is XML; write"),
    "gzip, cut": (cut(gzip.compress(USUAL.encode())), [], "cut or damaged"),
    "bzip2, cut": (cut(bz2.compress(USUAL.encode())), [], "cut or damaged"),
    "xz, cut": (cut(lzma.compress(USUAL.encode())), [], "cut or damaged"),
    "xz, damaged": (lzma.compress(USUAL.encode())[:-30] + b"0" * 30, [], "cut or damaged"),
    "NPZ, cut": (cut(BINARY), [], "cut or damaged"),
    "NPZ, objects": (npz(t=T, q=np.array([{}] * COUNT), omega=W), [], "array of objects"),
    "NPZ, complex": (npz(t=T, q=Q + 0j, omega=W), [], "got complex numbers"),
    "NPZ, words": (npz(t=np.array(["a"] * COUNT), q=Q, omega=W), [], "must be an array of times, got text such as 'a'"),
    "NPZ, transposed": (npz(t=T, q=Q.T, omega=W.T), [], "transpose it"),
    "NPZ, uneven": (npz(t=T, q=Q[:-1], omega=W), [], "as many rows each"),
    "NPZ, others": (npz(a=T, b=Q), [], "write t, q and omega (or L)"),
    "NPY, cut": (cut(npy(np.column_stack([T, ROWS]))), [], "cut or damaged"),
    "JSON, cut": (cut(json.dumps(RECORDS)), [], "no JSON: line 1"),
    "JSON, deep": ("[" * 100_000, [], "nested too deeply"),
    "JSON, twice": ('{"t": [1], "t": [2]}', [], "'t' twice"),
    "JSON, empty": ("[]", [], "has no rows"),
    "JSON, uneven": (json.dumps({"t": [1, 2, 3], "q": Q.tolist(), "omega": W.tolist()}), [], "as many rows each"),
    "names not understood": (
        table("t,a,b,c,d,e,f,g", T, Q, W),
        [],
        "line 1: the columns a, b, c, d, e, f, g are not understood",
    ),
    "time not understood": (table("zeit,qw,qx,qy,qz,wx,wy,wz", T, Q, W), [], "not read: zeit; rename one to t"),
    "three of a quaternion": (table("t,qw,qx,qy,wx,wy,wz", T, Q[:, :3], W), [], "there is only qw, qx, qy; needed are four"),
    "an unknown one of a quaternion": (
        table("t,foo,qx,qy,qz,wx,wy,wz", T, Q, W),
        [],
        "(not understood: 'foo'); needed are four",
    ),
    "each row twice": (
        table("t,qw,qx,qy,qz,wx,wy,wz", *(np.repeat(x, 2, axis=0) for x in (T, Q, W))),
        [],
        "do not grow from row to row (lines 2 and 3)",
    ),
    "no rates": (table("t,qw,qx,qy,qz", T, Q), [], "not understood as angular velocity"),
    "too many columns": (table("", T, T, Q, W), [], "9 columns without names"),
    "too few names": (table("t,qw,qx,qy,qz,wx,wy", T, Q, W), [], "line 1 has 7 names, and line 2 has 8 values"),
    "a name twice": (table("t,qw,qx,qx,qz,wx,wx,wz", T, Q, W), [], "columns 3 and 4 are both 'qx'"),
    "two orientations": (
        table("t,a.qw,a.qx,a.qy,a.qz,b.qw,b.qx,b.qy,b.qz,wx,wy,wz", T, Q, Q, W),
        [],
        "has several orientations",
    ),
    "two rates": (table("t,qw,qx,qy,qz,wx,wy,wz,gyro_x,gyro_y,gyro_z", T, Q, W, W), [], "several vectors"),
    "a unit that is none": (
        table("t,qw,qx,qy,qz,wx [furlong],wy [furlong],wz [furlong]", T, Q, W),
        [],
        "the unit 'furlong' of wx",
    ),
    "a time unit that is none": (table("t [fortnights],qw,qx,qy,qz,wx,wy,wz", T, Q, W), [], "the unit 'fortnights' of t"),
    "different units": (table("t,qw,qx,qy,qz,wx_dps,wy_dps,wz_rad_s", T, Q, W), [], "have different units"),
    "gravity": (table("t,qw,qx,qy,qz,gx,gy,gz", T, Q, W), [], "not understood as angular velocity"),
    "angles of some sequence": (table("t,phi,theta,psi,wx,wy,wz", T, EULER, W), [], "may be angles of any sequence"),
    "angles of some unit": (table("t,roll,pitch,yaw,wx,wy,wz", T, 0.1 * EULER, W), [], "roll_deg or roll_rad"),
    "wrong order": (table("", T, 5 * W, Q), [], "no quaternion has unit length"),
    "other columns below": (USUAL + USUAL.replace("qw,qx", "qx,qw"), [], "has other names of columns"),
    "inertia that contradicts": (
        "# inertia: 1 2 2.5\n# inertia: 0.6 1 1.4\n" + USUAL,
        [],
        "line 2 says inertia: 0.6 1 1.4, and line 1",
    ),
    "no rotation": (table("t,qw,qx,qy,qz,wx,wy,wz", T, Q, 0 * W), [], "angular velocity is zero in all rows"),
    "nan": (
        table("t,qw,qx,qy,qz,wx,wy,wz", T, Q, W * np.nan),
        [],
        "0 rows of finite numbers, and 30 that are not finite, or beyond 1e+100 (line 2)",
    ),
    "beyond all numbers of bodies": (table("t,qw,qx,qy,qz,wx,wy,wz", T, Q, W * 1e200), [], "beyond 1e+100 (line 2)"),
    "inertia of no body": (USUAL, ["--inertia", "0.6", "1", "100"], "violates the triangle inequality"),
    "inertia of two numbers": (USUAL, ["--inertia", "0.6", "1"], "inertia must be three principal moments"),
    "a tensor of no body": (USUAL, ["--inertia", "1", "1", "1", "9", "0", "0"], "inertia"),
    "steps of nothing": ("# every: 1e30\n" + USUAL, [], "every = 1e+30 steps"),
    "too many steps": (USUAL, ["--every", "1000000"], "every = 1e+06 steps"),
    "half a step": ("# every: 2.5\n" + USUAL, [], "every must be a whole number of steps"),
    "no step": ("# every: 0\n" + USUAL, [], "every must be a"),
    "a step in furlongs": ("# dt: 3 furlongs\n" + table("", Q, W), [], "dt must be numbers, in s, got '3 furlongs'"),
    "a damping that stops it": ("# damping: 1e5\n" + USUAL, [], "leaves nothing of omega after a step"),
    "another step": (table("t [s],qw,qx,qy,qz,wx,wy,wz", T, Q, W), ["--dt", "0.1"], "which is not a step of dt = 0.1 s"),
    "a body": (USUAL, ["--body", "3"], "leave --body 3 out"),
    "columns of another number": (USUAL, ["--columns", "t,qw"], "--columns has 2 names"),
    "LAMMPS, half steps": (
        dump().replace("TIMESTEP\n1\n", "TIMESTEP\n1.5\n"),
        ["--dt", "0.2"],
        "line 12: the step must be a whole number, got '1.5'",
    ),
    "LAMMPS, many digits": (
        dump().replace("TIMESTEP\n1\n", "TIMESTEP\n" + "1" * 5000 + "\n"),
        ["--dt", "0.2"],
        "must be a whole number",
    ),
    "LAMMPS, several": (dump(more=["8 1 0 0 0 1 0 0"]), ["--dt", "0.2"], "several bodies (7, 8); choose one with --body"),
    "LAMMPS, another": (dump(), ["--dt", "0.2", "--body", "9"], "has no body 9; it has 7"),
    "LAMMPS, no step": (dump(), [], "give the step as dt"),
    "LAMMPS, no atoms": (dump().split("ITEM: ATOMS")[0], ["--dt", "0.2"], "has no rows of atoms"),
    "AEM without rates": (
        aem("1.0", "QUATERNION", ["QUATERNION_TYPE = LAST"], LAST, ISO),
        [],
        "ATTITUDE_TYPE QUATERNION; needed are",
    ),
    "AEM of two objects": (aem("2.0", "QUATERNION/ANGVEL", ["OBJECT_NAME = B"], ROWS, ISO), [], "OBJECT_NAME is B and was A"),
    "a torque in words": (USUAL, ["--torque", "lab", "a", "b", "c"], "torque must be"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_in_one_line(case, tmp_path, capsys):
    content, options, words = BAD[case]
    path = tmp_path / "run.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    if "--inertia" not in options and "# inertia" not in str(content):
        options = [*options, "--inertia", "0.6", "1", "1.4"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert main(["identify", str(path), *options]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1 and "run.txt" in message and words in message and len(message) < 1000, message


def test_only_files_that_end_are_read(tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe")
    for path, words in ((tmp_path / "pipe", "no regular file"), (tmp_path, "is a folder"), ("/dev/zero", "no regular file")):
        assert main(["identify", str(path)]) == 2 and words in capsys.readouterr().err
    with pytest.raises(RunFileError, match="does not exist"):
        read_run(tmp_path / ("a" * 300))
    with pytest.raises(RunFileError, match="path of a file"):
        read_run(3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--omega", "1e300", "--language", "c++"], "with omega = 1e+300"),
        (["--dt", "1e-300"], "with dt = 1e-300"),
        (["--inertia", "1", "1", "100"], "violates the triangle inequality"),
        (["--inertia", "1", "2", "2.5", "0.1", "0", "0"], "inertia"),
        (["--language", "c++", "--csv"], "--language and --csv"),
        (["--csv", "--json"], "--csv and --json"),
        (["--every", "3"], "--every is about files"),
        (["--torque", "free"], "--torque is about files"),
    ],
)
def test_recipes_of_nothing_and_options_without_use_are_refused(arguments, words, capsys):
    assert main(["identify", "--recipe", *arguments]) == 2 and words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"t": "a"}, "t must"),
        ({"t": ["a"] * COUNT}, "t must"),
        ({"t": -1}, "positive step"),
        ({"t": [0.2]}, "t has 1, q has 30"),
        ({"q": Q.T}, r"q must have the shape \(rows, 4\), got \(4, 30\); transpose it"),
        ({"q": [[1], [2, 3]]}, "q must be an array of numbers"),
        ({"omega": W + 0j}, "omega must hold real numbers, got complex"),
        ({"inertia": ["a", "b", "c"]}, "inertia must be"),
        ({"inertia": 3}, "inertia must be"),
        ({"inertia": None}, "inertia is missing"),
        ({"damping": "a"}, "damping must be"),
        ({"every": 0}, "every must be"),
        ({"every": 2.5}, "every must be"),
        ({"torque": ("lab", "x")}, "torque must be"),
        ({"torque": 3}, "torque must be"),
    ],
)
def test_wrong_arguments_are_named(changes, words):
    arguments = {"t": DT, "q": Q, "omega": W, "inertia": INERTIA, **changes}
    with pytest.raises(ValueError, match=words):
        polhode.identify(arguments.pop("t"), arguments.pop("q"), arguments.pop("omega"), **arguments)


def test_a_damping_of_any_size_makes_candidates():
    assert candidates.damped(1e5)[0].key.endswith("1e05") and candidates.damped(1e-5)[0].key.endswith("1em05")


def test_half_precision_is_as_few_digits_as_it_has():
    rows = of_arrays(DT, Q.astype(np.float16), W.astype(np.float16))
    assert not rows.is_single and rows.q_unit == pytest.approx(2.0**-10 * np.abs(Q).max(), rel=1e-3)
    assert "digits" in str(polhode.identify(DT, Q.astype(np.float16), W.astype(np.float16), inertia=INERTIA))
