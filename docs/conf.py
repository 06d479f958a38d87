"""The site: `nox -s docs` builds it into docs/_build/html, with warnings as errors, and checks what was built."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "extensions"), str(HERE.parent), str(HERE.parent / "adapters")]

project = "harness_uq"
author = "harness_uq developers"
copyright = author  # noqa: A001
version = release = version_of("harness-uq")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "bibtex",
    "docstrings",
    "pages_as_written",
    "reference_pages",
]
root_doc = "index"
exclude_patterns = ["_build", "extensions"]

myst_heading_anchors = 3
myst_links_external_new_tab = True
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 60

autosummary_generate = False
autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say shapes, units and ranges
highlight_language = "none"
default_role = "literal"
maximum_signature_line_length = 88
viewcode_line_numbers = True

html_theme = "pydata_sphinx_theme"
html_title = "harness_uq"
html_static_path = ["theme"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {"index": []}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
