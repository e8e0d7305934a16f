"""The reference: pages of the library's modules, of the configuration and of the variables in the data files."""

import argparse
import ast
import csv
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

import polhode
from polhode import cli
from polhode.documentation import configuration
from polhode.documentation.markdown import table
from polhode.methods import METHODS
from polhode.problems import PROBLEMS
from polhode.study.workflow.entry import HOME

#: Modules of internal use only, which the reference leaves out.
HIDDEN = ("polhode.__main__",)
#: Packages in the order in which the reference lists them, with their purpose.
PACKAGES: dict[str, str] = {
    "polhode": "The library",
    "polhode.methods": "Methods",
    "polhode.problems": "Problems",
    "polhode.references": "References",
    "polhode.manybody": "Many bodies",
    "polhode.ensembles": "Ensembles of random bodies",
    "polhode.study": "The study",
}
#: Packages that only produce the content of the report and these pages: named, without a page for each module.
INSIDE: dict[str, str] = {
    "polhode.study.explorer": "The interactive page",
    "polhode.documentation": "These pages",
}


def pages(home: Path = HOME) -> dict[str, str]:
    """All pages of the reference by their names below the generated folder."""
    result: dict[str, str] = {}
    listing: dict[str, list[str]] = {name: [] for name in PACKAGES}
    for module in modules():
        result[f"api/{module}.md"] = module_page(module)
        # The longest matching package.
        listing[max((name for name in PACKAGES if f"{module}.".startswith(f"{name}.")), key=len)].append(module)
    parts = []
    for package, title in PACKAGES.items():
        rows = [(f"[{name}](/_generated/api/{name}.md)", summary(name)) for name in sorted(listing[package])]
        if rows:
            parts.append(f"## {title}\n\n{table(['module', ''], rows)}")
    rows = [(f"`{name}`", text) for name, text in INSIDE.items()]
    targets = "\n".join(f".. py:module:: {name}" for name in _everything() if _inside(name))
    parts.append(f"## Inside\n\n{table(['package', ''], rows)}\n```{{eval-rst}}\n{targets}\n```\n")
    names = "\n".join(f"/_generated/api/{name}" for package in PACKAGES for name in sorted(listing[package]))
    parts.append(f"```{{toctree}}\n:hidden:\n\n{names}\n```")
    result["api/table.md"] = "\n".join(parts) + "\n"
    result["configuration.md"] = configuration.tables(home)
    result["commands.md"] = commands_tables()
    result["citation.md"] = citation(home)
    result["variables.md"] = variables_tables(home / "docs/variables.csv")
    return result


# ---- modules ----


def modules() -> list[str]:
    """All modules that have a page here: those of single methods and problems have one of their own, some are named only."""
    own_pages = {f"polhode.methods.{key}" for key in METHODS} | {f"polhode.problems.{key}" for key in PROBLEMS}
    return sorted(["polhode", *(name for name in _everything() if name not in own_pages and not _inside(name))])


def _everything() -> list[str]:
    return [info.name for info in pkgutil.walk_packages(polhode.__path__, "polhode.") if info.name not in HIDDEN]


def _inside(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in INSIDE)


def _source(module: str) -> Path:
    path = HOME / "src" / Path(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def summary(module: str) -> str:
    """The first sentence of a module."""
    text = ast.get_docstring(ast.parse(_source(module).read_text(encoding="utf-8"))) or ""
    first = " ".join(text.split("\n\n")[0].split())
    return first.replace("``", "`")


def module_page(module: str) -> str:
    """The page of one module: everything public in it."""
    options = "   :members:\n   :ignore-module-all:\n   :member-order: bysource\n"
    return f"# {module}\n\n```{{eval-rst}}\n.. automodule:: {module}\n{options}```\n"


# ---- variables of the data files ----


def variables(path: Path) -> list[dict[str, str]]:
    """The rows of variables.csv: file, group, variable, dimensions, units, long_name."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def variables_tables(path: Path) -> str:
    """Every variable of every kind of file."""
    if not path.is_file():
        return ""
    parts: list[str] = []
    files: dict[str, dict[str, list[dict[str, str]]]] = {}
    for row in variables(path):
        files.setdefault(row["file"], {}).setdefault(row["group"], []).append(row)
    for file, groups in files.items():
        parts.append(f"## {file}\n")
        for group, rows in groups.items():
            if group:
                parts.append(f"### Group `{group}`\n")
            body = [(f"`{r['variable']}`", r["dimensions"], r["units"], r["long_name"]) for r in rows]
            parts.append(table(["variable", "dimensions", "units", "meaning"], body))
    return "\n".join(parts)


# ---- notebooks ----


def notebooks(home: Path, results: Path) -> dict[str, bytes]:
    """The tutorials, executed if the run has them, otherwise as stored; and the page that lists them."""
    paths = {path.name: path for path in sorted((home / "notebooks").glob("*.ipynb"))}
    result: dict[str, bytes] = {}
    for name, path in paths.items():
        executed = results / "notebooks" / name
        result[f"notebooks/{name}"] = (executed if executed.is_file() else path).read_bytes()
    order = [f"{stem}.ipynb" for stem in TUTORIALS if f"{stem}.ipynb" in paths]
    order += [name for name in paths if name not in order]
    names = "\n".join(f"/_generated/notebooks/{name.removesuffix('.ipynb')}" for name in order)
    executed_all = bool(paths) and all((results / "notebooks" / name).is_file() for name in paths)
    text = "" if executed_all else "They are shown without output; a run of the study executes them.\n\n"
    listing = f"```{{toctree}}\n:maxdepth: 1\n\n{names}\n```\n" if names else ""
    result["notebooks/list.md"] = (text + listing).encode()
    return result


#: The order in which the tutorials are read.
TUTORIALS = ("tour", "choose-a-method", "many-bodies", "liquids", "add-a-method", "the-reference")


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


def _people(entry: Mapping[str, Any], last: str = " and ") -> str:
    names = [
        person["name"] if "name" in person else f"{person.get('given-names', '')} {person.get('family-names', '')}".strip()
        for person in entry["authors"]
    ]
    return last.join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


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
