# SPDX-License-Identifier: Apache-2.0
"""Many results of one row of items: by offsets, and by runs of keys."""
from __future__ import annotations

import ctypes
from typing import Any, Optional, Sequence, Tuple

import numpy as np

from . import _errors, _gpu, _library, _signatures, _threads
from ._arrays import Items, array_of, require_no_stream, row_of
from ._gpu_libraries import library_of
from ._operations import Operation, rounded
from ._out import Out, Result, check_out, check_rows, require_room, require_two, written


def _offsets_of(offsets: Items) -> np.ndarray[Any, Any]:
    """int32 offsets stay so, other integers become int64."""
    array = array_of(offsets)
    if array.ndim != 1 or array.size == 0:
        raise _errors.invalid(f"offsets have the shape {array.shape}, and must be a row of one or more")
    if array.dtype.kind not in "iu":
        raise _errors.unsupported(f"offsets are {array.dtype}, and must be integers")
    if array.dtype.kind == "u" and array.max() > np.iinfo(np.int64).max:
        at = int(array.argmax())
        raise _errors.invalid(f"offset {at} is {array[at]}")
    row = np.ascontiguousarray(array, np.int32 if array.dtype == np.int32 else np.int64)
    return row if row.flags.aligned else row.copy()


@_signatures.of_segments
def segment_reduce(x: Items, offsets: Items, op: str = "sum", *, out: Out = None, stream: Any = None) -> Result:
    """Folds every segment x[offsets[i]:offsets[i + 1]] of a row.

    x        an array of one axis, of the dtypes of reduce(); copied if its items do not stand one after the other.
    offsets  s + 1 integers, of 32 or 64 bits without a copy. They do not decrease, and lie in 0 to len(x); the
             first need not be 0, nor the last len(x). Those on the host are all checked before anything is folded;
             those on a GPU are believed.
    out      an array of the result's dtype and shape, which takes the result and is returned.
    op       a name of reduce().

    The result has the shape (s,), or (s, 2) of a pair ("summary": 6), and the operation's dtype. Each has the bits of
    reduce() over its segment alone. An empty segment gives the operation's result of nothing; NaN for means and
    deviations, -1 for places.

    Raises: ArgumentError for offsets that are wrong, with the first bad segment; and as reduce().
    """
    library = library_of(x)
    if library is not None:
        return _gpu.segment_reduce(library, x, _offsets_of(offsets) if library_of(offsets) is None else offsets, op,
                                   out, stream=stream)
    require_no_stream(stream)
    items = array_of(x)
    if items.ndim != 1:
        raise _errors.invalid(f"items have the shape {items.shape}, and must be a row")
    checked = _offsets_of(offsets)
    operation = Operation(op, row_of(items))
    segments = checked.size - 1
    check_out(out, operation.given, (segments,) + operation.tail)
    results = operation.memory((segments,))
    _library.call("tilefold_segmented_reduce", _threads.executor(), operation.name, operation.address,
                  operation.code, items.size, checked.ctypes.data, _library.code_of(checked.dtype), segments,
                  results.ctypes.data)
    return written(out, rounded(results, operation.given))


@_signatures.of_batched
def batched(arrays: Sequence[Items], op: str = "sum", *, stream: Any = None) -> Result:
    """Folds each of many arrays, which need not lie together nor be of one length.

    arrays  arrays as reduce() takes them, of one dtype, of any shape: all on the host, or all of one library on one
            GPU. Those whose items do not stand one after the other are copied.
    op      a name of reduce(), as in segment_reduce().
    stream  as for reduce().

    The result has the shape (len(arrays),), or (len(arrays), 2) of a pair ("summary": 6). Each has the bits of reduce()
    over its array alone. The calls go one after the other.

    Raises: ArgumentError for no arrays, and for two dtypes or devices; EmptyError for an array of no items where
    reduce() raises it; and as reduce().
    """
    arrays = list(arrays)
    if not arrays:
        raise _errors.invalid("there are no arrays, so no dtype of results")
    library = library_of(arrays[0])
    if library is not None:
        return _gpu.batched(library, arrays[0], arrays, op, stream=stream)
    require_no_stream(stream)
    rows = [row_of(x) for x in arrays]
    for i, row in enumerate(rows):
        if row.dtype != rows[0].dtype:
            raise _errors.invalid(f"array {i} is of {row.dtype}, and array 0 of {rows[0].dtype}")
    operations = [Operation(op, row) for row in rows]
    written_as = operations[0].written_as(operations[0].given)
    results = operations[0].memory((len(rows),), written_as)
    for row, operation, result in zip(rows, operations, results.reshape(len(rows), -1)):
        _library.call("tilefold_reduce_as", _threads.executor(), operation.name, operation.address, operation.code,
                      row.size, result.ctypes.data, _library.code_of(written_as))
    return rounded(results, operations[0].given)


@_signatures.of_keys
def reduce_by_key(keys: Items, values: Items, op: str = "sum", *, out: Optional[Tuple[Out, Out]] = None,
                  stream: Any = None) -> Tuple[Result, Result]:
    """Folds the values of every run of equal neighbouring keys.

    keys    a row of n integers, bool or floats; equal as == says, so a NaN is a run of its own.
    values  a row of n items, of the dtypes of reduce().
    op      a name of reduce(), as in segment_reduce().
    out     two arrays of the dtypes of keys and results, each of n rows or at least as many as there are runs: they
            take the results, and what is returned are their first rows.

    Returns (keys, results), both of the shape (runs,), in the order of the runs: a run's first key, and what
    reduce() gives for its values alone; results of a pair have the shape (runs, 2). Of nothing: two empty arrays.
    Rows whose items do not stand one after the other are copied.

    Raises: ArgumentError for shapes that differ; UnsupportedError for complex keys; and as reduce().
    """
    library = library_of(values)
    if library is not None:
        found: Tuple[Any, Any] = _gpu.reduce_by_key(library, keys, values, op, out, stream)
        return found
    require_no_stream(stream)
    given, items = array_of(keys), array_of(values)
    if given.ndim != 1 or items.shape != given.shape:
        raise _errors.invalid(f"keys have the shape {given.shape}, and values {items.shape}; they must be rows of one "
                              "length")
    row = row_of(given)
    operation = Operation(op, row_of(items))
    n = row.size
    if out is not None:
        require_two(out)
        check_rows(out[0], row.dtype, ())
        check_rows(out[1], operation.given, operation.tail)
    runs = ctypes.c_int64()
    keys_out = np.empty(n, row.dtype)
    results = operation.memory((n,))
    _library.call("tilefold_reduce_by_key", _threads.executor(), operation.name, row.ctypes.data,
                  _library.code_of(row.dtype), operation.address, operation.code, n, keys_out.ctypes.data,
                  results.ctypes.data, ctypes.byref(runs))
    keys_out, results = keys_out[:runs.value], rounded(results[:runs.value], operation.given)
    if out is not None:
        require_room(min(len(one) for one in out), runs.value)
        return written(out[0][:runs.value], keys_out), written(out[1][:runs.value], results)
    return keys_out.copy(), results.copy()
