# SPDX-License-Identifier: Apache-2.0
"""What an operation makes of items, whatever verb it is used with."""
from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from . import _library

#: Operations that libtilefold computes in float64, and whose results become the floating dtype of the items.
_AS_ITEMS = {b"mean", b"variance", b"standard_deviation", b"population_variance", b"population_standard_deviation"}
#: Operations whose results libtilefold rounds itself.
ROUNDED = _AS_ITEMS | {b"l1", b"l2", b"logsumexp"}


def is_as_items(name: bytes, is_floating: bool) -> bool:
    """Whether results have the dtype of the items, to which they are rounded once."""
    return is_floating and name in _AS_ITEMS


def rounded(results: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Results as `dtype`, rounded once."""
    if results.dtype == dtype:
        return results
    with np.errstate(over="ignore", under="ignore"):
        if dtype.name != "bfloat16" or results.dtype != np.float64:
            return results.astype(dtype)
        # By way of a float32 that is rounded to odd: its last bit says that something was cut off.
        near = np.asarray(results.astype(np.float32))
        back = near.astype(np.float64)
        bits = near.view(np.uint32)
        is_cut = np.isfinite(results) & (back != results)
        bits = np.where(is_cut, (bits - (np.abs(back) > np.abs(results))) | 1, bits).astype(np.uint32)
        return bits.view(np.float32).astype(dtype)


class Operation:
    """An operation of libtilefold with the items that it reads, and the dtype and shape that it gives."""

    def __init__(self, op: str, x: np.ndarray[Any, Any]) -> None:
        self.items = x
        self.name = _library.name_of_op(op)
        self.code = _library.code_of(x.dtype)
        self.dtype, count = _library.result_of(op, x.dtype)
        #: What users get of results in `dtype`.
        self.given = x.dtype if is_as_items(self.name, x.dtype.kind in "fV") else self.dtype
        #: What a result adds to the shape: (2,) of a pair.
        self.tail: Tuple[int, ...] = (count,) if count > 1 else ()

    @property
    def address(self) -> int:
        return self.items.ctypes.data

    def memory(self, shape: Tuple[int, ...]) -> np.ndarray[Any, Any]:
        """For results of that shape."""
        return np.empty(shape + self.tail, self.dtype)
