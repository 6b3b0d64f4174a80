"""The figures of guide.md and README.md, for light and dark backgrounds.

Those of the guide are drawn when the site is built. ``python docs/_figures.py`` draws that of
README.md and the front page, from the numbers in README.md.
"""

import re
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np

from sklearn_ndcg import jarvelin_kekalainen, ndcg_score

GROUNDS = {
    "light": {"ink": "#222832", "lines": ["#0072b2", "#b34700", "#00795a", "#9c4a83"]},
    "dark": {"ink": "#ced6dd", "lines": ["#56b4e9", "#ff9b4a", "#33c79a", "#e39ac9"]},
}


def gains(ax):
    """Gain of the grades 0 to 4."""
    grades = np.arange(5)
    for label, values, shift in (("linear", grades, -0.2), ("exponential", 2.0**grades - 1, 0.2)):
        bars = ax.bar(grades + shift, values, width=0.4, label=f'gain="{label}"')
        ax.bar_label(bars, fmt="%g", padding=2)
    ax.set(xlabel="grade", ylabel="gain", xticks=grades, ylim=(0, 17))
    ax.legend()


def discounts(ax):
    """Weight of the ranks 1 to 20."""
    ranks = np.arange(1, 21)
    curves = {
        '"none"': np.ones(20),
        "jarvelin_kekalainen(b=2)": jarvelin_kekalainen(b=2)(ranks),
        '"log"': 1 / np.log2(ranks + 1),
        '"reciprocal"': 1 / ranks,
    }
    for (label, values), style in zip(curves.items(), ("-", "--", "-", "-."), strict=True):
        ax.plot(ranks, values, style, marker=".", label=f"discount={label}")
    ax.set(xlabel="rank", ylabel="weight", xticks=[1, 5, 10, 15, 20], ylim=(0, 1.05))
    ax.legend(loc="center right", bbox_to_anchor=(1, 0.62))


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
    ax.set(xlabel="distinct scores among 10 documents", ylabel="NDCG")
    ax.set_xticks(places, labels=list(cut))
    ax.legend()


def front_numbers():
    """What README.md prints: NDCG of one model, scored in three ways, and in six libraries."""
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    ways = ("fold as one list", "queries cut by KFold", "whole queries")
    printed = dict(re.findall(rf"^({'|'.join(ways)}) +(0\.\d\d)$", readme, re.MULTILINE))
    libraries = ("trec_eval", "sklearn", "ranx", "catboost", "xgboost", "lightgbm")
    table = dict(re.findall(r"^\| `(\w+)` \|.*\| (0\.\d+) \|$", readme, re.MULTILINE))
    return (
        {way: float(printed[way]) for way in ways},
        {library: round(float(table[library]), 2) for library in libraries},
    )


def front(axes):
    """What hurts, for README.md."""
    by_way, by_library = front_numbers()
    wrong, right, neutral = "C1", "C2", "C0"
    for ax, title, values, colors in (
        (axes[0], "One model: NDCG@10", by_way, [wrong, wrong, right]),
        (axes[1], "One ranking: NDCG@3", by_library, [neutral] * len(by_library)),
    ):
        bars = ax.barh(list(values), list(values.values()), height=0.65, color=colors)
        ax.bar_label(bars, fmt="%.2f", padding=4)
        ax.set(xlim=(0, 1.3), xticks=[])
        ax.set_title(title, loc="left", x=-0.5, fontsize="medium", fontweight="bold")
        ax.invert_yaxis()
        ax.tick_params(left=False)
        ax.spines["bottom"].set_visible(False)


def draw_all(folder):
    """Write an SVG of each figure of the guide, for each background, into `folder`."""
    for draw in (gains, discounts, ties):
        save(folder, draw)


def save(folder, draw, **options):
    """Write an SVG for each background."""
    folder.mkdir(parents=True, exist_ok=True)
    for ground, colors in GROUNDS.items():
        ink = colors["ink"]
        style = {
            "axes.edgecolor": ink, "axes.labelcolor": ink, "text.color": ink, "xtick.color": ink,
            "ytick.color": ink, "axes.prop_cycle": plt.cycler(color=colors["lines"]),
            "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
            "svg.hashsalt": "sklearn_ndcg", "svg.fonttype": "none", "font.size": 13,
        }  # fmt: skip
        with plt.rc_context(style):
            figure, ax = plt.subplots(**{"figsize": (6.4, 3.8), "layout": "constrained"} | options)
            draw(ax)
            path = folder / f"{draw.__name__}-{ground}.svg"
            figure.savefig(path, transparent=True, metadata={"Date": None})
            plt.close(figure)


if __name__ == "__main__":
    save(Path(__file__).parent / "_static", front, ncols=2, figsize=(6.6, 2.3))
