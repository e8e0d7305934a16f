"""Files of attitudes: what is written is read, and conventions follow matrices."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from polhode.interface.attitude_files import Attitude, read_aem, read_table, write_aem, write_table

TIMES = np.array([0.0, 0.25, 86400.125])
#: v_lab = R v_body.
TO_LAB = Rotation.from_euler("zyx", [[0.1, 0.2, 0.3], [2.0, -1.0, 0.5], [-3.0, 0.4, 1.5]])
Q = TO_LAB.as_quat()[:, [3, 0, 1, 2]]
ATTITUDE = Attitude(TIMES, Q, "2026-12-31T23:59:59.5")

MESSAGE = """CCSDS_AEM_VERS = 1.0
CREATION_DATE = 2026-11-29T00:00:00
ORIGINATOR = A TEST
META_START
COMMENT the frame is turned by 90 degrees about z
OBJECT_NAME = CUBESAT
OBJECT_ID = 2026-001A
REF_FRAME_A = EME2000
REF_FRAME_B = SC_BODY_1
ATTITUDE_DIR = A2B
TIME_SYSTEM = UTC
START_TIME = 2026-11-29T00:00:00
STOP_TIME = 2026-333T00:00:10.5
ATTITUDE_TYPE = QUATERNION
QUATERNION_TYPE = FIRST
META_STOP
DATA_START
2026-11-29T00:00:00 0.7071068 0 0 0.7071068
2026-333T00:00:10.5 0.7071068 0 0 0.7071068
DATA_STOP
"""


def same(q, expected):
    assert np.minimum(abs(q - expected).max(axis=1), abs(q + expected).max(axis=1)).max() < 1e-15


def test_a_message_is_read_as_it_was_written(tmp_path):
    write_aem(tmp_path / "a.aem", ATTITUDE)
    attitude = read_aem(tmp_path / "a.aem")
    same(attitude.q, Q)
    assert attitude.times == pytest.approx(TIMES, abs=1e-9)
    assert (attitude.epoch, attitude.frame, attitude.body_frame) == ("2026-12-31T23:59:59.500000000", "EME2000", "SC_BODY_1")


def test_a_frame_that_is_turned_about_z_turns_the_body(tmp_path):
    """The x axis of the body is the y axis of the reference: as a matrix of direction cosines, v_B = M v_A."""
    (tmp_path / "a.aem").write_text(MESSAGE)
    attitude = read_aem(tmp_path / "a.aem")
    assert attitude.times.tolist() == [0.0, 10.5]
    cosines = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]])  # of a frame turned by 90 degrees about z
    to_lab = Rotation.from_quat(attitude.q[0][[1, 2, 3, 0]]).as_matrix()
    assert abs(to_lab.T - cosines).max() < 1e-7


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ATTITUDE_DIR = A2B", "ATTITUDE_DIR = B2A"),
        ("A = EME2000\nREF_FRAME_B = SC_BODY_1", "A = SC_BODY_1\nREF_FRAME_B = EME2000"),
    ],
)
def test_the_other_direction_is_the_conjugate(tmp_path, old, new):
    (tmp_path / "a.aem").write_text(MESSAGE)
    (tmp_path / "b.aem").write_text(MESSAGE.replace(old, new))
    same(read_aem(tmp_path / "b.aem").q, read_aem(tmp_path / "a.aem").q * [1, -1, -1, -1])


def test_a_message_of_version_2_is_scalar_last(tmp_path):
    """It may lack both keys; the attitude is turned by 20 degrees about y, the scalar 0.985 last."""
    text = MESSAGE.replace("VERS = 1.0", "VERS = 2.0").replace("ATTITUDE_DIR = A2B\n", "")
    numbers = Rotation.from_euler("y", 20, degrees=True).as_quat().tolist()
    text = text.replace("QUATERNION_TYPE = FIRST\n", "").replace("0.7071068 0 0 0.7071068", " ".join(map(repr, numbers)))
    (tmp_path / "a.aem").write_text(text)
    w, x, y, z = read_aem(tmp_path / "a.aem").q[1]
    assert Rotation.from_quat([x, y, z, w]).apply([0, 0, 1]) == pytest.approx([np.sin(np.pi / 9), 0, np.cos(np.pi / 9)])


def test_all_segments_of_a_message_are_read(tmp_path):
    later = MESSAGE[MESSAGE.index("META_START") :].replace("11-29", "11-30").replace("-333T", "-335T")
    (tmp_path / "a.aem").write_text(MESSAGE + later.replace("0.7071068 0 0 0.7071068", "0.6 0.8 0 0"))
    attitude = read_aem(tmp_path / "a.aem")
    assert attitude.times.tolist() == [0.0, 10.5, 86400.0, 2 * 86400 + 10.5]
    same(attitude.q[2:], np.array([[0.6, 0.8, 0.0, 0.0]] * 2))


@pytest.mark.parametrize("key", ["REF_FRAME_A", "REF_FRAME_B"])
@pytest.mark.parametrize("frame", ["LVLH", "RTN", "RSW", "TNW_ROTATING", "LVLH_ROTATING", "ITRF2000", "lvlh"])
def test_a_reference_that_turns_is_refused(tmp_path, key, frame):
    text = MESSAGE.replace("EME2000", frame)
    swapped = text.replace("FRAME_A", "FRAME_C").replace("FRAME_B", "FRAME_A").replace("FRAME_C", "FRAME_B")
    (tmp_path / "a.aem").write_text(text if key == "REF_FRAME_A" else swapped)
    with pytest.raises(ValueError, match=f"{key} = {frame} turns with the orbit or the Earth"):
        read_aem(tmp_path / "a.aem")


@pytest.mark.parametrize("frame", ["GCRF", "RSW_INERTIAL", "MY_FRAME", "TOD_EARTH"])
def test_any_other_reference_is_a_name(tmp_path, frame):
    (tmp_path / "a.aem").write_text(MESSAGE.replace("EME2000", frame))
    assert read_aem(tmp_path / "a.aem").frame == frame


@pytest.mark.parametrize("order", ["scalar_first", "scalar_last"])
@pytest.mark.parametrize("direction", ["body_to_lab", "lab_to_body"])
def test_a_table_has_the_convention_that_is_named(tmp_path, order, direction):
    write_table(tmp_path / "a.csv", ATTITUDE, order, direction)
    same(read_table(tmp_path / "a.csv", order, direction).q, Q)
    numbers = np.loadtxt(tmp_path / "a.csv", delimiter=",")[:, 1:]
    scalar_last = numbers if order == "scalar_last" else numbers[:, [1, 2, 3, 0]]
    turned = Rotation.from_quat(scalar_last)
    expected = TO_LAB if direction == "body_to_lab" else TO_LAB.inv()
    assert (turned.inv() * expected).magnitude().max() < 1e-14
    assert f"{order}, {direction}" in (tmp_path / "a.csv").read_text()


def test_a_table_whose_times_go_back_is_refused_by_its_line(tmp_path):
    (tmp_path / "a.csv").write_text("t, q0, q1, q2, q3\n0, 1, 0, 0, 0\n2, 1, 0, 0, 0\n2, 1, 0, 0, 0\n")
    with pytest.raises(ValueError, match=r"a.csv, line 4: the time 2 s is not later than 2 s before it"):
        read_table(tmp_path / "a.csv", "scalar_first", "body_to_lab")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("ATTITUDE_DIR = A2B\n", "", "ATTITUDE_DIR is missing, which version 1 needs: A2B or B2A"),
        ("TYPE = QUATERNION\n", "TYPE = SPIN\n", "ATTITUDE_TYPE must be QUATERNION, got SPIN"),
        ("SC_BODY_1", "GCRF", "must be the body frame"),
        ("DATA_START\n", "DATA_START\n2026-11-29T00:00:00 1 0 0\n", "line 18: 4 finite numbers are expected, got 3"),
        ("00:00 0.7071068", "00:00 0.9", "quaternion 1 has the length"),
        ("2026-333T00:00:10.5 0", "tomorrow 0", "is no time such as"),
        ("META_STOP", "META_STOPP", "line 16: .* is no line"),
        ("10.5 0.7071068", "00.0 0.7071068", "line 19: 2026-333T00:00:00.0 is not later than the row before"),
        ("DATA_STOP", "DATA_STOP\nMETA_START\nATTITUDE_DIR = B2A", "line 22: ATTITUDE_DIR is B2A and was A2B"),
    ],
)
def test_what_is_wrong_with_a_message_is_named(tmp_path, old, new, words):
    (tmp_path / "a.aem").write_text(MESSAGE.replace(old, new))
    with pytest.raises(ValueError, match=words):
        read_aem(tmp_path / "a.aem")
