"""The site: ``python -m sphinx -W --keep-going -b html docs docs/_build/html``.

Everything that the build makes is in docs/generated and docs/_build.
"""

import inspect
import os
import re
import runpy
import sys
import textwrap
import tomllib
import warnings
import zlib
from html import unescape
from importlib import import_module
from pathlib import Path

import numpy as np
from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  its classes are linked
from sphinx import addnodes

import sklearn_ndcg
import sklearn_ndcg.inference

here = Path(__file__).parent
generated = here / "generated"
sys.path.insert(0, str(here))  # where sphinx-gallery finds _gallery.py
from _gallery import ORDER, complete_notebooks  # noqa: E402, PLC2701

project = "sklearn_ndcg"
author = "The sklearn_ndcg developers"
project_copyright = "2026, the sklearn_ndcg developers"
version = release = sklearn_ndcg.__version__
# known where a release has written it into pyproject.toml, and in a build on GitHub
_toml = (here.parent / "pyproject.toml").read_text(encoding="utf-8")
_urls = tomllib.loads(_toml)["project"].get("urls", {})
_on_github = os.environ.get("GITHUB_REPOSITORY")
repository = _urls.get("Source") or (f"https://github.com/{_on_github}" if _on_github else None)

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.linkcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates"]
# other design notes are read in the repository
exclude_patterns += [f"design/{p.name}" for p in here.glob("design/*.md") if p.stem != "evidence"]
html_math_renderer = "mathml"  # see `write_mathml`
smartquotes = False  # readers copy "log" from the pages
default_role = "py:obj"  # `ndcg_score` is a link if it is documented
myst_enable_extensions = [
    "attrs_block", "attrs_inline", "colon_fence", "dollarmath", "substitution",
]  # fmt: skip
myst_substitutions = {
    "release": release,
    "source": f"[Source code and issues]({repository})." if repository else "",
}
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings describe the types
numpydoc_show_class_members = False

toc_object_entries_show_parents = "hide"
html_theme = "pydata_sphinx_theme"
html_title = f"sklearn_ndcg {release}"
html_static_path = ["_static"]
html_favicon = "_static/favicon.svg"
html_css_files = ["site.css"]
html_show_sourcelink = False
html_sidebars = {"index": [], "**": ["sidebar-nav-bs"]}
html_theme_options = {
    "logo": {"text": html_title},
    "icon_links": [{"name": "GitHub", "url": repository, "icon": "fa-brands fa-github"}]
    if repository
    else [],
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    # none beside the code of examples, which is wide
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []}
    | {f"generated/examples/{name.removesuffix('.py')}": [] for name in ORDER},
    "footer_start": ["copyright"],
    "footer_end": [],
    "article_footer_items": [],
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "generated/examples",
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("sklearn_ndcg",),
    "filename_pattern": "",  # all are run
    "parallel": 2,  # processes of joblib, which scikit-learn brings
    "ignore_pattern": "movielens",  # a module of the examples, copied beside them
    "copyfile_regex": "movielens",
    "within_subsection_order": "_gallery.order",
    "image_scrapers": ("_gallery.scrape",),
    "capture_repr": (),
    "reset_modules": ("matplotlib", "_gallery.use_large_text"),
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 3600,
    "remove_config_comments": True,
}

# Other libraries: address, folder of the pages, modules. Their own inventories know more names than
# those that are written here, for builds without internet.
_LIBRARIES = {
    "sklearn": (
        "https://scikit-learn.org/stable/", "modules/generated",
        (".base .compose .ensemble .feature_selection .inspection .linear_model .metrics "
         ".model_selection .pipeline"),
    ),
    "numpy": ("https://numpy.org/doc/stable/", "reference/generated", ""),
    "pandas": ("https://pandas.pydata.org/docs/", "reference/api", ""),
    "scipy": ("https://docs.scipy.org/doc/scipy/", "reference/generated", ".sparse .stats"),
}  # fmt: skip
_LABELS = """\
metadata_routing std:label 1 metadata_routing.html#metadata-routing -
meta-estimator std:term 1 glossary.html#term-meta-estimator -
"""
intersphinx_mapping = {
    name: (address, (None, f"generated/{name}.inv")) for name, (address, *_) in _LIBRARIES.items()
}
intersphinx_timeout = 10


def public_names(library):
    """Yield the full names of a library's functions and classes, and their kinds."""
    for module in [library + part for part in _LIBRARIES[library][2].split(" ")]:
        for name, value in vars(import_module(module)).items():
            public = str(getattr(value, "__module__", None)).startswith(module)
            if callable(value) and public and np.generic not in getattr(value, "__mro__", ()):
                yield f"{module}.{name}", "class" if isinstance(value, type) else "function"


# Names that become links wherever they stand. Whose `ndcg_score` is meant, only a reader can tell.
_LINKED = {full.rpartition(".")[2]: full for full, _ in public_names("sklearn")}
for _module in (sklearn_ndcg, sklearn_ndcg.inference):
    _LINKED |= {name: f"{_module.__name__}.{name}" for name in _module.__all__}
del _LINKED["ndcg_score"], _LINKED["dcg_score"]
# Libraries with classes of the same names: "mlxtend `SequentialFeatureSelector`"
_OTHERS = re.compile(r"\b(dask-ml|imbalanced-learn|mlxtend|yellowbrick)('s)? $")
_NOT_LINKED = (
    addnodes.desc_signature, addnodes.pending_xref, nodes.FixedTextElement, nodes.math,
    nodes.reference, nodes.strong, nodes.title,
)  # fmt: skip


def prepare_sources(app):
    """Draw the figures, write the inventories of other libraries, and shorten warnings."""
    # without the path of the file that is built
    warnings.formatwarning = lambda text, category, *_: (
        textwrap.fill(f"{category.__name__}: {text}", width=98) + "\n"
    )
    runpy.run_path(str(here / "_figures.py"))["draw_for_site"](generated / "figures")
    for library, (_, folder, _) in _LIBRARIES.items():
        lines = [f"{n} py:{kind} 1 {folder}/{n}.html#$ -\n" for n, kind in public_names(library)]
        head = f"# Sphinx inventory version 2\n# Project: {library}\n# Version: stable\n# zlib\n"
        body = zlib.compress("".join([*lines, _LABELS]).encode())
        (generated / f"{library}.inv").write_bytes(head.encode() + body)


def show_blocks_of_site(app, page, source):
    """Show what Markdown pages keep in comments, as others show the directives themselves."""
    source[0] = re.sub(r"<!-- site\n(.*?)-->", r"\1", source[0], flags=re.DOTALL)


def follow_theme(app, doctree):
    """Let pictures follow the switch of the site; <picture> follows the reader's system."""
    for node in list(doctree.findall(nodes.raw)):
        if found := re.search('srcset="(.*?)".*src="(.*?)" alt="(.*?)"', node.astext(), re.DOTALL):
            *paths, alt = found.groups()
            uris = [path.removeprefix("docs/") for path in paths]  # README.md is above docs
            images = [
                nodes.image(uri=uri, alt=unescape(alt), classes=[f"only-{ground}"])
                for ground, uri in zip(("dark", "light"), uris, strict=True)
            ]
            node.replace_self(nodes.paragraph("", "", *images))


def offer_files(app, doctree):
    """Lead links to Markdown files that are not pages to the repository, or to a download."""
    for node in list(doctree.findall(addnodes.pending_xref)):
        if node.get("refdomain") == "doc" and node["reftarget"] not in app.env.found_docs:
            path = os.path.relpath(here / f"{node['reftarget']}.md", here.parent)
            if repository:
                link = nodes.reference("", "", *node.children)
                link["refuri"] = f"{repository}/blob/main/{path}"
            else:
                link = addnodes.download_reference("", "", *node.children, reftarget=f"../{path}")
            node.replace_self(link)


def fix_page(app, doctree):
    """Strip comments for tools and blank lines at the end of blocks, and links of "NDCG@10"."""
    for node in list(doctree.findall(nodes.literal_block)):
        node.rawsource = re.sub(" *# noqa.*", "", node.astext()).rstrip()
        node[:] = [nodes.Text(node.rawsource)]
    for node in list(doctree.findall(nodes.reference)):
        if node.get("refuri", "").startswith("mailto:NDCG"):  # read as an address
            node.replace_self(node.children)


def link_names(app, doctree):
    """Link the names of this package and of scikit-learn in text, code and types."""
    page = app.env.docname
    for node in doctree.findall(addnodes.pending_xref):
        node["reftarget"] = _LINKED.get(node["reftarget"], node["reftarget"])
    for text in list(doctree.findall(nodes.Text)):
        node = text.parent if isinstance(text.parent, nodes.literal) else text
        before = node.parent[: node.parent.index(node)]
        # "Comparison" is a name where it stands alone, and a word in a sentence
        alone = text in _LINKED or node is not text
        words = [str(text)] if alone else re.split(r"\b([A-Za-z]+[A-Z_]\w*)\b", text)
        above = node.parent
        while above and not isinstance(above, _NOT_LINKED):
            above = above.parent
        if above or _LINKED.keys().isdisjoint(words):
            continue
        if before and _OTHERS.search(before[-1].astext()):
            continue
        parent, parts = node.parent, [node] if alone else [nodes.Text(word) for word in words]
        for place, word in enumerate(words):
            if word in _LINKED and not page.endswith(_LINKED[word]):
                target = {"refdomain": "py", "reftype": "obj", "reftarget": _LINKED[word]}
                parts[place] = addnodes.pending_xref("", parts[place], refdoc=page, **target)
        parent.replace(node, parts)


def linkcode_resolve(domain, info):
    """Lead the [source] of a name to its definition in the repository, if that is known."""
    found = import_module(info["module"])
    for name in info["fullname"].split("."):
        found = getattr(found, name, None)
    found, (path, line) = inspect.unwrap(found), (None, 0)
    if isinstance(found, type):  # whose `__module__` is the public one
        for module in here.parent.glob("sklearn_ndcg/*/*.py"):
            source = module.read_text(encoding="utf-8")
            if defined := re.search(rf"^class {name}\b", source, re.MULTILINE):
                path, line = module, source.count("\n", 0, defined.start()) + 1
    elif inspect.isfunction(found):  # of the package that is installed
        installed, file = Path(sklearn_ndcg.__file__).parent, Path(found.__code__.co_filename)
        if file.is_relative_to(installed):  # inherited methods are not
            path = here.parent / "sklearn_ndcg" / file.relative_to(installed)
            line = found.__code__.co_firstlineno
    if not repository or path is None:
        return None
    return f"{repository}/blob/main/{path.relative_to(here.parent).as_posix()}#L{line}"


def write_mathml(writer, node):
    """Write a formula as MathML, which browsers show without a script."""
    is_block = isinstance(node, nodes.math_block)
    formula = tex2mathml(node.astext(), as_block=is_block)
    writer.body.append(f'<div class="math" tabindex="0">{formula}</div>' if is_block else formula)
    raise nodes.SkipNode


def break_names(app, page, template, context, doctree):
    """Let long names outside blocks of code break between their words: see site.css."""
    between = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[\w)][_.=/(])(?=[\w&])")
    # a block, or a tag, or a word, which has to be longer in code
    word = r'(?<=[\s>])(?:(?<!class="pre">)[^\s<>]{16,}|[^\s<>]{21,})'
    found = re.compile(rf"<pre.*?</pre>|<.*?>|({word})", re.DOTALL)
    body = context.get("body", "")
    context["body"] = found.sub(lambda m: between.sub("<wbr>", m[0]) if m[1] else m[0], body)


def setup(app):
    """Register the functions above, and those of _gallery.py, with Sphinx."""
    app.add_html_math_renderer("mathml", (write_mathml, None), (write_mathml, None))
    for function in (follow_theme, offer_files):  # before Sphinx collects images and downloads
        app.connect("doctree-read", function, priority=400)
    app.connect("source-read", show_blocks_of_site)
    app.connect("doctree-read", fix_page)
    app.connect("doctree-read", link_names)
    app.connect("html-page-context", break_names)
    # before the gallery and intersphinx read them, which they do at the default priority
    app.connect("builder-inited", prepare_sources, priority=10)
    app.connect("builder-inited", complete_notebooks, priority=900)  # after the gallery
