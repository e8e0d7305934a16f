"""Which figures and tables show values of the release: a note in each file, and a list of all for the report."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

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
    shows = r"\\includegraphics(?:\[[^\]]*\])?\{(\w+)\}|\\input\{\\resultsdir/tables/(\w+)\}"
    for text in texts.values():
        for match in re.finditer(shows, text):
            kind = "figure" if match[1] else "table"
            start, end = text.rfind(rf"\begin{{{kind}", 0, match.start()), text.find(rf"\end{{{kind}", match.end())
            if start < 0 or end < 0 or rf"\end{{{kind}" in text[start : match.start()]:
                continue
            of_float = re.findall(r"\\label\{((?:fig|tab):[\w-]+)\}", text[start:end])
            if of_float:
                labels.setdefault(match[1] or match[2], of_float[0])
    return labels
