# SPDX-License-Identifier: Apache-2.0
"""Reductions of NumPy arrays with the same bits on any machine, any number of threads and any layout."""
import builtins
import ctypes
from typing import NamedTuple

import numpy as np

from . import _library
from ._library import ArgumentError, EmptyError, TilefoldError, UnsupportedError
from ._library import version as __version__

__all__ = [
    "reduce", "sum", "prod", "min", "max", "minmax", "mean", "var", "std", "argmin", "argmax", "any", "all",
    "count_nonzero", "logsumexp", "norm", "exact_sum", "compensated_sum", "stats", "vdot", "segment_reduce",
    "reduce_by_key", "Stats", "TilefoldError", "ArgumentError", "EmptyError", "UnsupportedError",
]


def _array(x):
    """x as an array in the machine's byte order, whose items stand at addresses and strides of their size."""
    x = np.asarray(x)
    if not x.dtype.isnative:
        x = x.astype(x.dtype.newbyteorder("="))
    size = x.dtype.itemsize
    if size and (not x.flags.aligned or builtins.any(s % size for s in x.strides)):
        x = np.ascontiguousarray(x).reshape(x.shape)
    return x





def _axes(axis, rank):
    if axis is None:
        return tuple(range(rank))
    named = axis if isinstance(axis, tuple) else (axis,)
    found = []
    for one in named:
        one = int(one)
        if not -rank <= one < rank:
            raise ArgumentError(6, f"tilefold: there is no axis {one} in an array of rank {rank}")
        found.append(one % rank)
    if len(set(found)) != len(found):
        raise ArgumentError(6, f"tilefold: an axis is named twice in {named}")
    return tuple(sorted(found))


def _int64s(values):
    return (ctypes.c_int64 * (len(values) or 1))(*values)


def _check_out(out, dtype, shape):
    if out is None:
        return
    if not isinstance(out, np.ndarray) or out.dtype != dtype or out.shape != shape:
        raise ArgumentError(1, f"tilefold: out must be an array of {dtype} and shape {shape}")
    if not out.flags.writeable:
        raise ArgumentError(1, "tilefold: out is read-only")


def _given(results, out):
    _check_out(out, results.dtype, results.shape)
    if out is not None:
        out[...] = results
        return out
    return results[()] if results.ndim == 0 else results


def reduce(x, op, axis=None, keepdims=False, out=None):
    """Folds the items of x along `axis` (None: all; an int; a tuple) in row-major order with the operation `op`.

    The result is a scalar or an array of what the operation gives for x's dtype (docs/c.md), with a last axis
    of 2 for "minmax" and "softmax_pair". `out` takes it instead: an array of that dtype and shape.
    Up to 8 axes. Raises EmptyError, UnsupportedError, ArgumentError; TypeError for dtypes that are not taken.
    """
    x = _array(x)
    if x.dtype == bool and op in ("min", "max", "minmax"):
        results = np.asarray(reduce(x.view(np.uint8), op, axis, keepdims)).astype(bool)
        return _given(results, out)
    code = _library.code_of(x.dtype)
    dtype, count = _library.result_of(op, x.dtype)
    axes = _axes(axis, x.ndim)
    left = tuple(n for i, n in enumerate(x.shape) if i not in axes)
    kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape)) if keepdims else left
    tail = (count,) if count > 1 else ()
    _check_out(out, dtype, kept + tail)
    results = np.empty(left + tail, dtype)
    size = x.dtype.itemsize
    _library.call("tilefold_axis_reduce", _library.executor(), op.encode(), x.ctypes.data, code, x.ndim,
                  _int64s(x.shape), _int64s([s // size for s in x.strides]), len(axes),
                  (ctypes.c_int32 * (len(axes) or 1))(*axes), results.ctypes.data, None)
    return _given(results.reshape(kept + tail), out)


def _wide(op, x, dtype, axis, keepdims, out):
    x = np.asarray(x)
    if dtype is not None:
        wanted = np.dtype(dtype)
        if x.dtype.kind == "f" and wanted == np.float64:
            op += "64"
        elif wanted != _library.result_of(op + ("64" if x.dtype.kind in "iub" else ""), x.dtype)[0]:
            x = x.astype(wanted)
    if x.dtype.kind in "iub":
        op = op if op.endswith("64") else op + "64"
    return reduce(x, op, axis, keepdims, out)


def sum(x, axis=None, dtype=None, keepdims=False, out=None):
    """The sum: of integers in 64 bits, of half and float in float, or in double with dtype=float64."""
    return _wide("sum", x, dtype, axis, keepdims, out)


def prod(x, axis=None, dtype=None, keepdims=False, out=None):
    """The product, in the types of sum()."""
    return _wide("product", x, dtype, axis, keepdims, out)


def _simple(op, meaning):
    def function(x, axis=None, keepdims=False, out=None):
        return reduce(x, op, axis, keepdims, out)

    function.__doc__ = meaning
    return function


min = _simple("min", "The least item; a NaN wins, and -0.0 is less than 0.0.")
max = _simple("max", "The greatest item; a NaN wins, and -0.0 is less than 0.0.")
minmax = _simple("minmax", "The least and the greatest item, in a last axis of 2.")
mean = _simple("mean", "The mean, in double.")
argmin = _simple("arg_min", "The index of the first least item, in row-major order of the reduced axes.")
argmax = _simple("arg_max", "The index of the first greatest item, in row-major order of the reduced axes.")
any = _simple("any", "Whether an item is not zero.")
all = _simple("all", "Whether no item is zero.")
count_nonzero = _simple("count_nonzero", "How many items are not zero.")
logsumexp = _simple("logsumexp", "log(sum(exp(x))) without overflow, in double.")
exact_sum = _simple("exact_sum", "The real sum of floats or doubles, rounded once, in whatever order.")
compensated_sum = _simple("compensated_sum", "The sum of floats or doubles in twice their precision.")


def _by_divisor(name, ddof):
    if ddof not in (0, 1):
        raise ArgumentError(1, f"tilefold: ddof is {ddof}, and must be 0 or 1")
    return name if ddof == 1 else "population_" + name


def var(x, axis=None, ddof=0, keepdims=False, out=None):
    """The variance, in double; of a sample with ddof=1."""
    return reduce(x, _by_divisor("variance", ddof), axis, keepdims, out)


def std(x, axis=None, ddof=0, keepdims=False, out=None):
    """The standard deviation, in double; of a sample with ddof=1."""
    return reduce(x, _by_divisor("standard_deviation", ddof), axis, keepdims, out)


def norm(x, ord=2, axis=None, keepdims=False, out=None):
    """The norm of order 1, 2 or infinity; squares cannot overflow."""
    names = {1: "l1", 2: "l2", float("inf"): "linf"}
    if ord not in names:
        raise ArgumentError(1, f"tilefold: ord is {ord}, and must be 1, 2 or inf")
    return reduce(x, names[ord], axis, keepdims, out)


class Stats(NamedTuple):
    """What stats() finds; `variance` is that of a sample."""
    count: int
    mean: float
    variance: float
    min: float
    max: float


def stats(x):
    """Count, mean, variance, least and greatest of all items in one read, as float."""
    x = np.ascontiguousarray(_array(x))
    found = _library.Statistics()
    _library.call("tilefold_stats", _library.executor(), x.ctypes.data, _library.code_of(x.dtype), x.size,
                  ctypes.byref(found))
    return Stats(found.count, found.mean, found.variance, found.min, found.max)


def vdot(x, y):
    """The dot product of all items of two real arrays of one dtype and size."""
    x, y = np.ascontiguousarray(_array(x)), np.ascontiguousarray(_array(y))
    if x.dtype != y.dtype or x.size != y.size:
        raise ArgumentError(1, f"tilefold: vdot of {x.size} items of {x.dtype} and {y.size} of {y.dtype}")
    if x.dtype == bool:
        raise UnsupportedError(4, "tilefold: there is no vdot of bool")
    dtype, _ = _library.result_of("sum", x.dtype)
    result = np.empty((), dtype)
    _library.call("tilefold_dot", _library.executor(), x.ctypes.data, y.ctypes.data,
                  _library.code_of(x.dtype), x.size, result.ctypes.data)
    return result[()]


def segment_reduce(x, offsets, op="sum"):
    """Folds every segment x[offsets[i]:offsets[i + 1]] of a one-dimensional array; each has the bits of
    reduce() over it alone. Offsets are checked. An empty segment gives the identity, NaN, or -1 (docs/c.md)."""
    x = np.ascontiguousarray(_array(x))
    offsets = np.asarray(offsets)
    if x.ndim != 1 or offsets.ndim != 1 or offsets.size == 0:
        raise ArgumentError(1, "tilefold: segment_reduce takes one axis of items, and of one offset or more")
    if offsets.dtype.kind not in "iu":
        raise UnsupportedError(4, f"tilefold: offsets are {offsets.dtype}, and must be integers")
    offsets = np.ascontiguousarray(offsets, np.int32 if offsets.dtype == np.int32 else np.int64)
    dtype, count = _library.result_of(op, x.dtype)
    segments = offsets.size - 1
    results = np.empty((segments, count) if count > 1 else (segments,), dtype)
    _library.call("tilefold_segmented_reduce", _library.executor(), op.encode(), x.ctypes.data,
                  _library.code_of(x.dtype), x.size, offsets.ctypes.data, _library.code_of(offsets.dtype),
                  segments, results.ctypes.data)
    return results


def reduce_by_key(keys, values, op="sum"):
    """Folds the values of every run of equal neighbouring keys; returns (keys, results), one of each a run."""
    keys, values = np.ascontiguousarray(_array(keys)), np.ascontiguousarray(_array(values))
    if keys.ndim != 1 or values.shape != keys.shape:
        raise ArgumentError(1, f"tilefold: keys have the shape {keys.shape}, and values {values.shape}")
    dtype, count = _library.result_of(op, values.dtype)
    n = keys.size
    keys_out = np.empty(n, keys.dtype)
    results = np.empty((n, count) if count > 1 else (n,), dtype)
    runs = ctypes.c_int64()
    _library.call("tilefold_reduce_by_key", _library.executor(), op.encode(), keys.ctypes.data,
                  _library.code_of(keys.dtype), values.ctypes.data, _library.code_of(values.dtype), n,
                  keys_out.ctypes.data, results.ctypes.data, ctypes.byref(runs))
    return keys_out[:runs.value].copy(), results[:runs.value].copy()
