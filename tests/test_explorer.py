"""The page to play with: its numbers are those of the files, it needs no network, and a real browser answers as Python does."""

import argparse
import base64
import functools
import itertools
import json
import re
import shlex
import zlib
from pathlib import Path

import netCDF4
import numpy as np
import pandas as pd
import pytest
import yaml
from chromium import DESKTOP, PHONE, chromium, screen
from studies import reduced
from studies import study as default_study
from test_cost import made_up_timing

import polhode
from polhode.advice.from_laws import from_laws
from polhode.advice.from_runs import drift
from polhode.advice.prices import USUAL
from polhode.cli import recommend
from polhode.fits import law_file, ranking, satellite_steps
from polhode.fits.ladders import largest_of_each
from polhode.interface import netcdf, storage
from polhode_study import artefacts, chapters, configuration
from polhode_study.chapters.communities import rows as page_rows
from polhode_study.chapters.communities import web
from polhode_study.chapters.judging import judge_chapters
from polhode_study.explorer import content, evidence, fields, page, rows
from polhode_study.gather import cost
from polhode_study.gather import single_body as gather
from polhode_study.inputs import Inputs
from polhode_study.products import Products
from polhode_study.report import style
from polhode_study.run.making import make_files, make_single_body

# A small study and a browser, which most of these need, take ten seconds.
pytestmark = pytest.mark.thorough

HOME = Path(__file__).parents[1]
METHODS = ["spiral_leapfrog", "euler", "omelyan1998", "rk4", "pcdm2013_lag", "verlet_delvalle2024"]
FIT = {"fit": {"divisions": [128, 8192, 10]}}
#: A body with a torque and a long run, a free one followed too, several bodies without a long run; all others are left out.
LONG = {"horizon": 20.0, "dt": 5e-3, "samples": 8, "exact": False}
PROBLEMS = {
    "heavy_top": {"dt": FIT, "samples": 1, "check_until": 0.2, "long_run": LONG},
    "free_asymmetric_top": {
        "dt": FIT,
        "samples": 1,
        "check_until": 0.5,
        "long_run": {"horizon": 100.0, "dt": 2e-2, "samples": 10, "switched": True},
    },
    "coupled_cylinders": {"dt": FIT, "samples": 1, "check_until": 0.2},
}
#: What is packed in a page.
PACKED = re.compile(r'<script type="application/zlib"[^>]*>([^<]*)</script>')
#: The most a page may weigh, bytes.
LIMIT = 7_500_000


def unpacked(packed: dict) -> np.ndarray:
    """An array as the page reads it."""
    (kind,) = set(packed) - {"shape"}
    return np.frombuffer(base64.b64decode(packed[kind]), f"<{kind}").reshape(packed["shape"])


def parts(path: Path) -> list[str]:
    """Plotly, the data and the scripts of a page, unpacked."""
    return [zlib.decompress(base64.b64decode(script)).decode() for script in PACKED.findall(path.read_text(encoding="utf-8"))]


#: What is only drawn, as the page has it, differs by its rounding from the files.
drawn_as = functools.partial(np.testing.assert_allclose, rtol=2.5e-4)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The results of a small study that was really run; only its times are made up."""
    from polhode.references.dataset import reference_dataset

    folder = tmp_path_factory.mktemp("results")
    study = configuration.resolve(reduced(PROBLEMS, results=str(folder), methods=METHODS, digits=25), HOME)
    plan = Products(study, HOME)
    (folder / "references").mkdir()
    for key, problem_study in study.problems.items():
        reference = reference_dataset(
            problem_study.problem, problem_study.reference_times(), study.digits, problem_study.check_until
        )
        storage.write_dataset(reference, folder / "references" / f"{key}.nc", plan.origin(plan.path("references", key)))
        make_files(plan.origins(plan.part_paths(key, problem_study.methods)), make_single_body, lambda line: None)
    storage.write_groups(gather.gather(plan), folder / "single_body.nc")
    timing = made_up_timing(METHODS, [26, 20, 24, 80, 31, 22])
    timing["step"]["samples"] = timing["step"]["fastest"].expand_dims(sample=2, axis=-1) * [1.0, 1.1]
    storage.write_groups(cost.cost_groups(timing, folder / "single_body.nc", [1e-2, 1e-4], [0, 10]), folder / "cost.nc")
    chess = netcdf.read_dataset(HOME / "data/released/many_body.nc", "chess").isel(seed=slice(3))
    storage.write_groups({"chess": chess}, folder / "many_body.nc")
    inputs = inputs_of(folder)
    judge_chapters(inputs, HOME, False, folder / "claims.csv")
    judge_chapters(inputs, HOME, True, folder / "cost_claims.csv")
    page.write(inputs, folder / "explorer.html")
    return folder


def inputs_of(folder: Path, **changes) -> Inputs:
    kinds = ("single_body", "references", "claims", "cost", "cost_claims", "many_body", "checks")
    checkout = {"released": HOME / "data/released", "published": HOME / "data/published"}
    return Inputs(**(artefacts.places(folder, kinds) | checkout | changes))


@pytest.fixture(scope="module")
def page_content(results):
    """What the page of the small study holds."""
    return content.content(inputs_of(results))


# ---- its numbers ----


def test_errors_and_steps_are_those_of_the_cost_study(results, page_content):
    assert set(page_content["problems"]) == set(PROBLEMS)
    for key in PROBLEMS:
        data = netcdf.read_dataset(results / "cost.nc", key)
        work = page_content["problems"][key]["work"]
        assert work["methods"] == data.integrator.values.tolist()
        np.testing.assert_allclose(work["horizon"] / unpacked(work["ladder"]), data.ladder_dt.values, rtol=1e-9)
        assert unpacked(work["error"]).tobytes() == data.ladder_error.transpose("integrator", "ladder_dt").values.tobytes()
        for name, variable in (("step_time", "step_time"), ("torques", "torques_per_step"), ("starting", "starting_torques")):
            np.testing.assert_array_equal(unpacked(work[name]), data[variable].values)
        assert (work["horizon"], work["unit"]) == (data.attrs["horizon"], data.attrs["price_unit"])


def test_orders_are_those_of_the_run(results, page_content):
    for key in PROBLEMS:
        data = netcdf.read_dataset(results / "single_body.nc", key)
        for short in ("q", "omega"):
            orders = page_content["problems"][key]["orders"][short]
            for name, variable in (("value", "order"), ("low", "order_low"), ("to", "order_dt_max")):
                numbers = [fit[name] if fit[name] is not None else np.nan for fit in orders["fits"].values()]
                np.testing.assert_array_equal(numbers, data[f"{short}_{variable}"].values)
            declared = [fit["declared"] for fit in orders["fits"].values()]
            assert list(orders["fits"]) == data.integrator.values.tolist()
            np.testing.assert_array_equal(declared, data[f"claimed_{short}_order"].values)
            drawn_as(unpacked(orders["error"]), data[f"{short}_error_l1"].values)
    cells = re.findall(r'data-method="rk4">(.*?)</tr>', page_content["maps"]["q"])[0]
    assert f"{page_content['problems']['heavy_top']['orders']['q']['fits']['rk4']['value']:.1f}</td>" in cells


def test_long_runs_are_those_of_the_run(results, page_content):
    for key in ("heavy_top", "free_asymmetric_top"):
        data = netcdf.read_dataset(results / "single_body.nc", f"{key}/long_run")
        long = page_content["problems"][key]["long"]
        np.testing.assert_array_equal(unpacked(long["time"]), data.time.values)
        for name, packed in long["values"].items():
            drawn_as(unpacked(packed), np.abs(data[name].values))
    assert "angle_error" not in page_content["problems"]["heavy_top"]["long"]["values"], "no exact solution is compared there"
    assert (
        "switched" in page_content["problems"]["free_asymmetric_top"]
        and "long" not in page_content["problems"]["coupled_cylinders"]
    )


def test_tops_have_drifts_in_full_precision(results, page_content):
    assert "top" not in page_content["problems"]["heavy_top"]
    top = page_content["problems"]["free_asymmetric_top"]["top"]
    problem = polhode.problems["free_asymmetric_top"]
    assert top["inertia"] == list(problem.body.inertia) and top["start"] == pytest.approx(problem.omega0, rel=1e-15)
    data = netcdf.read_dataset(results / "single_body.nc", "free_asymmetric_top/long_run")
    omega = data.omega.sel(integrator="rk4").values
    energy = (np.array(top["inertia"]) * omega**2).sum(-1)
    i = data.integrator.values.tolist().index("rk4")
    drift = unpacked(top["energy"])[i]
    np.testing.assert_allclose(drift[1:], energy[1:] / energy[0] - 1, rtol=2.5e-4, atol=1e-16)
    assert 0 < np.abs(drift).max() < 1e-4, "single precision of omega alone would hide some of it"


def test_series_are_thinned_with_both_ends(monkeypatch, results):
    monkeypatch.setattr(content, "SAMPLES", 4)
    long = content.content(inputs_of(results))["problems"]["heavy_top"]["long"]
    time = unpacked(long["time"])
    assert len(time) == 4 and time[0] == 0 and time[-1] == 20


def test_scenes_are_those_of_this_run_and_of_the_full_study(results, page_content):
    scenes = {scene["name"]: scene for scene in page_content["scenes"]}
    assert [name for name in scenes if "this run" in name] == ["this run: chess"] and scenes["this run: chess"]["seeds"] == 3
    full = scenes["published scale: chess"]
    data = netcdf.read_dataset(HOME / "data/released/many_body.nc", "chess")
    values = data.energy_error.transpose("integrator", "dt", "seed").values
    of_scene = full["values"]["energy_error"]
    drawn_as(unpacked(of_scene["states"]), abs(values))
    i, spiral = (data.integrator.values.tolist().index(key) for key in ("fincham1992", "spiral_leapfrog"))
    k = int(np.flatnonzero(np.isfinite(values[i]).all(-1) & np.isfinite(values[spiral]).all(-1))[0])
    drawn_as(unpacked(of_scene["middle"]["alone"])[i, k], np.mean(abs(values[i, k])))
    drawn_as(unpacked(of_scene["middle"]["paired"])[i, k], np.median(abs(values[i, k] / values[spiral, k])))
    followed = ("rods", "rods_states", "rods_half_step")
    assert all(("along" in scene) == (name.endswith(followed)) for name, scene in scenes.items() if "this run" not in name)


def test_steps_of_random_bodies_are_those_of_the_released_laws(page_content):
    (draw,) = page_content["random"]
    data = netcdf.read_dataset(HOME / "data/released/laws.nc")
    assert draw["name"] == f"{data.sizes['body']}, published scale" and data.sizes["body"] == 512
    steps = law_file.steps_per_radian(data, draw["targets"])["steps"]
    for key, torque, target in (("rk4", "lab", 1e-4), ("spiral_leapfrog", "free", 1e-6), ("euler", "friction_isotropic", 1e-2)):
        ordered = np.sort(steps.sel(integrator=key, torque_class=torque, target=target).values)
        place = [names.index(name) for names, name in zip(
            ([k for k, _ in draw["classes"]], draw["methods"], draw["targets"]), (torque, key, target), strict=True
        )]  # fmt: skip
        shown = unpacked(draw["steps"])[tuple(place)]
        drawn_as(shown, [ordered[51], (ordered[255] + ordered[256]) / 2, ordered[460]])


def test_engines_are_those_of_the_released_atlas(page_content):
    data = netcdf.read_dataset(HOME / "data/released/atlas.nc")
    engines = page_content["engines"]
    assert [row["engine"] for row in engines["rows"]] == data["engine"].values.tolist()
    error = data["q_error"].sel(load="free", step=0.1).values
    drawn_as(unpacked(engines["q_error"])[:, -1], error)
    assert unpacked(engines["step"])[-1] == 0.1
    assert not any("$" in row["row"] or "\\" in row["row"] for row in engines["rows"])
    assert content.unicode_of(r"$\omega$ longer by $10^{-8}$, $v \times u$") == "ω longer by 10⁻⁸, v × u"


def test_claims_are_all_there_with_what_shows_them(results, page_content):
    rows = pd.concat(
        [pd.read_csv(results / f"{name}.csv", dtype=str, keep_default_na=False) for name in ("claims", "cost_claims")]
    )
    listed = [re.match(r'<tr id="claim-(\w+)">', claim["row"])[1] for claim in page_content["claims"]]
    assert listed == rows["id"].tolist()
    assert [claim["verdict"] for claim in page_content["claims"]] == [[verdict] for verdict in rows["verdict"]]
    entry = page_content["claims"][listed.index("delvalle2024_table2_omelyan1998")]["row"]
    assert 'href="figures/error_vs_dt.png"' in entry and "methods=omelyan1998" in entry
    assert ">single_body.nc</a>, group spiral_cylinder" in entry


def test_every_measure_has_evidence_that_the_study_makes():
    entries = [entry for path in chapters.files(HOME, "claims.yaml") for entry in yaml.safe_load(path.read_text())]
    for entry in entries:
        shown = evidence.evidence(entry["measure"], entry.get("problem", evidence.DEFAULT_PROBLEM))
        assert shown is not None, f"add {entry['measure']} to evidence.yaml of its chapter"
    used = {entry["measure"] for entry in entries}
    assert {name.partition("/")[0] for name in evidence.EVIDENCE} <= used, "an entry for a measure that no claim has"
    sections = set(re.findall(r'data-section="(\w+)"', (page.FOLDER / "page.html").read_text()))
    for name, shown in evidence.EVIDENCE.items():
        assert set(shown.figures) <= set(chapters.names("figures")) and set(shown.tables) <= set(chapters.names("tables")), name
        assert shown.section in sections | {""}, name
        file = shown.data.partition(":")[0]
        known = {
            "single_body.nc",
            "cost.nc",
            "data/released/atlas.nc",
            "data/released/many_body.nc",
            "data/released/liquids.nc",
            "data/released/grains.nc",
            "references/{problem}.nc",
            "",
        }
        assert file in known or Path(file).stem in configuration.CHECKS, name


def test_every_method_has_a_colour_and_marker_of_its_own():
    plugins = [f"my_own_{i}" for i in range(len(style.SPARE))]
    looks = style.styles([*polhode.methods, *plugins])
    drawn = {key: content.look(looks[key]) for key in looks}
    assert len({(look["colours"][0], look["symbol"], look["dash"]) for look in drawn.values()}) == len(drawn)
    signs = {rows.swatch(looks[key], look["colours"], look["dash"]) for key, look in drawn.items()}
    assert len(signs) == len(drawn), "in the list of methods, too"
    for key, look in drawn.items():
        assert look["colours"][0] == looks[key]["color"]
    assert content.on_dark("#000000") == "#f2f2f2" and content.on_dark("#ffcc00") == "#ffcc00"
    symbols = {look["symbol"].removesuffix("-open") for look in drawn.values()}
    known = page.plotly_script()
    for symbol in symbols:
        assert f'"{symbol}"' in known or f"{symbol}:" in known, f"Plotly knows no {symbol}"


# ---- the file ----


def test_the_same_files_give_the_same_page_which_names_no_place(results, tmp_path):
    page.write(inputs_of(results), tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == (results / "explorer.html").read_bytes()
    text = "".join(parts(results / "explorer.html"))
    assert str(results) not in text and str(HOME) not in text


def test_plotly_is_in_it_once_and_the_page_is_light(results):
    assert parts(results / "explorer.html")[0] == page.plotly_script()
    text = (results / "explorer.html").read_text(encoding="utf-8")
    assert text.count("plotly.js v") == 1 and "Licensed under the MIT license" in text, "its licence is to be seen"
    assert len(text.encode()) < LIMIT


def test_the_page_of_the_default_study_is_light():
    bytes_ = len(page.packed(page.plotly_script())) + sum((page.FOLDER / name).stat().st_size for name in page.FILES)
    exact = single = 0
    for problem_study in default_study().problems.values():
        methods = len(problem_study.methods)
        exact += methods * len(problem_study.steps) * 8 + methods * (4 * 8 + len(content.ERRORS) * 4)
        single += methods * len(problem_study.steps) * 2
        if problem_study.long_run is not None:
            samples = min(problem_study.long_run.samples + 1, content.SAMPLES)
            free = problem_study.problem.torque_class == "free"
            single += methods * samples * (len(content.LONG) * (1 + problem_study.long_run.switched) + 5 * free)
    with netCDF4.Dataset(HOME / "data/released/many_body.nc") as file:
        sizes = [[len(d) for d in group.dimensions.values()] for group in file.groups.values()]
    many = 2 * sum(4 * int(np.prod(size[:3])) + size[0] * content.SAMPLES * content.SHOWN_SEEDS for size in sizes)
    noise = np.exp(np.random.default_rng(0).normal(size=20_000))  # no series of a run is less orderly
    a_number = len(page.packed(content.numbers(noise, "f4")["f4"])) / noise.size
    many += 2 * sum(8 * int(np.prod(size[:2])) for size in sizes)
    texts = 200_000
    steps = satellite_steps.read(HOME / "data/released/satellites.json").steps
    of_satellites = len(page.packed(content.numbers(steps)["f8"]))
    assert bytes_ + exact * 4 / 3 + (single + many) * a_number + texts + of_satellites < LIMIT


def test_no_address_is_fetched(results):
    text = PACKED.sub("", (results / "explorer.html").read_text(encoding="utf-8")) + "".join(
        parts(results / "explorer.html")[1:]
    )
    assert "://" not in text and "//cdn" not in text
    assert not re.search(r"<(?:script|img|link|iframe|object|embed)[^>]*\s(?:src|href|data)=", text)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None and policy[1].startswith("default-src 'none'") and "connect-src" not in policy[1]


def test_texts_of_a_run_cannot_end_the_script(tmp_path):
    texts = {"label": "</script><script>alert(1)</script>", "other": "{{plotly}}"}
    (tmp_path / "page.html").write_text(page.page(texts, "let plotly = '</SCRIPT>';"), encoding="utf-8")
    plotly, inside, _ = parts(tmp_path / "page.html")
    assert json.loads(inside) == texts and plotly == "let plotly = '</SCRIPT>';"


def test_what_the_page_is_made_of_is_watched_by_the_rule():
    files = {path.name for path in page.FOLDER.iterdir() if path.is_file() and path.suffix in (".css", ".html", ".js", ".yaml")}
    assert files == {*page.FILES, "evidence.yaml"}
    plan = Products(default_study(), HOME)
    assert {Path(name).name for name in plan.page_sources()} == files
    assert f"{plan.results}/explorer.html" in plan.products()


def test_without_plotly_the_message_says_what_to_do(monkeypatch):
    def absent(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(page.resources, "files", absent)
    with pytest.raises(ModuleNotFoundError, match=r"plotly is not installed.*pip install plotly"):
        page.plotly_script()


# ---- in a browser ----


class Browser:
    """Chromium with one page."""

    def __init__(self, driver) -> None:
        self.driver = driver
        self.start = ""

    def open(self, path: Path, view: str = "") -> "Browser":
        """Open a page anew; ``view`` is what stands behind # in its address."""
        self.driver.get("about:blank")
        self.complaints()
        self.start = path.as_uri()
        self.driver.get(f"{self.start}#{view}" if view else self.start)
        return self.wait()

    def wait(self) -> "Browser":
        """Until what was chosen has been drawn."""
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, 60, 0.05).until(
            lambda d: self(
                "const { drawn } = document.body.dataset; return drawn !== undefined && drawn === address() && !waiting"
            )
        )
        return self

    def __call__(self, script: str, *arguments):
        return self.driver.execute_script(script, *arguments)

    def type(self, control: str, value) -> "Browser":
        """Give a control a value, as a hand would: with the events that follow."""
        self(
            "const c = document.querySelector(arguments[0]); c.value = arguments[1];"
            "c.dispatchEvent(new Event('input', {bubbles: true})); c.dispatchEvent(new Event('change', {bubbles: true}));",
            control,
            value,
        )
        return self.wait()

    def drawn(self, plot: str) -> dict[str, list]:
        """The traces of a plot that have a name, by name: what they hold on the vertical axis."""
        return self(
            "return Object.fromEntries(document.getElementById(arguments[0]).data.filter((t) => t.name)"
            ".map((t) => [t.name, [Array.from(t.x || []), Array.from(t.y || [])]]))",
            plot,
        )

    def listed(self, place: str) -> list[str]:
        """The methods of a list of names with values, in its order."""
        return self("return [...document.querySelectorAll(`#${arguments[0]} li`)].map((li) => li.dataset.method)", place)

    def complaints(self) -> list[str]:
        """What the console says, but for what drivers of graphics remark on their own speed."""
        lines = [entry["message"] for entry in self.driver.get_log("browser")]
        return [line for line in lines if "GL Driver Message" not in line and "willReadFrequently" not in line]

    def requests(self) -> list[str]:
        """Addresses that were asked for since this was last called."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile"), "--window-size=1280,900", "--enable-unsafe-swiftshader") as driver:
        yield Browser(driver)


@pytest.fixture
def at(browser, results):
    """The page of the small study, open."""
    if browser.start != (results / "explorer.html").as_uri():
        browser.open(results / "explorer.html")
    return browser


SECTIONS = ["field", "compare", "random", "satellites", "orders", "long", "polhode", "bodies", "engines", "claims"]


def tab(at: Browser, section: str) -> Browser:
    """Open a section by its tab."""
    at("document.querySelector(`[data-tab=${arguments[0]}]`).click()", section)
    return at.wait()


def go(at: Browser, view: str) -> Browser:
    at("window.location.hash = arguments[0]", view)
    return at.wait()


#: Controls in view that the keyboard does not reach, or that have no name.
NAMELESS = """
const named = (c) => [...(c.labels || []), c].some((e) => e.textContent.trim()) || c.getAttribute('aria-label');
const controls = 'main input, main select, main button, #chooser button, #methods, #methods input[tabindex]';
return [...document.querySelectorAll(controls)].filter((c) => c.offsetParent !== null
  && ((c.tabIndex < 0 && !c.closest('#methods')) || !named(c))).map((c) => c.outerHTML)"""


def test_it_opens_cleanly_and_works_by_keyboard(browser, results):
    browser.requests()
    browser.open(results / "explorer.html")
    for section in SECTIONS:
        go(browser, section)
        visible = browser(
            "return [...document.querySelectorAll('main > section')].filter((s) => !s.hidden).map((s) => s.dataset.section)"
        )
        assert visible == [section]
        plots = browser(
            "return [...document.querySelectorAll('main > section:not([hidden]) figure:not([hidden]) .plot')]"
            ".map((p) => (p.data || []).length)"
        )
        assert all(plots) and (plots or section in ("field", "claims"))
        lists = browser(
            "return [...document.querySelectorAll('main > section:not([hidden]) .rows-of')].map((l) => l.innerText)"
        )
        assert all(lists)
        assert browser(NAMELESS) == []
    assert browser.complaints() == []
    requests = [url for url in browser.requests() if not url.startswith(("data:", "blob:", "about:", "chrome:"))]
    assert {url.partition("#")[0] for url in requests} == {browser.start}
    assert browser("return performance.getEntriesByType('resource').length") == 0


@pytest.mark.parametrize("problem", PROBLEMS)
def test_it_ranks_as_polhode_recommend_does(at, results, problem):
    data = netcdf.read_dataset(results / "cost.nc", problem)
    reached = 0
    cases = [(error, 3.0, False) for error in (0.2, 1e-2, 2e-4, 1e-5, 1e-7, 1e-9)]
    cases += itertools.product((1e-2, 1e-5), (0.0, 1e4), (False, True))
    for error, price, one_torque in cases:
        expected = ranking.ranked(data, error, price, ranking.candidates(data, one_torque))
        go(at, f"compare?problem={problem}&error={error}&price={price}&one={str(one_torque).lower()}")
        assert at.listed("plot-rank") == expected["method"].tolist(), (error, price, one_torque)
        rows = at(
            "const { work } = about(choice.problem), k = RUN.errors.indexOf(choice.error);"
            "const run = (i) => workOf(work, i, row(work.steps, i)[k], choice.price);"
            "return work.methods.map((method, i) => [method, RUN.how[row(work.how, i)[k]], run(i)])"
        )
        rows = {method: (how, run) for method, how, run in rows}
        for _, other in expected.iterrows():
            how, run = rows[other["method"]]
            assert how == other["how"]
            # Beyond 2^24 steps the page has 24 bits of them.
            rounding = 1e-12 if other["steps"] < 2**24 else 2.0**-23
            for name, column in (("steps", "steps"), ("torques", "torque_evaluations"), ("seconds", "seconds")):
                assert run[name] == pytest.approx(other[column], rel=rounding)
        reached += len(expected)
    assert reached > 20


def test_largest_steps_of_ladders_are_those_of_each():
    steps = np.geomspace(1e-7, 1e-1, 25)
    noise = 0.5 * np.finfo(float).eps / steps
    dip, blown, absent = steps**2, steps**2, steps**2
    dip[15], blown[18:], absent[11] = 1e-13, np.inf, np.nan
    shapes = [steps**4 + noise, steps**2 + noise, 1e4 * steps**4 + noise, steps + noise, dip, blown, absent]
    shapes += [np.full(25, 1e-3), 1e-12 * (1 + 0.3 * np.sin(np.arange(25))) + steps**3, np.zeros(25), 1e-9 + 0 * steps]
    ladders = [cost.Ladder(steps, error, 1.0) for error in (*shapes, np.full(25, np.nan))]
    kinds = set()
    for target in np.geomspace(1e-15, 0.3, 31):
        largest, how = largest_of_each(ladders, target)
        for ladder, dt, kind in zip(ladders, largest, how, strict=True):
            expected = ladder.find(target)
            assert content.HOW[kind] == expected.how and np.array_equal(dt, expected.dt, equal_nan=True)
            kinds.add(expected.how)
    assert kinds == set(content.HOW)


def test_the_advice_is_in_the_sentence_and_the_choices_change_it(at, results):
    data = netcdf.read_dataset(results / "cost.nc", "heavy_top")
    go(at, "compare?problem=heavy_top")
    said = set()
    for error, price in ((1e-2, 0), (1e-5, 0), (1e-5, 1000)):
        at.type('select[data-key="error"]', "0.01" if error == 1e-2 else "0.00001").type('input[data-key="price"]', str(price))
        first = ranking.ranked(data, error, price, ranking.candidates(data, one_torque=True)).iloc[0]
        text = at("return document.getElementById('answer').innerText")
        assert first["label"] in text and f"{float(first['steps']):,.0f}".replace(",", "\u202f") in text.replace(" ", "\u202f")
        assert f"--error {'0.01' if error == 1e-2 else '1e-5'}" in text and (price == 0 or f"--torque-price {price}" in text)
        said.add(text)
        assert at.listed("plot-rank")[0] == first["method"]
    assert len(said) == 3
    assert "rk4" not in at.drawn("plot-work") and "--several-torques" not in text, "one torque in a step is the default"
    at("document.querySelector('#section-compare input[data-key=one]').click()")
    at.wait()
    assert "rk4" in at.drawn("plot-work")
    assert "--several-torques" in at("return document.getElementById('answer').innerText")
    at("document.querySelector('#section-compare input[data-key=one]').click()")
    at.wait()
    before = at.drawn("plot-work")["spiral_leapfrog"]
    at.type('input[data-key="price"]', "1e4")
    assert at.drawn("plot-work")["spiral_leapfrog"][0] != before[0] and at.drawn("plot-work")["spiral_leapfrog"][1] == before[1]
    assert at("return choice.price") == 10_000
    at.type('select[data-key="x"]', "dt")
    assert min(at.drawn("plot-work")["spiral_leapfrog"][0]) == pytest.approx(float(data.ladder_dt.min()))


def test_a_wrong_number_is_marked_and_changes_nothing(at):
    go(at, "compare")
    for wrong in ("-1", "abc", "", "1e400"):
        at.type('input[data-key="price"]', wrong)
        assert at("return document.querySelector('input[data-key=price]').getAttribute('aria-invalid')") == "true"
        assert at("return [choice.price, priceNow()]") == [-1, USUAL]
    at.type('input[data-key="price"]', "2,5")
    assert at("return priceNow()") == 2.5


def test_a_problem_and_a_method_that_are_chosen_change_the_plots(at, results):
    go(at, "compare?problem=heavy_top&one=false")
    heavy = at.drawn("plot-work")
    at.type('#section-compare select[data-key="problem"]', "free_asymmetric_top")
    free = at.drawn("plot-work")
    assert heavy.keys() == free.keys() and heavy["rk4"] != free["rk4"]
    data = netcdf.read_dataset(results / "cost.nc", "free_asymmetric_top")
    np.testing.assert_array_equal(free["rk4"][1], data.ladder_error.sel(integrator="rk4").values)
    at("document.querySelector('#methods input[value=rk4]').click()")
    at.wait()
    assert "rk4" not in at.drawn("plot-work") and "euler" in at.drawn("plot-work")
    assert "verlet_delvalle2024" not in at.drawn("plot-work"), "variants as published are shown when asked for"
    at("document.querySelector('[data-choose=all]').click()")
    at.wait()
    assert "verlet_delvalle2024" in at.drawn("plot-work")
    assert at.complaints() == []


def test_orders_show_what_was_measured(at, results):
    go(at, "orders?problem=heavy_top&quantity=omega")
    data = netcdf.read_dataset(results / "single_body.nc", "heavy_top")
    assert sorted(at("return drawn")) == sorted(METHODS[:-1])
    measured = {key: float(data.omega_order.sel(integrator=key)) for key in METHODS[:-1]}
    fitted = {key for key, order in measured.items() if np.isfinite(order)}
    assert set(at.listed("plot-order")) == fitted and len(fitted) > 2
    words = at("return [...document.querySelectorAll('#plot-order li')].map((li) => [li.dataset.method, li.innerText])")
    assert all(f"{measured[key]:.2f}" in text for key, text in words)
    assert set(at.drawn("plot-error")) == set(METHODS[:-1])
    at("document.querySelector('#plot-map [data-problem=free_asymmetric_top] button').click()")
    assert at.wait()("return choice.problem") == "free_asymmetric_top"


def test_long_runs_follow_the_choices(at, results):
    go(at, "long?problem=free_asymmetric_top")
    drift = at.drawn("plot-long")["omelyan1998"]
    at.type('select[data-key="long"]', "norm_error")
    assert at.drawn("plot-long")["euler"][1] != drift[1]
    at.type('select[data-key="long"]', "energy_drift")
    at.type('select[data-key="run"]', "switched")
    switched = netcdf.read_dataset(results / "single_body.nc", "free_asymmetric_top/long_run_switched")
    drawn = np.array(at.drawn("plot-long")["euler"][1], float)  # what is no number is a gap
    drawn_as(drawn, np.abs(switched.energy_drift.sel(integrator="euler").values)[1:])


def test_the_polhode_is_that_of_the_exact_motion(at, results):
    go(at, "polhode?top=free_asymmetric_top&follow=euler&magnify=0")
    inertia = np.array(polhode.problems["free_asymmetric_top"].body.inertia)
    exact = netcdf.read_dataset(results / "references/free_asymmetric_top.nc").omega.values
    energy, momentum = content.polhode_of(inertia, exact)
    curve = np.array(
        at(
            "const t = RUN.problems.free_asymmetric_top.top; return polhode(t.inertia, arguments[0], arguments[1], t.start)",
            energy[0],
            momentum[0],
        )
    )
    on_curve = content.polhode_of(inertia, curve)
    np.testing.assert_allclose(on_curve[0], energy[0], rtol=1e-12)
    np.testing.assert_allclose(on_curve[1], momentum[0], rtol=1e-12)
    # And the exact motion runs along all of it.
    apart = np.linalg.norm(curve[:, None] - exact[None], axis=-1)
    assert apart.min(axis=0).max() < 0.05 and apart.min(axis=1).max() < 0.3


def test_the_slider_of_time_moves_the_method(at):
    go(at, "polhode?top=free_asymmetric_top&follow=euler&magnify=0&moment=0")
    curves = (
        "return document.getElementById('plot-polhode').data.filter((t) => (t.name || '').startsWith('polhode of'))"
        ".map((t) => Array.from(t.x))[0]"
    )
    before = at(curves)
    at.type('input[data-key="moment"]', "5")
    after = at(curves)
    assert max(abs(a - b) for a, b in zip(before, after, strict=True)) > 0.01
    assert "direct Euler" in at("return document.getElementById('drift').innerText")
    at.type('input[data-key="moment"]', "0")
    at("document.getElementById('play').click()")
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(at.driver, 30).until(lambda d: at("return choice.moment") == 10 and not at("return playing"))
    assert at.complaints() == []


def test_a_magnified_drift_is_said_to_be_and_can_be_seen(at):
    go(at, "polhode?top=free_asymmetric_top&follow=rk4")
    assert at("return choice.magnify") == -1, "as much as lets the drift be seen"
    words = at("return document.getElementById('drift').innerText")
    assert "The drift is magnified" in words
    go(at, "polhode?top=free_asymmetric_top&follow=rk4&magnify=12")
    assert "magnify less" in at("return document.getElementById('drift').innerText")


def test_many_bodies_show_every_initial_state_and_their_mean(at, results):
    go(at, "bodies?scene=this run: chess")
    row = next(row for row in content._contacts(inputs_of(results)) if row["error"] == 1e-4)
    assert f"with T/{row['elastic'][1]:.0f} is sufficient" in at("return document.getElementById('answer-contacts').innerText")
    data = netcdf.read_dataset(results / "many_body.nc", "chess")
    drawn = at.drawn("plot-bodies")
    values = data.energy_error.sel(integrator="spiral_leapfrog").values
    assert sum(y is not None for y in drawn["spiral_leapfrog states"][1]) == np.isfinite(values).sum()
    drawn_as(drawn["spiral_leapfrog"][1], values.mean(axis=1))
    at.type('select[data-key="beside"]', "paired")
    np.testing.assert_allclose(at.drawn("plot-bodies")["spiral_leapfrog"][1], 1.0)


def test_claims_are_filtered_and_linked(at, results):
    go(at, "claims")
    rows = pd.concat(
        [pd.read_csv(results / f"{name}.csv", dtype=str, keep_default_na=False) for name in ("claims", "cost_claims")]
    )
    shown = "return [...document.querySelectorAll('#table tbody tr')].map((r) => r.id.replace('claim-', ''))"
    assert at(shown) == rows["id"].tolist()
    at.type('input[data-key="search"]', "rods SPIRAL")
    words = rows["id"] + rows["statement"] + rows["note"] + rows["evidence"]
    expected = rows["id"][words.str.contains("rods", case=False) & words.str.contains("spiral", case=False)].tolist()
    assert expected and at(shown) == expected
    at.type('input[data-key="search"]', "").type('select[data-key="source"]', "seelen2016")
    assert at(shown) == rows["id"][rows["source"] == "seelen2016"].tolist()
    verdict = rows["verdict"][rows["source"] == "seelen2016"].iloc[0]
    at.type('select[data-key="verdict"]', verdict)
    assert at(shown) == rows["id"][(rows["source"] == "seelen2016") & (rows["verdict"] == verdict)].tolist()
    go(at, "claims")
    links = set(at("return [...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href'))"))
    files = {link for link in links if not link.startswith("#")}
    products = {Path(name).relative_to("results") for name in Products(default_study(), HOME).products()}
    assert len(files) > 40 and {Path(link) for link in files} - products <= {Path("provenance.json")}
    views = {link for link in links if link.startswith("#") and "?" in link}
    assert any("scene=published%20scale%3A%20rods" in view for view in views), "a claim about rods leads to the rods"
    assert "#compare?methods=omelyan1998" in views, "one about a method leads to that method"
    assert len(views) > 5
    for view in sorted(views)[:5]:
        go(at, view[1:])
        assert at("return choice.section") == view[1:].partition("?")[0]
    assert at.complaints() == []


@pytest.mark.parametrize(("torque", "error", "one_torque"), [("state", 1e-6, False), ("free", 1e-2, True)])
def test_random_bodies_are_answered_as_by_recommend(at, torque, error, one_torque):
    # Where a torque costs nearly everything, time goes with torques.
    price = 0.0 if torque == "free" else 1e9
    expected = from_laws(torque, error, 1.0, torque_price=price, one_torque=one_torque)
    methods = ",".join(at("return RUN.sets.original"))
    go(at, f"random?torque={torque}&target={error!r}&one={str(one_torque).lower()}&methods={methods}")
    said = at("return document.getElementById('answer-random').innerText")
    if torque != "free":
        best = [choice.label for choice in expected.alternatives if choice.relative < 1.001]
        assert re.match(r"Take (.*?) with [\d.]+ steps", said)[1] in best
        assert float(re.search(r"with ([\d.]+) steps a radian", said)[1]) == pytest.approx(1 / expected.best.dt, rel=3e-3)
    else:
        assert "one step a radian" in said
    assert set(at.drawn("plot-laws")) == set(at("return drawn"))


def test_satellites_are_answered_as_by_recommend(at, results, tmp_path, monkeypatch):
    """As the command answers in a checkout with this run, whose times of steps the page has, too."""
    (tmp_path / "results").symlink_to(results)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/released").symlink_to(HOME / "data/released")
    monkeypatch.chdir(tmp_path)

    def said() -> list[str]:
        lines = at("return document.getElementById('answer-satellites').innerText").splitlines()
        command = re.search(r"From a terminal: polhode recommend (.*)", lines[-1])[1]
        answer = polhode.recommend(**asked_in(command))
        assert lines[:-1] == [answer.sentence, answer.serves, answer.costs] and answer.interval_means in lines[-1]
        assert at.listed("plot-taken") == [row.method for row in answer.alternatives]
        assert at("return document.querySelector('#plot-taken .take').dataset.method") == answer.method
        return [answer.sentence, command]

    go(at, "satellites")
    first, command = said()
    assert command == "--spacecraft --inertia 0.007 0.035 0.036 --wheels 0 0.005 0 --omega 0.0011 --error 1e-6"
    at.type('input[data-key="every"]', "0.25").type('input[data-key="time"]', "5550").type(
        'input[data-key="below"]', "0.01 deg"
    )
    orbit, command = said()
    assert command.endswith("--every 0.25 --time 5550 --error 0.01deg") and orbit != first
    at.type('input[data-key="wheels"]', "0 0,02 0").type('#section-satellites input[data-key="price"]', "2")
    at("document.querySelector('input[data-key=single]').click()")
    faster, command = said()
    assert command.endswith("--torque-price 2 --one-torque") and faster not in (first, orbit)
    assert "rk4" not in at.listed("plot-taken")
    released, lines = satellite_steps.read(HOME / "data/released/satellites.json"), at.drawn("plot-satellites")
    assert len(lines) == 4
    for method, (errors, steps) in lines.items():
        assert steps == pytest.approx([released.sufficient(error)[method] for error in errors])
    before = at("return window.location.hash")
    for control, wrong in (("inertia", "1 2 4"), ("omega", "-1"), ("below", "2")):
        at.type(f'input[data-key="{control}"]', wrong)
        assert at("return document.querySelector(arguments[0]).ariaInvalid", f'input[data-key="{control}"]') == "true"
        assert at("return window.location.hash") == before
    go(at, "satellites?wheels=&omega=0")
    assert "omega must not be zero" in at("return document.getElementById('answer-satellites').innerText")
    assert at.complaints() == []


def asked_in(command: str) -> dict:
    """The arguments of :func:`polhode.recommend` from options of the command."""
    parser = argparse.ArgumentParser()
    recommend.add_arguments(parser)
    given = vars(parser.parse_args(shlex.split(command)))
    return {name: value for name, value in given.items() if name in recommend.ARGUMENTS and value not in (None, False)}


def test_an_engine_is_chosen_and_found(at):
    data = netcdf.read_dataset(HOME / "data/released/atlas.nc")
    go(at, "engines?engine=mujoco%20RK4")
    row = data.isel(engine=list(data["engine"].values).index("mujoco RK4"))
    said = at("return document.getElementById('answer-engine').innerText")
    assert str(row["advice"].item()) in said and str(row["chosen_by"].item()) in said
    names = "return [...document.querySelectorAll('#table-engines tbody tr')].map((r) => r.cells[0].innerText)"
    assert len(at(names)) == data.sizes["engine"]
    at.type('input[data-key="find"]', "yade")
    assert at(names) and all(name.startswith("YADE") for name in at(names))
    at("document.querySelector('#table-engines tbody a').click()")
    assert at.wait()("return choice.engine").startswith("yade")
    at.type('input[data-key="find"]', "")


def test_it_opens_on_the_fields_with_their_evidence(browser, results, page_content):
    browser.open(results / "explorer.html")
    assert browser("return choice.section") == "field"
    names = browser("return [...document.querySelectorAll('#fields a strong')].map((s) => s.innerText)")
    inputs, makers = inputs_of(results), {make.__name__.strip("_"): make for make in page_rows.MAKERS}
    rows = page_rows.rows(inputs)
    assert names == [web.markdown(row.who) for row in rows] and len(names) >= 2
    for field, row in zip(page_content["fields"], rows, strict=True):
        assert makers[field["key"]](inputs).take == row.take
        go(browser, f"field?field={field['key']}")
        said = " ".join(browser("return document.getElementById('answer-field').innerText").split())
        for cell in (row.take, row.step, row.runs, row.example):
            assert " ".join(re.sub("<[^>]*>", "", web.html(cell)).split()) in said.replace("&amp;", "&")
        listed = browser.listed("plot-field")
        assert field["take"] in listed or field["key"] == "rubbing"
        assert len(listed) <= 8, "until more are asked for"
        browser("document.querySelector('[data-choose=all]').click()")
        browser.wait()
        assert len(browser.listed("plot-field")) == len(field["rows"])
        views = browser(
            "return [...document.querySelectorAll('#answer-field a[href^=\"#\"]')].map((a) => a.getAttribute('href'))"
        )
        for view in views:
            assert go(browser, view[1:])("return [choice.section, priceNow()]") == [view[1:].partition("?")[0], field["price"]]
    assert browser.complaints() == []


def test_the_evidence_of_a_field_is_made_by_the_study():
    assert set(fields.EVIDENCE) == set(fields.CHARTS) == set(web.BEHIND) == {make.__name__ for make in page_rows.MAKERS}
    for _, figures, names in fields.EVIDENCE.values():
        assert set(figures.split()) <= set(chapters.names("figures")) and set(names.split()) <= set(chapters.names("tables"))


def test_at_most_eight_methods_are_drawn_until_others_are_chosen(at):
    go(at, "random?torque=state")
    assert len(at("return drawn")) == 8 < len(at("return pool"))
    best = at("return document.getElementById('answer-random').innerText")
    assert f"Take {at('return labelOf(arguments[0])', at.listed('plot-needed')[0])} with" in best
    at("document.querySelector('[data-choose=original]').click()")
    at.wait()
    assert len(at("return drawn")) > 30 and at("return document.getElementById('answer-random').innerText") == best
    at("document.querySelector('[data-choose=auto]').click()")
    assert len(at.wait()("return drawn")) == 8


def test_the_address_holds_the_view(browser, results):
    view = "long?methods=rk4,euler&long=norm_error&axis=log"
    browser.open(results / "explorer.html", view)
    assert browser("return [choice.section, choice.problem, choice.methods.join(), choice.long, choice.axis]") == [
        "long",
        "heavy_top",
        "rk4,euler",
        "norm_error",
        "log",
    ]
    assert set(browser.drawn("plot-long")) == {"rk4", "euler"}
    browser.type('#section-long select[data-key="problem"]', "free_asymmetric_top")
    address = browser("return window.location.hash")
    assert "problem=free_asymmetric_top" in address and "methods=rk4,euler" in address
    browser.open(results / "explorer.html", address[1:])
    assert browser("return window.location.hash") == address
    go(browser, "nothing?problem=none&error=7&methods=nobody&magnify=x")
    assert browser("return [choice.section, choice.error, choice.methods.length]") == ["field", 1e-5, 0]
    assert browser.complaints() == []


#: Has the page note which fields of its data it reads; one name stands for every problem, method, scene, claim.
WATCH = """
(() => {
const parse = JSON.parse, seen = new WeakMap(), keyed = ['.problems', '.methods', '.plots', '.sets'];
window.fields = new Set();
window.fieldsRead = new Set();
const place = (path, key) => (/^\\d+$/.test(key) || keyed.includes(path) ? `${path}.*` : `${path}.${key}`);
function list(value, path) {
  if (path) fields.add(path);
  if (!value || typeof value !== 'object' || value.shape) return;
  for (const key of Object.keys(value)) list(value[key], place(path, key));
}
function watched(value, path) {
  if (!value || typeof value !== 'object' || value.shape) return value;
  if (!seen.has(value)) seen.set(value, new Proxy(value, { get(object, key) {
    if (typeof key !== 'string' || !Object.hasOwn(object, key) || key === 'length') return object[key];
    fieldsRead.add(place(path, key));
    return watched(object[key], place(path, key));
  } }));
  return seen.get(value);
}
JSON.parse = (text) => {
  const data = parse(text);
  if (!data.problems) return data;
  list(data, '');
  return watched(data, '');
};
})();"""
#: Words of the section in view that its controls or plots cut, and marks of an axis that are left out or over each other.
CUT = """
const section = document.querySelector('main > section:not([hidden])'), cut = [];
for (const c of section.querySelectorAll('input[type="text"], input[type="search"]')) {
  const value = c.value;
  for (const words of c.dataset.key === 'price' ? ['100000', '0.056'] : [c.placeholder]) {
    c.value = words;
    if (c.scrollWidth > c.clientWidth) cut.push(words);
  }
  c.value = value;
}
for (const svg of section.querySelectorAll('.plot .main-svg')) {
  const box = svg.getBoundingClientRect();
  const words = [...svg.querySelectorAll('text')].filter((t) => t.textContent.trim());
  for (const t of words) {
    const r = t.getBoundingClientRect();
    if (!r.width) continue;
    const over = [box.left - r.left, r.right - box.right, box.top - r.top, r.bottom - box.bottom];
    if (Math.max(...over) > 1) cut.push(t.textContent);
  }
  for (const name of ['xtick', 'ytick']) {
    const marks = words.filter((t) => t.closest(`.${name}`) && !/rotate\\(-?[1-9]/.test(t.getAttribute('transform')));
    const boxes = marks.map((t) => t.getBoundingClientRect());
    boxes.forEach((a, i) => {
      if (!a.width) cut.push(`left out: ${marks[i].textContent}`);
      boxes.slice(i + 1).forEach((b, k) => {
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 1 && down > 4) cut.push(`over each other: ${marks[i].textContent} and ${marks[i + 1 + k].textContent}`);
      });
    });
  }
}
for (const span of section.querySelectorAll('.rows span:not(.track), .rows i')) {
  const r = span.getBoundingClientRect(), box = span.closest('.rows').getBoundingClientRect();
  if (r.width && (r.left < box.left - 6 || r.right > box.right + 6)) cut.push(`outside: ${span.textContent}`);
}
return cut;"""
#: Per figure in view, the height that neither plot nor caption takes.
BLANK = """return [...document.querySelectorAll('main > section:not([hidden]) .plots figure:not([hidden])')]
  .filter((figure) => figure.querySelector('.plot')).map((figure) =>
  figure.clientHeight - [...figure.children].reduce((sum, part) => sum + part.offsetHeight, 0)
  + (figure.querySelector('.plot').offsetHeight - figure.querySelector('.main-svg').clientHeight))"""


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_it_fits_the_screen_and_cuts_and_wastes_nothing(browser, results, size):
    from selenium.webdriver.support.ui import WebDriverWait

    with screen(browser.driver, size):
        browser.open(results / "explorer.html", "compare?problem=free_asymmetric_top&error=1e-9&price=1e5")
        for section in (*SECTIONS, "compare"):
            tab(browser, section)
            wide = browser("return [document.documentElement.scrollWidth, window.innerWidth]")
            assert wide[0] <= size[0] and wide[1] == size[0], section
            assert browser(CUT) == [], section
            blank = browser(BLANK)
            assert all(abs(height) < 30 for height in blank), (section, blank)
            shown = browser(
                "const t = document.querySelector('[aria-current]').getBoundingClientRect(); return [t.left, t.right, scrollY]"
            )
            assert 0 <= shown[0] < shown[1] <= size[0] and shown[2] == 0, f"{section}: its tab is in view, and its top"
            browser("window.scrollTo(0, 500)")
            assert browser("return scrollY") > 0
    with screen(browser.driver, (size[0] - 50, size[1])):
        plot = "document.getElementById('plot-work')"
        fits = f"return {plot}.querySelector('.main-svg').clientWidth === {plot}.clientWidth"
        WebDriverWait(browser.driver, 20, 0.05).until(lambda d: browser(fits))


def test_sections_are_entries_of_the_history(browser, results):
    browser.open(results / "explorer.html")
    tab(browser, "orders").type('select[data-key="quantity"]', "omega")
    orders = browser("return location.hash")
    tab(browser, "long").type('select[data-key="axis"]', "log").type('select[data-key="long"]', "norm_error")
    assert "axis=log" in browser("return location.hash")
    browser.driver.back()
    browser.wait()
    assert browser("return [location.hash, choice.section, choice.quantity, choice.axis]") == [
        orders,
        "orders",
        "omega",
        "linear",
    ]
    assert browser("return document.getElementById('section-orders').hidden") is False
    browser.driver.forward()
    browser.wait()
    assert browser("return [choice.section, choice.axis, choice.long]") == ["long", "log", "norm_error"]
    assert browser("return document.querySelector('[data-tab=orders]').hash").startswith("#orders?quantity=omega")
    tab(browser, "claims")("window.scrollTo(0, 700)")
    browser.driver.refresh()
    browser.wait()
    assert browser("return scrollY") == 700, "who returns to the page finds its place"


def test_the_list_of_methods_is_one_stop_of_the_tab_key(browser, results):
    from selenium.webdriver import ActionChains, Keys

    def press(key: str) -> str:
        ActionChains(browser.driver).send_keys(key).perform()
        return browser("const e = document.activeElement; return e.closest('#methods') ? e.value : e.dataset.key || e.id")

    browser.open(results / "explorer.html", "long")
    keys = browser("return pool")
    pressed = [press(Keys.TAB) for _ in range(19)]
    assert pressed[0] == "skip" and pressed[-1] == "problem", "as many for any number of methods"
    inside = pressed[-2]
    assert set(pressed) & set(keys) == {inside}
    ActionChains(browser.driver).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()
    order = browser("return boxesSeen().map((box) => box.value)")
    assert sorted(order) == sorted(keys) and order[0] == inside
    assert [press(key) for key in (Keys.ARROW_DOWN, Keys.END, Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.HOME)] == [
        order[1], order[-1], order[-1], order[-2], order[0],
    ]  # fmt: skip
    chosen = browser("return drawn")
    press(Keys.SPACE)
    assert browser.wait()("return choice.methods") == [key for key in chosen if key != inside]


def test_methods_that_were_not_run_have_no_row(at, results):
    data = netcdf.read_dataset(results / "single_body.nc", "heavy_top")
    assert len(at("return RUN.sets.original")) > len(METHODS), "scenes of the full study have others"
    go(at, "orders?problem=heavy_top")
    names = at("return [...document.querySelectorAll('#plot-map tr[data-method]:not([hidden]) th')].map((th) => th.innerText)")
    assert sorted(names) == sorted(str(data.label.sel(integrator=key).values) for key in METHODS[:-1])
    methods_in_rows = (
        "return [...document.querySelectorAll('.chip')].filter((c) => c.offsetParent !== null).map((c) => c.dataset.method)"
    )
    for view in ("compare?problem=heavy_top", "orders?problem=heavy_top", "long?problem=heavy_top"):
        assert sorted(go(at, view)(methods_in_rows)) == sorted(METHODS)
    assert at("return document.getElementById('chosen').textContent") == f"{len(METHODS) - 1} of {len(METHODS)}"
    go(at, "bodies?scene=published scale: rods")
    released = netcdf.read_dataset(HOME / "data/released/many_body.nc", "rods")
    assert sorted(at(methods_in_rows)) == sorted(released.integrator.values)
    go(at, "bodies?scene=published scale: rods&methods=pcdm2016,spiral_leapfrog")
    blown = [str(released.label.sel(integrator=key).values) for key in at("return drawn") if key == "pcdm2016"]
    assert blown[0] in at("return document.getElementById('plot-bodies').layout.annotations.map((a) => a.x)")


def test_the_page_warns_of_a_method_as_the_advice_does(at, page_content):
    sentence = " ".join(drift("euler", ["euler", "rk4"]))
    assert "Damps librations, not for long conservative runs: Runge-Kutta 4." in sentence and "direct Euler" not in sentence
    cautions = {key: of["caution"] for key, of in page_content["methods"].items() if "caution" in of}
    assert cautions["rk4"] == "Damps librations, not for long conservative runs" and "euler" not in cautions
    assert at("return warningsOf(arguments[0])", ["euler", "rk4"]) == sentence
    views = {"answer": ("compare?one=false&methods=", "euler"), "drift": ("polhode?follow=", "omelyan1998")}
    for place, (view, other) in views.items():
        for key in ("rk4", other):
            assert (sentence in go(at, view + key)("return document.getElementById(arguments[0]).innerText", place)) == (
                key == "rk4"
            )


def test_every_field_of_the_data_is_shown_in_some_view(browser, results):
    """What is written into the page and never read there is left out of it."""
    watch = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
    try:
        browser.open(results / "explorer.html")
        options = "return [...document.querySelector(arguments[0]).options].slice(0, 4).map((o) => o.value)"
        for section in SECTIONS:
            go(browser, section)
            if section not in ("orders", "long", "bodies", "claims"):
                continue  # no choice there leads to other fields
            first, *others = browser(
                "return [...document.querySelectorAll('main > section:not([hidden]) select')]"
                ".map((s) => `#section-${choice.section} select[data-key=${s.dataset.key}]`)"
            )
            for about in browser(options, first)[:2]:
                browser.type(first, about)
                for control in (*others, *others[:1]):  # the first one again, under the last choice of the others
                    for value in browser(options, control):
                        browser.type(control, value)
        go(browser, "compare?one=false&methods=rk4")  # a method with a caution
        for question in ("wheels=&omega=0", "every=0.01&below=0.001", "every=0.25"):
            go(browser, f"satellites?{question}")
        unread = browser("return [...fields].filter((field) => !fieldsRead.has(field)).sort()")
        # The style is read by Plotly; answers, fits and states that blew up belong to what is looked at here.
        # Sets are read at a click, the price where no field has one, and the step of long runs with the other normalisation.
        # Every satellite has a method with a step.
        known = r"\.(plots|sets|answers)(\.|$)|.*\.(fits|lost)\.|\.price$|.*\.switched\.dt$|.*\.without_step$"
        unread = [field for field in unread if not re.match(known, field)]
        assert unread == [], unread
    finally:
        browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", watch)


def test_a_run_of_one_problem_says_what_it_lacks(browser, results, tmp_path):
    groups = {key: netcdf.read_dataset(results / "single_body.nc", key or None) for key in ("", "coupled_cylinders")}
    storage.write_groups({key or "/": group for key, group in groups.items()}, tmp_path / "single_body.nc")
    without = dict.fromkeys(("cost", "many_body", "released", "cost_claims"), "")
    page.write(inputs_of(results, single_body=tmp_path / "single_body.nc", **without), tmp_path / "explorer.html")
    browser.open(tmp_path / "explorer.html", "compare")
    said = browser("return document.getElementById('answer').innerText")
    assert "ranked by torque evaluations" in said and "NaN" not in said
    assert browser("return [...document.querySelectorAll('.timed')].every((e) => e.offsetParent === null)")
    assert len(browser.listed("plot-rank")) > 2
    assert "No times were measured in this run." in (tmp_path / "explorer.html").read_text(encoding="utf-8")
    empty = {
        "field": ("plot-field", "nothing of what page 1"),
        "bodies": ("plot-bodies", "no many-body scenes"),
        "random": ("plot-laws", "no random bodies"),
        "satellites": ("plot-satellites", "no satellites"),
        "engines": ("plot-spin", "no atlas of engines"),
        "long": ("plot-long", "no long runs"),
        "polhode": ("plot-polhode", "no long run of a top without torque"),
    }
    for section in SECTIONS:
        go(browser, section)
        if section in empty:
            plot, words = empty[section]
            assert words in browser("return document.getElementById(arguments[0]).innerText", plot)
    assert browser.complaints() == []
