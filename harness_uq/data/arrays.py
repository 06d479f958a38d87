"""Read-only arrays of frozen dataclasses."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness_uq.errors import DataError

FloatArray: TypeAlias = NDArray[np.float64]


def read_only(owner: object, name: str, values: ArrayLike, dtype: type, ndim: int) -> NDArray[Any]:
    """Store a read-only copy of `values` as attribute `name` of a frozen dataclass, and return it.

    Raises
    ------
    DataError : if the array does not have `ndim` dimensions
    """
    array: NDArray[Any] = np.array(values, dtype=dtype)
    if array.ndim != ndim:
        raise DataError(f"{type(owner).__name__}.{name} must have {ndim} dimension(s); got shape {array.shape}")
    array.setflags(write=False)
    object.__setattr__(owner, name, array)
    return array
