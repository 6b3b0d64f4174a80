"""What the displays share: colours, names and styles."""

from itertools import combinations

import numpy as np
import pytest

from sklearn_ndcg.inference import _drawing

colors = pytest.importorskip("matplotlib.colors", reason="the extra `plot` is not installed")
plt = pytest.importorskip("matplotlib.pyplot", reason="the extra `plot` is not installed")
plt.switch_backend("agg")

# Linear RGB as it is seen without one kind of cones (Machado, Oliveira and Fernandes 2009).
SEEN = {
    "all cones": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                   [0.004733, 0.691367, 0.303900]],
}  # fmt: skip


def lab(color, seen):
    """CIE L*a*b* of a colour, as it is seen."""
    rgb = np.array(colors.to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = np.cbrt(to_xyz @ np.clip(seen @ linear, 1e-3, 1) / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("seen", SEEN)
def test_colours_differ_for_everybody(seen):
    seen_colors = [lab(color, np.array(SEEN[seen])) for color in _drawing.COLORS]
    for one, other in combinations(seen_colors, 2):
        assert np.linalg.norm(one - other) > 20


def test_lines_on_used_axes_go_on_with_their_cycle():
    ax = _drawing.axes(None)
    ax.plot([0, 1])
    assert _drawing.axes(ax).plot([0, 1])[0].get_color() == _drawing.COLORS[1]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a" * 30, "a" * 30),
        ("a" * 20 + "b" * 20, "a" * 14 + "…" + "b" * 14),
        ("two\nlines", "two lines"),
        (("AT", 1), "('AT', 1)"),
        (np.datetime64("2024-01-31T00:00:00"), "2024-01-31"),
        ("_a$", r" _a\$"),
    ],
)
def test_labels(name, expected):
    assert _drawing.labels([name]) == [expected]


def test_names_that_would_be_the_same_are_cut_less():
    names = [f"country number {i} with a rather long name" for i in range(9)]
    assert _drawing.labels(names) == names
    assert _drawing.labels(["a" * 40, "b" * 40]) == [
        "a" * 14 + "…" + "a" * 14,
        "b" * 14 + "…" + "b" * 14,
    ]
    assert _drawing.labels([0, "a" * 60]) == ["0", "a" * 14 + "…" + "a" * 14]
