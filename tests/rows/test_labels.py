"""Labels of pandas objects that show that rows do not belong together."""

import numpy as np
import pandas as pd
import pytest

from sklearn_ndcg._rows.labels import refuse_reordered

SAME_LABELS = {
    "numbers": ([3, 1, 2], [1, 2, 3]),
    "repeated": ([1, 1, 2], [1, 2, 1]),
    "mixed": ([1, "a"], ["a", 1]),
    "without a hash": ([{1}, {2}], [{2}, {1}]),
}
OTHER_LABELS = {
    "the same order": ([3, 1, 2], [3, 1, 2]),
    "other numbers": ([0, 1, 2], [5, 6, 7]),
    "numbers of one range": ([0, 1, 1, 3], [0, 2, 1, 3]),
    "other counts": (["a", "a", "b"], ["a", "b", "b"]),
    "without a hash": ([{1}, {2}], [{2}, {3}]),
    "another length": ([1, 2], [2, 1, 3]),
    "none": ([], pd.DatetimeIndex([])),
}


@pytest.mark.parametrize("axis", ["index", "columns"])
@pytest.mark.parametrize("labels", SAME_LABELS.values(), ids=SAME_LABELS)
def test_the_same_labels_in_another_order_are_refused(labels, axis):
    ones = np.ones((len(labels[0]), len(labels[0])))
    first, other = (pd.DataFrame(ones, **{axis: names}) for names in labels)
    message = f"a and b have the same labels in their {axis}, but in another order"
    with pytest.raises(ValueError, match=message):
        refuse_reordered(a=first, none=None, array=np.ones(3), b=other)
    refuse_reordered(a=first, b=other.to_numpy())


@pytest.mark.parametrize(("labels", "others"), OTHER_LABELS.values(), ids=OTHER_LABELS)
def test_other_labels_say_nothing_about_the_order(labels, others):
    first, other = (pd.Series(1.0, index=index) for index in (labels, others))
    refuse_reordered(a=first, b=other)


def test_a_multiindex_beside_a_plain_index_says_nothing_about_the_order():
    frame = pd.DataFrame({"user": [1, 1, 2, 2], "date": [1, 2, 1, 2], "y": [1, 0, 2, 1]})
    by_both = frame.set_index(["user", "date"], drop=False)
    refuse_reordered(X=by_both, y=frame["y"])
    with pytest.raises(ValueError, match="X and y have the same labels in their index"):
        refuse_reordered(X=by_both, y=by_both["y"].iloc[::-1])
