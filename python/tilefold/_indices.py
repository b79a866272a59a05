# SPDX-License-Identifier: Apache-2.0
"""Items that have the same index, wherever they stand."""
from __future__ import annotations

import math
import operator
from typing import Any, Optional, Tuple

import numpy as np

from . import _errors, _gpu, _library, _signatures, _threads
from ._arrays import Items, array_of, items_of, possible_number, require_no_stream
from ._gpu_libraries import library_of
from ._operations import Operation, rounded
from ._out import Out, Result, check_out, written

_MODES = ("raise", "drop")


def _row_of_indices(indices: Items, name: str) -> np.ndarray[Any, Any]:
    """A row of integers, in the machine's byte order and one after the other."""
    row = items_of(indices)
    if row.ndim != 1:
        raise _errors.invalid(f"{name} has the shape {row.shape}, and must be a row")
    if row.size == 0 and isinstance(indices, (list, tuple)):
        row = row.astype(np.int64)  # an empty list is of no type
    if row.dtype.kind not in "iu":
        raise _errors.unsupported(f"{name} is {row.dtype}, and must be integers")
    return np.ascontiguousarray(row)


def _number_of(number: Any, name: str) -> int:
    try:
        if isinstance(number, (bool, np.bool_)):
            raise TypeError
        found = operator.index(number)
    except TypeError:
        raise _errors.unsupported(f"{name} is {number!r}, and must be an integer") from None
    return possible_number(found, name)


def _is_checked(mode: Any) -> bool:
    if mode not in _MODES:
        raise _errors.invalid(f"mode is {mode!r}, and must be 'raise' or 'drop'")
    return bool(mode == "raise")


@_signatures.of_indices
def reduce_by_index(indices: Items, values: Items, num_results: Optional[int] = None, op: str = "sum", *,
                    mode: str = "raise", out: Out = None, stream: Any = None) -> Result:
    """Folds all values that have the same index, wherever they stand: result i is that of values[indices == i].

    indices      a row of n integers of any type, in any order.
    values       an array of n rows (of n items, or of any shape beyond its first axis), of the dtypes of reduce().
                 Each column is folded by itself. Copied if its items do not stand one after the other.
    num_results  how many results there are; None: the greatest index and one more, 0 of no indices.
    op           a name of reduce(), as in segment_reduce().
    mode         "raise": an index that is negative, or num_results or more, is an error, and nothing is written.
                 "drop": its row is left out.
    out          an array of the result's dtype and shape, which takes the result and is returned. It is replaced:
                 to add to an array, add the result to it.

    The result has the shape (num_results,) + values.shape[1:], and a last axis of 2 of a pair ("summary": 6), and the
    operation's dtype. Each has the bits of reduce() over its values in the order of their positions; it does not
    depend on other values. argmin and argmax give the row of `values`. A result without values is the operation's
    result of nothing; NaN for means and deviations, -1 for places.

    On a GPU both arrays are of one library. mode="raise" and num_results=None wait for it; else nothing does.

    Raises: ArgumentError for an index without a result, with its position, and for shapes that differ;
    UnsupportedError for indices that are no integers (a mask of bool is none); and as reduce().
    """
    checked = _is_checked(mode)
    many = None if num_results is None else _number_of(num_results, "num_results")
    library = library_of(values)
    if library is not None:
        return _gpu.reduce_by_index(library, values, indices, many, op, checked, out, stream=stream)
    require_no_stream(stream)
    row = _row_of_indices(indices, "indices")
    operation = Operation(op, np.ascontiguousarray(_rows_of(values, row.size)))
    shape = (_results_of(row) if many is None else many,) + operation.items.shape[1:]
    check_out(out, operation.given, shape + operation.tail)
    return written(out, rounded(_folded(row, operation, shape, checked), operation.given))


def _rows_of(values: Items, n: int) -> np.ndarray[Any, Any]:
    items = items_of(values)
    if items.ndim == 0 or items.shape[0] != n:
        raise _errors.invalid(f"indices are {n}, and values have the shape {items.shape}; there must be an index for each "
                              "row")
    return items


def _results_of(row: np.ndarray[Any, Any]) -> int:
    """One more than the greatest index."""
    return possible_number(max(int(row.max()) + 1, 0) if row.size else 0, "num_results")


def _folded(row: np.ndarray[Any, Any], operation: Operation, shape: Tuple[int, ...],
            checked: bool) -> np.ndarray[Any, Any]:
    results = operation.memory(shape)
    _library.call("tilefold_reduce_by_index", _threads.executor(), operation.name, row.ctypes.data,
                  _library.code_of(row.dtype), operation.address, operation.code, row.size, math.prod(shape[1:]),
                  shape[0], checked, results.ctypes.data)
    return results


@_signatures.of_bins
def bincount(x: Items, weights: Optional[Items] = None, minlength: int = 0, *, stream: Any = None) -> Result:
    """Counts each integer of a row, or adds the weights of each up.

    x          a row of n integers of any type, none of them negative.
    weights    None, or a row of n numbers, which become float64.
    minlength  how many bins there are at least; there are more if x has greater integers.

    The result has a bin for each integer from 0 to the greatest: int64 counts, or sums of weights in float64, each with
    the bits of sum(weights[x == i]) in the order of tilefold; 0 of an integer that is not in x. On a GPU the call
    waits for the greatest integer.

    Raises: ArgumentError for a negative integer, with its position, for shapes that differ, and a negative minlength;
    UnsupportedError for what is no integer.
    """
    least = _number_of(minlength, "minlength")
    library = library_of(x)
    if library is not None:
        return _gpu.bincount(library, x, weights, least, stream=stream)
    require_no_stream(stream)
    row = _row_of_indices(x, "x")
    many = max(_results_of(row), least)
    if row.size and row.min() < 0:
        at = int((row < 0).argmax())
        raise _errors.invalid(f"item {at} has the index {row[at]}, and must not be negative")
    if weights is None:  # the same in any order
        return np.bincount(np.asarray(row, np.int64), minlength=least)
    given = array_of(weights)
    if given.shape != row.shape:
        raise _errors.invalid(f"x has the shape {row.shape}, and weights {given.shape}; they must be rows of one length")
    with _library.standard_mode():
        if given.dtype.kind not in "iufbV" or not np.can_cast(given.dtype, np.float64, "same_kind"):
            raise _errors.unsupported(f"weights are {given.dtype}, and must be real numbers")
        wide = np.ascontiguousarray(given.astype(np.float64))
        sums = _folded(row, Operation("sum", wide), (many,), True)
        return sums + 0.0  # as NumPy, which adds to 0.0
