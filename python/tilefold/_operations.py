# SPDX-License-Identifier: Apache-2.0
"""What an operation makes of items, whatever verb it is used with."""
from __future__ import annotations

import ctypes
import functools
from typing import Any, NamedTuple, Optional, Tuple

import numpy as np

from . import _library
from ._dtypes import BFLOAT16, Code, in_numpy, is_float, of_dtype, of_means

#: Operations that libtilefold computes in float64, and whose results become the floating dtype of the items.
_AS_ITEMS = {b"mean", b"variance", b"standard_deviation", b"population_variance", b"population_standard_deviation"}
#: Operations whose results libtilefold rounds itself.
ROUNDED = _AS_ITEMS | {b"l1", b"l2", b"logsumexp"}


class Plan(NamedTuple):
    """What an operation makes of items of a type."""
    name: bytes
    items: _library.Dtype
    result: Code  # of libtilefold
    given: Code  # what users get of it
    tail: Tuple[int, ...]  # what a result adds to the shape: (2,) of a pair


@functools.lru_cache(maxsize=None)
def plan_of(name: bytes, code: Code) -> Plan:
    """Of an operation by its name in C."""
    items, result, count = _library.Dtype(*code, 1), _library.Dtype(), ctypes.c_int32()
    _library.call("tilefold_result", name, items, ctypes.byref(result), ctypes.byref(count))
    of_result = (result.code, result.bits)
    return Plan(name, items, of_result, of_means(code) if name in _AS_ITEMS else of_result,
                (count.value,) if count.value > 1 else ())


def odd_float32(numpy: Any, x: Any) -> Any:
    """An array of float64 as float32, rounded to odd: its last bit says that something was cut off, so a float of 16
    bits is rounded from it as from x. `numpy` is NumPy or CuPy."""
    near = numpy.asarray(x.astype("f4"))
    back, bits = near.astype("f8"), near.view("i4")
    is_cut = numpy.isfinite(x) & (back != x)
    return numpy.where(is_cut, (bits - (abs(back) > abs(x)).astype("i4")) | 1, bits).astype("i4").view("f4")


def rounded(results: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Results as `dtype`, rounded once."""
    if results.dtype == dtype:
        return results
    with np.errstate(over="ignore", under="ignore"), _library.standard_mode():
        if dtype.name != "bfloat16" or results.dtype != np.float64:
            return results.astype(dtype)
        near: np.ndarray[Any, Any] = odd_float32(np, results)
        return near.astype(dtype)


class Operation:
    """An operation of libtilefold with the items that it reads, and the dtype and shape that it gives."""

    def __init__(self, op: str, x: np.ndarray[Any, Any]) -> None:
        plan = plan_of(_library.name_of_op(op), of_dtype(x.dtype))
        self.items, self.name, self.code, self.tail = x, plan.name, plan.items, plan.tail
        #: Of results, and what users get of them.
        self.dtype = x.dtype if plan.result == BFLOAT16 else in_numpy(plan.result)
        self.given = x.dtype if plan.given == BFLOAT16 else in_numpy(plan.given)

    def written_as(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """What libtilefold writes of results that users get in `dtype`: some it rounds itself."""
        return dtype if self.name in ROUNDED and is_float(of_dtype(dtype)) else self.dtype

    @property
    def address(self) -> int:
        return self.items.ctypes.data

    def memory(self, shape: Tuple[int, ...], dtype: Optional[np.dtype[Any]] = None) -> np.ndarray[Any, Any]:
        """For results of that shape."""
        return np.empty(shape + self.tail, self.dtype if dtype is None else dtype)
