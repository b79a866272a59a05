# SPDX-License-Identifier: Apache-2.0
"""The reductions of axes."""
from __future__ import annotations

import builtins
import ctypes
import math
import numbers
import sys
import threading
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from . import _errors, _gpu, _library, _signatures, _threads
from ._arrays import (Axis, Items, array_of, axes_of, converted, flag_of, items_of, require_no_stream, row_of,
                      shapes_of)
from ._dtypes import (BOOL, FLOAT64, Code, ends_of, folded_as, in_numpy, is_float, is_integer, name_of, of_dtype, of_means,
                      of_name)
from ._gpu_libraries import library_of
from ._operations import Operation, plan_of, rounded
from ._out import Out, Result, check_out, packed, unpacked, written


def _count(x: np.ndarray[Any, Any]) -> Any:
    if x.dtype.kind in "fc" and not _library.is_standard_mode():
        with _library.standard_mode():
            return np.int64(np.count_nonzero(x))
    return np.int64(np.count_nonzero(x.view(np.uint8) if x.dtype.kind == "b" else x))


#: What NumPy finds sooner of so many bytes at most, one after the other, by operation and kind of dtype; the results
#: are integers that no order can change. Places of bools: NumPy stops at the first one.
_SOONER: Dict[Tuple[str, str], Tuple[float, Any]] = {
    **{("count_nonzero", kind): (2 ** 14, _count) for kind in "biufc"},
    **{("arg_max", kind): (2 ** 20, lambda x: x.argmax()) for kind in "iu"},
    **{("arg_min", kind): (2 ** 20, lambda x: x.argmin()) for kind in "iu"},
    **{("max", kind): (2 ** 20, lambda x: np.maximum.reduce(x, None)) for kind in "iu"},
    **{("min", kind): (2 ** 20, lambda x: np.minimum.reduce(x, None)) for kind in "iu"},
    ("arg_max", "b"): (math.inf, lambda x: x.argmax()),
    ("arg_min", "b"): (math.inf, lambda x: x.argmin()),
}
#: NumPy's functions for rows, by operation and kind of dtype.
_SOONER_IN_ROWS: Dict[Tuple[str, str], Any] = {
    ("arg_max", "b"): lambda x: x.argmax(-1),
    ("arg_min", "b"): lambda x: x.argmin(-1),
}


class _AxisPlan(NamedTuple):
    """What _fold() and _along() need of an operation, a layout of items and axes."""
    name: bytes
    layout: Tuple[Any, ...]  # from the dtype of the items to the axes, as tilefold_axis_reduce_as() takes them
    memory: Tuple[int, ...]  # of the results
    shape: Tuple[int, ...]
    given: np.dtype[Any]
    written_as: np.dtype[Any]
    code_of_result: Any
    is_direct: bool  # items are read as they lie if they are aligned, and results are given as they are written
    numpy_way: Any  # NumPy's function, if it is faster


def _axis_plan(x: np.ndarray[Any, Any], op: str, axis: Axis, keepdims: bool,
               dtype: Optional[np.dtype[Any]]) -> _AxisPlan:
    operation = Operation(op, x)
    axes, left, kept = shapes_of(x.shape, axis, keepdims)
    given = operation.given if dtype is None else dtype
    written_as, size = operation.written_as(given), x.dtype.itemsize
    layout = (operation.code, x.ndim, _library.int64s(x.shape), _library.int64s([step // size for step in x.strides]),
              len(axes), _library.int32s(axes))
    memory, shape = left + operation.tail, kept + operation.tail
    is_direct = (x.size != 0 and not builtins.any(step % size for step in x.strides) and memory == shape != () and
                 written_as == given)
    numpy_way = None
    if is_direct and axis in (-1, x.ndim - 1) and x.flags.c_contiguous:
        numpy_way = _SOONER_IN_ROWS.get((operation.name.decode(), x.dtype.kind))
    return _AxisPlan(operation.name, layout, memory, shape, given, written_as, _library.code_of(written_as), is_direct,
                     numpy_way)


_axis_plans: Dict[Any, _AxisPlan] = {}
_MOST_PLANS = 1024


def _plan_of_axes(x: np.ndarray[Any, Any], op: str, axis: Axis, keepdims: bool,
                  dtype: Optional[np.dtype[Any]]) -> _AxisPlan:
    """_axis_plan(), which takes as long as a short call; for one axis it is kept."""
    if type(axis) is not int or type(op) is not str:  # True is an axis for a dict
        return _axis_plan(x, op, axis, keepdims, dtype)
    key = (op, x.dtype, x.shape, x.strides, axis, keepdims, dtype)
    found = _axis_plans.get(key)
    if found is None:
        found = _axis_plan(x, op, axis, keepdims, dtype)
        if len(_axis_plans) >= _MOST_PLANS:
            _axis_plans.clear()
        _axis_plans[key] = found
    return found


def _fold(x: np.ndarray[Any, Any], op: str, axis: Axis, keepdims: bool, out: Out,
          dtype: Optional[np.dtype[Any]] = None) -> Any:
    """reduce() of an array as items_of() makes it; results are converted to dtype."""
    plan = _plan_of_axes(x, op, axis, keepdims, dtype)
    if out is not None:
        check_out(out, plan.given, plan.shape)
    results = np.empty(plan.memory, plan.written_as)
    executor = _threads.executor()
    status = _axis_reduce_as(executor.handle, plan.name, _address_of(x), *plan.layout, _address_of(results),
                             plan.code_of_result, None)
    if status != 0:
        _library.raise_refusal(status)
    return written(out, rounded(results.reshape(plan.shape), plan.given))


class _Result(Dict[Any, Any]):
    """Memory for one result: views of it by dtype."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = np.empty(64, np.uint8)
        self.address: int = self.memory.ctypes.data

    def __missing__(self, dtype: Any) -> Any:
        found = self[dtype] = self.memory.view(dtype)
        return found


_results = threading.local()


def _idle_results() -> List[_Result]:
    """What short calls of the calling thread write to. A call takes one out and puts it back: between any two steps of
    it, these here too, a signal's handler or a finalizer may fold."""
    idle: Optional[List[_Result]] = getattr(_results, "idle", None)
    if idle is None:
        idle = _results.idle = []
    return idle


class _Plan(NamedTuple):
    """What _whole() needs of an operation and items."""
    name: bytes
    code: Any  # the type of the items
    dtype: np.dtype[Any]  # of the result
    code_of_result: Any
    shape: Tuple[int, ...]  # of the result
    most_bytes: float  # for which another way is taken
    other: Any


_whole_plans: Dict[Tuple[str, Any], Optional[_Plan]] = {}  # None: it takes longer


def _whole_plan(op: str, x: np.ndarray[Any, Any]) -> Optional[_Plan]:
    if not x.dtype.isnative:
        return None
    operation = Operation(op, x)
    most_bytes, other = _SOONER.get((operation.name.decode(), x.dtype.kind), (0, None))
    return _Plan(operation.name, operation.code, operation.given, _library.code_of(operation.given), operation.tail,
                 most_bytes, other)


def _address_of(x: np.ndarray[Any, Any]) -> int:
    return x.ctypes.data


def _field_of(x: np.ndarray[Any, Any], at: Any = ctypes.c_void_p.from_address, head: int = object.__basicsize__) -> Any:
    return at(id(x) + head).value


# An array's first field is its address, in NumPy's C interface and so in all of its versions; .ctypes takes as long as
# a third of a short call.
if sys.implementation.name == "cpython":
    _probe = np.ones(3)[1:]
    if _field_of(_probe) == _probe.ctypes.data:
        _address_of = _field_of


def _whole(x: Any, op: str) -> Any:
    """The short way of NumPy's arrays."""
    x = x.view()  # as array_of()
    key = (op, x.dtype)
    try:
        found = _whole_plans[key]
    except KeyError:
        found = _whole_plans[key] = _whole_plan(op, x)
    if found is None or x.ndim > 8:
        return None
    name, code, dtype, code_of_result, shape, most_bytes, other = found
    if most_bytes and 0 < x.nbytes <= most_bytes:
        return other(x)
    flags = x.flags
    if not flags.c_contiguous or not flags.aligned or not x.size:
        return None
    idle = _idle_results()
    try:
        result = idle.pop()
    except IndexError:
        result = _Result()
    executor = _threads.executor()
    status = _library.tilefold_reduce_as(executor.handle, name, _address_of(x), code, x.size, result.address,
                                         code_of_result)
    if status != 0:
        _library.raise_refusal(status)
    value = result[dtype][:shape[0]].copy() if shape else result[dtype][0]
    idle.append(result)
    return value


def _along(x: np.ndarray[Any, Any], op: str, axis: int) -> Any:
    """The short way of NumPy's arrays along one axis."""
    x = x.view()  # as array_of()
    if x.ndim == 1 and -1 <= axis <= 0:
        return _whole(x, op)
    if not x.flags.aligned or not x.dtype.isnative:
        return None
    plan = _plan_of_axes(x, op, axis, False, None)
    name, layout, memory, _, _, written_as, code_of_result, is_direct, numpy_way = plan
    if not is_direct:
        return None
    if numpy_way is not None:
        return numpy_way(x)
    results = np.empty(memory, written_as)
    executor = _threads.executor()
    status = _axis_reduce_as(executor.handle, name, _address_of(x), *layout, _address_of(results), code_of_result, None)
    if status != 0:
        _library.raise_refusal(status)
    return results


_axis_reduce_as = _library.tilefold_axis_reduce_as
_short_ways = _gpu.short_ways
_short_ways[np.ndarray] = _whole


@_signatures.of_reduce
def reduce(x: Items, op: str, axis: Axis = None, *, keepdims: bool = False, out: Out = None,
           stream: Any = None) -> Result:
    """Folds the items of x along axes with the operation of the name `op`.

    x         an array of up to 8 axes, of any layout; what has __dlpack__ on the host; an array of torch, CuPy or JAX
              on a GPU; or what NumPy makes an array of. Items are bool, integers, float16, float32, float64,
              bfloat16 (of ml_dtypes on the host), complex64 and complex128, as the operation takes them.
    op        a function's name: "sum", "prod", "min", "max", "minmax", "argmin", "argmax", "any", "all",
              "count_nonzero", "mean", "var", "std", "logsumexp", "norm", "exact_sum", "exact_mean",
              "checked_sum", "compensated_sum"; or of libtilefold alone: "sum64", "product64" (of floats in float64),
              "sum32", "product32" (of narrow integers in 32 bits), "bit_and", "bit_or", "bit_xor", "variance",
              "standard_deviation" (of a sample), "l1", "l2", "linf", "softmax_pair", "summary", "torch_sum",
              "torch_product" (see sum(order="torch")). The names that C
              has for functions ("product", "arg_min", "arg_max", "population_variance",
              "population_standard_deviation") are taken, too.
    axis      the axes that are folded away: None for all, a number, a tuple of numbers; negative ones count from
              the end. () folds each item alone.
    keepdims  keeps folded axes with the extent 1.
    out       an array of the result's dtype and shape, which takes the result and is returned.
    stream    for arrays of a GPU: the stream that is their library's current one for the call; None leaves that as
              it is. The items are ready in it, and are kept until it has passed the call.

    The result is an array of the shape that is left, or a NumPy scalar where no axis is left, of the dtype that the
    operation gives; "minmax", "softmax_pair" and "checked_sum" (the sum, and 1 or 0) add a last axis of 2, "summary"
    one of 6 (count, mean, variance of a sample and of a population, least, greatest). It is C-contiguous and new. Of an
    array of a GPU it is an array of the same library and device, and nothing waits for it, but with JAX.

    Order: the items of a result are taken in row-major order of the folded axes, and joined as neighbours: items 0 and
    1, 2 and 3, and so on, then the results of these in the same way. Bits: those of every other layout, number of
    threads, machine and executor of tilefold. Empty input: the operation's result of nothing, such as -0.0 for a sum of
    floats; EmptyError where there is none (means, deviations, places). Work: one read of x; no copy, except those of
    items in the other byte order, unaligned, or in packed records.

    Raises: UnsupportedError (a TypeError) for dtypes that are not taken, arrays of a GPU without a libtilefold with
    CUDA, and those of other libraries of GPUs; ArgumentError (a ValueError) for an operation, an axis, a rank, an out
    or a stream that is wrong; EmptyError (a ValueError). Then out is as it was.
    """
    keepdims = keepdims is not False and flag_of(keepdims)
    if out is None and stream is None and not keepdims:
        if axis is None:
            short = _short_ways.get(type(x))
            found = None if short is None else short(x, op)
        else:
            found = _along(x, op, axis) if type(x) is np.ndarray and type(axis) is int else None
        if found is not None:
            return found
    library = library_of(x)
    if library is not None:
        if type(x) not in _short_ways:  # the next one finds its short way
            _short_ways[type(x)] = _gpu.short_way_of(library)
        return _gpu.fold(library, x, op, axis, keepdims, out, stream=stream)
    require_no_stream(stream)
    return _fold(items_of(x), op, axis, keepdims, out)


def _require_initial(initial: Any, dtype: np.dtype[Any], name: str) -> None:
    """That `initial` is a number, of the kind of a result of `dtype`, and that integers hold it."""
    try:
        if isinstance(initial, np.integer):
            initial = int(initial)
        kind = np.min_scalar_type(initial) if isinstance(initial, int) else np.asarray(initial).dtype
        fits = np.shape(initial) == () and np.can_cast(kind, dtype, "same_kind")
        if fits and dtype.kind in "iu":
            fits = np.iinfo(dtype).min <= int(initial) <= np.iinfo(dtype).max
    except (TypeError, ValueError):  # an array of a GPU, or rows of several lengths
        fits = False
    if not fits:
        raise _errors.invalid(f"initial is {initial!r}, and must be a number that is {name}")


def _joined(op: str, initial: Any, fold: Any, x: Items, out: Out, stream: Any, dtype: Any = None) -> Any:
    """fold(), with `initial` before all items: what `op` makes of the two, in `dtype` if it is named. All in one
    stream."""
    library = library_of(x)
    with _gpu.current(library, x, stream), _library.standard_mode():
        result = fold()
        if library is not None:
            name = name_of(library.code_of(result))
            # A bfloat16 takes what a float32 takes.
            _require_initial(initial, np.dtype("float32" if name == "bfloat16" else name), name)
            both = library.stacked(initial, result)
            if dtype is not None:
                return _gpu.in_dtype(library, both, op, dtype, 0, False, out)
            return _gpu.fold(library, both, op, 0, False, out)
        result = np.asarray(result)
        _require_initial(initial, result.dtype, str(result.dtype))
        both = np.stack([np.full(result.shape, initial, result.dtype), result])
        return _fold(both, op, 0, False, out) if dtype is None else _in_dtype(op, both, dtype, 0, False, out, None, None)


def _in_dtype(op: str, x: Items, dtype: Any, axis: Axis, keepdims: bool, out: Out, initial: Any,
              stream: Any) -> Any:
    """A sum or a product: items become `dtype`, are folded in its accumulator, and the result is of it."""
    keepdims = keepdims is not False and flag_of(keepdims)
    if initial is not None:
        return _joined(op, initial, lambda: _in_dtype(op, x, dtype, axis, keepdims, None, None, None), x,
                       out, stream, dtype)
    if dtype is None:
        return reduce(x, op, axis, keepdims=keepdims, out=out, stream=stream)
    library = library_of(x)
    if library is not None:
        return _gpu.in_dtype(library, x, op, dtype, axis, keepdims, out, stream=stream)
    require_no_stream(stream)
    array, wanted = items_of(x), of_name(dtype)
    op, converts = folded_as(op, of_dtype(array.dtype), wanted)
    as_wanted = in_numpy(wanted)
    return _fold(converted(array, as_wanted) if converts else array, op, axis, keepdims, out, as_wanted)


def _in_order(order: Any, op: str, x: Items, dtype: Any, axis: Axis, keepdims: bool, out: Out, initial: Any,
              stream: Any) -> Any:
    """_in_dtype() in the order that a caller names. Integers have the same sums and products in any."""
    if not isinstance(order, str) or order != "torch":
        raise _errors.invalid(f"order is {order!r}, and must be None or 'torch'")
    library = library_of(x)
    if library is not None:
        code = library.code_of(x)
    else:
        x = array = items_of(x)
        code = of_dtype(array.dtype)
    if dtype is not None:
        code = of_name(dtype)
    if not is_integer(code) and not is_float(code):
        raise _errors.unsupported(f"order='torch' is for integers and real floats, not for {name_of(code)}")
    return _in_dtype(op if is_integer(code) else "torch_" + op, x, dtype, axis, keepdims, out, initial, stream)


#: What stands for items that where= leaves out, where it is not the other end of the dtype: of floats, of others.
_IDENTITIES = {"sum": (-0.0, 0), "exact_sum": (-0.0, 0), "product": (1.0, 1), "any": (0.0, 0), "all": (1.0, 1),
               "count_nonzero": (0.0, 0), "norm": (0.0, 0), "logsumexp": (-float("inf"),) * 2}


def _identity(op: str, code: Code) -> Any:
    """The number that changes no fold with `op` of items of a type."""
    if op in _IDENTITIES:
        found = _IDENTITIES[op][1 if is_integer(code) else 0]
        return complex(found, found) if code[0] == 5 and op == "sum" else found
    if code[0] == 5:
        raise _errors.unsupported(f"there is no {op} of {name_of(code)}")
    if not is_integer(code):
        return float("inf") if op == "min" else -float("inf")
    if code == BOOL:
        return op == "min"
    return ends_of(code)[1 if op == "min" else 0]


def _mask_of(where: Any, shape: Tuple[int, ...]) -> np.ndarray[Any, Any]:
    """`where`, spread over an array of that shape."""
    mask = array_of(where)
    if mask.dtype != bool:
        raise _errors.unsupported(f"where is {mask.dtype}, and must be bool")
    mask = mask.view(np.uint8) != 0  # any byte but 0 is true
    try:
        return np.broadcast_to(mask, shape)
    except ValueError:
        raise _errors.bad_shape(f"where has the shape {mask.shape}, which does not spread over {shape}") from None


def _where(fold: Any, x: Items, where: Any, op: str, stream: Any) -> Any:
    """fold() of x with the identity of `op` in the places where `where` is false. All in one stream."""
    library = library_of(x)
    with _gpu.current(library, x, stream):
        if library is not None:
            return fold(library.masked(x, where, _identity(op, library.code_of(x))))
    array = items_of(x)
    mask = _mask_of(where, array.shape)
    return fold(np.where(mask, array, np.array(_identity(op, of_dtype(array.dtype))).astype(array.dtype)))


def _with_infinity(x: Items) -> Items:
    """x in a dtype that has infinities: integers and bool in float64, as logsumexp() takes them."""
    library = library_of(x)
    if library is not None:
        return library.cast(x, FLOAT64) if is_integer(library.code_of(x)) else x
    array = items_of(x)
    return array.astype(np.float64) if is_integer(of_dtype(array.dtype)) else array


@_signatures.of_sum
def sum(x: Items, axis: Axis = None, *, dtype: Any = None, keepdims: bool = False, out: Out = None,
        initial: Any = None, where: Any = None, order: Any = None, stream: Any = None) -> Result:
    """The sum.

    Of integers and bool in 64 bits (int64, uint64; they wrap, and checked_sum() says whether they do), of float16,
    bfloat16 and float32 in float32, of float64 and complex numbers in their own type. With `dtype` items are converted
    to it first, and the result is of it; float64 sums floats in double. A float becomes the integer toward zero, the
    nearest that the dtype holds, or 0 if it is NaN. Of nothing: 0, and -0.0 of floats.

    initial  a number that stands before all items.
    where    an array of bool that spreads over x: items where it is false are left out. In their places stands what
             changes no sum (-0.0, 0), so the bits are those of sum(np.where(where, x, -0.0)). It costs a copy of x.
             prod, min, max, any, all, count_nonzero, logsumexp, norm, exact_sum and checked_sum take it in the same
             way.
    order    None: the order of reduce(). "torch": that of PyTorch 2.15 under PYTORCH_SUM_INNER_TREE=1, for its bits on
             every machine: trees over blocks of 8192 items, joined from left to right, and +0 before them; of float16,
             bfloat16, float32 and float64 (of integers no order changes the result). Sums of float16 and bfloat16 are
             float32, as without it; dtype=x.dtype rounds them once and gives torch's bits. prod takes it in the same
             way. As an operation of reduce(), segments, axes and keys it is "torch_sum" and "torch_product".

    x, axis, keepdims, out, order, bits and errors: see reduce().
    """
    if where is not None:
        return _where(lambda y: sum(y, axis, dtype=dtype, keepdims=keepdims, out=out, initial=initial, order=order), x,
                      where, "sum", stream)
    if order is not None:
        return _in_order(order, "sum", x, dtype, axis, keepdims, out, initial, stream)
    if dtype is None and initial is None:
        return reduce(x, "sum", axis, keepdims=keepdims, out=out, stream=stream)
    return _in_dtype("sum", x, dtype, axis, keepdims, out, initial, stream)


@_signatures.of_sum
def prod(x: Items, axis: Axis = None, *, dtype: Any = None, keepdims: bool = False, out: Out = None,
         initial: Any = None, where: Any = None, order: Any = None, stream: Any = None) -> Result:
    """The product, in the types of sum(), and in its orders. Of nothing: 1. The rest: see reduce()."""
    if where is not None:
        return _where(lambda y: prod(y, axis, dtype=dtype, keepdims=keepdims, out=out, initial=initial, order=order), x,
                      where, "product", stream)
    if order is not None:
        return _in_order(order, "product", x, dtype, axis, keepdims, out, initial, stream)
    if dtype is None and initial is None:
        return reduce(x, "product", axis, keepdims=keepdims, out=out, stream=stream)
    return _in_dtype("product", x, dtype, axis, keepdims, out, initial, stream)


@_signatures.of_extreme
def min(x: Items, axis: Axis = None, *, keepdims: bool = False, out: Out = None,
        initial: Any = None, where: Any = None, stream: Any = None) -> Result:
    """The least item, of x's dtype. A NaN wins; -0.0 is less than 0.0. Of nothing: the greatest value of the
    dtype, infinity of floats. The rest: see reduce()."""
    if where is not None:
        return _where(lambda y: min(y, axis, keepdims=keepdims, out=out, initial=initial), x, where, "min", stream)
    if initial is None:
        return reduce(x, "min", axis, keepdims=keepdims, out=out, stream=stream)
    return _joined("min", initial, lambda: reduce(x, "min", axis, keepdims=keepdims), x, out, stream)


@_signatures.of_extreme
def max(x: Items, axis: Axis = None, *, keepdims: bool = False, out: Out = None,
        initial: Any = None, where: Any = None, stream: Any = None) -> Result:
    """The greatest item, of x's dtype. A NaN wins; -0.0 is less than 0.0. Of nothing: the least value of the
    dtype, -infinity of floats. The rest: see reduce()."""
    if where is not None:
        return _where(lambda y: max(y, axis, keepdims=keepdims, out=out, initial=initial), x, where, "max", stream)
    if initial is None:
        return reduce(x, "max", axis, keepdims=keepdims, out=out, stream=stream)
    return _joined("max", initial, lambda: reduce(x, "max", axis, keepdims=keepdims), x, out, stream)


@_signatures.of_pairs
def minmax(x: Items, axis: Axis = None, *, keepdims: bool = False, out: Out = None,
           stream: Any = None) -> Result:
    """The least and the greatest item in one read, as min() and max() give them, in a last axis of 2. The rest:
    see reduce()."""
    return reduce(x, "minmax", axis, keepdims=keepdims, out=out, stream=stream)


def _of_float(dtype: Any, items: Code) -> Code:
    """The type of a mean or a deviation: what `dtype` names, a floating type or bfloat16; None is the items' own."""
    if dtype is None:
        return of_means(items)
    try:
        code = of_name(dtype)
    except TypeError:
        code = BOOL
    if not is_float(code):
        raise _errors.unsupported(f"dtype is {dtype!r}, and must be a floating type: means and deviations are computed "
                                  "in float64")
    return code


def _require_no_where(where: Any) -> None:
    if where is not None:
        raise _errors.unsupported("where= of means and deviations is for arrays on the host")


def _statistic(x: Items, op: str, axis: Axis, keepdims: bool, out: Out, dtype: Any, where: Any, stream: Any) -> Any:
    """A mean or a deviation. `where` takes the items of each result together, as segments."""
    keepdims = keepdims is not False and flag_of(keepdims)
    if dtype is None and where is None:
        return reduce(x, op, axis, keepdims=keepdims, out=out, stream=stream)
    library = library_of(x)
    if library is not None:
        wanted = _of_float(dtype, library.code_of(x))
        _require_no_where(where)
        return _gpu.fold(library, x, op, axis, keepdims, out, wanted, stream=stream)
    require_no_stream(stream)
    array = items_of(x)
    as_wanted = in_numpy(_of_float(dtype, of_dtype(array.dtype)))
    if where is None:
        return _fold(array, op, axis, keepdims, out, as_wanted)
    mask = _mask_of(where, array.shape)
    axes, left, kept = shapes_of(array.shape, axis, keepdims)
    last = tuple(range(array.ndim - len(axes), array.ndim))
    array, mask = np.moveaxis(array, axes, last), np.moveaxis(mask, axes, last)
    lengths = mask.reshape(math.prod(left), -1).sum(1) if array.size else np.zeros(math.prod(left), np.int64)
    operation = Operation(op, row_of(array[mask]))
    results = operation.memory(left)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
    _library.call("tilefold_segmented_reduce", _threads.executor(), operation.name, operation.address, operation.code,
                  operation.items.size, offsets.ctypes.data, _library.code_of(offsets.dtype), results.size,
                  results.ctypes.data)
    check_out(out, as_wanted, kept)
    return written(out, rounded(results.reshape(kept), as_wanted))


@_signatures.of_mean
def mean(x: Items, axis: Axis = None, *, keepdims: bool = False, out: Out = None,
         dtype: Any = None, where: Any = None, stream: Any = None) -> Result:
    """The mean of real items. Of floats in their own dtype, rounded once from float64; of integers and bool in float64.
    Of nothing: EmptyError.

    dtype  the floating type of the result: the mean is computed in float64 all the same, and rounded once to it.
    where  an array of bool that spreads over x, which is on the host: the mean of the items where it is true, with
           the bits of mean(x[where]); NaN where a result has none. It costs a copy of x.
           var and std take both in the same way.

    The rest: see reduce().
    """
    return _statistic(x, "mean", axis, keepdims, out, dtype, where, stream)


def divisor_of(ddof: Any, correction: Any) -> float:
    """What is taken from the number of items, by either name."""
    if correction is not None:
        if ddof != 0:
            raise _errors.invalid(f"ddof is {ddof!r} and correction {correction!r}, which are two names of one thing")
        ddof = correction
    try:
        found = float(ddof) if isinstance(ddof, numbers.Real) else math.nan
    except OverflowError:  # an int that no double holds
        found = math.inf
    if not math.isfinite(found):
        name = "ddof" if correction is None else "correction"
        raise _errors.invalid(f"{name} is {ddof!r:.40}, and must be a finite number")
    return found


def folded(x: Any, axis: Axis) -> int:
    """How many items of an array, as items_of() makes it or of a GPU, a result is made of."""
    library = library_of(x)
    shape = x.shape if library is None else library.items(x).shape
    return math.prod(int(shape[i]) for i in axes_of(axis, len(shape)))


def factor_of(n: Any, ddof: float) -> Any:
    """What makes the variance with the divisor n - ddof of that with the divisor n; NaN if n - ddof is not positive."""
    left = np.asarray(n - ddof, np.float64)
    factor = np.asarray(n, np.float64) / np.where(left > 0, left, np.nan)
    return float(factor) if factor.ndim == 0 else factor


def _deviation(x: Items, name: str, axis: Axis, ddof: Any, correction: Any, keepdims: bool, out: Out, dtype: Any,
               where: Any, stream: Any) -> Any:
    """The variance or the standard deviation, with any divisor."""
    ddof = divisor_of(ddof, correction)
    if ddof in (0, 1):
        op = name if ddof == 1 else "population_" + name
        return _statistic(x, op, axis, keepdims, out, dtype, where, stream)
    library, is_root = library_of(x), name == "standard_deviation"
    keepdims = flag_of(keepdims)
    if library is not None:
        _require_no_where(where)
        wanted, factor = _of_float(dtype, library.code_of(x)), factor_of(folded(x, axis), ddof)
        return _gpu.fold(library, x, "population_variance", axis, keepdims, out, wanted,
                         lambda found: library.scaled(found, factor, is_root), stream=stream)
    require_no_stream(stream)
    array = items_of(x)
    as_wanted = in_numpy(_of_float(dtype, of_dtype(array.dtype)))
    n: Any = folded(array, axis)
    if where is not None:
        n = count_nonzero(_mask_of(where, array.shape), axis, keepdims=keepdims)
    with _library.standard_mode():
        found = _statistic(array, "population_variance", axis, keepdims, None, np.float64, where, None)
        found = found * factor_of(n, ddof)
        found = rounded(np.asarray(np.sqrt(found) if is_root else found), as_wanted)
    check_out(out, as_wanted, found.shape)
    return written(out, found)


@_signatures.of_deviation
def var(x: Items, axis: Axis = None, *, ddof: float = 0, keepdims: bool = False, out: Out = None,
        correction: Optional[float] = None, dtype: Any = None, where: Any = None, stream: Any = None) -> Result:
    """The variance of real items, in the dtypes of mean(), in one read: the sum of squared differences from the mean,
    divided by n - ddof. The Array API calls ddof `correction`; a sample has 1. Other numbers than 0 and 1 multiply the
    variance with ddof=0 by n / (n - ddof).

    Of nothing: EmptyError; NaN where n - ddof is not positive. dtype and where: see mean(). The rest: see reduce()."""
    return _deviation(x, "variance", axis, ddof, correction, keepdims, out, dtype, where, stream)


@_signatures.of_deviation
def std(x: Items, axis: Axis = None, *, ddof: float = 0, keepdims: bool = False, out: Out = None,
        correction: Optional[float] = None, dtype: Any = None, where: Any = None, stream: Any = None) -> Result:
    """The standard deviation: the square root of var() in float64, with its arguments. The rest: see reduce()."""
    return _deviation(x, "standard_deviation", axis, ddof, correction, keepdims, out, dtype, where, stream)


@_signatures.of_place
def argmin(x: Items, axis: Axis = None, *, keepdims: bool = False, out: Out = None,
           stream: Any = None) -> Result:
    """The int64 index of the first least real item, in row-major order of the folded axes; of the first NaN, if
    there is one. Of nothing: EmptyError. The rest: see reduce()."""
    return reduce(x, "arg_min", axis, keepdims=keepdims, out=out, stream=stream)


@_signatures.of_place
def argmax(x: Items, axis: Axis = None, *, keepdims: bool = False, out: Out = None,
           stream: Any = None) -> Result:
    """The int64 index of the first greatest real item, in row-major order of the folded axes; of the first NaN, if
    there is one. Of nothing: EmptyError. The rest: see reduce()."""
    return reduce(x, "arg_max", axis, keepdims=keepdims, out=out, stream=stream)


@_signatures.of_truth
def any(x: Items, axis: Axis = None, *, keepdims: bool = False, out: Out = None,
        where: Any = None, stream: Any = None) -> Result:
    """Whether an item is not zero, as bool. Of nothing: False. The rest: see reduce()."""
    if where is not None:
        return _where(lambda y: any(y, axis, keepdims=keepdims, out=out), x, where, "any", stream)
    return reduce(x, "any", axis, keepdims=keepdims, out=out, stream=stream)


@_signatures.of_truth
def all(x: Items, axis: Axis = None, *, keepdims: bool = False, out: Out = None,
        where: Any = None, stream: Any = None) -> Result:
    """Whether no item is zero, as bool. Of nothing: True. The rest: see reduce()."""
    if where is not None:
        return _where(lambda y: all(y, axis, keepdims=keepdims, out=out), x, where, "all", stream)
    return reduce(x, "all", axis, keepdims=keepdims, out=out, stream=stream)


@_signatures.of_count
def count_nonzero(x: Items, axis: Axis = None, *, keepdims: bool = False, out: Out = None,
                  where: Any = None, stream: Any = None) -> Result:
    """How many items are not zero, as int64. Of nothing: 0. The rest: see reduce()."""
    if where is not None:
        return _where(lambda y: count_nonzero(y, axis, keepdims=keepdims, out=out), x, where, "count_nonzero", stream)
    return reduce(x, "count_nonzero", axis, keepdims=keepdims, out=out, stream=stream)


@_signatures.of_double
def logsumexp(x: Items, axis: Axis = None, *, keepdims: bool = False, out: Out = None,
              where: Any = None, stream: Any = None) -> Result:
    """log(sum(exp(x))) of real items without overflow, in float64. Of nothing: -infinity. The rest: see reduce()."""
    if where is not None:
        return _where(lambda y: logsumexp(y, axis, keepdims=keepdims, out=out), _with_infinity(x), where, "logsumexp",
                      stream)
    return reduce(x, "logsumexp", axis, keepdims=keepdims, out=out, stream=stream)


@_signatures.of_norm
def norm(x: Items, ord: float = 2, axis: Axis = None, *, keepdims: bool = False, out: Out = None,
         where: Any = None, stream: Any = None) -> Result:
    """The norm of the real items as one vector (vector_norm of the Array API), of a matrix, too: its Frobenius norm.

    ord  1 or 2: in float64, where squares cannot overflow; infinity, the greatest size: of floats in the dtype of their
         sum, of integers and bool in float64.

    Of nothing: 0. The rest: see reduce()."""
    names = {1: "l1", 2: "l2", float("inf"): "linf"}
    if not isinstance(ord, numbers.Real) or ord not in names:
        raise _errors.invalid(f"ord is {ord!r}, and must be 1, 2 or inf")
    if where is not None:
        return _where(lambda y: norm(y, ord, axis, keepdims=keepdims, out=out), x, where, "norm", stream)
    return reduce(x, names[ord], axis, keepdims=keepdims, out=out, stream=stream)


@_signatures.of_floats
def exact_mean(x: Items, axis: Axis = None, *, keepdims: bool = False, out: Out = None,
               stream: Any = None) -> Result:
    """The real mean of real items, rounded once to their dtype; of integers and bool to float64. On a GPU: of float32
    and float64. Of nothing: EmptyError. The rest: see reduce()."""
    return reduce(x, "exact_mean", axis, keepdims=keepdims, out=out, stream=stream)


@_signatures.of_exact_sum
def exact_sum(x: Items, axis: Axis = None, *, keepdims: bool = False, out: Out = None,
              where: Any = None, stream: Any = None) -> Result:
    """The real sum of real items, rounded once to their dtype: the same in whatever order items stand. Of integers and
    bool in 64 bits; ArgumentError where those do not hold it, which checked_sum() tells of each sum. On a GPU:
    of float32 and float64.

    Of nothing: 0.0. The rest: see reduce()."""
    if where is not None:
        return _where(lambda y: exact_sum(y, axis, keepdims=keepdims, out=out), x, where, "exact_sum", stream)
    return reduce(x, "exact_sum", axis, keepdims=keepdims, out=out, stream=stream)


if TYPE_CHECKING:
    # Generic, which a NamedTuple is from Python 3.11 on alone.
    from ._signatures import CheckedSum as CheckedSum, Stats as Stats
else:
    class CheckedSum(NamedTuple):
        """What checked_sum() finds: numbers, or arrays of one shape."""
        value: Any
        fits: Any

        def __reduce__(self) -> Tuple[Any, Tuple[Any, ...]]:
            return unpacked, (CheckedSum, *packed(self))

    class Stats(NamedTuple):
        """What stats() finds. Of an array of a GPU all but the count are arrays there; along axes all are arrays."""
        count: Any
        mean: Any
        variance: Any
        min: Any
        max: Any

        def __reduce__(self) -> Tuple[Any, Tuple[Any, ...]]:
            return unpacked, (Stats, *packed(self))


@_signatures.of_checked_sum
def checked_sum(x: Items, axis: Axis = None, *, keepdims: bool = False, where: Any = None,
                stream: Any = None) -> CheckedSum:
    """The sum of integers or bool in 64 bits, and whether they hold it.

    value  the sum modulo 2**64, as sum() gives it.
    fits   bool: whether that is the real sum. Sums on the way may be larger.

    Of nothing: 0, True. The rest: see reduce(), whose "checked_sum" gives 1 and 0 for fits, in a last axis of 2."""
    if where is not None:
        return CheckedSum(*_where(lambda y: checked_sum(y, axis, keepdims=keepdims), x, where, "sum", stream))
    library = library_of(x)
    with _gpu.current(library, x, stream):
        found: Any = reduce(x, "checked_sum", axis, keepdims=keepdims)
        value, fits = found[..., 0], found[..., 1]
        if library is not None:
            return CheckedSum(library.done(library.contiguous(value)), library.done(library.cast(fits, BOOL)))
    return CheckedSum(np.array(value)[()], (fits != 0)[()])


@_signatures.of_floats
def compensated_sum(x: Items, axis: Axis = None, *, keepdims: bool = False, out: Out = None,
                    stream: Any = None) -> Result:
    """The sum of float32 or float64 items, carried in twice their precision. Of nothing: -0.0. The rest: see
    reduce()."""
    return reduce(x, "compensated_sum", axis, keepdims=keepdims, out=out, stream=stream)


@_signatures.of_stats
def stats(x: Items, axis: Axis = None, *, ddof: float = 0, keepdims: bool = False,
          correction: Optional[float] = None, stream: Any = None) -> Stats:
    """Count, mean, variance, least and greatest of real items, in one read; all but the count in float64.

    The variance is that of var(), with its ddof and correction. Each number has the bits of its own function with
    dtype=float64; so integers beyond 2**53 are rounded in min and max. Without an axis of all items: the count is an
    int, and of nothing the others are NaN, NaN, infinity, -infinity. Along axes each is an array of the shape that is
    left, the count one of int64 (of float64 on a GPU), and where nothing is folded: EmptyError.

    Raises: as reduce().
    """
    ddof = divisor_of(ddof, correction)
    library = library_of(x)
    if library is None:
        x = items_of(x)
    is_whole = axis is None and not flag_of(keepdims)
    with _gpu.current(library, x, stream), _library.standard_mode():
        n = folded(x, None)
        if is_whole and library is not None:
            if ddof == 1 or n == 0:
                return Stats(n, *_gpu.stats(library, x))
        elif is_whole and n == 0:
            plan_of(b"summary", of_dtype(x.dtype))  # type: ignore[union-attr]  # refuses dtypes
            return Stats(0, math.nan, math.nan, math.inf, -math.inf)
        numbers: Any = reduce(x, "summary", axis, keepdims=keepdims)
        variance = numbers[..., 2 if ddof == 1 else 3]
        if ddof not in (0, 1):
            variance = variance * factor_of(folded(x, axis), ddof)
    if is_whole and library is None:
        return Stats(int(numbers[0]), float(numbers[1]), float(variance), float(numbers[4]), float(numbers[5]))
    count: Any = n if is_whole else numbers[..., 0]
    if isinstance(numbers, np.ndarray) and not is_whole:
        count = count.astype(np.int64)
    return Stats(count, numbers[..., 1], variance, numbers[..., 4], numbers[..., 5])


@_signatures.of_dot
def vdot(x: Items, y: Items, *, stream: Any = None) -> Result:
    """The dot product of all items of two arrays of one dtype and size, in row-major order; a NumPy scalar of the type
    of sum(x). Of complex numbers with the conjugates of x; of bool the number of places where both are true. Arrays
    whose items do not stand one after the other, and integers narrower than 64 bits, are copied. Of nothing: the sum
    of nothing.

    Raises: ArgumentError for two sizes or dtypes; and as reduce().
    """
    library = library_of(x)
    if library is not None:
        return _gpu.vdot(library, x, y, stream=stream)
    require_no_stream(stream)
    a, b = row_of(x), row_of(y)
    if a.dtype != b.dtype or a.size != b.size:
        raise _errors.invalid(f"vdot of {a.size} items of {a.dtype} and {b.size} of {b.dtype}")
    if a.dtype == bool:
        return reduce((a.ravel() & b.ravel()), "sum")
    dtype = Operation("sum", a).dtype
    if a.dtype.kind in "iu":
        a, b = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    result = np.empty((), dtype)
    _library.call("tilefold_dot", _threads.executor(), a.ctypes.data, b.ctypes.data, _library.code_of(a.dtype), a.size,
                  result.ctypes.data)
    return result[()]
