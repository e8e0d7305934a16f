"""What `polhode identify` says of engines of the web from its own recipe: ``python -m polhode_engines.by_recipe FILE.csv``.

The program of ``polhode identify --recipe --language javascript`` runs in node with the engine in the place of its step, as the
engine is shipped but for what the option says, and `polhode identify` reads the files without a hint. Engines that are not
installed keep the rows that the file has.
"""

import argparse
import csv
import json
import math
import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from polhode_engines.environments import RUN_LIMIT, EngineError, end_of, environment_of, is_installed, node, packages_of
from polhode_engines.own_code import Answer, identify_files
from polhode_engines.protocol import Engine, all_engines
from polhode_engines.recipe import recipe

#: The released file, in a checkout.
RELEASED = Path("data/released/by_recipe.csv")
LANGUAGE = "javascript"
COLUMNS = ("engine", "option", "version", "identified", "methods", "deviation", "runner_up_deviation", "fitted")
#: The function of the program in the place of which a user puts an engine.
STEP = re.compile(r"^async function start\(.*?^}\n", re.DOTALL | re.MULTILINE)
#: What stands there, with an adapter of the atlas.
OF_ADAPTER = """import {{ packagesIn }} from {packages_module};
const packages = packagesIn({folder}), adapter = await import({adapter}), option = {option};
const engine = await adapter.load(packages, option);
writeFileSync("version.txt", String(adapter.version(packages, option)));
async function start({{ q, w, dt }}) {{
  const world = adapter.start(engine, option, {{ inertia: I, q, omega: lab(q, w), dt, isShipped: true }});
  return {{
    step: (m) => world.step(m.some((x) => x) ? m : null),
    row: () => world.state().flat(),
  }};
}}
"""


def program(engine: Engine, option: str) -> str:
    """The program of the recipe with an engine of the web in it, as JavaScript; it writes run1.csv, ... and version.txt.

    Raises
    ------
    EngineError
        If there is no folder of the cache, in which the packages of the engine are.
    """
    places = {
        "packages_module": Path(__file__).with_name("packages.mjs").resolve().as_uri(),
        "folder": str(packages_of(engine).resolve()),
        "adapter": engine.path.resolve().as_uri(),
        "option": option,
    }
    step = OF_ADAPTER.format(**{name: json.dumps(text) for name, text in places.items()})
    text, count = STEP.subn(lambda _: step, recipe(language=LANGUAGE).program(LANGUAGE))
    assert count == 1
    # Some engines keep node waiting.
    return f"{text}process.exit(0);\n"


def answer_of(engine: Engine, option: str) -> tuple[str, Answer]:
    """The version of an engine, and what ``polhode identify`` says of the files that the program of the recipe writes.

    Raises
    ------
    EngineError
        Without node or the folder of the cache, or if the program fails or runs for longer than :data:`RUN_LIMIT`.
    ValueError
        From :func:`polhode_engines.own_code.identify_files`, if the files hold nothing to identify.
    """
    with tempfile.TemporaryDirectory(prefix="polhode-recipe-") as name:
        folder = Path(name)
        (folder / "spin.mjs").write_text(program(engine, option), encoding="utf-8")
        command, variables = [node(), "spin.mjs"], environment_of(engine)
        try:
            done = subprocess.run(
                command, cwd=folder, env=variables, capture_output=True, text=True, timeout=RUN_LIMIT, check=False
            )
        except subprocess.TimeoutExpired:
            raise EngineError(f"{engine.label} ({option}): stopped after {RUN_LIMIT:g} s") from None
        if done.returncode:
            raise EngineError(f"{engine.label} ({option}): {end_of(done.stderr)}")
        return (folder / "version.txt").read_text(encoding="utf-8"), identify_files(sorted(folder.glob("run*.csv")))


def row_of(engine: Engine, option: str) -> dict[str, str]:
    """One row of the table, column of :data:`COLUMNS` -> text; raises what :func:`answer_of` does.

    ``identified`` is 1 or 0; deviations are in round-offs; ``fitted`` has sentences on numbers that were fitted.
    """
    version, answer = answer_of(engine, option)
    numbers = (f"{value:.2g}" for value in (answer.deviations.get(answer.method, math.inf), answer.runner_up_deviation))
    fitted = " ".join(words[0].upper() + words[1:] for words in answer.fitted)
    verdict = (str(int(answer.identified)), " = ".join(answer.methods), *numbers, fitted)
    return dict(zip(COLUMNS, (engine.key, option, version, *verdict), strict=True))


def method_of(row_of_atlas: str) -> str:
    """The key of the method that a text ``method`` of the atlas names, identified or only the closest.

    Of several methods that are the same it is the first.
    """
    return re.sub(r"^not identified \(closest: (.*)\)$", r"\1", row_of_atlas).partition(" = ")[0]


def rows_of(before: Iterable[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """The rows (:func:`row_of`) of all engines of the web that are installed, and of the others the rows ``before``.

    Sorted by the key of the engine. Raises what :func:`answer_of` does.
    """
    web = {key: engine for key, engine in all_engines().items() if engine.is_web}
    measured = {key: engine for key, engine in web.items() if is_installed(engine)}
    rows = [row for row in before if row["engine"] in web and row["engine"] not in measured]
    rows += [row_of(engine, option) for engine in measured.values() for option in engine.options]
    return sorted(rows, key=lambda row: row["engine"])


def read(path: Path) -> list[dict[str, str]]:
    """The rows, column -> text, of a file that :func:`main` wrote; none if it does not exist."""
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the engines that are installed and write the table, as the command of the module does with these arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the CSV file that is written")
    given = parser.parse_args(arguments)
    rows = rows_of(read(given.file))
    with given.file.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
