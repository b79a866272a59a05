# SPDX-License-Identifier: Apache-2.0
"""Arrays of a GPU: read where they lie, folded in the order of their library's current stream, and answered with
an array of the same library. Nothing waits, unless a function says so.

What differs between libraries stands in one class each (_gpu_libraries/).
"""
from __future__ import annotations

import contextlib
import ctypes
import functools
import math
from typing import Any, Callable, ContextManager, Dict, List, Optional, Sequence, Tuple

import numpy as np

from . import _library
from ._arrays import possible_number, require_no_stream, shapes_of
from ._dtypes import BOOL, FLOAT64, Code, folded_as, is_float, is_integer, name_of, of_name
from ._errors import invalid, unsupported
from ._gpu_libraries import GpuLibrary, Items, Torch
from ._operations import ROUNDED, Plan, plan_of as operation_of
from ._out import require_room, require_two
from ._threads import executor_of

#: Operations that are one of another name for bool.
_OF_BOOL = {"min": "all", "max": "any"}


@functools.lru_cache(maxsize=None)
def plan_of(op: str, code: Code) -> Plan:
    return operation_of(_library.name_of_op(_OF_BOOL.get(op, op) if code == BOOL else op), code)


#: Folds all items of an array whose items stand one after the other, and lie where they can be read. None of any other
#: array.
ShortWay = Callable[[Any, str], Any]
#: By the types of arrays that have been seen. A call of few items looks here first.
short_ways: Dict[Any, ShortWay] = {}


def current(library: Optional[GpuLibrary], x: Any, stream: Any) -> ContextManager[Any]:
    """Within it `stream` is the library's current one; None leaves that as it is. For what takes several steps."""
    if library is None:
        require_no_stream(stream)
        return contextlib.nullcontext()
    return contextlib.nullcontext() if stream is None else library.in_stream(x, stream)


def in_stream(function: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a function of a library and an array the argument `stream`, which is the library's current one then."""
    @functools.wraps(function)
    def call(library: GpuLibrary, x: Any, *arguments: Any, stream: Any = None) -> Any:
        if stream is None:  # faster so
            return function(library, x, *arguments)
        with current(library, x, stream):
            return function(library, x, *arguments)

    return call


def short_way_of(library: GpuLibrary) -> ShortWay:
    """What `library` adds to short_ways. It does as little as a call of a few items can: one look at what was found
    out by earlier ones."""
    if not isinstance(library, Torch):
        return lambda x, op: None
    torch = library.torch
    strided, empty_like, current_stream = torch.strided, torch.empty_like, library.current_stream
    reduce_as = _library.tilefold_reduce_as
    # By operation, dtype, device and stream: the operation's name, its type of items, an array to make results like,
    # the executor, and the result's type.
    plans: Dict[Tuple[str, Any, int, int], Tuple[bytes, _library.Dtype, Any, Any, _library.Dtype]] = {}

    def plan(x: Any, op: str, device: int, stream: int) -> Any:
        made = plan_of(op, library.code_of(x))
        return (made.name, made.items, library.empty(x, made.tail, made.given), executor_of(device, stream),
                _library.Dtype(*made.given, 1))

    def whole(x: Any, op: str) -> Any:
        if not x.is_cuda or x.requires_grad:
            return None
        x = x.detach()  # as Torch.alias()
        if x.layout is not strided or not x.is_contiguous() or x.is_neg():
            return None
        device, dtype = x.get_device(), x.dtype
        if dtype.is_complex and x.is_conj():
            return None
        stream = current_stream(device)
        key = (op, dtype, device, stream)
        try:
            name, items, like, executor, given = plans[key]
        except KeyError:
            name, items, like, executor, given = plans[key] = plan(x, op, device, stream)
        results = empty_like(like)
        status = reduce_as(executor, name, x.data_ptr(), items, x.numel(), results.data_ptr(), given)
        if status != 0:
            _library.raise_refusal(status)
        return results

    return whole


def check_out(library: GpuLibrary, out: Any, like: Items, code: Code, shape: Tuple[int, ...]) -> Items:
    if not library.owns(out):
        raise invalid(f"out is a {type(out).__name__}, and must be an array of {library.name} on the GPU")
    found = library.items(out)
    if found.code != code or tuple(found.shape) != shape:
        raise invalid(f"out is an array of {name_of(found.code)} and shape {tuple(found.shape)}, and must be one of "
                      f"{name_of(code)} and shape {shape}")
    if found.device != like.device:
        raise invalid(f"out is on device {found.device}, and x on device {like.device}")
    if found.read_only:
        raise invalid("out is read-only")
    return found


@in_stream
def fold(library: GpuLibrary, x: Any, op: str, axis: Any = None, keepdims: bool = False, out: Any = None,
         dtype: Optional[Code] = None, then: Optional[Callable[[Any], Any]] = None) -> Any:
    """reduce() of an array of `library`; results go through `then` and are converted to dtype."""
    return _fold(library, library.alias(x), op, axis, keepdims, out, dtype, then)


def _fold(library: GpuLibrary, x: Any, op: str, axis: Any, keepdims: bool, out: Any, dtype: Optional[Code] = None,
          then: Optional[Callable[[Any], Any]] = None) -> Any:
    """fold() of an alias."""
    items = library.items(x)
    plan = plan_of(op, items.code)
    axes, _, kept = shapes_of(items.shape, axis, keepdims)
    code = plan.result
    wanted = plan.given if dtype is None else dtype
    if out is not None:
        check_out(library, out, items, wanted, kept + plan.tail)
    handle = executor_of(items.device, items.stream)
    if then is None and plan.name in ROUNDED and is_float(wanted):
        code = wanted  # at once
    results = library.empty(x, kept + plan.tail, code)
    address, of_results = library.address(results), _library.Dtype(*code, 1)
    if len(axes) == len(items.shape) and library.is_row_major(x, items):
        _library.call("tilefold_reduce_as", handle, plan.name, items.address, plan.items, math.prod(items.shape),
                      address, of_results)
    else:
        _library.call("tilefold_axis_reduce_as", handle, plan.name, items.address, plan.items, len(items.shape),
                      _library.int64s(items.shape), _library.int64s(items.steps), len(axes), _library.int32s(axes),
                      address, of_results, None)
    if then is not None:
        results = then(results)
    if wanted != code:
        results = library.narrowed(results, wanted)
    return given(library, results, out)


def as_given(library: GpuLibrary, results: Any, plan: Plan) -> Any:
    """Results of libtilefold in the dtype that users get."""
    return results if plan.given == plan.result else library.narrowed(results, plan.given)


def given(library: GpuLibrary, results: Any, out: Any) -> Any:
    """Results for the user, in `out` if there is one."""
    if out is None:
        return library.done(results)
    library.copy(out, results)
    return library.done(out)


def row_of(library: GpuLibrary, x: Any) -> Tuple[Any, Items]:
    """x and its items one after the other: an alias, or a copy if they are not."""
    x = library.alias(x)
    items = library.items(x)
    if not library.is_row_major(x, items):
        x = library.contiguous(x)
        items = library.items(x)
    return x, items


@in_stream
def stats(library: GpuLibrary, x: Any) -> List[Any]:
    """[mean, variance, min, max] of all items as float64, on the GPU."""
    x, items = row_of(library, x)
    handle = executor_of(items.device, items.stream)
    results = library.empty(x, (5,), FLOAT64)
    _library.call("tilefold_stats", handle, items.address,
                  _library.Dtype(*items.code, 1), math.prod(items.shape),
                  ctypes.cast(library.address(results), ctypes.POINTER(_library.Statistics)))
    results = library.done(results)
    return [results[i] for i in range(1, 5)]


@in_stream
def vdot(library: GpuLibrary, x: Any, y: Any) -> Any:
    x, a = row_of(library, x)
    y, b = _row_with(library, a, y, "y")
    n, m = math.prod(a.shape), math.prod(b.shape)
    if a.code != b.code or n != m:
        raise invalid(f"vdot of {n} items of {name_of(a.code)} and {m} of {name_of(b.code)}")
    result = plan_of("sum", a.code).result
    if is_integer(a.code) and a.code != result:  # in 64 bits, as sums
        x, a = row_of(library, library.cast(x, result))
        y, b = row_of(library, library.cast(y, result))
    handle = executor_of(a.device, a.stream)
    results = library.empty(x, (), result)
    _library.call("tilefold_dot", handle, a.address, b.address,
                  _library.Dtype(*a.code, 1), n, library.address(results))
    return library.done(results)


def log_softmax(library: GpuLibrary, x: Any, length: int, out: Any) -> None:
    """Writes x - logsumexp(row) of every row of `length` items to `out`; the items of both stand one after the
    other."""
    items, to = library.items(x), library.items(out)
    _library.call("tilefold_log_softmax", executor_of(items.device, items.stream), items.address,
                  _library.Dtype(*items.code, 1), math.prod(items.shape) // length, length, to.address,
                  _library.Dtype(*to.code, 1))


def _row_with(library: GpuLibrary, items: Items, y: Any, name: str) -> Tuple[Any, Items]:
    """row_of() of an array that goes with x, whose items are given."""
    if not library.owns(y):
        raise invalid(f"{name} is a {type(y).__name__}, and must be an array of {library.name} on the GPU, as x is")
    y, found = row_of(library, y)
    if found.device != items.device:
        raise invalid(f"{name} is on device {found.device}, and x on device {items.device}")
    return y, found


def _checked(offsets: np.ndarray[Any, Any], n: int) -> np.ndarray[Any, Any]:
    """Offsets that are on the host, for n items that are on a GPU."""
    wrong = np.flatnonzero((offsets[:-1] < 0) | (offsets[:-1] > offsets[1:]) | (offsets[1:] > n))
    if wrong.size:
        i = int(wrong[0])
        raise invalid(f"segment {i} is [{offsets[i]}, {offsets[i + 1]}) of {n} items")
    return offsets


def _require_row(items: Items, name: str) -> int:
    if len(items.shape) != 1:
        raise invalid(f"{name} have the shape {tuple(items.shape)}, and must be a row")
    return items.shape[0]


@in_stream
def segment_reduce(library: GpuLibrary, x: Any, offsets: Any, op: str, out: Any = None) -> Any:
    """Offsets that are on the GPU are believed; NumPy's are checked and copied."""
    x, items = row_of(library, x)
    n = _require_row(items, "items")
    if isinstance(offsets, np.ndarray):
        offsets = library.from_numpy(x, _checked(offsets, n))
    offsets, begins = _row_with(library, items, offsets, "offsets")
    many = _require_row(begins, "offsets")
    if many == 0 or begins.code not in ((0, 32), (0, 64)):
        raise invalid(f"offsets are {many} of {name_of(begins.code)}, and must be one or more of int32 or int64")
    plan = plan_of(op, items.code)
    if out is not None:
        check_out(library, out, items, plan.given, (many - 1,) + plan.tail)
    handle = executor_of(items.device, items.stream)
    results = library.empty(x, (many - 1,) + plan.tail, plan.result)
    _library.call("tilefold_segmented_reduce", handle, plan.name, items.address,
                  plan.items, n, begins.address, _library.Dtype(*begins.code, 1), many - 1,
                  library.address(results))
    return given(library, as_given(library, results, plan), out)


@in_stream
def batched(library: GpuLibrary, x: Any, arrays: Sequence[Any], op: str) -> Any:
    """x is the first of them."""
    first = library.items(library.alias(x))
    code = first.code
    plan = plan_of(op, code)
    results = library.empty(x, (len(arrays),) + plan.tail, plan.result)
    step = plan.result[1] // 8 * math.prod(plan.tail)
    kept = []  # copies: they are read until the results are done
    for i, one in enumerate(arrays):
        one, items = _row_with(library, first, one, f"array {i}")
        kept.append(one)
        if items.code != code:
            raise invalid(f"array {i} is of {name_of(items.code)}, and array 0 of {name_of(code)}")
        _library.call("tilefold_reduce", executor_of(items.device, items.stream), plan.name, items.address, plan.items,
                      math.prod(items.shape), library.address(results) + i * step)
    return library.done(as_given(library, results, plan))


def reduce_by_key(library: GpuLibrary, keys: Any, values: Any, op: str, out: Any = None,
                  stream: Any = None) -> Tuple[Any, Any]:
    """Waits for the number of runs. `library` is that of the values."""
    with current(library, values, stream):
        return _reduce_by_key(library, keys, values, op, out)


def _reduce_by_key(library: GpuLibrary, keys: Any, values: Any, op: str, out: Any) -> Tuple[Any, Any]:
    values, items = row_of(library, values)
    keys, of_keys = _row_with(library, items, keys, "keys")
    n = _require_row(items, "values")
    if _require_row(of_keys, "keys") != n:
        raise invalid(f"keys have the shape {tuple(of_keys.shape)}, and values {tuple(items.shape)}; they must be rows "
                      "of one length")
    plan = plan_of(op, items.code)
    if out is not None:
        require_two(out)
        for one, code, tail in ((out[0], of_keys.code, ()), (out[1], plan.given, plan.tail)):
            rows = tuple(one.shape[:1]) if library.owns(one) else ()
            check_out(library, one, items, code, rows + tail)
    handle = executor_of(items.device, items.stream)
    keys_out = library.empty(keys, (n,), of_keys.code)
    results = library.empty(values, (n,) + plan.tail, plan.result)
    if n == 0:
        results = as_given(library, results, plan)
        return (library.done(keys_out), library.done(results)) if out is None else (out[0][:0], out[1][:0])
    runs = library.empty(values, (), (0, 64))
    _library.call("tilefold_reduce_by_key", handle, plan.name, of_keys.address,
                  _library.Dtype(*of_keys.code, 1), items.address, plan.items, n, library.address(keys_out),
                  library.address(results), ctypes.cast(library.address(runs), ctypes.POINTER(ctypes.c_int64)))
    count = library.number(runs)
    results = as_given(library, results, plan)
    if out is not None:
        require_room(min(one.shape[0] for one in out), count)
        return (given(library, keys_out[:count], out[0][:count]), given(library, results[:count], out[1][:count]))
    return library.done(keys_out)[:count], library.done(results)[:count]


@in_stream
def reduce_by_index(library: GpuLibrary, values: Any, indices: Any, num_results: Optional[int], op: str, checked: bool,
                    out: Any = None) -> Any:
    """`library` is that of the values."""
    values, items = row_of(library, values)
    indices, of_indices = _row_with(library, items, indices, "indices")
    shape = tuple(items.shape)
    if _require_row(of_indices, "indices") != (shape[0] if shape else -1):
        raise invalid(f"indices are {of_indices.shape[0]}, and values have the shape {shape}; there must be an index for "
                      "each row")
    plan = plan_of(op, items.code)
    many = _results_of(library, indices, of_indices) if num_results is None else num_results
    shape = (many,) + shape[1:]
    if out is not None:
        check_out(library, out, items, plan.given, shape + plan.tail)
    results = _by_index(library, values, items, of_indices, plan, shape, checked)
    return given(library, as_given(library, results, plan), out)


def _results_of(library: GpuLibrary, indices: Any, of_indices: Items) -> int:
    """One more than the greatest of a row of integers. Waits for it."""
    _require_integers(of_indices, "indices")
    if of_indices.shape[0] == 0:
        return 0
    greatest = library.number(_fold(library, indices, "max", None, False, None))
    return possible_number(max(greatest + 1, 0), "num_results")


def _require_integers(items: Items, name: str) -> None:
    if items.code[0] not in (0, 1):
        raise unsupported(f"{name} is {name_of(items.code)}, and must be integers")


def _by_index(library: GpuLibrary, values: Any, items: Items, of_indices: Items, plan: Plan, shape: Tuple[int, ...],
              checked: bool) -> Any:
    _require_integers(of_indices, "indices")
    results = library.empty(values, shape + plan.tail, plan.result)
    _library.call("tilefold_reduce_by_index", executor_of(items.device, items.stream), plan.name, of_indices.address,
                  _library.Dtype(*of_indices.code, 1), items.address, plan.items, items.shape[0], math.prod(shape[1:]),
                  shape[0], checked, library.address(results))
    return results


@in_stream
def bincount(library: GpuLibrary, x: Any, weights: Any, minlength: int) -> Any:
    x, items = row_of(library, x)
    n = _require_row(items, "x")
    _require_integers(items, "x")
    shape = (max(_results_of(library, x, items), minlength),)
    if weights is None:  # the counts of summaries, whatever the items are
        plan = plan_of("summary", items.code)
        summaries = library.done(_by_index(library, x, items, items, plan, shape, True))
        return library.done(library.cast(summaries[:, 0], (0, 64)))
    weights, of_weights = _row_with(library, items, weights, "weights")
    if tuple(of_weights.shape) != (n,):
        raise invalid(f"x has the shape {(n,)}, and weights {tuple(of_weights.shape)}; they must be rows of one length")
    if not (is_float(of_weights.code) or is_integer(of_weights.code)):
        raise unsupported(f"weights are {name_of(of_weights.code)}, and must be real numbers")
    if of_weights.code != FLOAT64:
        weights, of_weights = row_of(library, library.cast(weights, FLOAT64))
    sums = library.done(_by_index(library, weights, of_weights, items, plan_of("sum", FLOAT64), shape, True))
    return library.done(library.canonical(sums + 0.0))  # as NumPy, which adds to 0.0


@in_stream
def in_dtype(library: GpuLibrary, x: Any, op: str, dtype: Any, axis: Any, keepdims: bool, out: Any) -> Any:
    """A sum or a product: items become `dtype`, are folded in its accumulator, and the result is of it."""
    x = library.alias(x)
    code, wanted = library.code_of(x), of_name(dtype)
    op, converts = folded_as(op, code, wanted)
    if converts:
        x = (library.whole_numbers if is_float(code) and wanted[0] in (0, 1) else library.cast)(x, wanted)
    return _fold(library, x, op, axis, keepdims, out, wanted)
