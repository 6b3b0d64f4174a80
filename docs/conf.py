"""The site: ``python -m sphinx -W --keep-going -b html docs docs/_build/html``.

Everything that the build makes is in docs/generated and docs/_build.
"""

import re
import runpy
import shutil
from html import escape
from pathlib import Path

from docutils import nodes
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

import sklearn_ndcg

here = Path(__file__).parent
generated = here / "generated"

project = "sklearn_ndcg"
author = "The sklearn_ndcg developers"
project_copyright = "2026, the sklearn_ndcg developers"
version = release = sklearn_ndcg.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "generated/source", "**/GALLERY_HEADER.rst"]
suppress_warnings = ["config.cache"]  # the gallery has functions in its configuration
smartquotes = False  # readers copy "log" from the pages
default_role = "py:obj"  # `ndcg_score` is a link if it is documented
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "paths"  # see setup
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings describe the types
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

toc_object_entries_show_parents = "hide"
html_theme = "pydata_sphinx_theme"
html_title = f"sklearn_ndcg {release}"
html_static_path = ["_static"]
html_favicon = "_static/favicon.svg"
html_css_files = ["site.css"]
html_show_sourcelink = False
# pages without pages below them
html_sidebars = {"index": [], "how_to": [], "other_tools": [], "errors": []}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "article_footer_items": [],
}

# These examples are run, in about four minutes on two busy cores. The others fit many models, or
# write large files.
_RUN = ("tune_movie_ranker", "whose_ndcg", "recommender_lists", "rank_stocks", "plot_")
sphinx_gallery_conf = {
    "examples_dirs": str(generated / "source"),
    "gallery_dirs": "generated/examples",
    "filename_pattern": "/(" + "|".join(_RUN) + ")",
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("sklearn_ndcg",),
    "reference_url": {"sklearn_ndcg": None},
    "default_thumb_file": str(here / "_static" / "favicon.svg"),
    "abort_on_example_error": False,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
}


def prepare_sources(app):
    """Draw the figures, and copy the examples next to a header, as the gallery needs it."""
    runpy.run_path(str(here / "_figures.py"))["draw_all"](generated / "figures")
    source = generated / "source"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(here.parent / "examples", source, ignore=shutil.ignore_patterns("__pycache__"))
    header = (
        "Examples\n========\n\nThe scripts of the folder ``examples``. Most were run when this "
        "site was built, and are shown with their output.\n"
    )
    (source / "GALLERY_HEADER.rst").write_text(header)


def fix_docstring(app, what, name, obj, options, lines):
    """Replace links to scikit-learn's user guide, in inherited methods, by text."""
    text = re.sub(r":ref:`([^`<]+) <\w+>`", r"\1 of scikit-learn", "\n".join(lines))
    lines[:] = re.sub(r":term:`([^`<]+?)(?: <[^>]+>)?`", r"\1", text).split("\n")


def fix_page(app, doctree):
    """Strip blank lines at the end of blocks, and the link of "NDCG@10", read as an address."""
    for node in list(doctree.findall(nodes.literal_block)):
        node.rawsource = node.astext().rstrip()  # doctests on the pages end with a blank line
        node[:] = [nodes.Text(node.rawsource)]
    for node in list(doctree.findall(nodes.reference)):
        if node.get("refuri", "").startswith("mailto:NDCG"):
            node.replace_self(node.children)


def as_svg(tag):
    """Write a formula as outlines: MathML looks well only where a font for mathematics is."""
    letters = {1: "M", 2: "L", 3: "Q", 4: "C"}  # of matplotlib's codes; 79 closes a glyph

    def visit(self, node):
        tex = " ".join(node.astext().split())
        font = FontProperties(math_fontfamily="stix", size=100)
        outline = TextPath((0, 0), f"${tex}$", prop=font)
        box = outline.get_extents().padded(4)
        path = "".join(
            letters.get(code, "Z") + " ".join(f"{x:.0f}" for x in points if code in letters)
            for points, code in outline.iter_segments()
        )
        self.body.append(
            f'<{tag} class="formula"><svg role="img" aria-label="{escape(tex)}" '
            f'style="height: {box.height / 85:.3f}em; vertical-align: {box.y0 / 85:.3f}em" '
            f'viewBox="{box.x0:.0f} {-box.y1:.0f} {box.width:.0f} {box.height:.0f}">'
            f'<path transform="scale(1 -1)" d="{path}"/></svg></{tag}>'
        )
        raise nodes.SkipNode

    return visit, None


def setup(app):
    """Register the functions above with Sphinx."""
    app.add_html_math_renderer("paths", as_svg("span"), as_svg("div"))
    app.connect("autodoc-process-docstring", fix_docstring)
    app.connect("doctree-read", fix_page)
    # before the gallery reads its sources, which it does at the default priority
    app.connect("builder-inited", prepare_sources, priority=10)
