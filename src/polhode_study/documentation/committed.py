"""What the pages show in a checkout or on a code-hosting page, where nothing is built, and what only built pages have.

``python -m polhode_study.documentation.committed`` writes tables from the released data and the registries into the README and
``docs/*.md``, each between two marks. Links to a method, a problem, a scene or a notebook lead to its file, and on the built
pages to its page. What only built pages have, such as figures, stands there in comments that begin with :data:`ONLY_BUILT`.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from polhode_study.documentation.markdown import put
from polhode_study.workflow.entry import HOME

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: A generated text between its marks.
MARKED = re.compile(
    r"(?P<begin><!-- made by python -m polhode_study\.documentation\.committed: (?P<name>\w+) -->\n)"
    r"(?P<text>.*?)(?P<end><!-- end -->)",
    re.S,
)
#: The comment in which a page keeps what only built pages show.
ONLY_BUILT = re.compile(r"^<!-- built pages:$(?P<text>.*?)^-->$", re.S | re.M)
#: Folders of the repository, and of the generated pages on the same things, with the ending of the files there.
FOLDERS = {
    "src/polhode/methods": ("_generated/methods", ".py", ".md"),
    "src/polhode/problems": ("_generated/problems", ".py", ".md"),
    "src/polhode/manybody/scenes": ("_generated/scenes", ".py", ".md"),
    "notebooks": ("_generated/notebooks", ".ipynb", ".ipynb"),
}


def makers() -> dict[str, Callable[[], str]]:
    """The generated texts by the names in their marks: Markdown whose links begin at the folder ``docs``."""
    from polhode_study.documentation import baths, configuration, engines, pages, readers, reference
    from polhode_study.documentation.measured import Measurements

    inputs = readers.inputs_of
    return {
        "readers": readers.table,
        "behind": readers.behind,
        "as_good": readers.as_good,
        "released": reference.rest_on_release,
        "failed": reference.failed,
        "landing": lambda: pages.landing_table(inputs()),
        "measured": lambda: pages.origin(Measurements.released()),
        "methods": lambda: pages.methods_table(Measurements.released()),
        "problems": lambda: pages.problems_table(Measurements.released()),
        "scenes": pages.scenes_table,
        "molecules": pages.molecules_table,
        "liquids": pages.liquids_table,
        "baths": pages.baths_table,
        "baths_longest": pages.baths_longest,
        "baths_structure": pages.baths_structure,
        "baths_of_drifting": pages.baths_of_drifting,
        "bath_codes": baths.what_codes_sample,
        "bath_rescaling": baths.velocity_rescaling,
        "engines": engines.engines_page,
        "engines_advice": engines.advice_page,
        "engines_shipped": engines.shipped_page,
        "engines_handle": engines.handle_page,
        "engines_sources": engines.sources_page,
        "engines_liquids": engines.liquids_page,
        "engines_attach": engines.attach_page,
        "engines_recipe": engines.recipe_page,
        "engines_wheels": engines.wheels_page,
        "engines_contacts": engines.contacts_page,
        "engines_questions": engines.questions_page,
        "method_variables": pages.variables_of_sheets,
        "kernels": pages.kernels_table,
        "citation": reference.citation,
        "keys": configuration.short_table,
    }


def pages_with_marks() -> list[Path]:
    """The README and the pages of ``docs``."""
    return [HOME / "README.md", *sorted((HOME / "docs").glob("*.md"))]


def marked(path: Path) -> Iterator[tuple[str, str]]:
    """The name and the text of each generated part of a page."""
    for match in MARKED.finditer(path.read_text(encoding="utf-8")):
        yield match["name"], match["text"]


def text_in(path: Path, name: str) -> str:
    """A generated text as it has to stand in a page: links are relative to the page, and lead to files of the repository."""
    text = makers()[name]()
    for folder, (generated, ending, built) in FOLDERS.items():
        text = re.sub(rf"\]\(/{generated}/([\w.-]+){re.escape(built)}\)", rf"](../{folder}/\1{ending})", text)
    text = text.replace("](/", "](").strip()
    if path.parent == HOME:
        text = re.sub(r"\]\((?!\w+:|\.\./)", "](docs/", text).replace("](../", "](")
    return f"\n{text}\n\n"


def write(path: Path) -> None:
    """Make the generated texts of a page again."""
    before = path.read_text(encoding="utf-8")
    put(path, MARKED.sub(lambda match: match["begin"] + text_in(path, match["name"]) + match["end"], before))


def as_built(text: str) -> str:
    """The source of a page as Sphinx reads it: with what stands in comments, and links to generated pages; lines are kept."""
    text = ONLY_BUILT.sub(lambda match: match["text"], text)
    for folder, (generated, ending, built) in FOLDERS.items():
        for name in re.findall(rf"\]\(\.\./{folder}/([\w.-]+){re.escape(ending)}\)", text):
            if (HOME / "docs" / generated / f"{name}{built}").exists():
                text = text.replace(f"](../{folder}/{name}{ending})", f"](/{generated}/{name}{built})")
    return text


def _read(app: "Sphinx", name: str, source: list[str]) -> None:
    source[0] = as_built(source[0])


def setup(app: "Sphinx") -> dict[str, object]:
    """Show on built pages what they alone have."""
    app.connect("source-read", _read)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def main() -> None:
    """Make the generated texts of all pages again."""
    for path in pages_with_marks():
        write(path)


if __name__ == "__main__":
    main()
