"""Table of the energy error of splittings with their rotors in each order."""

from collections.abc import Callable
from functools import partial

from polhode.interface.table import Column, RowGroup, Table
from polhode_study.chapters.no_squish import frames
from polhode_study.inputs import Inputs
from polhode_study.report.formats import factor
from polhode_study.report.latex import decimal, escape, step

#: The splittings as the table names them.
FAMILIES = {"rotors": "three rotors", "top": "sphere and two rotors"}


def rotor_order(inputs: Inputs) -> Table:
    """A table of the orders: how often each is the best, its ratio to the best, its error; last, the order chosen by score."""
    summary = frames.summary(inputs.check("rotor_order"))
    orders, families = (list(map(str, summary[name].values)) for name in ("order", "family"))

    def of_family(head: str, name: str, form: Callable[[float], str], family: str, align: str = "r") -> Column:
        of_order = lambda order: float(summary[name].sel(order=order, family=family))  # noqa: E731
        return Column(head, of_order, form, align, over=FAMILIES[family])

    columns = [Column("order", None, lambda order: "least score" if order == frames.CHOSEN else escape(" ".join(order)))]
    for family in families:
        columns += [
            of_family(r"best (\%)", "best", lambda share: decimal(100 * share, 0), family),
            of_family("median", "median", factor, family),
            of_family(r"95\,\%", "p95", factor, family),
            of_family("largest", "largest", factor, family),
            of_family("error", "typical", partial(step, digits=2), family, "c"),
        ]
    rows = sorted(orders, key=lambda order: order == frames.CHOSEN)
    chosen = RowGroup(lambda order: order == frames.CHOSEN, "2pt")
    return Table(summary.to_dataframe().reset_index(), columns, rows=rows, groups=[chosen])
