"""The documentation site: `make docs`. Guides in English and, under zh/, in Chinese."""

import intent_runtime
from intent_runtime import errors, values

# errors.py imports these for type checkers alone; signatures show them.
errors.IntentResult = values.IntentResult
errors.IntentUsage = values.IntentUsage

project = "intent-runtime"
author = "The intent-runtime authors"
copyright = author  # noqa: A001 - Sphinx's name
version = release = intent_runtime.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
]
# No inventories are fetched: a build needs no network.
intersphinx_mapping = {}
root_doc = "index"
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": False}
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = f"intent-runtime {release}"
