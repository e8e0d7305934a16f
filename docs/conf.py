"""How Sphinx builds these pages: `./reproduce docs`. Nothing is fetched, neither here nor by the pages that are made."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from sphinx.errors import ConfigError

import polhode
from polhode.methods import METHODS
from polhode.problems import PROBLEMS

if not (Path(__file__).parent / "_generated").is_dir():
    raise ConfigError("docs/_generated is missing: build the documentation with ./reproduce docs, which writes it")

project = "polhode"
author = "the authors of polhode"
copyright = author
release = version = polhode.__version__

extensions = [
    "myst_nb",
    "polhode_study.documentation.mathml",
    "polhode_study.documentation.committed",
    "polhode_study.documentation.names",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
]
# Parts of pages, which are no pages of their own.
exclude_patterns = ["_build", "_generated/*.md", "_generated/*/table.md", "_generated/*/list.md"]

# MyST
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath", "substitution"]
myst_heading_anchors = 4
nb_execution_mode = "off"
# Widgets would want scripts from elsewhere; what a notebook shows is stored in it.
nb_ipywidgets_js = {}
html_math_renderer = "mathml"

# Docstrings
napoleon_google_docstring = False
napoleon_numpy_docstring = True
napoleon_use_rtype = False
autodoc_typehints = "none"
# Adapters find the files that they share under these names, which only the worker of an engine gives them.
autodoc_mock_imports = ["polhode_rotations", "polhode_sampling"]
autodoc_use_type_comments = False
autodoc_default_options = {"exclude-members": "__weakref__"}
# A page for each module (docs/_templates), but for modules of methods and problems, which have pages of their own.
templates_path = ["_templates"]
elsewhere = [*(f"polhode.methods.{key}" for key in METHODS), *(f"polhode.problems.{key}" for key in PROBLEMS)]
# Where a package exports a registry under the name of a folder, autosummary sees the registry, not the modules in the folder.
folders = ["polhode.methods", "polhode.problems", *(f"polhode.manybody.{name}" for name in ("forces", "scenes", "molecules"))]
within = {name: [module.name for module in iter_modules(import_module(name).__path__, f"{name}.")] for name in folders}
autosummary_context = {"elsewhere": [*elsewhere, "polhode.__main__"], "within": within}
add_module_names = False
python_use_unqualified_type_names = True
# Types are words in these docstrings; references in the text are held to what exists.
nitpick_ignore_regex = [(f"py:{kind}", r"(?!polhode).*") for kind in ("attr", "class", "data", "exc", "func", "meth", "obj")]

# Pages
html_theme = "pydata_sphinx_theme"
html_title = "polhode"
html_static_path = ["_static"]
html_css_files = ["polhode.css"]
html_search_scorer = str(Path(__file__).parent / "_static" / "scorer.js")
# Pages and files that are whole by themselves: sheets of methods, tables.
html_extra_path = ["_generated/extra"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_last_updated_fmt = None
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    # One line at every width: what it does not hold is under "More", and the search is a symbol.
    "header_links_before_dropdown": 4,
    "navbar_persistent": ["search-button"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "collapse_navigation": True,
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
# Sections of one page need no navigation within them.
html_sidebars = {"index": [], "engines": []}

# Fields of two classes may share a name: "q" in a docstring is then no reference to either. Modules of a folder that shares its
# name with a registry are found by their full names only.
suppress_warnings = ["ref.python", "autosummary.import_cycle"]
