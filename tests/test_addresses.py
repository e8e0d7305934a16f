"""Numbers of the text that are cells of tables, and macros: what the text uses is made, and nothing else."""

import ast
import re
from pathlib import Path

import pytest

from polhode_study import chapters
from polhode_study.report import captions, macros
from polhode_study.report.addresses import ABSENT, AddressError, Tables, addresses

HOME = Path(__file__).parents[1]
TEX = chapters.texts(HOME)
#: Cells written by hand, for a table that a chapter has.
ORDERS = """method,problem,order,order_low,order_high,count,label,empty
rk4,heavy_top,3.994,3.985,4.021,12.0,Runge & Kutta,
rk4,free_top,4.0021,4.001,4.0039,7,Runge & Kutta,
spiral,heavy_top,0.00012345,1e-4,2e-4,inf,SPIRAL,
"""


@pytest.fixture
def tables(tmp_path):
    (tmp_path / "orders.csv").write_text(ORDERS)
    (tmp_path / "cost.csv").write_text("note\nthis run measured no times\n")
    return lambda is_whole=True: Tables(tmp_path, is_whole)


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("{orders}{rk4, heavy_top}{order}{2 digits}", r"\num{4.0}"),
        ("{orders}{rk4, heavy_top}{order}{1 digit}", r"\num{4}"),
        ("{orders}{rk4, heavy_top}{order}{2 decimals in range}", r"\num{3.99}~[\num{3.98}, \num{4.02}]"),
        ("{orders}{rk4, free_top}{order}{2 decimals in range}", r"\num{4.00}"),
        ("{orders}{problem=free_top}{count}{count}", "7"),
        ("{orders}\n  {spiral,\n heavy_top}{order}\n{3 digits, \\second}", r"\qty{1.23e-04}{\second}"),
        ("{orders}{count=12, problem=heavy_top}{label}{words}", r"Runge \& Kutta"),
        ("{orders}{spiral}{order}{factor in interval}", r"\num{0.00012} (\num{0.00010} to \num{0.00020})"),
        ("{orders}{spiral}{count}{factor}", r"$\infty$"),
        ("{orders}{spiral}{empty}{factor}", rf"\{ABSENT}{{}}"),
        ("{cost}{rk4}{step}{factor}", rf"\{ABSENT}{{}}"),
        ("{claims}{rk4}{step}{factor}", rf"\{ABSENT}{{}}"),
    ],
)
def test_an_address_is_filled_from_the_cell(address, text, tables):
    r"""Also over lines; ``\value`` is another command."""
    assert tables().filled(rf"A \value{{x}} $\val{address}$ z", "a.tex") == rf"A \value{{x}} ${text}$ z"


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("{ordres}{rk4}{order}{plain}", r"no chapter has this table; there is: orders"),
        ("{orders}{rk4, heavy_top}{ordr}{plain}", r"the table has no column ordr; there is: order"),
        ("{orders}{rk5, heavy_top}{order}{plain}", r"no row has method=rk5; there is: rk4"),
        ("{orders}{rk4, cube}{order}{plain}", r"no row has problem=cube; there is: heavy_top, free_top"),
        ("{orders}{metod=rk4}{order}{plain}", r"the table has no column metod; there is: method"),
        ("{orders}{rk4}{order}{plain}", r"2 rows are meant; name one of them by one of: problem, order, "),
        ("{orders}{spiral}{order}{2 numbers}", r"unknown format; formats are: N digits, .*words, with a number for N"),
        ("{orders}{spiral}{label}{plain}", r"the cell 'SPIRAL' is no number; its format is: words"),
        ("{orders}{spiral}{order}", r"\\val takes four arguments in braces: table, row, column and format"),
    ],
)
def test_a_wrong_address_is_named_with_file_and_line(address, message, tables):
    with pytest.raises(AddressError, match=rf"^paper/a\.tex:3: .*{message}"):
        tables().filled(f"Text\n% more\nof \\val{address} and more", "paper/a.tex")


def test_a_reduced_run_may_lack_rows_and_columns(tables):
    for address in ("{orders}{rk5}{order}{plain}", "{orders}{spiral}{ordr}{plain}"):
        assert tables(is_whole=False).filled(rf"\val{address}", "a.tex") == rf"\{ABSENT}{{}}"
    with pytest.raises(AddressError, match="unknown format"):
        tables(is_whole=False).filled(r"\val{orders}{spiral}{order}{many}", "a.tex")


def test_captions_have_the_cells(tables, tmp_path):
    source = tmp_path / "a.tex"
    source.write_text(
        r"\begin{figure}\includegraphics{one}"
        r"\caption{After \val{orders}{spiral}{order}{1 digit, \second}, \val{cost}{a}{b}{plain}.}\end{figure}"
    )
    assert captions.captions([source], [], tmp_path)["figures/one"] == r"After \ :math:`10^{-4}`\  s, n/a."


def test_every_address_in_the_texts_is_well_formed():
    assert [address for path in TEX for address in addresses(path.read_text(), path.name)]


def _names(path):
    """The names of macros in a module, as regular expressions: what braces insert are letters, and what a call adds."""
    tree = ast.parse(path.read_text())
    strings = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    within = {id(inner) for node in strings for inner in ast.walk(node) if inner is not node}
    strings += [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    arguments = {id(node) for call in ast.walk(tree) if isinstance(call, ast.Call) for node in call.args}
    for node in strings:
        if id(node) not in within:
            pieces = node.values if isinstance(node, ast.JoinedStr) else [node]
            name = "".join(re.escape(piece.value) if isinstance(piece, ast.Constant) else "[A-Za-z]*" for piece in pieces)
            if re.match(f"(?:{'|'.join(macros.PREFIXES)})[A-Za-z[]", name) and " " not in name:
                yield name + "[A-Za-z]*" * (id(node) in arguments)


@pytest.mark.parametrize("path", chapters.files(HOME, "numbers.py"), ids=lambda path: path.parent.name)
def test_every_macro_of_a_chapter_is_used(path):
    """Of a family of macros at least one, which has no name of its own."""
    used, names = macros.used(TEX), set(_names(path))
    of_families = used - names
    unused = {name for name in names - used if not any(re.fullmatch(name, macro) for macro in of_families)}
    assert names and unused == set()
