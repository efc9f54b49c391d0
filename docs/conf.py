"""The documentation site: `make docs`. Pages are the Markdown of this folder, and the scripts of `examples`."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
# Figures of the gallery are drawn without a screen, and kernels are compiled once for all builds.
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("NUMBA_CACHE_DIR", str(HERE / "_build" / "numba"))

import medoids

project = "medoids"
author = "The medoids developers"
copyright = "2026, the medoids developers"
release = version = medoids.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "pages",
]
exclude_patterns = ["_build", "examples/**.ipynb", "sg_execution_times.rst", "**/sg_execution_times.rst"]
templates_path = ["_templates"]
default_role = "autolink"
nitpicky = False
suppress_warnings = ["config.cache", "myst.header"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
numfig = False

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections say more
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
html_math_renderer = "mathml"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",  # every script runs at every build
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("medoids",),
    "reference_url": {"medoids": None},
    "backreferences_dir": "api/examples",
    "run_stale_examples": True,
    "abort_on_example_error": False,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "min_reported_time": 1,
    "matplotlib_animations": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "medoids"
html_static_path = ["_static"]
html_css_files = ["medoids.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "medoids", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
    "github_url": "https://github.com/medoids/medoids",
    "header_links_before_dropdown": 6,
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "coming-from": [], "cite": [], "install": []}

# scikit-learn is deprecating things faster than galleries are drawn; what matters is caught by the tests.
warnings.filterwarnings("ignore", category=FutureWarning)


def setup(app):
    """Leave out the methods that scikit-learn adds for metadata routing; its own documentation describes them."""

    def skip(app, what, name, obj, skipped, options):
        return True if name.startswith("set_") and name.endswith("_request") else None

    app.connect("autodoc-skip-member", skip)
