"""Types that several modules name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Grades = NDArray[np.uint8]
Ints = NDArray[np.intp]

Cutoff = int | str | None
Gain = str | Sequence[float] | Mapping[float, float] | Callable[[Floats], ArrayLike]
Discount = str | Callable[[NDArray[np.int64]], ArrayLike]
