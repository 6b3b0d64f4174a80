"""What sphinx-gallery calls while it builds the pages of the examples."""

import json
import re
from itertools import chain
from pathlib import Path
from zipfile import ZipFile

import matplotlib.pyplot as plt
from sphinx_gallery.scrapers import matplotlib_scraper

here = Path(__file__).parent

ORDER = [
    "tune_movie_ranker.py",
    "plot_compare_rankers.py",
    "tune_gbdt_rankers.py",
    "recommender_lists.py",
    "plot_new_users.py",
    "rank_stocks.py",
    "whose_ndcg.py",
    "duckdb_parquet.py",
]


def order(name):
    """Return the position of an example in the gallery."""
    return ORDER.index(name)


def use_large_text(gallery_conf, example):
    """Draw the text of pictures as large as on other pages, to be read on a phone, too."""
    plt.rcParams["font.size"] = 13


def scrape(block, block_vars, gallery_conf):
    """Save the figures of a block. A comment above each describes it: sphinx_gallery_alt."""
    figures = matplotlib_scraper(block, block_vars, gallery_conf, format="svg", transparent=True)
    parts = re.split(r"(?<=:alt:) .*", figures)
    texts = re.findall(r'# sphinx_gallery_alt = "(.*)"', block.content)
    if len(texts) != len(parts) - 1:
        raise ValueError(f"{block_vars['src_file']}: {len(parts) - 1} figures, texts {texts}")
    return parts[0] + "".join(chain(*zip((f" {text}" for text in texts), parts[1:], strict=True)))


def complete_notebooks(app):
    """Let downloads run by themselves: notebooks write the module that they import."""
    module = here / "generated" / "examples" / "movielens.py"
    write = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    source = f"%%writefile movielens.py\n{module.read_text(encoding='utf-8')}"
    write["source"] = source.splitlines(keepends=True)
    for path in module.parent.glob("*.ipynb"):
        text = path.read_text(encoding="utf-8")
        if "from movielens import" in text and "%%writefile" not in text:
            notebook = json.loads(text)
            notebook["cells"].insert(1, write)
            path.write_text(json.dumps(notebook, indent=1), encoding="utf-8")
            with ZipFile(path.with_suffix(".zip"), "w") as archive:
                for file in (path, path.with_suffix(".py"), module):
                    archive.write(file, file.name)
