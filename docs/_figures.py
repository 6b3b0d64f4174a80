"""The figures of guide.md, drawn when the site is built, for light and dark backgrounds."""

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
        values = [ndcg_score(y_true, scores, ties=rule, replace_undefined_by=0.0)
                  for scores in cut.values()]  # fmt: skip
        ax.plot(places, values, style, marker=".", label=f'ties="{rule}"')
    ax.set(xlabel="distinct scores among 10 documents", ylabel="NDCG")
    ax.set_xticks(places, labels=list(cut))
    ax.legend()


def draw_all(folder):
    """Write an SVG of each figure, for each background, into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for ground, colors in GROUNDS.items():
        ink = colors["ink"]
        style = {
            "axes.edgecolor": ink, "axes.labelcolor": ink, "text.color": ink, "xtick.color": ink,
            "ytick.color": ink, "axes.prop_cycle": plt.cycler(color=colors["lines"]),
            "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
            "svg.hashsalt": "sklearn_ndcg", "font.size": 11,
        }  # fmt: skip
        with plt.rc_context(style):
            for draw in (gains, discounts, ties):
                figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
                draw(ax)
                path = folder / f"{draw.__name__}-{ground}.svg"
                figure.savefig(path, transparent=True, metadata={"Date": None})
                plt.close(figure)
