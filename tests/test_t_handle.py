"""The page with the T-handle: its step is the generated one, its engine is cannon-es, and a real browser counts right."""

import json
import math
import os
import re
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import polhode
from polhode.documentation import handle
from polhode.engines import all_engines, is_installed
from polhode.engines.environments import packages_of
from polhode.export import LANGUAGES

PAGE = Path(__file__).parents[1] / "examples" / "t-handle" / "index.html"
SCRIPTS = dict(re.findall(r'<script type="module" id="([\w-]+)">\n(.*?)</script>', PAGE.read_text(encoding="utf-8"), re.DOTALL))
MOMENTS, OMEGA, SECONDS = (1.0, 2.0, 3.0), (0.05, 5.0, 0.05), 120.0


def exact_turns() -> int:
    """By Jacobi's functions: omega_y is a multiple of sn, which passes zero every 2 K/p from a quarter of its period on."""
    (a, b, c), (x, y, z) = MOMENTS, OMEGA
    energy, square = a * x * x + b * y * y + c * z * z, (a * x) ** 2 + (b * y) ** 2 + (c * z) ** 2
    axis, rest = (c, a) if square > energy * b else (a, c)
    m = (b - rest) * (energy * axis - square) / ((axis - b) * (square - energy * rest))
    rate = math.sqrt((axis - b) * (square - energy * rest) / (a * b * c))
    # The start is near a maximum of omega_y, and nearer to it than a quarter of a period to the end of the run.
    return int(SECONDS * rate / (2 * ellipk(m)) + 0.5)


def in_node(folder, code: str) -> list:
    if not shutil.which("node"):
        pytest.skip("node is not there")
    (folder / "test.mjs").write_text(code, encoding="utf-8")
    run = subprocess.run(["node", "test.mjs"], cwd=folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def modules(folder, *names: str) -> str:
    """Scripts of the page as modules, imported in this order."""
    for name in names:
        (folder / f"{name}.mjs").write_text(SCRIPTS[name], encoding="utf-8")
    return "".join(f'await import("./{name}.mjs");\n' for name in names)


#: Numbers of all handles after every second.
ROWS = """
const all = handles(), rows = [];
for (let n = 1; n <= STEPS; n++) {
    all.forEach((handle) => handle.advance());
    if (n % 60 === 0) {
        rows.push(all.map(({ q, omega, turns, energy }) => [..."wxyz"].map((x) => q[x])
            .concat([..."xyz"].map((x) => omega[x]), turns, energy)));
    }
}
console.log(JSON.stringify(rows));
"""


def test_the_step_of_the_page_is_what_the_command_writes():
    block = SCRIPTS["exact-rotor"].partition("// BEGIN exact_rotor.mjs\n")[2].partition("// END exact_rotor.mjs")[0]
    assert block == LANGUAGES["javascript"].source(polhode.methods["exact_rotor"]), "run python examples/t-handle/make.py"
    assert not re.search(r"^\s*import |src=|href=|url\(|https?:", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    lines = re.search(r"function attach\(.*?\n\}", SCRIPTS["attached"], re.DOTALL)[0].splitlines()
    assert len(lines) <= 17


def test_the_attached_step_turns_the_handle_as_often_as_the_exact_motion(tmp_path):
    rows = in_node(tmp_path, modules(tmp_path, "exact-rotor", "cannon", "attached") + ROWS)
    shipped, ours, exact = rows[-1]
    assert exact_turns() == exact[7] == 31
    assert abs(ours[7] - exact[7]) <= 0.02 * exact[7] and shipped[7] == 0
    assert abs(ours[8] - 1) < 1e-10 and abs(exact[8] - 1) < 1e-10
    assert shipped[8] == pytest.approx(0.99 ** (2 * SECONDS), rel=1e-6), "it is damped by 1 % a second"
    assert max(abs(a - b) for a, b in zip(ours[:7], exact[:7], strict=True)) < 1e-6, "the motion is unstable"

    def rates(_, y):
        q, (u, v, w) = y[:4], y[4:]
        matrix = np.array([[0, -u, -v, -w], [u, 0, w, -v], [v, -w, 0, u], [w, v, -u, 0]])
        return [*(0.5 * matrix @ q), (2 - 3) / 1 * v * w, (3 - 1) / 2 * w * u, (1 - 2) / 3 * u * v]

    reference = solve_ivp(rates, (0, 10), [1, 0, 0, 0, *OMEGA], method="DOP853", rtol=1e-11, atol=1e-11).y[:, -1]
    for of_page in rows[9][1:]:
        assert np.abs(of_page[:7] - reference).max() < 1e-6
    # The picture of the documentation is of the same motions.
    assert np.abs(handle.as_shipped(1200)[60::60] - [row[0][:4] for row in rows[:20]]).max() < 1e-10
    q, omega = handle.with_the_step(600)
    assert np.abs(q[-1] - reference[:4]).max() < 1e-6
    assert np.abs(omega[:, 1] - handle.exact_spin(np.arange(601) / 60)).max() < 1e-8


def test_the_engine_of_the_page_is_cannon_es(tmp_path):
    cannon = all_engines()["cannon_es"]
    if not is_installed(cannon):
        pytest.skip("cannon-es is not installed: polhode atlas cannon_es --install")
    rows = []
    package = (packages_of(cannon) / "node_modules" / "cannon-es" / "dist" / "cannon-es.js").as_uri()
    for number, engine in enumerate(("", f"globalThis.CANNON = await import({package!r});\n")):
        folder = tmp_path / str(number)
        folder.mkdir()
        load = modules(folder, "exact-rotor") + (engine or modules(folder, "cannon")) + modules(folder, "attached")
        rows.append(in_node(folder, load + ROWS))
    assert rows[0] == rows[1]
    # Contacts are felt: their impulses are there when the step of the page begins.
    height, spin = in_node(folder, load + FALL)
    assert height == pytest.approx(0.2, abs=0.01) and spin < 0.1


#: A box that falls on a plane, with the step attached: its height and angular velocity after ten seconds.
FALL = """
const world = new CANNON.World({ gravity: new CANNON.Vec3(0, -9.8, 0) });
const plane = new CANNON.Body({ mass: 0, shape: new CANNON.Plane() });
const shape = new CANNON.Box(new CANNON.Vec3(0.5, 0.2, 0.1)), position = new CANNON.Vec3(0, 1.5, 0);
const body = new CANNON.Body({ mass: 1, shape, position });
plane.quaternion.setFromEuler(-Math.PI / 2, 0, 0);
body.quaternion.setFromEuler(0.3, 0.2, 0.5);
world.addBody(plane);
world.addBody(body);
attach(world, body);
for (let n = 0; n < 600; n++) {
    world.step(1 / 60);
}
console.log(JSON.stringify([body.position.y, body.angularVelocity.length()]));
"""


@contextmanager
def chromium(size, folder):
    """A browser with the page."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("needs Chromium and its driver; on Debian: sudo apt-get install chromium chromium-driver")
    selenium = pytest.importorskip("selenium.webdriver", reason="needs selenium; ./reproduce test brings it")
    options = selenium.ChromeOptions()
    options.binary_location = browser
    arguments = ["--headless=new", "--disable-dev-shm-usage", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    for argument in (*arguments, *(["--no-sandbox"] if os.geteuid() == 0 else [])):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = selenium.Chrome(options=options, service=selenium.ChromeService(driver))
    try:
        opened.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size[0] < 500},
        )
        opened.get(PAGE.as_uri())
        yield opened
    finally:
        opened.quit()


@pytest.mark.thorough
def test_a_browser_counts_right_on_a_desktop_and_a_phone(tmp_path):
    with chromium((1440, 900), tmp_path) as driver:
        driver.execute_script("document.getElementById('end').click()")
        texts = [e.text for e in driver.find_elements("css selector", ".numbers")]
        turns, energies = zip(*(map(float, re.findall(r"[\d.]+", text)) for text in texts), strict=True)
        assert turns[0] == 0 and abs(turns[1] - turns[2]) <= 0.02 * turns[2] and turns[2] == exact_turns()
        assert abs(energies[1] - 100) <= 0.1 and abs(energies[2] - 100) <= 0.1 and 8.9 < energies[0] < 9.1
        assert driver.find_element("id", "time").text == "120.0 s"
        painted = """return [...document.querySelectorAll("canvas")].map((c) =>
            c.getContext("2d").getImageData(0, 0, c.width, c.height).data.reduce((n, x, i) => n + (i % 4 === 3 && x > 0), 0))"""
        for width, height in ((1440, 900), (390, 844)):
            driver.execute_cdp_cmd(
                "Emulation.setDeviceMetricsOverride",
                {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500},
            )
            assert driver.execute_script("return document.documentElement.scrollWidth") <= width
            driver.execute_script("window.dispatchEvent(new Event('resize'))")
            assert min(driver.execute_script(painted)) > 500, "nothing is drawn"
            if os.environ.get("POLHODE_SCREENSHOTS"):
                driver.save_screenshot(f"{os.environ['POLHODE_SCREENSHOTS']}/t_handle_{width}.png")
        driver.execute_script("document.getElementById('again').click()")
        assert driver.find_element("id", "time").text in ("0.0 s", "0.1 s", "0.2 s")
        assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []
