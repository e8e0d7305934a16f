"""Tables as LaTeX."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from polhode.interface.table import Column, RowGroup, Table, value_in
from polhode_study.inputs import Inputs
from polhode_study.report.latex import decimal, escape, number, step

#: The LaTeX of a table that is a file and not typeset.
FILE_ONLY = "% This table is not typeset; the file beside it has its values.\n"
#: A rule between groups.
RULE = r"\midrule"


def latex(table: Table) -> str:
    r"""A tabular of booktabs; if it is long, a longtable with the caption ``\NAMEcaption`` and the label ``tab:NAME``.

    A table without columns is a file that is not typeset, which a comment says.
    """
    if not table.columns:
        return FILE_ONLY
    width, body = len(table.columns), list[str]()
    lines = list(table.lines(escape, _formatted))
    for number_of, (begun, cells, whole) in enumerate(lines):
        if whole:
            body[-1] += "*"
        elif number_of and begun and begun[0].before:
            before = begun[0].before
            body.append(before if before[0] == "\\" else rf"\addlinespace[{before}]")
        # The star keeps a page from ending after the title.
        end = r" \\*[2pt]" if table.long else r" \\"
        row = table.body()[number_of]
        titles = [group.title(value_in(row, group.of)) for group in begun if group.title]
        body += [rf"\multicolumn{{{width}}}{{@{{}}l}}{{{title}}}{end}" for title in titles]
        body.append(" & ".join(cells) + r" \\")
        if table.long and table.gap and number_of < len(lines) - 1:
            # No space after the last row: it would go to a separate page with nothing but the table head.
            body[-1] += rf"\addlinespace[{table.gap}]"
    edge = "@{}" if table.tight else ""
    types = edge + "".join(map(_type, table.columns)) + edge
    top = [r"\toprule", *_over(table.columns), " & ".join(column.title for column in table.columns) + r" \\", r"\midrule"]
    if not table.long:
        return "\n".join([rf"\begin{{tabular}}{{{types}}}", *top, *body, r"\bottomrule", r"\end{tabular}", ""])
    caption = rf"\caption{{\{table.long}caption}}\label{{tab:{table.long}}}\\"
    continued = rf"\multicolumn{{{width}}}{{l}}{{\emph{{Table~\thetable, continued}}}}\\"
    head = [caption, *top, r"\endfirsthead", continued, *top, r"\endhead", r"\bottomrule", r"\endfoot"]
    return "\n".join([rf"\begin{{longtable}}{{{types}}}", *head, *body, r"\end{longtable}", ""])


def _formatted(value: float, form: str) -> str:
    """A finite number in the format ``.2f``, ``.1e`` or, with two digits, ``.2g``."""
    digits, kind = int(form[1:-1]), form[-1]
    return decimal(value, digits) if kind == "f" else step(value, digits + 1) if kind == "e" else number(value, digits)


def _type(column: Column) -> str:
    """The type of a column; a paragraph's by its width."""
    return rf">{{\raggedright\arraybackslash}}p{{{column.align}}}" if column.align[0].isdigit() else column.align


def _over(columns: Sequence[Column]) -> list[str]:
    """The heads over several columns, with rules, as the lines above the head."""
    texts, rules, place = list[str](), "", 1
    for text, members in groupby(columns, key=lambda column: column.over):
        size = len(list(members))
        texts += [rf"\multicolumn{{{size}}}{{c}}{{{text}}}"] if text and size > 1 else [text] * size
        rules += rf"\cmidrule(lr){{{place}-{place + size - 1}}}" if text and size > 1 else ""
        place += size
    return list(filter(None, [" & ".join(texts) + r" \\", rules])) if any(texts) else []


def by_group(inputs: Inputs, methods: Iterable[str]) -> RowGroup:
    """Groups of methods, a little apart; ``methods`` are the rows, or under this key of them."""
    group_of = {key: name for name, keys in inputs.grouped(methods) for key in keys}
    return RowGroup(lambda row: group_of[row if isinstance(row, str) else row["method"]])


def of_methods(
    inputs: Inputs, frame: Any, methods: Iterable[str], label: Any, columns: Iterable[Column], **layout: Any
) -> Table:
    """A table with a row for each of these methods, in groups: its label, and columns of its key."""
    rows = inputs.in_order(methods)
    return Table(frame, [Column("method", label), *columns], rows=rows, groups=[by_group(inputs, rows)], **layout)
