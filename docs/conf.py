"""Sphinx: `make docs` builds these pages with MyST and furo; a warning is an error."""

from hstar import __version__

project = "hstar"
author = "The hstar maintainers"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = f"hstar {release}"
html_show_copyright = False

myst_heading_anchors = 4
default_role = "code"  # docstrings mark code by single backticks, as the pages do
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
add_module_names = False
python_use_unqualified_type_names = True
