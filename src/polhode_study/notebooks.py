"""The notebooks of a run: executed on its results and converted into pages that need no network.

A notebook is stored without outputs and reads ``results``, the folder of results, from its cell tagged ``parameters``. nbclient
executes it, and nbconvert makes the page. What is added to them here, and why:

* The kernel is the Python running this module, whatever kernels the user has registered, in the folder of the notebooks and
  with an empty configuration: a notebook shows what the study computed, on every machine.
* Equal results give equal output: no times, no random names, no paths; warnings are printed instead of shown.
* An error names notebook, cell and reason.
* Cells are executed one by one: :meth:`nbclient.NotebookClient.execute` handles SIGINT and SIGTERM itself, and a notebook that
  was told to stop would be reported as one whose kernel died.
* Formulas of the page are MathML, pictures have a description, and nothing is fetched.

``python -m polhode_study.notebooks`` strips the outputs from the notebooks of the checkout before they are committed.
"""

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from docutils.utils.math.latex2mathml import tex2mathml
from jinja2 import DictLoader
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbconvert.exporters.html import HTMLExporter
from nbconvert.filters.ansi import strip_ansi
from nbconvert.filters.highlight import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbconvert.preprocessors import ClearOutputPreprocessor
from nbformat import NotebookNode

#: The library's source folder: the kernel imports the same modules as this process.
SOURCES = Path(__file__).parents[1]
#: Time limits for the start of a kernel and for a cell, s; compiling everything on a slow machine takes longest.
START, PATIENCE = 300, 900
#: Tag of the cell that sets the folder of results.
PARAMETERS = "parameters"
#: Metadata of a stored notebook, just enough for an editor to colour the code and to choose a kernel.
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
#: Figures as they are: cropping them draws each once more, and their layout leaves nothing to crop.
PICTURES = ["--InlineBackend.figure_formats=retina", "--InlineBackend.print_figure_kwargs={'bbox_inches': None}"]
#: Maximum length of the path of a socket.
LONGEST_SOCKET = 90

_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
#: Template of the page: that of JupyterLab without remote content, at the width of a text.
_PAGE = """{%- extends 'lab/index.html.j2' -%}
{%- block html_head_js -%}{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block html_head_js_mermaidjs -%}{%- endblock -%}
{%- block data_png scoped -%}{{ super() | described(output) }}{%- endblock -%}
{%- block html_head_css -%}
<style>
main { max-width: 1100px; margin: 2em auto 4em; padding: 0 1.5em; }
body.jp-Notebook { overflow: auto; }
.jp-RenderedHTMLCommon { font-size: 15px; line-height: 1.55; }
.jp-RenderedHTMLCommon h1 { font-size: 2em; }
.jp-RenderedMarkdown { max-width: 46em; }
.jp-CodeCell { margin: 0.4em 0; }
.jp-OutputArea-output { overflow-x: auto; }
.jp-RenderedImage { margin: 0.8em 0; }
.jp-RenderedHTMLCommon img, .jp-RenderedImage img { max-width: 100%; height: auto; }
.jp-RenderedMarkdown .highlight { background: whitesmoke; padding: 0.1em 0.8em; margin: 0.8em 0; overflow-x: auto; }
.jp-RenderedHTMLCommon table { font-size: 13px; }
table.dataframe td, table.dataframe th { text-align: left !important; }
math[display="block"] { margin: 0.9em 0; font-size: 1.05em; }
mtable.ams-align > mtr > mtd:nth-child(odd) { text-align: right; }
mtable.ams-align > mtr > mtd:nth-child(even) { text-align: left; }
</style>
{%- endblock -%}
"""


class NotebookError(RuntimeError):
    """Error for a damaged notebook or a failed cell; the message names notebook, cell and reason."""


def read(path: str | Path) -> NotebookNode:
    """The notebook stored in a file.

    Raises
    ------
    NotebookError
        If the file does not exist or is not a notebook; the message names the file.
    """
    try:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
    except (OSError, ValueError, AttributeError, nbformat.ValidationError) as error:
        raise NotebookError(
            f"{path} is not a notebook ({str(error).splitlines()[0]}); restore it from the repository"
        ) from error
    return notebook


def title(notebook: Mapping[str, Any]) -> str:
    """The first heading of a notebook."""
    text = "\n".join(cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    heading = re.search(r"^# +(.+)$", text, re.MULTILINE)
    return heading[1] if heading else ""


def execute(path: str | Path, results: str | Path) -> tuple[NotebookNode, list[str]]:
    """Run a notebook on the results of a run.

    Parameters
    ----------
    path : the stored notebook; it runs in its folder
    results : folder of results

    Returns
    -------
    The notebook with its outputs, equal for equal results, wherever they are stored; and the standard error of its cells:
    warnings, which are not part of the page.

    Raises
    ------
    NotebookError
        If a cell fails; the traceback is printed, the message names notebook and cell.
    """
    path = Path(path).absolute()
    notebook = read(path)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    parameters = next((cell for cell in code if PARAMETERS in cell.metadata.get("tags", [])), None)
    if parameters is None:
        raise NotebookError(f"{path} has no cell with the tag {PARAMETERS!r}, which says where the results are")
    stored = parameters.source
    parameters.source = f"results = {str(Path(results).absolute())!r}"
    remarks: list[str] = []
    numbers: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="nb") as scratch:
        client = NotebookClient(
            notebook,
            km=_kernel(Path(scratch)),
            timeout=PATIENCE,
            startup_timeout=START,
            extra_arguments=PICTURES,
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": str(path.parent)}},
        )
        with client.setup_kernel(env=_environment(Path(scratch)), cleanup_kc=True):
            for count, cell in enumerate(code, 1):
                place = f"notebook {path.stem}, cell [{count}] ({_first_line(cell.source)})"
                try:
                    client.execute_cell(cell, notebook.cells.index(cell), execution_count=count)
                except CellExecutionError as error:
                    print(strip_ansi(str(error)), flush=True)
                    raise NotebookError(f"{place}: {error.ename}: {_first_line(error.evalue)}") from None
                except CellTimeoutError:
                    raise NotebookError(f"{place} does not end within {PATIENCE} s") from None
                except DeadKernelError:
                    raise NotebookError(f"{place}: its Python ended; was there too little memory?") from None
                cell.outputs, said = _clean(cell, numbers)
                remarks += [f"{place}: {text}" for text in said]
    parameters.source = stored
    notebook.metadata = nbformat.from_dict(METADATA)
    return notebook, remarks


def _kernel(scratch: Path) -> AsyncKernelManager:
    """The kernel of ipykernel in this Python: without folders to search, there is no other."""
    manager = AsyncKernelManager(
        kernel_spec_manager=KernelSpecManager(kernel_dirs=[]), connection_file=str(scratch / "kernel.json")
    )
    # Ports are chosen before the kernel takes them: of several kernels started at once, two may choose the same one.
    if os.name == "posix" and len(str(scratch)) < LONGEST_SOCKET:
        manager.transport, manager.ip = "ipc", str(scratch / "kernel")
    return manager


def _environment(scratch: Path) -> dict[str, str]:
    """The environment of the kernel: this library, and none of the user's settings for notebooks or figures."""
    folders = {name: scratch / name.lower() for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR")}
    for folder in folders.values():
        folder.mkdir()
    # An existing but empty settings file: matplotlib's own defaults.
    settings = scratch / "matplotlibrc"
    settings.write_text("")
    path = os.pathsep.join(filter(None, [str(SOURCES), os.environ.get("PYTHONPATH", "")]))
    users = {name: value for name, value in os.environ.items() if name not in ("PYTHONWARNINGS", "MPLBACKEND", "PYTHONSTARTUP")}
    return users | {name: str(folder) for name, folder in folders.items()} | {"MATPLOTLIBRC": str(settings), "PYTHONPATH": path}


def _first_line(text: str) -> str:
    return str(strip_ansi(text)).strip().partition("\n")[0]


def _clean(cell: NotebookNode, numbers: dict[str, str]) -> tuple[list[NotebookNode], list[str]]:
    """The outputs of a cell made reproducible, and its text on standard error; ``numbers`` has a name for each random one."""
    outputs: list[NotebookNode] = []
    remarks: list[str] = []
    for output in cell.outputs:
        if output.output_type == "stream":
            outputs += [output] if output.name == "stdout" else []
            remarks += [output.text.strip()] if output.name == "stderr" else []
            continue
        sizes = {kind: dict(values) for kind, values in output.get("metadata", {}).items() if isinstance(values, Mapping)}
        if "image/png" in output.data:
            sizes.setdefault("image/png", {})["alt"] = _first_line(cell.source).lstrip("# ")
        output.metadata = nbformat.from_dict(sizes)
        if "text/html" in output.data:
            # xarray gives random names to the parts of its displays.
            for uuid in _UUID.findall(output.data["text/html"]):
                numbers.setdefault(uuid, f"00000000-0000-0000-0000-{len(numbers):012d}")
            output.data["text/html"] = _UUID.sub(lambda uuid: numbers[uuid[0]], output.data["text/html"])
        outputs.append(output)
    return outputs, remarks


def stripped(notebook: NotebookNode) -> NotebookNode:
    """A notebook as it is stored: no outputs, no counts; only tags and the metadata needed by an editor."""
    bare, _ = ClearOutputPreprocessor().preprocess(nbformat.from_dict(notebook), {})
    for cell in bare.cells:
        cell.metadata = nbformat.from_dict({"tags": tags} if (tags := cell.metadata.get("tags")) else {})
        cell.pop("attachments", None)
    bare.metadata = nbformat.from_dict(METADATA)
    return bare


class _Renderer(IPythonRenderer):  # type: ignore[misc]
    """A Markdown renderer that writes formulas as MathML, which browsers display without a script."""

    def block_math(self, body: str) -> str:
        """A displayed formula as MathML."""
        return _mathml(body, True)

    def inline_math(self, body: str) -> str:
        """An inline formula as MathML."""
        return _mathml(body, False)


def _mathml(latex: str, block: bool) -> str:
    if re.search(r"frac\s*[^{\s]", latex):
        raise NotebookError(f"the formula {latex!r} has a fraction without braces, which is taken for another one; write them")
    try:
        mathml: str = tex2mathml(" ".join(latex.split()), as_block=block)
    except Exception as error:
        raise NotebookError(f"the formula {latex!r} cannot be made into MathML: {error}") from error
    # Line breaks in it would end a paragraph of Markdown.
    return re.sub(r"\s*\n\s*", "", mathml)


def _from_markdown(source: str) -> str:
    renderer = _Renderer(escape=False, exclude_anchor_links=True)
    return str(MarkdownWithMath(renderer=renderer).render(source))


def _described(html: str, output: Mapping[str, Any]) -> str:
    """A picture with its description, for readers who cannot see it."""
    text = output["metadata"].get("image/png", {}).get("alt", "")
    return html.replace("<img ", f'<img alt="{text.replace("&", "&amp;").replace(chr(34), "&quot;")}" ', 1)


def page(notebook: NotebookNode) -> str:
    """An executed notebook as one self-contained HTML file."""
    exporter = HTMLExporter(
        extra_loaders=[DictLoader({"page.html.j2": _PAGE})],
        template_file="page.html.j2",
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        filters={
            "markdown2html": _from_markdown,
            "described": _described,
            "highlight_code": Highlight2HTML(pygments_lexer="ipython3"),
        },
    )
    html, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": title(notebook)}})
    return f"{html}\n"


def text(notebook: NotebookNode) -> str:
    """A notebook as the text of its file."""
    return str(nbformat.writes(notebook)) + "\n"


def main() -> None:
    """Strip the outputs from the notebooks of the checkout."""
    for path in sorted((SOURCES.parent / "notebooks").glob("*.ipynb")):
        before = path.read_text(encoding="utf-8")
        after = text(stripped(read(path)))
        if after != before:
            path.write_text(after, encoding="utf-8", newline="\n")
            print(f"{path.name}: stripped")


if __name__ == "__main__":
    main()
