"""The pictures of the pages, for light and dark backgrounds.

Those of README.md and of Markdown pages are in the repository, so that a code host shows them:
``python docs/_figures.py`` draws them. The others are drawn when the site is built.
"""

import doctest
import re
from functools import partial
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np

from sklearn_ndcg import explain_query, ndcg_score
from sklearn_ndcg.inference import (
    DifferenceDisplay,
    IntervalDisplay,
    NDCGDisplay,
    compare_rankers,
    ndcg_by_segment,
)

HERE = Path(__file__).parent
GROUNDS = {
    "light": {
        "paper": "#ffffff",
        "ink": "#222832",
        "lines": ["#0072b2", "#b34700", "#00795a", "#9c4a83"],
    },
    "dark": {
        "paper": "#14181e",
        "ink": "#ced6dd",
        "lines": ["#56b4e9", "#ff9b4a", "#33c79a", "#e39ac9"],
    },
}


def lines_of(page):
    """Run the lines of a page above its first picture, and return what they define."""
    text = (HERE / page).read_text(encoding="utf-8").partition("<picture>")[0]
    defined = {}
    exec(doctest.script_from_examples(text), defined)  # noqa: S102
    return defined


def gains(ax):
    """Gain of the grades 0 to 4."""
    grades = np.arange(5)
    for label, values, shift in (("linear", grades, -0.2), ("exponential", 2.0**grades - 1, 0.2)):
        bars = ax.bar(grades + shift, values, width=0.4, label=f'gain="{label}"')
        ax.bar_label(bars, fmt="%g", padding=2)
    ax.set(xlabel="Grade", ylabel="Gain", xticks=grades, yticks=range(0, 17, 4), ylim=(0, 17))
    ax.legend()


def discounts(ax):
    """Weight of the ranks 1 to 20."""
    ranks = np.arange(1, 21)
    curves = {
        '"none"': np.ones(20),
        '"log"': 1 / np.log2(ranks + 1),
        '"reciprocal"': 1 / ranks,
    }
    for (label, values), style in zip(curves.items(), ("-", "-", "-."), strict=True):
        ax.plot(ranks, values, style, marker=".", label=f"discount={label}")
    ax.set(xlabel="Rank", ylabel="Weight", xticks=[1, 5, 10, 15, 20], ylim=(0, 1.05))
    ax.legend(loc="center right", bbox_to_anchor=(1, 0.62))


def one_query(ax):
    """The query that docs/what_is_ndcg.md explains rank by rank."""
    explain_query([3, 2, 3, 0, 1, 2]).plot(ax=ax)


def ties(ax):
    """NDCG of queries of ten documents whose scores are rounded more and more coarsely."""
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 4, size=(200, 10))
    y_score = rng.normal(size=y_true.shape) + 0.5 * y_true
    ranks = y_score.argsort(axis=1).argsort(axis=1)
    cut = {n: ranks * n // 10 for n in (10, 5, 3, 2, 1)}
    places = np.arange(len(cut))
    for rule, style in (("best", "--"), ("average", "-"), ("stable", ":"), ("worst", "--")):
        values = [ndcg_score(y_true, scores, ties=rule, undefined=0.0)
                  for scores in cut.values()]  # fmt: skip
        ax.plot(places, values, style, marker=".", label=f'ties="{rule}"')
    ax.set(xlabel="Distinct scores among 10 documents", ylabel="NDCG")
    ax.set_xticks(places, labels=list(cut))
    ax.legend()


def two_rankers():
    """Draw grades of 300 queries, and the scores of two rankers."""
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 4, size=(300, 10))
    noise = rng.normal(size=(2, *y_true.shape))
    return y_true, {"new": y_true + 2 * noise[0], "old": y_true + 3 * noise[1]}


def ndcg_display(ax):
    """Curves of two rankers, with bands."""
    NDCGDisplay.from_predictions(*two_rankers(), ax=ax, plot_chance_level=True)


def difference_display(ax):
    """The differences of two rankers, query by query."""
    DifferenceDisplay.from_comparison(compare_rankers(*two_rankers(), random_state=0), ax=ax)


def segments(ax):
    """NDCG by segment of docs/evidence.md, which is made by its own lines."""
    page = lines_of("evidence.md")
    table = ndcg_by_segment(page["y"], page["rankers"]["old"], **page["by"])
    IntervalDisplay.from_result(table, ax=ax)
    ax.get_legend().set_frame_on(True)  # the line of all queries is behind it


def interval_display(ax):
    """Differences of the pairs of rankers, with intervals and a margin."""
    y_true, scores = two_rankers()
    scores["popular"] = y_true + 4 * np.random.default_rng(1).normal(size=y_true.shape)
    result = compare_rankers(y_true, scores, baseline="old", margin=0.01, test="t")
    IntervalDisplay.from_result(result, differences=True, ax=ax)


def front_numbers():
    """The numbers that README.md says the picture shows; tests/test_front_page.py computes them."""
    readme = (HERE.parent / "README.md").read_text(encoding="utf-8")
    text = re.search(r'alt="(.*?)"', readme)[1]
    return {name: float(number) for name, number in re.findall(r"[:,] ([\w ]+) (0\.\d\d)", text)}


def front(ax):
    """One model, scored in three ways, for README.md."""
    values = front_numbers()
    bars = ax.barh(list(values), list(values.values()), height=0.65, color=["C2", "C1", "C1"])
    ax.bar_label(bars, fmt="%.2f", padding=4)
    says = ["right", "too high", "too high"]
    ax.bar_label(bars, says, label_type="center", color=plt.rcParams["axes.facecolor"])
    ax.set(xlim=(0, 1), xticks=[0, 0.5, 1])
    ax.set_title("One model: NDCG@10", loc="left", fontsize="medium", fontweight="bold")
    ax.invert_yaxis()
    ax.tick_params(left=False)


def front_page(ax):
    """The two rankers of the site's front page, which are made by its own lines."""
    page = lines_of("index.md")
    scores = {name: page[name] for name in ("new", "old")}
    options = {"groups": page["query"], "k": 20, "plot_chance_level": True}
    NDCGDisplay.from_predictions(page["grade"], scores, ax=ax, **options)


def pictures():
    """The code of each picture of pictures.md, after the first lines of the page, by its name."""
    text = (HERE / "pictures.md").read_text(encoding="utf-8")
    head, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    for section in sections:
        name = re.search(r"_static/(\w+)-light", section)[1]
        shown = section.partition("<!--")[0]  # without the lines that only check it
        yield name, doctest.script_from_examples(head + shown)


def draw_for_markdown(folder):
    """Write the pictures of README.md and of Markdown pages into `folder`."""
    save(folder, front, figsize=(4.8, 2.2))
    for draw in (one_query, gains, discounts, ties):
        save(folder, draw)
    save(folder, segments, figsize=(6.4, 2.6))
    of_page = {"figure.figsize": (6, 3.4), "figure.constrained_layout.use": True}
    for name, code in pictures():
        save_drawn(folder, name, partial(exec, code), of_page)


def draw_for_site(folder):
    """Write the pictures of the API pages and of the front page into `folder`."""
    for draw in (ndcg_display, difference_display, interval_display):
        save(folder, draw, figsize=(6.4, 3.6))
    save(folder, front_page, figsize=(6.4, 3.2))


def save(folder, draw, **options):
    """Write an SVG of what a function draws on axes, for each background."""
    options = {"figsize": (6.4, 3.8), "layout": "constrained"} | options
    save_drawn(folder, draw.__name__, lambda _: draw(plt.subplots(**options)[1]))


def save_drawn(folder, name, draw, style=()):
    """Write an SVG of the figure that a function makes, for each background."""
    folder.mkdir(parents=True, exist_ok=True)
    for ground, colors in GROUNDS.items():
        ink = colors["ink"]
        of_ground = {
            "axes.edgecolor": ink, "axes.labelcolor": ink, "text.color": ink, "xtick.color": ink,
            "ytick.color": ink, "axes.prop_cycle": plt.cycler(color=colors["lines"]),
            "axes.facecolor": colors["paper"],  # of labels and legends; the axes are transparent
            "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
            "legend.edgecolor": "none", "svg.hashsalt": "sklearn_ndcg", "svg.fonttype": "none",
            "font.size": 13,
        }  # fmt: skip
        with plt.rc_context(of_ground | dict(style)):
            draw({})
            no_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
            path = folder / f"{name}-{ground}.svg"
            plt.savefig(path, transparent=True, metadata=no_metadata)
            plt.close()


if __name__ == "__main__":
    draw_for_markdown(HERE / "_static")
