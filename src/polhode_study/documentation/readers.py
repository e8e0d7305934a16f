"""The answers of the README and of the landing page, as on the article's first page, from the released data."""

from pathlib import Path
from typing import Any

from polhode.interface.netcdf import read_dataset
from polhode.interface.table import simple
from polhode.methods import METHODS
from polhode_study.chapters.communities import rows as page_rows
from polhode_study.chapters.communities import tables
from polhode_study.chapters.communities.web import BEHIND as BEHIND
from polhode_study.chapters.communities.web import BESIDE as BESIDE
from polhode_study.chapters.communities.web import markdown as markdown
from polhode_study.chapters.laws import frames as law_frames
from polhode_study.documentation import engines
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report.formats import enumerated, power
from polhode_study.workflow.entry import HOME

RELEASED = HOME / "data/released"
#: What a reader of the README goes on with where that is not the page on the runs.
PAGES = {
    "_rubbing": "recommend-contacts.md",
    "_games": "engines.md#why-does-my-t-handle-not-flip",
    "_spacecraft": "recommend-class.md#a-spacecraft",
}
#: What a reader may open at once, and where it is; {}: the engines of the web without a switch.
EXAMPLES = {
    "_water": "[in a heat bath](baths.md)",
    "_games": "[a T-handle that flips, in your browser](../examples/t-handle/index.html); "
    "{} have no switch: [attach a step](engines.md#attach-the-exact-rotor), [turn the body](engines.md#any-other-engine) or "
    "[add a component of Unity](engines.md#unity)",
}


def inputs_of(released: Path = RELEASED) -> Inputs:
    """The released data, each file in the place of that of a run."""
    names = {"ensembles": "laws.nc", "many_body": "many_body.nc", "cost": "cost.nc", "checks": "checks"}
    places: dict[str, Any] = {kind: released / name for kind, name in names.items()}
    return Inputs(released=released, **places)


def behind(released: Path = RELEASED) -> str:
    """The released data, the method and a command of each row of the table; rows whose data are not released are left out."""
    inputs, lines = inputs_of(released), []
    for make in page_rows.MAKERS:
        name, file, group, page, question = BEHIND[make.__name__]
        try:
            row = make(inputs)
        except NotInRun:
            continue
        attributes = read_dataset(released / file, group).attrs if group != "/" else read_dataset(released / file).attrs
        key = str(row.numbers["method"])
        method = f"[{METHODS[key].label}](/_generated/methods/{key}.md)" if key in METHODS else f"`{key}`"
        origin = f"`data/released/{file}`, {attributes['date']}, commit {str(attributes['commit'])[:7]}"
        asking = f"`polhode recommend {question}` ([how to ask](/recommend.md))"
        if make.__name__ in BESIDE:
            bodies, another, place = BESIDE[make.__name__]
            asking += f"; {bodies} `polhode recommend {another}` ([how to ask](/{place}))"
        lines.append(
            f"* **{name}.** {markdown(f'{row.example} {row.more}')} Data: {origin} "
            f"([how it was run](/{page}.md)). Method: {method}. "
            f"Your own case: {asking}.\n"
        )
    return "".join(lines)


def as_good(released: Path = RELEASED) -> str:
    """The methods that collisions of elastic clumps do not distinguish from the recommended one, in a sentence."""
    contacts = law_frames.collisions(inputs_of(released))
    best = law_frames.recommended_in_contacts(contacts)
    names = [f"[{METHODS[each.method].label}](/_generated/methods/{each.method}.md)" for each in law_frames.as_good(contacts)]
    assert best is not None
    return (
        f"For an energy error of {markdown(power(law_frames.ENERGY))}, runs from the same states do not distinguish these "
        f"methods: {enumerated(names)}. [The first page](index.md) recommends {best.label}.\n"
    )


def table(released: Path = RELEASED) -> str:
    """A row for each kind of reader, with a link to the page on it."""
    inputs = inputs_of(released)
    rows = []
    for make in page_rows.MAKERS:
        row, page = make(inputs), PAGES.get(make.__name__, f"{BEHIND[make.__name__][3]}.md")
        example = EXAMPLES.get(make.__name__, "").format(enumerated(engines.without_switch()))
        who = f"[**{markdown(row.who)}**](/{page}), {markdown(row.what)}{example and f'; {example}'}"
        rows.append([who, *map(markdown, (row.runs, row.take, row.step))])
    return simple(["", *map(str.capitalize, tables.HEAD)], rows).markdown()
