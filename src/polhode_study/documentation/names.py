"""A Sphinx extension that prepares docstrings: bars are norms, and public names link to the place of their definition.

For example, ``polhode.manybody.Scene`` is imported from ``polhode.manybody.scene``, on whose page it is described.
"""

import importlib
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from polhode_study.documentation.texts import plain_bars


def defined_at(name: str) -> str:
    """The full name under which a public object is defined; ``name`` itself if this cannot be determined."""
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        try:
            target: Any = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        try:
            for attribute in parts[length:]:
                target = getattr(target, attribute)
        except AttributeError:
            return name
        module, inner = getattr(target, "__module__", None), getattr(target, "__qualname__", None)
        return f"{module}.{inner}" if module and inner else name
    return name


def _resolve(app: Sphinx, env: Any, node: nodes.Element, content: nodes.Element) -> nodes.Element | None:
    target = str(node.get("reftarget", ""))
    if node.get("refdomain") != "py" or not target.startswith(("polhode.", "polhode_")):
        return None
    other = defined_at(target)
    if other == target:
        return None
    reference: nodes.Element | None = env.get_domain("py").resolve_xref(
        env, node["refdoc"], app.builder, node["reftype"], other, node, content
    )
    return reference


def _escape(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = plain_bars(lines)


def _without_source(app: Sphinx) -> list[Any]:
    """Remove modules without source from viewcode's list, whose index would link to pages that do not exist."""
    known: dict[str, Any] = getattr(app.env, "_viewcode_modules", {})
    for name in [name for name, entry in known.items() if not entry]:
        del known[name]
    return []


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect everything to the events of Sphinx and autodoc."""
    app.connect("html-collect-pages", _without_source, priority=400)
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("missing-reference", _resolve)
    app.connect("autodoc-process-docstring", _escape)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
