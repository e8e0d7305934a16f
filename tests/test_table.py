"""A table as a value: what is in its cells, and what each writer makes of it."""

from math import nan

import pandas as pd
import pytest

from polhode.interface.table import Column, RowGroup, Table, placed, simple
from polhode_study.report.tables import latex

ROWS = [
    {"kind": "a", "name": "x_1", "error": 0.0123, "steps": 10},
    {"kind": "a", "name": "y|z", "error": nan, "steps": 200},
    {"kind": "b", "name": "<w>", "error": 2.0, "steps": 3},
]
COLUMNS = [
    Column("kind", "kind", once=True),
    Column("name", "name"),
    Column("error", "error", ".1e", "r", "s"),
    Column("steps", lambda row: row["steps"], "{:d}".format, "r"),
]
TABLE = Table(ROWS, COLUMNS, groups=[RowGroup("kind")], notes=["a note"])


def test_a_terminal_sees_aligned_columns_and_notes():
    assert TABLE.text().splitlines() == [
        "kind  name  error (s)  steps",
        "----  ----  ---------  -----",
        "a     x_1     1.2e-02     10",
        "      y|z         n/a    200",
        "b     <w>     2.0e+00      3",
        "a note",
    ]
    empty = simple(["a", "", "c"], [["1", "", "2"]], "r")
    assert empty.text(indent="  ", rule=False) == "  a  c\n  1  2"


def test_markdown_and_html_keep_their_own_signs_out_of_cells():
    assert TABLE.markdown().splitlines()[1:4] == [
        "| :--- | :--- | ---: | ---: |",
        "| a | x_1 | 1.2e-02 | 10 |",
        r"|  | y\|z | n/a | 200 |",
    ]
    assert '<tr><th scope="row">b</th><td>&lt;w&gt;</td>' in TABLE.html()
    assert simple(["a"], [["<b>1</b>"]], form=str).html().count("<b>") == 1


def test_a_file_has_all_data_and_not_what_is_printed():
    assert TABLE.csv() == "kind,name,error,steps\na,x_1,0.0123,10\na,y|z,,200\nb,<w>,2.0,3\n"
    assert Table(pd.DataFrame(ROWS), COLUMNS[:1]).csv() == TABLE.csv()
    assert simple(["a", "b"], [(1, "x,y")], form=str).csv() == 'a,b\n1,"x,y"\n'


def test_latex_has_groups_heads_and_unsplit_rows():
    columns = [Column("", 0, align="p{9mm}"), *placed(["one", "two"], "cr", first=1), Column("long", 3, align="21mm")]
    columns[1:3] = [Column(column.head, column.of, ".2f", column.align, over="both") for column in columns[1:3]]
    rows = [("a_b", 1.0, 2.0, "t"), ("a_b", 3.0, nan, "t"), ("c", 5.0, 6.0, "t")]
    table = Table(
        [], columns, rows=rows, groups=[RowGroup(0, title=str.upper), RowGroup(0, "", whole=True)], long="name", tight=True
    )
    lines = latex(table).splitlines()
    assert lines[0] == r"\begin{longtable}{@{}p{9mm}cr>{\raggedright\arraybackslash}p{21mm}@{}}"
    assert lines[3:5] == [r" & \multicolumn{2}{c}{both} &  \\", r"\cmidrule(lr){2-3}"]
    assert lines[lines.index(r"\endfoot") + 1 :] == [
        r"\multicolumn{4}{@{}l}{A_B} \\*[2pt]",
        r"a\_b & \num{1.00} & \num{2.00} & t \\*",
        r"a\_b & \num{3.00} & n/a & t \\",
        r"\addlinespace[3pt]",
        r"\multicolumn{4}{@{}l}{C} \\*[2pt]",
        r"c & \num{5.00} & \num{6.00} & t \\",
        r"\end{longtable}",
    ]


def test_a_format_is_one_of_a_number():
    with pytest.raises(TypeError):
        Table([{"a": "text"}], [Column("a", "a", ".2f")]).text()
