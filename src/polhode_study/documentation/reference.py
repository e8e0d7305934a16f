"""The reference of the configuration, the commands and the variables in the data files; autosummary lists the modules."""

import argparse
import csv
import json
import zipfile
from collections.abc import Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import yaml

from polhode import cli
from polhode_study.chapters import all_chapters
from polhode_study.chapters import files as files_of_chapters
from polhode_study.checks import CHECKS
from polhode_study.documentation import configuration
from polhode_study.documentation.markdown import table
from polhode_study.judge.verdicts import COUNTED, VERDICTS
from polhode_study.report.claims import SOURCES
from polhode_study.workflow.entry import HOME


def pages(home: Path = HOME) -> dict[str, str]:
    """The pages on configuration, commands and variables, by their names below the generated folder."""
    return {
        "configuration.md": configuration.tables(home),
        "commands.md": commands_tables(),
        "variables.md": variables_tables(home / "docs/variables.csv"),
    }


# ---- what rests on the release ----

#: Data of which the default study computes a part and takes the rest from the release.
RELEASED = ("ensembles", "single_body", "many_body")


def rest_on_release() -> str:
    """The experiments of the release that the default study takes, and the figures and tables that may show them."""
    rows = []
    for chapter in all_chapters().values():
        read = [f"`{kind}.nc`" for kind in RELEASED if kind in chapter.kinds]
        read += [f"`checks/{name}`" for name in chapter.checks_needed if CHECKS[name].witness is not None]
        files = [f"`{name}`" for name in dict.fromkeys((*chapter.figures, *chapter.tables))]
        if files and read:
            rows.append((chapter.title, ", ".join(read), ", ".join(files)))
    return table(["section", "reads of `data/released/full`", "figures and tables that may show it"], rows)


# ---- what does not hold ----


def failed() -> str:
    """The statements of the publications that the released run does not bear out, without those about time."""
    verdicts = json.loads(zipfile.ZipFile(HOME / "data/released/manifest.zip").read("manifest.json"))["verdicts"]
    failures, rows = {VERDICTS[kind][1] for kind in COUNTED}, []
    for path in files_of_chapters(HOME, "claims.yaml", False):
        before = ""
        for entry in yaml.safe_load(path.read_text(encoding="utf-8")):
            # A part of a sentence goes on with the statement before it.
            text = f"{before}, {entry['statement']}" if entry["statement"].startswith(("and ", "so ")) else entry["statement"]
            if entry["kind"] not in COUNTED:
                continue
            before = text.partition(" (")[0]
            if verdicts.get(entry["id"]) in failures:
                printed = f" ({entry['published']})" if entry["kind"] == "number" else ""
                rows.append((entry["source"], entry["location"], text + printed, verdicts[entry["id"]]))
    rows.sort(key=lambda row: list(SOURCES).index(row[0]))
    return table(
        ["source", "place", "statement, in our words", "verdict"],
        [(SOURCES[source].replace("\\ ", " "), *others) for source, *others in rows],
    )


# ---- variables of the data files ----

#: Words of attributes in released files, which stay as they are there, and what the pages say for them.
READ_AS = {"bookkeeping": "update scheme", "cures": "corrections", "cure": "correction"}


def in_plain_words(meaning: str) -> str:
    """The meaning of a variable, a text of a data file, in the words of the pages."""
    for word, plain in READ_AS.items():
        meaning = meaning.replace(word, plain)
    return meaning


def variables(path: Path) -> list[dict[str, str]]:
    """The rows of variables.csv: file, group, variable, dimensions, units, long_name."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def variables_tables(path: Path) -> str:
    """Every variable of every kind of file."""
    parts: list[str] = []
    for file, of_file in groupby(variables(path), key=itemgetter("file")):
        parts.append(f"## {file}\n")
        for group, rows in groupby(of_file, key=itemgetter("group")):
            parts += [f"### Group `{group}`\n"] if group else []
            body = [(f"`{r['variable']}`", r["dimensions"], r["units"], in_plain_words(r["long_name"])) for r in rows]
            parts.append(table(["variable", "dimensions", "units", "meaning"], body))
    return "\n".join(parts)


# ---- notebooks ----


def notebooks(home: Path, results: Path) -> dict[str, bytes]:
    """The tutorials, executed if the run has them, otherwise as stored."""
    paths = {path.name: path for path in sorted((home / "notebooks").glob("*.ipynb"))}
    result: dict[str, bytes] = {}
    for name, path in paths.items():
        executed = results / "notebooks" / name
        result[f"notebooks/{name}"] = (executed if executed.is_file() else path).read_bytes()
    return result


# ---- commands ----


def commands_tables() -> str:
    """Every command of ``polhode``, with its purpose and options."""
    parts = []
    actions = cli.parser()._actions
    (commands,) = [action for action in actions if isinstance(action, argparse._SubParsersAction)]
    for name, command in sorted(commands.choices.items()):
        text = [paragraph.replace("<", r"\<") for paragraph in (command.description or "").strip().split("\n\n")]
        rows = []
        for action in command._actions:
            if isinstance(action, argparse._HelpAction):
                continue
            names = ", ".join(f"`{option}`" for option in action.option_strings) or f"`{action.metavar or action.dest}`"
            rows.append((names, (action.help or "") % {**vars(action), "prog": command.prog}))
        parts.append(f"## {name}\n\n" + "\n\n".join(text) + "\n")
        if rows:
            parts.append(table(["option", ""], rows))
    return "\n".join(parts)


# ---- citation ----


def _people(entry: Mapping[str, Any]) -> str:
    names = [
        person["name"] if "name" in person else f"{person.get('given-names', '')} {person.get('family-names', '')}".strip()
        for person in entry["authors"]
    ]
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def citation(home: Path = HOME) -> str:
    """The citations of polhode and its sources, from CITATION.cff: in words, and polhode as BibTeX."""
    data = yaml.safe_load((home / "CITATION.cff").read_text(encoding="utf-8"))
    year = data["date-released"].year
    lines = [f"> {_people(data)} ({year}): *{data['title']}*, version {data['version']}.", ""]
    fields = {
        "author": f"{{{_people(data)}}}",
        "title": f"{{{{{data['title']}}}}}",
        "version": f"{{{data['version']}}}",
        "year": f"{{{year}}}",
        **{name: f"{{{data[name]}}}" for name in ("doi", "url") if name in data},
    }
    body = ",\n".join(f"  {name} = {value}" for name, value in fields.items())
    lines += [f"```bibtex\n@software{{polhode,\n{body},\n}}\n```", "", "## Sources", ""]
    for work in data["references"]:
        place = work.get("journal") or work.get("collection-title") or work.get("publisher", {}).get("name", "")
        volume = f" {work['volume']}" if "volume" in work else ""
        doi = f", [doi:{work['doi']}](https://doi.org/{work['doi']})" if "doi" in work else ""
        where = f", {place}{volume}" if place else ""
        lines.append(f"* {_people(work)} ({work['year']}): *{work['title']}*{where}{doi}")
    return "\n".join(lines) + "\n"
