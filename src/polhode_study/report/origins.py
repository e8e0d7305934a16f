"""Which figures and tables show values of the release: a note in each file, and a list of all for the report."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from polhode_study.report.shortened import FLOAT, included

#: What a note in a figure or table begins with.
NOTE = "values of the release: "


def note(experiments: Iterable[str]) -> str:
    """The note in a file that shows these experiments of the release; empty if there are none."""
    names = sorted(experiments)
    return f"{NOTE}{', '.join(names)};" if names else ""


def noted(path: Path) -> tuple[str, ...]:
    """The experiments in the note of a figure (PDF) or table (LaTeX); none without a note."""
    match = re.search(rb"%s([^;]*);" % NOTE.encode(), path.read_bytes())
    return tuple(match[1].decode("ascii", "replace").split(", ")) if match else ()


def rows_of_release(files: Iterable[Path], texts: Mapping[str, str]) -> str:
    """Rows of LaTeX: experiments, and the figures and tables that show values of the release for them.

    Parameters
    ----------
    files : figures as PDF and tables as LaTeX
    texts : the texts of the documents, which say the label of each
    """
    floats_of: dict[str, list[str]] = {}
    labels = _labels(texts)
    for path in sorted(files, key=lambda file: (file.suffix, file.stem)):
        for experiment in noted(path):
            floats_of.setdefault(experiment, []).append(path.stem)
            # A table over several pages has its label itself.
            if path.suffix == ".tex" and (label := re.search(r"\\label\{(tab:[\w-]+)\}", path.read_text(encoding="utf-8"))):
                labels[path.stem] = label[1]
    rows = []
    for experiment, names in sorted(floats_of.items()):
        floats = [labels[name] for name in dict.fromkeys(names) if name in labels]
        places = [rf"{'Fig.' if label.startswith('fig') else 'Table'}~\ref{{{label}}}" for label in dict.fromkeys(floats)]
        rows.append(rf"{experiment} & {', '.join(places) or '--'} \\")
    return "\n".join(rows or [r"none & all values were computed by this run \\"]) + "\n"


def _labels(texts: Mapping[str, str]) -> dict[str, str]:
    """The label of the float that shows a figure or table, by its name."""
    labels: dict[str, str] = {}
    for match in (match for text in texts.values() for match in FLOAT.finditer(text)):
        if label := re.search(r"\\label\{((?:fig|tab):[\w-]+)\}", match[0]):
            labels |= {name: label[1] for name in included(match[0]) if name not in labels}
    return labels
