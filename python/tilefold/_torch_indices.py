# SPDX-License-Identifier: Apache-2.0
"""Tensors by index, with gradients: index_add, scatter_add, scatter_reduce. torch's own add by atomics on a GPU."""
from __future__ import annotations

import math
from typing import Any, List, Tuple

import torch
from torch import Tensor

from . import _errors, _gpu
from ._torch_operators import differentiable, new, on_gpu, on_host, op as _op

#: torch's names of reductions, and those of this package.
_OPERATIONS = {"sum": "sum", "prod": "prod", "mean": "mean", "amax": "max", "amin": "min"}


def _result_dtype(source: Tensor, op: str) -> torch.dtype:
    return source.dtype if source.is_floating_point() or op in ("amax", "amin") else torch.int64


@_op("reduce_by_index(Tensor index, Tensor source, SymInt num_results, str op) -> Tensor",
     lambda index, source, num_results, op: source.new_empty([num_results, *source.shape[1:]],
                                                             dtype=_result_dtype(source, op)))
def _by_index(index: Tensor, source: Tensor, num_results: int, op: str) -> Tensor:
    found: Tensor = _gpu.reduce_by_index(on_gpu if source.is_cuda else on_host, source, index, num_results,
                                         _OPERATIONS[op], not source.is_cuda)
    return found.to(_result_dtype(source, op))


def _number_by_index(index: Tensor, mask: Tensor, num_results: int) -> Tensor:
    """How many are true."""
    found: Tensor = _by_index(index, mask, num_results, "sum")
    return found


def _keep(ctx: Any, inputs: Tuple[Any, ...], output: Any) -> None:
    index, source, ctx.num_results, ctx.op = inputs
    ctx.save_for_backward(index, *(() if ctx.op in ("sum", "mean") else (source, output)))


def _backward(ctx: Any, g: Tensor) -> Tuple[Any, ...]:
    index, *of_values = ctx.saved_tensors
    if ctx.op == "mean":
        number = _number_by_index(index, torch.ones_like(index, dtype=torch.bool), ctx.num_results)
        g = (g.to(_wide(g)) / number.clamp(min=1).reshape([-1] + [1] * (g.dim() - 1))).to(g.dtype)
    if not of_values:
        return None, g.index_select(0, index), None, None
    source, y = of_values
    return None, _backward_of_values(g, index, source, y, ctx.op), None, None


differentiable("reduce_by_index", _backward, _keep)


@_op("reduce_by_index_backward(Tensor g, Tensor index, Tensor source, Tensor y, str op) -> Tensor",
     lambda g, index, source, y, op: new(source))
def _backward_of_values(g: Tensor, index: Tensor, source: Tensor, y: Tensor, op: str) -> Tensor:
    many = y.shape[0]

    def of_rows(results: Tensor) -> Tensor:
        return results.index_select(0, index)

    if op != "prod":  # equal extremes share
        is_one = source == of_rows(y)
        share = g / _number_by_index(index, is_one, many).clamp(min=1)
        return of_rows(share).masked_fill(~is_one, 0.0).masked_fill(of_rows(y).isnan(), math.nan).contiguous()
    wide = source.to(_wide(source))
    is_zero = source == 0
    zeros = of_rows(_number_by_index(index, is_zero, many))
    product = of_rows(_by_index(index, wide.masked_fill(is_zero, 1.0), many, "prod"))
    others = torch.where(is_zero, product, product / wide).masked_fill(zeros > is_zero, 0.0)
    return (of_rows(g) * others).to(source.dtype).contiguous()


def _wide(x: Tensor) -> torch.dtype:
    """The accumulator of sums."""
    if not x.is_floating_point():
        return torch.int64
    return torch.float64 if x.dtype == torch.float64 else torch.float32


@_op("places_by_index(Tensor index, SymInt[] shape, int dim) -> Tensor",
     lambda index, shape, dim: index.new_empty([index.numel()], dtype=torch.int64))
def _places(index: Tensor, shape: List[int], dim: int) -> Tensor:
    """Where the items of scatter() go in a tensor of that shape, whose `dim` is moved to the front: in the order of
    that dim. -1 for what is out of range."""
    extent, others = shape[dim], list(shape[:dim]) + list(shape[dim + 1:])
    moved = index.to(torch.int64).movedim(dim, 0)
    is_wrong = (moved < 0) | (moved >= extent)
    if not index.is_cuda and is_wrong.any():
        raise _errors.invalid(f"index has {moved[is_wrong][0]} in it, and dim {dim} of input has {extent}")
    step = math.prod(others)
    places = torch.arange(step, device=index.device).reshape(others)
    places = places[tuple(slice(n) for n in moved.shape[1:])]
    return torch.where(is_wrong, -1, moved * step + places).reshape(-1)


def _dim_of(x: Tensor, dim: int) -> int:
    axes = int(x.dim())
    if not -axes <= dim < axes:
        raise _errors.bad_shape(f"there is no dim {dim} in a tensor of {axes}")
    return dim % axes


def _of_integers(index: Tensor) -> Tensor:
    """An index as torch's own functions take it."""
    if index.dtype in (torch.int32, torch.int64):
        return index
    if index.dtype == torch.bool or index.is_floating_point() or index.is_complex():
        raise _errors.invalid(f"index is of {index.dtype}, and must be of integers")
    return index.to(torch.int64)


def _require_alike(input: Tensor, source: Tensor, index: Tensor, name: str) -> None:
    if source.dtype != input.dtype or source.device != input.device or index.device != input.device:
        raise _errors.invalid(f"input is of {input.dtype} on {input.device}, {name} of {source.dtype} on "
                              f"{source.device}, and index on {index.device}")
    if input.is_complex():
        raise _errors.unsupported(f"{input.dtype} is not taken")


def _shape_text(x: Tensor) -> Tuple[int, ...]:
    return tuple(x.shape)


def reduce_by_index(index: Tensor, source: Tensor, num_results: int, op: str = "sum") -> Tensor:
    """Folds all rows of `source` (along dim 0) that have the same index: result i is the sum of source[index == i] in
    the order of the rows, the mean, prod, amax or amin.

    The result has the shape (num_results,) + source.shape[1:] and source's dtype, sums and products of integers int64.
    It is -0.0 of no rows (prod: 1, mean: NaN, amax: -infinity, amin: infinity). An index out of range is an error on
    the CPU; on a GPU, where nothing waits, its row is left out, and there is no gradient of it.
    """
    if op not in _OPERATIONS:
        raise _errors.invalid(f"op is {op!r}, and must be one of {', '.join(_OPERATIONS)}")
    if op == "mean" and not source.is_floating_point():
        raise _errors.unsupported(f"mean of {source.dtype}, which is no floating type")
    if source.is_complex():
        raise _errors.unsupported(f"{source.dtype} is not taken")
    found: Tensor = _by_index(_of_integers(index), source, num_results, op)
    return found


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """input, to whose slices index[i] along dim the slices i of alpha * source are added: input + the sum of those, in
    their order. In float32 or float64 and rounded once; alpha of integers is an int. An index out of range: as
    reduce_by_index()."""
    _require_alike(input, source, index, "source")
    if not isinstance(alpha, (int, float) if source.is_floating_point() else int):
        raise _errors.invalid(f"alpha is {alpha!r}, and must be a number of {source.dtype}")
    index = _of_integers(index)
    dim = _dim_of(input, dim)
    shape = list(input.shape)
    if index.dim() != 1 or list(source.shape) != shape[:dim] + [index.shape[0]] + shape[dim + 1:]:
        raise _errors.bad_shape(f"index_add along dim {dim} of {_shape_text(input)} with an index of "
                                f"{_shape_text(index)} and a source of {_shape_text(source)}")
    rows = source.movedim(dim, 0).to(_wide(source))
    if alpha != 1:
        rows = rows * alpha
    total = _by_index(index, rows, shape[dim], "sum").movedim(0, dim)
    return (input.to(rows.dtype) + total).to(input.dtype)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """input, to whose items input[..., index[..., i, ...], ...] the items src[..., i, ...] are added; as index_add()."""
    return scatter_reduce(input, dim, index, src, "sum")


def scatter_reduce(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *,
                   include_self: bool = True) -> Tensor:
    """The sum, prod, mean, amax or amin of each item of input and the items of src that go there; without
    include_self of the latter alone, and input's item where none goes. In the order of dim: a sum is input + the sum of
    src's, else input's item is the first. An index out of range: as reduce_by_index()."""
    _require_alike(input, src, index, "src")
    if reduce not in _OPERATIONS:
        raise _errors.invalid(f"reduce is {reduce!r}, and must be one of {', '.join(_OPERATIONS)}")
    if reduce == "mean" and not input.is_floating_point():
        raise _errors.unsupported(f"mean of {input.dtype}, which is no floating type")
    dim = _dim_of(input, dim)
    if index.dim() != input.dim() or src.dim() != input.dim() or any(
            n > src.shape[i] or (i != dim and n > input.shape[i]) for i, n in enumerate(index.shape)):
        raise _errors.bad_shape(f"{_shape_text(input)} along dim {dim} with an index of {_shape_text(index)} and a src of "
                                f"{_shape_text(src)}")
    places = _places(_of_integers(index), list(input.shape), dim)
    items = src[tuple(slice(n) for n in index.shape)].movedim(dim, 0).reshape(-1)
    front = input.movedim(dim, 0)
    own = front.reshape(-1)
    many = own.shape[0]
    if reduce == "sum":
        items = items.to(_wide(src))
        found = _by_index(places, items, many, "sum")
        if include_self:
            found = own.to(items.dtype) + found
    elif include_self:
        every = torch.arange(many, device=input.device)
        found = _by_index(torch.cat([every, places]), torch.cat([own, items]), many, reduce)
    else:
        found = _by_index(places, items, many, reduce)
    found = found.to(input.dtype)
    if not include_self:
        found = torch.where(_number_by_index(places, torch.ones_like(places, dtype=torch.bool), many) > 0, found, own)
    return found.reshape(front.shape).movedim(0, dim).contiguous()
