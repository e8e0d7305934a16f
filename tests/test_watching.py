"""A run that can be watched: what is counted, what is shown, and what is said when it ends well, badly or by a signal."""

import io
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from polhode.interface import bars, progress
from polhode.interface.progress import Display, Stage
from polhode_study.workflow import entry, signals, watching
from polhode_study.workflow.watching import Watch
from snakemake_logger_plugin_polhode import LogHandler

HOME = Path(__file__).parents[1]


class Clock:
    """A time that passes when it is told to."""

    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


# ---- counting ----


def test_a_stage_knows_the_time_left(clock):
    stage = Stage("cells", 1000, "runs", clock)
    assert (stage.left(), stage.seconds, stage.state) == (None, 0.0, "waiting")
    stage.begin()
    for _ in range(100):
        clock.now += 1.0
        stage.advance(2)
    assert stage.left() == pytest.approx(400.0) and stage.seconds == 100.0 and stage.state == "6:40 left"
    # Of late it goes slower: the rate is that of the last minute or so.
    for _ in range(100):
        clock.now += 1.0
        stage.advance(0.5)
    assert stage.left() == pytest.approx(1500.0)
    stage.reach(1000)
    clock.now += 77.0
    assert stage.complete and stage.seconds == 200.0 and stage.left() == 0.0 and stage.state == "took 3:20"


def test_the_first_few_of_many_say_nothing_about_the_time_left(clock):
    stage = Stage("cells", 8000, "runs", clock)
    stage.begin()
    clock.now += 30.0
    stage.reach(5)
    assert stage.left() is None
    stage.reach(25)
    assert stage.left() is not None


def test_a_stage_never_goes_back(clock):
    """A job that failed is begun anew, and what it had done counts once."""
    stage = Stage("cells", 10, "runs", clock)
    stage.reach(7)
    stage.reach(2)
    assert stage.done == 7


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0:00"), (59.6, "1:00"), (754, "12:34"), (3600, "1:00:00"), (7384, "2:03:04")]
)
def test_times_as_people_read_them(seconds, text):
    assert progress.duration(seconds) == text


def test_one_is_not_many():
    said = [Stage("x", total, "runs").count for total in (1, 2000, None)]
    assert said == ["0 of 1 run", "0 of 2,000 runs", "0 runs"]


# ---- showing ----


def drawn(display, width):
    """What a display looks like on a terminal of this width."""
    console = Console(file=io.StringIO(), width=width, height=25, force_terminal=True)
    console.print(bars.Drawing(display))
    return re.sub(r"\x1b\[[0-9;]*m", "", console.file.getvalue())


@pytest.fixture
def display(clock):
    stages = [Stage(name, 1000, "runs", clock) for name in ("references", "single bodies", "figures and tables")]
    stages[0].reach(1000)
    stages[1].begin()
    clock.now += 10
    stages[1].reach(100)
    return Display(stages, io.StringIO(), lambda: "3 of 95 jobs; at work: " + "single_body_heavy_top_1, " * 5, period=0.05)


def test_bars_say_how_far_each_stage_is(display):
    lines = drawn(display, 110).splitlines()
    assert re.fullmatch(r"references +━+ 1,000 of 1,000 runs +took 0:00", lines[0])
    assert re.fullmatch(r"single bodies +[━╸╺]+ +100 of 1,000 runs +1:30 left", lines[1])
    assert re.fullmatch(r"figures and tables +━+ +0 of 1,000 runs +waiting", lines[2])
    assert lines[3].startswith("3 of 95 jobs; at work") and lines[3].endswith("…")
    display.stages[1].failed = 2
    assert "2 failed" in drawn(display, 110)


@pytest.mark.parametrize("width", [1, 10, 30, 48, 60, 70, 80, 200])
def test_bars_fit_into_any_terminal(display, width):
    lines = drawn(display, width).splitlines()
    assert all(len(line) <= width for line in lines)
    assert len(lines) == 4, "a line that wraps would be drawn over the text above"
    if width >= 48:
        assert "single bodies" in lines[1] and "100" in lines[1] and "1:30 left" in lines[1]


def test_colours_are_left_out_where_they_are_not_wanted(display, monkeypatch):
    def colours(plain=False):
        console = bars.live(Display([], io.StringIO()), plain, False).console
        console.print(bars.Drawing(display))
        return re.search(r"\x1b\[[0-9;]*3[0-9]", console.file.getvalue()) is not None

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert colours() and not colours(plain=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colours()


def test_without_a_terminal_a_line_comes_now_and_then(display):
    assert Display([], io.StringIO()).period == 30.0
    display.start()
    time.sleep(0.3)
    display.stop()
    written = display.stream.getvalue()
    assert 2 <= written.count("polhode: 3 of 95 jobs") <= 7 and "\x1b" not in written
    assert "references 1,000 of 1,000 runs (took 0:00); single bodies 100 of 1,000 runs (1:30 left)\n" in written
    time.sleep(0.15)
    assert display.stream.getvalue() == written


def test_what_is_done_at_once_shows_nothing(display):
    display.period = 0.5
    display.start()
    display.stop()
    assert display.stream.getvalue() == ""


def test_a_pipe_and_a_dumb_terminal_are_not_drawn_on(monkeypatch):
    reading, writing = os.pipe()
    with os.fdopen(reading), os.fdopen(writing, "w") as stream:
        assert not progress.can_redraw(stream) and not progress.can_redraw(io.StringIO())
    leader, follower = os.openpty()
    with os.fdopen(leader), os.fdopen(follower, "w") as stream:
        monkeypatch.setenv("TERM", "dumb")
        assert not progress.can_redraw(stream)
        monkeypatch.setenv("TERM", "xterm")
        assert not progress.can_redraw(stream), "this process is not in its foreground"
        monkeypatch.setattr(os, "tcgetpgrp", lambda number: os.getpgrp())
        assert progress.can_redraw(stream)
        for name in ("dumb", "unknown"):
            monkeypatch.setenv("TERM", name)
            assert not progress.can_redraw(stream)
        monkeypatch.delenv("TERM")
        assert not progress.can_redraw(stream)


# ---- what Snakemake tells ----


UNITS = {"references_1": 2, "single_body_heavy_top_1": 40, "timing": 10}


def handler(quiet=(), **settings):
    """Snakemake's logger, which prints into a string."""
    names = ("printshellcmds", "nocolor", "debug_dag", "verbose", "show_failed_logs", "stdout", "dryrun")
    said = dict.fromkeys(names, False) | {"quiet": [SimpleNamespace(name=name) for name in quiet]} | settings
    made = LogHandler(SimpleNamespace(**said), None)
    made.stream = io.StringIO()
    return made


def record(event=None, text="", level=logging.INFO, path="/lib/snakemake/workflow.py", **about):
    made = logging.LogRecord("snakemake", level, path, 1, text, (), None)
    made.__dict__.update(event=event, **about)
    return made


class WatchWithEvents(Watch):
    """A watch that is told of events, and keeps what is said to people; ``says`` is what the terminal would show."""

    def __init__(self, results):
        super().__init__(UNITS.get, results, HOME)
        self.tally.units = lambda rule: UNITS.get(rule, 1)
        self.handler = handler(["PROGRESS"])
        self.attach(self.handler)

    @property
    def says(self):
        return self.handler.stream.getvalue()

    def tell(self, *arguments, **about):
        self.handler.emit(record(*arguments, **about))

    def job(self, number, rule, **wildcards):
        self.tell("job_info", jobid=number, rule_name=rule, wildcards=wildcards, log=[f"results/logs/{rule}.log"])

    def error(self, number, rule, ended="returned non-zero exit status 1", log="results/logs/x.log", indent=False):
        text = f"RuleException:\nCalledProcessError in file rules.smk, line 3:\nCommand 'python x' {ended}."
        self.tell("error", text, logging.ERROR, exception="RuleException")
        self.tell("job_error", f"Error in rule {rule}", logging.ERROR, jobid=number, rule_name=rule, log=[log], indent=indent)

    def stages(self):
        return {stage.name: (stage.done, stage.total) for stage in self.tally.stages}


@pytest.fixture
def watch(tmp_path, monkeypatch):
    monkeypatch.setenv(entry.WATCHED, "")
    return WatchWithEvents(tmp_path)


STATS = {"all": 1, "timing": 1, "references_1": 1, "single_body_heavy_top_1": 2, "report": 1, "of_a_plugin": 1, "total": 8}


def test_events_become_stages(watch):
    watch.tell("run_info", stats=STATS)
    assert watch.stages() == {
        "references": (0, 2),
        "single bodies": (0, 80),
        "timing": (0, 10),
        "report": (0, 1),
        "other jobs": (0, 1),
    }
    assert watch.tally.jobs == 6, "what is asked for is no job"
    watch.tell("job_started", jobs=[1])
    watch.job(1, "references_1")
    watch.job(2, "single_body_heavy_top_1")
    watch.tell("job_finished", job_id=1)
    assert watch.stages()["references"] == (2, 2) and "1 of 6 jobs" in watch.tally.foot()
    assert watch.tally.foot().endswith("at work: single_body_heavy_top_1")
    watch.tell("job_finished", job_id=2)
    assert watch.stages()["single bodies"] == (40, 80)


def test_the_terminal_shows_what_a_person_must_read(watch):
    watch.tell(None, "SLURM run ID: 12", path="/lib/snakemake_executor_plugin_slurm/__init__.py")
    watch.tell(None, "Building DAG of jobs...")
    watch.tell("workflow_started", "Workflow has started!")
    for _ in range(3):
        watch.tell(None, "something is deprecated", logging.WARNING)
    watch.tell("run_info", "Job stats:", stats=STATS)
    watch.job(1, "report")
    watch.tell(None, "Job 1 has been submitted", path="/lib/snakemake_executor_plugin_slurm/__init__.py")
    watch.tell("error", "LockException:\nDirectory cannot be locked.", logging.ERROR, exception="LockException")
    watch.tell("error", "MissingOutputException in rule report", logging.ERROR, exception="MissingOutputException")
    assert watch.says.splitlines() == [
        "SLURM run ID: 12",
        "something is deprecated",
        "LockException:",
        "Directory cannot be locked.",
        "MissingOutputException in rule report",
    ]


def test_dry_runs_show_all_but_single_jobs():
    for quiet, shown in (((), False), (["RULES"], False), (["HOST"], True)):
        plain = handler(quiet)
        plain.emit(record("job_info", "rule references_1:"))
        plain.emit(record(None, "None"))
        plain.emit(record("error", "WorkflowError: no", logging.ERROR))
        assert plain.stream.getvalue() == "rule references_1:\n" * shown + "WorkflowError: no\n"


@pytest.mark.parametrize(
    ("quiet", "settings"), [((), {"verbose": True}), ((), {"printshellcmds": True}), ((), {"debug_dag": True}), (["ALL"], {})]
)
def test_snakemake_prints_itself_where_all_or_nothing_is_shown(tmp_path, capsys, quiet, settings, monkeypatch):
    monkeypatch.setenv(entry.WATCHED, "")
    full = handler(quiet, **settings)
    watch = Watch(UNITS.get, tmp_path, HOME)
    watch.attach(full)
    full.emit(record(None, "something is deprecated", logging.WARNING))
    watch.succeeded()
    full.close()
    assert full.stream.getvalue() == "" and os.environ[entry.WATCHED] == ""
    assert ("0 jobs in 0:00" in capsys.readouterr().err) == bool(settings)


def test_without_the_plugin_the_terminal_is_snakemake_s(tmp_path, capsys):
    watch = Watch(UNITS.get, tmp_path, HOME)
    watch.attach(None)
    watch.failed()
    watch.close()
    assert capsys.readouterr().err == ""


def test_a_warning_that_jobs_write_is_said_once(watch):
    said = []
    watch._display = SimpleNamespace(say=lambda text: said.append(str(text)))
    for line in ("x.py:3: FutureWarning: no more", "a word", "x.py:3: FutureWarning: no more", "a word"):
        watch._pass_on(line)
    assert said == ["x.py:3: FutureWarning: no more", "a word", "a word"]


def test_a_failure_is_said_at_once_and_with_its_log_at_the_end(watch, capsys):
    log = watch.results / "logs" / "gather.log"
    note = watch.results / entry.FAILED / "gather.txt"
    note.parent.mkdir(parents=True)
    log.write_text("".join(f"line {i}\n" for i in range(40)) + "Traceback\n  1 / 0\nZeroDivisionError: division by zero\n")
    note.write_text(f"rule gather: ZeroDivisionError: division by zero\n    log: {log}\n")
    watch.tell("run_info", stats={"gather": 1, "report": 1, "total": 2})
    watch.job(1, "gather")
    watch.error(1, "gather", log=str(log))
    said = capsys.readouterr().err
    assert said == "rule gather: ZeroDivisionError: division by zero\n"
    watch.tell(None, "Exiting because a job execution failed. Look above for error messages", logging.ERROR)
    watch.failed()
    watch.tell("error", "WorkflowError:\nAt least one job did not complete successfully.", logging.ERROR)
    watch.close()
    said = capsys.readouterr().err
    assert watch.says == "" and said.count("division by zero") == 1
    assert said.startswith("\n1 job failed, 0 of 2 are done:\n\nrule gather: ZeroDivisionError: division by zero\n")
    assert f"\n    log: {log}\n        | line 30\n" in said and "line 29" not in said
    assert said.endswith("        | line 39\n        | Traceback\n        |   1 / 0\n")


def test_a_job_that_died_without_a_word(watch, capsys):
    watch.job(1, "film", scene="chess")
    watch.error(1, "film", ended="died with <Signals.SIGKILL: 9>", log="no/such.log")
    expected = "rule film, scene chess: it ended without a word (died with <Signals.SIGKILL: 9>)"
    assert capsys.readouterr().err == f"{expected}\n"
    watch.failed()
    watch.close()
    assert f"{expected}\n    log: no/such.log\n" in capsys.readouterr().err


def test_a_retried_job_that_succeeds_has_not_failed(watch, capsys):
    watch.tell("run_info", stats={"checks_1": 1, "total": 1})
    watch.job(1, "checks_1")
    watch.error(1, "checks_1")
    assert watch.tally.stages[0].failed == 1
    watch.job(1, "checks_1")
    assert watch.tally.stages[0].failed == 0
    watch.tell("job_finished", job_id=1)
    capsys.readouterr()
    watch.succeeded()
    watch.close()
    assert "failed" not in capsys.readouterr().err and watch.stages() == {"checks": (1, 1)}


def test_of_a_group_those_are_named_that_failed(watch, capsys):
    """On a cluster all jobs of a group fail with it."""
    note = watch.results / entry.FAILED / "gather.txt"
    note.parent.mkdir(parents=True)
    note.write_text("rule gather: no\n    log: a.log\n")
    for number, rule in enumerate(("claims", "gather", "report")):
        watch.job(number, rule)
        watch.error(number, rule, log=f"{rule}.log", indent=True)
    watch.failed()
    watch.close()
    said = capsys.readouterr().err
    assert said.count("rule gather: no") == 1 and "rule claims" not in said and "rule report" not in said
    assert said.startswith("\n1 job failed")


def test_of_many_failures_the_others_are_named(watch, capsys):
    for number in range(15):
        watch.job(number, "check", check=f"c{number}")
        watch.error(number, "check", log=f"{number}.log")
    watch.failed()
    watch.close()
    said = capsys.readouterr().err.split("15 jobs failed")[1]
    assert said.count("ended without a word") == 10 and "rule check c14: log: 14.log" in said


def test_jobs_that_were_told_to_stop_have_not_failed(watch, capsys, monkeypatch):
    watch.job(1, "gather")
    monkeypatch.setattr(signals, "_signals", 1)
    watch.error(1, "gather")
    watch.failed()
    watch.tell("error", "WorkflowError:\nAt least one job did not complete successfully.", logging.ERROR)
    watch.close()
    assert capsys.readouterr().err == "" == watch.says


def test_the_end_says_how_long_and_where_everything_is(watch, capsys, monkeypatch):
    monkeypatch.setattr(watching, "DOCUMENTATION", Path("not built"))
    for number, name in enumerate(("single_body.nc", "report.pdf", "explorer.html")):
        (watch.results / name).touch()
        os.utime(watch.results / name, (number, number))
    watch.tell("run_info", stats=STATS)
    for number, rule in enumerate(["references_1", "single_body_heavy_top_1"]):
        watch.job(number, rule)
        watch.tell("job_finished", job_id=number)
    watch.succeeded()
    watch.close()
    said = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"2 jobs in \d:\d\d; stages run side by side:", said[1])
    assert [re.sub(r"\d:\d\d$", "T", line) for line in said[2:4]] == [
        "  references      2 problems  T",
        "  single bodies  40 files     T",
    ]
    assert said[5:] == [
        f"The report: {watch.results}/report.pdf",
        f"The explorer: {watch.results}/explorer.html",
        "The documentation: ./reproduce docs builds it",
        f"The data: {watch.results}",
    ]
    watch.close()
    assert capsys.readouterr().err == "", "once"


def test_nothing_to_do_names_what_is_there(watch, capsys):
    (watch.results / "report.pdf").touch()
    watch.tell(None, "Nothing to be done (all requested files are present and up to date).")
    watch.close()
    assert watch.says.startswith("Nothing to be done") and capsys.readouterr().err.startswith(
        f"The report: {watch.results}/report.pdf\n"
    )


def test_products_belong_to_the_run(tmp_path):
    home, results = tmp_path / "home", tmp_path / "results"
    (results / "notebooks").mkdir(parents=True)
    report, explorer, data = (results / name for name in ("report.pdf", "explorer.html", "single_body.nc"))
    tour, another = (results / "notebooks" / name for name in ("tour.html", "a.html"))
    assert watching.products(results, home) == {}
    for path in (report, tour, another):
        path.touch()
    manual = home / watching.DOCUMENTATION
    later = {"documentation": "./reproduce docs builds it"}
    assert watching.products(results, home) == {"report": str(report), "notebooks": str(tour)} | later
    manual.parent.mkdir(parents=True)
    manual.touch()
    data.touch()
    explorer.touch()
    for path, when in ((report, 1), (tour, 3), (explorer, 3), (data, 2)):
        os.utime(path, (when, when))
    paths = {"explorer": str(explorer), "notebooks": str(tour), "documentation": str(manual), "data": str(results)}
    assert watching.products(results, home) == paths
    os.utime(data, (4, 4))
    assert watching.products(results, home) == {"data": str(results)}, "the others are of an earlier run"


def test_every_rule_has_a_stage():
    texts = [path.read_text() for path in [HOME / "Snakefile", *(HOME / "workflow" / "rules").glob("*.smk")]]
    pattern = re.compile(r'^rule (\w+):|name:\n +f"(\w+)\{', re.MULTILINE)
    rules = {first or other for text in texts for first, other in pattern.findall(text)}
    assert {"gather", "chapter_", "single_body_", "many_body_", "report"} <= rules
    lost = [rule for rule in rules - set(watching.TARGETS) if watching.stage_of(rule) == watching.OTHER]
    assert lost == [], "name them in artefacts.py"


# ---- on a terminal ----


def on_a_terminal(command, *, cwd=None, act=lambda process, read, terminal: None, size=(30, 100), **variables):
    """What a command writes to a terminal of its own, and its exit status; ``act`` may type into it."""
    import fcntl
    import struct
    import termios

    leader, follower = os.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))

    def take_terminal():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "PYTHONPATH")}
    environment |= {"TERM": "xterm-256color", "PYTHONPATH": str(HOME / "src")} | variables
    process = subprocess.Popen(
        command, cwd=cwd, stdin=follower, stdout=follower, stderr=follower, env=environment, start_new_session=True,
        preexec_fn=take_terminal,
    )  # fmt: skip
    os.close(follower)
    written = bytearray()

    def read():
        while True:
            try:
                content = os.read(leader, 65536)
            except OSError:
                return
            if not content:
                return
            written.extend(content)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        act(process, lambda: written.decode("utf-8", "replace"), leader)
        status = process.wait(timeout=600)
        reader.join(10)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    return written.decode("utf-8", "replace"), status


def wait_for(text, read, process, seconds=600):
    end = time.monotonic() + seconds
    while text not in read():
        assert process.poll() is None and time.monotonic() < end, read()
        time.sleep(0.02)


def screen(text, width=100):
    """The lines that stand on a terminal in the end: what was drawn over is gone."""
    lines, row, column = [""], 0, 0
    for token in re.findall(r"\x1b\[([0-9;?]*)([A-Za-z])|(\x1b\]8;[^\x1b]*\x1b\\)|(\r)|(\n)|([^\x1b\r\n]+)", text):
        number, command, _link, back, feed, words = token
        if command == "A":
            row = max(0, row - int(number or 1))
        elif command == "K":
            lines[row] = ""
        elif back:
            column = 0
        elif feed:
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif words:
            lines[row] = lines[row][:column].ljust(column) + words + lines[row][column + len(words) :]
            column += len(words)
    return [line.rstrip() for line in lines]


SIDE = """
import os, subprocess, sys, time
from polhode.interface.progress import Display, Stage
from polhode_study.workflow.watching import Capture
stage = Stage("cells", 10, "runs")
display = Display([stage], os.fdopen(os.dup(2), "w"))
display.start()
capture = Capture([1, 2], lambda line: display.say(line))
for i in range(10):
    stage.advance()
    time.sleep(0.12)
    subprocess.run([sys.executable, "-c", f"import os; os.write({1 + i % 2}, b'job {i}\\\\n')"])
print("of this process", file=sys.stderr)
sys.stderr.write("half a line")
capture.restore()
display.stop()
print("afterwards")
subprocess.run(["echo", "echo"])
"""

needs_terminals = pytest.mark.skipif(
    not hasattr(os, "openpty") or sys.platform == "win32", reason="there are no terminals here"
)


@pytest.mark.thorough
@needs_terminals
def test_what_jobs_write_stands_above_the_bars():
    text, status = on_a_terminal([sys.executable, "-c", SIDE])
    assert status == 0
    jobs = [f"job {i}" for i in range(10)]
    assert [line for line in screen(text) if line] == [*jobs, "of this process", "half a line", "afterwards", "echo"]
    assert "━" in text and "\x1b[?25l" not in text, "the cursor is never hidden: who is killed could not bring it back"


WORK = """
import sys, time
from polhode.interface.progress import Stage, watched
drawing = Stage("drawing", 100, "pictures")
with watched(drawing):
    for _ in range(30 if len(sys.argv) < 2 else 10000):
        drawing.advance(0.001 if len(sys.argv) > 1 else 1)
        time.sleep(0.05)
    print("a warning", file=sys.stderr)
print("done")
"""


@needs_terminals
def test_ctrl_c_takes_the_bar_away():
    def act(process, read, terminal):
        wait_for("drawing", read, process)
        os.write(terminal, b"\x03")

    text, status = on_a_terminal([sys.executable, "-c", WORK, "long"], act=act)
    assert status == -signal.SIGINT and "\x1b[?25l" not in text
    assert "drawing" not in "".join(screen(text)) and "KeyboardInterrupt" in text


# ---- a real run ----


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    from test_interruptions import Small

    return Small(tmp_path_factory.mktemp("house"))


REFERENCE = "results/references/spiral_cylinder.nc"


def log_of(said, house):
    """Snakemake's own log of a run that has named it."""
    return (house.folder / re.search(r"full log: (\S+)", said)[1]).read_text()


@pytest.mark.slow
@pytest.mark.thorough
def test_a_run_without_a_terminal_prints_lines_and_a_file(house):
    said = house.finish(REFERENCE)
    assert "polhode: 1 job; Snakemake's full log: .snakemake/log/" in said and "1 job in 0:" in said and "\x1b" not in said
    assert len(said.splitlines()) <= 12, said
    for detail in ("rule references_1:", "    output: results/references/spiral_cylinder.nc", "reason: ", "Finished jobid"):
        assert detail not in said and detail in log_of(said, house)
    process = house.start(REFERENCE, "--forcerun", "references_1", "--verbose")
    everything = process.communicate(timeout=600)[0]
    assert process.returncode == 0 and "rule references_1:" in everything and "reason: " in everything


@pytest.mark.slow
@needs_terminals
@pytest.mark.thorough
def test_a_run_on_a_terminal_shows_bars(house):
    command = ["./reproduce", "--configfile", "tiny.yaml", "--cores", "2", "results/single_body.nc", "results/many_body.nc"]
    command += ["--forcerun", "references_1"]
    text, status = on_a_terminal(command, cwd=house.folder, size=(30, 100), POLHODE_CACHE_DIR=os.environ["POLHODE_CACHE_DIR"])
    assert status == 0, text
    for stage in ("references", "single bodies", "many bodies", "figures and tables"):
        assert re.search(rf"{stage} +\S*━", text), stage
    assert "\x1b[?25l" not in text and "at work: " in text
    assert re.search(r"single_body_spiral_cylinder_1", text) and re.search(r"single bodies +\S*━\S* +[1-9]\d* of \d+ ", text)
    lines = [line for line in screen(text) if line]
    assert not any("━" in line for line in lines) and lines[-1] == f"The data: {house.results}"
    (took,) = [i for i, line in enumerate(lines) if re.match(r"\d+ jobs in ", line)]
    assert [line.split("  ")[1] for line in lines[took + 1 : -1]] == [
        "references", "single bodies", "many bodies", "figures and tables",
    ]  # fmt: skip


@pytest.mark.slow
@needs_terminals
def test_ctrl_c_leaves_a_terminal_that_can_be_used(house):
    import termios

    states = []

    def act(process, read, terminal):
        states.append(termios.tcgetattr(terminal))
        wait_for("at work: references_1", read, process)
        time.sleep(1.0)
        os.write(terminal, b"\x03")
        process.wait(timeout=600)
        states.append(termios.tcgetattr(terminal))

    # A job that would go on for long.
    script = house.folder / "workflow" / "scripts" / "references.py"
    whole = script.read_text()
    script.write_text(whole.replace("    files, times =", "    __import__('time').sleep(100)\n    files, times ="))
    command = ["./reproduce", "--configfile", "tiny.yaml", "--cores", "1", REFERENCE, "--forcerun", "references_1"]
    try:
        text, status = on_a_terminal(command, cwd=house.folder, act=act)
    finally:
        script.write_text(whole)
    assert status != 0 and states[0] == states[1]
    assert "\x1b[?25l" not in text
    lines = "\n".join(screen(text))
    assert "polhode: SIGINT: stopping all jobs; finished work is kept" in lines and "failed" not in lines
    assert not (house.results / ".lock").exists()
