# SPDX-License-Identifier: Apache-2.0
"""Functions for PyTorch that can be differentiated: each result has the bits of tilefold's order, alone and in a batch
of any size, forward and backward.

    import tilefold.torch as tt
    loss = -tt.log_softmax(logits, -1).gather(-1, target).mean()

Each is an operator of torch (torch.ops.tilefold), so torch.compile keeps it whole: it has the same bits compiled.
Tensors are on a GPU, where work goes to torch's current stream and nothing waits, or on the CPU. Nothing of torch is
compiled in: any PyTorch from 2.4 on will do.

Results are of the tensor's dtype (a reduction computes in float32 or float64 and is rounded once). sum, mean, var_mean
and norm have the same bits on CPU and GPU; what has an exponential, a root or a product in it has torch's own of that
device. Backward of a backward is there for sum and mean alone, and else refused.

index_add, scatter_add, scatter_reduce and reduce_by_index have torch's arguments and shapes; their sums and
means have the same bits on CPU and GPU, and backward of a backward (help(tilefold.torch.index_add)).

Shapes: reductions (sum, mean, var_mean, logsumexp, norm) have x's shape without `dim` (a number, several, or None for
all), or with the extent 1 there (keepdim); log_softmax, softmax and rms_norm have x's. All are contiguous and new.
Order: the items of a result are taken in row-major order of the dims, and joined as neighbours,
whatever the strides of x. Dtypes: floating ones, and integers and bool for sum; others are an UnsupportedError.
"""
from __future__ import annotations

import contextlib
import math
import threading
import warnings
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import torch
from torch import Tensor

from . import _errors, _gpu
from ._torch_indices import index_add, reduce_by_index, scatter_add, scatter_reduce
from ._torch_operators import (differentiable as _differentiable, new as _new, on_gpu as _on_gpu, on_host as _on_host,
                               op as _op)

if torch.distributed.is_available():
    from ._torch_distributed import all_reduce, all_reduce_, reduce_scatter, reduce_scatter_tensor

__all__ = ["sum", "mean", "var_mean", "logsumexp", "log_softmax", "softmax", "rms_norm", "norm", "batch_invariant",
           "index_add", "scatter_add", "scatter_reduce", "reduce_by_index"]
if torch.distributed.is_available():
    __all__ += ["all_reduce", "all_reduce_", "reduce_scatter", "reduce_scatter_tensor"]

Dim = Union[None, int, Sequence[int]]
_short_way = _gpu.short_way_of(_on_gpu)


def _fold(x: Tensor, op: str, dim: Sequence[int], keepdim: bool) -> Tensor:
    """The operation `op` of libtilefold over dims, in its own type."""
    if len(dim) == x.dim() and not keepdim:
        of_all: Optional[Tensor] = _short_way(x, op)
        if of_all is not None:
            return of_all
    return _gpu.fold(_on_gpu if x.is_cuda else _on_host, x, op, tuple(dim), keepdim)


def _dims(x: Tensor, dim: Dim) -> List[int]:
    if dim is None or (not isinstance(dim, int) and len(dim) == 0):
        return list(range(x.dim()))
    named = [dim] if isinstance(dim, int) else list(dim)
    for one in named:
        if not -max(x.dim(), 1) <= one < max(x.dim(), 1):
            raise _errors.bad_shape(f"there is no dim {one} in a tensor of {x.dim()}")
    found = sorted(one % x.dim() for one in named) if x.dim() else []
    if len(set(found)) != len(found):
        raise _errors.bad_shape(f"a dim is named twice in {named}")
    return found


def _extent(x: Tensor, dim: Sequence[int]) -> int:
    return math.prod(x.shape[i] for i in dim)


def _reduced(x: Tensor, dim: Sequence[int], keepdim: bool, dtype: Optional[torch.dtype] = None) -> Tensor:
    """An empty tensor of the shape and dtype of a result."""
    shape = [1 if i in dim else n for i, n in enumerate(x.shape) if keepdim or i not in dim]
    return x.new_empty(shape, dtype=dtype or x.dtype)


def _spread(g: Tensor, shape: Sequence[int], dim: Sequence[int], keepdim: bool) -> Tensor:
    """A gradient of results for every item."""
    if not keepdim:
        for i in dim:
            g = g.unsqueeze(i)
    return g.expand(shape)


def _wide(x: Tensor) -> torch.dtype:
    """Of elementwise work: float32 for what is narrower."""
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def _result_of_sum(x: Tensor) -> torch.dtype:
    return x.dtype if x.is_floating_point() else torch.int64


# ---- sum and mean


@_op("sum(Tensor x, int[] dim, bool keepdim) -> Tensor",
     lambda x, dim, keepdim: _reduced(x, dim, keepdim, _result_of_sum(x)))
def _sum(x: Tensor, dim: List[int], keepdim: bool) -> Tensor:
    return _fold(x, "sum", dim, keepdim).to(_result_of_sum(x))


def _keep_shape(ctx: Any, inputs: Tuple[Any, ...], output: Any) -> None:
    x, ctx.dim, ctx.keepdim = inputs
    ctx.shape = x.shape


_differentiable("sum", lambda ctx, g: (_spread(g, ctx.shape, ctx.dim, ctx.keepdim), None, None), _keep_shape)


@_op("mean(Tensor x, int[] dim, bool keepdim) -> Tensor", _reduced)
def _mean(x: Tensor, dim: List[int], keepdim: bool) -> Tensor:
    if _extent(x, dim) == 0:
        return _reduced(x, dim, keepdim).fill_(math.nan)
    return _fold(x, "mean", dim, keepdim).to(x.dtype)


def _mean_backward(ctx: Any, g: Tensor) -> Tuple[Any, ...]:
    n = math.prod(ctx.shape[i] for i in ctx.dim)
    return _spread(g / n, ctx.shape, ctx.dim, ctx.keepdim), None, None


_differentiable("mean", _mean_backward, _keep_shape)

# ---- variance and mean


@_op("var_mean(Tensor x, int[] dim, int correction, bool keepdim) -> (Tensor, Tensor)",
     lambda x, dim, correction, keepdim: (_reduced(x, dim, keepdim), _reduced(x, dim, keepdim)))
def _var_mean(x: Tensor, dim: List[int], correction: int, keepdim: bool) -> Tuple[Tensor, Tensor]:
    if _extent(x, dim) == 0:
        return _reduced(x, dim, keepdim).fill_(math.nan), _reduced(x, dim, keepdim).fill_(math.nan)
    found = _fold(x, "summary", dim, keepdim)
    # Copies: an operator's results do not share memory.
    plain = torch.contiguous_format
    return (found[..., 3 - correction].to(x.dtype, copy=True, memory_format=plain),
            found[..., 1].to(x.dtype, copy=True, memory_format=plain))


@_op("var_mean_backward(Tensor? g_var, Tensor? g_mean, Tensor x, Tensor mean, int n, int correction) -> Tensor",
     lambda g_var, g_mean, x, mean, n, correction: _new(x))
def _var_mean_backward(g_var: Optional[Tensor], g_mean: Optional[Tensor], x: Tensor, mean: Tensor, n: int,
                       correction: int) -> Tensor:
    # A result that has no gradient adds nothing: not even the NaN that its slope is.
    wide = _wide(x)
    found = torch.zeros(x.shape, dtype=wide, device=x.device) if g_mean is None else g_mean.to(wide) / n
    if g_var is not None:
        slope = g_var.to(wide) * (2 / (n - correction) if n > correction else math.nan)
        found = (x.to(wide) - mean.to(wide)) * slope + found
    return found.to(x.dtype).contiguous()


def _keep_var_mean(ctx: Any, inputs: Tuple[Any, ...], output: Any) -> None:
    x, ctx.dim, ctx.correction, ctx.keepdim = inputs
    ctx.save_for_backward(x, output[1])
    ctx.set_materialize_grads(False)


def _backward_of_var_mean(ctx: Any, g_var: Optional[Tensor], g_mean: Optional[Tensor]) -> Tuple[Any, ...]:
    x, mean = ctx.saved_tensors
    n = _extent(x, ctx.dim)
    spread = [None if one is None else _spread(one, x.shape, ctx.dim, ctx.keepdim) for one in (g_var, g_mean, mean)]
    return _var_mean_backward(spread[0], spread[1], x, spread[2], n, ctx.correction), None, None, None


_differentiable("var_mean", _backward_of_var_mean, _keep_var_mean)

# ---- logsumexp, log_softmax, softmax


@_op("logsumexp(Tensor x, int[] dim, bool keepdim) -> Tensor", _reduced)
def _logsumexp(x: Tensor, dim: List[int], keepdim: bool) -> Tensor:
    return _fold(x, "logsumexp", dim, keepdim).to(x.dtype)


@_op("logsumexp_backward(Tensor g, Tensor x, Tensor y) -> Tensor", lambda g, x, y: _new(x))
def _logsumexp_backward(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    wide = _wide(x)
    # Of nothing but -infinity: no item has a part in it.
    y = y.to(wide).masked_fill(y == -math.inf, 0.0)
    return ((x.to(wide) - y).exp_() * g.to(wide)).to(x.dtype).contiguous()


def _keep_items(ctx: Any, inputs: Tuple[Any, ...], output: Any) -> None:
    x, ctx.dim, ctx.keepdim = inputs
    ctx.save_for_backward(x, output)


def _backward_of_logsumexp(ctx: Any, g: Tensor) -> Tuple[Any, ...]:
    x, y = ctx.saved_tensors
    g, y = (_spread(one, x.shape, ctx.dim, ctx.keepdim) for one in (g, y))
    return _logsumexp_backward(g, x, y), None, None


_differentiable("logsumexp", _backward_of_logsumexp, _keep_items)


def _minus_logsumexp(x: Tensor, dim: int, dtype: torch.dtype) -> Tensor:
    """x - logsumexp(x), in double and rounded once: as exact where the sum is large as where it is small."""
    x = x.detach()  # as Torch.alias(): rows are written by the shape that result has
    result = torch.empty(x.shape, dtype=dtype, device=x.device)
    if x.numel() == 0:
        return result
    if x.is_cuda and dim == x.dim() - 1 and x.is_contiguous():
        # At once. On the host torch's loops are the faster ones, and the bits are the same.
        _gpu.log_softmax(_on_gpu, x, x.shape[dim], result)
        return result
    return torch.sub(x, _fold(x, "logsumexp", [dim], True), out=result)


def _like(x: Tensor, dim: int) -> Tensor:
    return torch.empty(x.shape, dtype=x.dtype, device=x.device)


@_op("log_softmax(Tensor x, int dim) -> Tensor", _like)
def _log_softmax(x: Tensor, dim: int) -> Tensor:
    return _minus_logsumexp(x, dim, x.dtype)


@_op("log_softmax_backward(Tensor g, Tensor y, int dim) -> Tensor", lambda g, y, dim: _new(y))
def _log_softmax_backward(g: Tensor, y: Tensor, dim: int) -> Tensor:
    wide = _wide(y)
    total = _fold(g, _sum64_of(g), [dim], True).to(wide)
    return (g.to(wide) - y.to(wide).exp() * total).to(y.dtype).contiguous()


def _sum64_of(x: Tensor) -> str:
    return "sum" if x.dtype == torch.float64 else "sum64"


def _keep_result(ctx: Any, inputs: Tuple[Any, ...], output: Any) -> None:
    ctx.dim = inputs[1]
    ctx.save_for_backward(output)


_differentiable("log_softmax", lambda ctx, g: (_log_softmax_backward(g, ctx.saved_tensors[0], ctx.dim), None),
                _keep_result)


@_op("softmax(Tensor x, int dim) -> Tensor", _like)
def _softmax(x: Tensor, dim: int) -> Tensor:
    return _minus_logsumexp(x, dim, _wide(x)).exp_().to(x.dtype)


@_op("softmax_backward(Tensor g, Tensor y, int dim) -> Tensor", lambda g, y, dim: _new(y))
def _softmax_backward(g: Tensor, y: Tensor, dim: int) -> Tensor:
    wide = _wide(y)
    weighted = g.to(wide) * y.to(wide)
    total = _fold(weighted, _sum64_of(weighted), [dim], True).to(wide)
    return (weighted - y.to(wide) * total).to(y.dtype).contiguous()


_differentiable("softmax", lambda ctx, g: (_softmax_backward(g, ctx.saved_tensors[0], ctx.dim), None), _keep_result)

# ---- rms_norm


def _fake_rms_norm(x: Tensor, axes: int, weight: Optional[Tensor], eps: float) -> Tuple[Tensor, Tensor]:
    return _new(x), x.new_empty(list(x.shape[:x.dim() - axes]) + [1] * axes, dtype=torch.float64)


@_op("rms_norm(Tensor x, int axes, Tensor? weight, float eps) -> (Tensor, Tensor)", _fake_rms_norm)
def _rms_norm(x: Tensor, axes: int, weight: Optional[Tensor], eps: float) -> Tuple[Tensor, Tensor]:
    dim = list(range(x.dim() - axes, x.dim()))
    root = _fold(x, "l2", dim, True)
    scale = root.square_().div_(max(_extent(x, dim), 1)).add_(eps).rsqrt_()
    result = torch.empty_like(x, dtype=_wide(x), memory_format=torch.contiguous_format)
    torch.mul(x, scale, out=result)
    if weight is not None:
        result.mul_(weight)
    return result.to(x.dtype), scale


@_op("rms_norm_backward(Tensor g, Tensor x, int axes, Tensor? weight, Tensor scale) -> (Tensor, Tensor)",
     lambda g, x, axes, weight, scale: (_new(x), x.new_empty(x.shape[x.dim() - axes:])))
def _rms_norm_backward(g: Tensor, x: Tensor, axes: int, weight: Optional[Tensor],
                       scale: Tensor) -> Tuple[Tensor, Tensor]:
    wide = _wide(x)
    rows = list(range(x.dim() - axes))
    dim = list(range(x.dim() - axes, x.dim()))
    plain = x.to(wide) * scale.to(wide)
    weighted = g.to(wide) if weight is None else g.to(wide) * weight.to(wide)
    product = weighted * plain
    total = _fold(product, _sum64_of(product), dim, True).div_(max(_extent(x, dim), 1)).to(wide)
    of_x = ((weighted - plain * total) * scale.to(wide)).to(x.dtype).contiguous()
    of_weight = g.to(wide) * plain
    return of_x, _fold(of_weight, _sum64_of(of_weight), rows, False).to(x.dtype if weight is None else weight.dtype)


def _keep_rms_norm(ctx: Any, inputs: Tuple[Any, ...], output: Any) -> None:
    x, ctx.axes, weight, _ = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(x, weight, output[1])


def _backward_of_rms_norm(ctx: Any, g: Tensor, _: Any) -> Tuple[Any, ...]:
    x, weight, scale = ctx.saved_tensors
    of_x, of_weight = _rms_norm_backward(g, x, ctx.axes, weight, scale)
    return of_x, None, None if weight is None else of_weight, None


_differentiable("rms_norm", _backward_of_rms_norm, _keep_rms_norm)

# ---- norm

_NORMS = {1.0: "l1", 2.0: "l2", math.inf: "linf"}


@_op("norm(Tensor x, float p, int[] dim, bool keepdim) -> Tensor",
     lambda x, p, dim, keepdim: _reduced(x, dim, keepdim))
def _norm(x: Tensor, p: float, dim: List[int], keepdim: bool) -> Tensor:
    wide = x.to(_wide(x)) if p == math.inf else x
    return _fold(wide, _NORMS[p], dim, keepdim).to(x.dtype)


@_op("norm_backward(Tensor g, Tensor x, Tensor y, float p, int[] dim) -> Tensor",
     lambda g, x, y, p, dim: _new(x))
def _norm_backward(g: Tensor, x: Tensor, y: Tensor, p: float, dim: List[int]) -> Tensor:
    wide = _wide(x)
    if p == 1:
        return (g.to(wide) * x.to(wide).sign()).to(x.dtype).contiguous()
    if p == 2:
        return (x.to(wide) * (g.to(wide) / y.to(wide)).masked_fill(y == 0, 0.0)).to(x.dtype).contiguous()
    greatest = x.abs() == y
    shares = _fold(greatest, "count_nonzero", dim, True).to(wide)
    return (g.to(wide) / shares * x.to(wide).sign() * greatest).to(x.dtype).contiguous()


def _keep_norm(ctx: Any, inputs: Tuple[Any, ...], output: Any) -> None:
    x, ctx.p, ctx.dim, ctx.keepdim = inputs
    ctx.save_for_backward(x, output)


def _backward_of_norm(ctx: Any, g: Tensor) -> Tuple[Any, ...]:
    x, y = ctx.saved_tensors
    g, y = (_spread(one, x.shape, ctx.dim, ctx.keepdim) for one in (g, y))
    return _norm_backward(g, x, y, ctx.p, ctx.dim), None, None, None


_differentiable("norm", _backward_of_norm, _keep_norm)

# ---- what users call


def _as(x: Tensor, dtype: Optional[torch.dtype]) -> Tensor:
    return x if dtype is None else x.to(dtype)


def _require_float(x: Tensor, name: str) -> None:
    if not x.is_floating_point():
        raise _errors.unsupported(f"{name} is of floating tensors, not {x.dtype}")


def sum(x: Tensor, dim: Dim = None, keepdim: bool = False, *, dtype: Optional[torch.dtype] = None) -> Tensor:
    """The sum over dims (None: all) of items converted to `dtype`: of float16 and bfloat16 in float32, of float32 and
    float64 in their own type, of integers and bool in int64; of x's dtype, or int64. -0.0 of no floats."""
    x = _as(x, dtype)
    result: Tensor = _sum(x, _dims(x, dim), keepdim)
    return result if dtype is None or result.dtype == dtype else result.to(dtype)


def mean(x: Tensor, dim: Dim = None, keepdim: bool = False, *, dtype: Optional[torch.dtype] = None) -> Tensor:
    """The mean over dims (None: all), computed in float64; NaN of nothing."""
    x = _as(x, dtype)
    _require_float(x, "mean")
    return _mean(x, _dims(x, dim), keepdim)


def var_mean(x: Tensor, dim: Dim = None, *, correction: int = 1, keepdim: bool = False) -> Tuple[Tensor, Tensor]:
    """(variance, mean) over dims (None: all) in one read, computed in float64; correction is 0 or 1 (of a sample). NaN
    of nothing, and a sample's variance of one item."""
    _require_float(x, "var_mean")
    if correction not in (0, 1):
        raise _errors.invalid(f"correction is {correction!r}, and must be 0 or 1")
    return _var_mean(x, _dims(x, dim), correction, keepdim)


def logsumexp(x: Tensor, dim: Dim, keepdim: bool = False) -> Tensor:
    """log(sum(exp(x))) over dims without overflow, in double and rounded once; -infinity of nothing."""
    _require_float(x, "logsumexp")
    return _logsumexp(x, _dims(x, dim), keepdim)


def _one_dim(x: Tensor, dim: int) -> int:
    if not isinstance(dim, int):
        raise _errors.invalid(f"dim is {dim!r}, and must be one number")
    found = _dims(x, dim)
    return found[0] if found else 0


def log_softmax(x: Tensor, dim: int, dtype: Optional[torch.dtype] = None) -> Tensor:
    """x - logsumexp(x) along dim, in double and rounded once."""
    x = _as(x, dtype)
    _require_float(x, "log_softmax")
    return _log_softmax(x if x.dim() else x.reshape(1), _one_dim(x, dim)).reshape(x.shape)


def softmax(x: Tensor, dim: int, dtype: Optional[torch.dtype] = None) -> Tensor:
    """exp(x) / sum(exp(x)) along dim, without overflow: exp(x - logsumexp(x)), in float32 or float64."""
    x = _as(x, dtype)
    _require_float(x, "softmax")
    return _softmax(x if x.dim() else x.reshape(1), _one_dim(x, dim)).reshape(x.shape)


def rms_norm(x: Tensor, normalized_shape: Sequence[int], weight: Optional[Tensor] = None,
             eps: Optional[float] = None) -> Tensor:
    """x / sqrt(mean(x * x) + eps) * weight over the last axes, whose shape is normalized_shape; eps None is the epsilon
    of x's dtype, as in torch.nn.functional.rms_norm."""
    _require_float(x, "rms_norm")
    shape = tuple(normalized_shape)
    if not shape or tuple(x.shape[-len(shape):]) != shape or (weight is not None and tuple(weight.shape) != shape):
        raise _errors.bad_shape(f"rms_norm over {shape} of a tensor of {tuple(x.shape)}"
            + ("" if weight is None else f" with a weight of {tuple(weight.shape)}"))
    if weight is not None and (weight.dtype != x.dtype or weight.device != x.device):
        raise _errors.invalid(f"rms_norm of {x.dtype} on {x.device} with a weight of {weight.dtype} on {weight.device}")
    return _rms_norm(x, len(shape), weight, torch.finfo(x.dtype).eps if eps is None else eps)[0]


def norm(x: Tensor, p: float = 2, dim: Dim = None, keepdim: bool = False) -> Tensor:
    """The norm of order 1, 2 or infinity over dims (None: all); squares do not overflow. 0 of nothing."""
    _require_float(x, "norm")
    if p not in _NORMS:
        raise _errors.invalid(f"p is {p!r}, and must be 1, 2 or inf")
    return _norm(x, float(p), _dims(x, dim), keepdim)


# ---- in place of torch's own


def _in_place_of_torch() -> List[Tuple[str, Callable[..., Any]]]:
    """(operator of torch, what takes its place)."""
    def sum_of(x: Tensor, dim: Dim = None, keepdim: bool = False, *, dtype: Optional[torch.dtype] = None) -> Tensor:
        x = _as(x, dtype)
        if x.is_complex():
            return torch.view_as_complex(_sum(torch.view_as_real(x), _dims(x, dim), keepdim))
        found: Tensor = _sum(x, _dims(x, dim), keepdim)
        return found if dtype is None else found.to(dtype)

    def mean_of(x: Tensor, dim: Dim = None, keepdim: bool = False, *, dtype: Optional[torch.dtype] = None) -> Tensor:
        x = _as(x, dtype)
        if x.is_complex():
            return torch.view_as_complex(_mean(torch.view_as_real(x), _dims(x, dim), keepdim))
        _require_float(x, "mean")
        return _mean(x, _dims(x, dim), keepdim)

    def var_mean_of(x: Tensor, dim: Dim = None, *, correction: Any = None,
                    keepdim: bool = False) -> Tuple[Tensor, Tensor]:
        return var_mean(x, dim, correction=1 if correction is None else int(correction), keepdim=keepdim)

    def var_of(x: Tensor, dim: Dim = None, *, correction: Any = None, keepdim: bool = False) -> Tensor:
        return var_mean_of(x, dim, correction=correction, keepdim=keepdim)[0].clone()

    def log_softmax_of(x: Tensor, dim: int, half_to_float: bool) -> Tensor:
        return log_softmax(x, dim, torch.float32 if half_to_float else None)

    def softmax_of(x: Tensor, dim: int, half_to_float: bool) -> Tensor:
        return softmax(x, dim, torch.float32 if half_to_float else None)

    def norm_of(x: Tensor, ord: float = 2, dim: Dim = None, keepdim: bool = False, *,
                dtype: Optional[torch.dtype] = None) -> Tensor:
        return norm(_as(x, dtype), ord, dim, keepdim)

    def rms_norm_of(x: Tensor, normalized_shape: List[int], weight: Optional[Tensor],
                    eps: Optional[float]) -> Tuple[Tensor, Tensor]:
        found: Tuple[Tensor, Tensor] = _rms_norm(x, len(normalized_shape), weight,
                                                 torch.finfo(x.dtype).eps if eps is None else eps)
        return found[0], found[1].to(_wide(x))

    known: List[Tuple[str, Callable[..., Any]]] = [
        ("sum", sum_of), ("sum.dim_IntList", sum_of), ("mean", mean_of), ("mean.dim", mean_of),
        ("var_mean.correction", var_mean_of), ("var.correction", var_of), ("logsumexp", logsumexp),
        ("_log_softmax", log_softmax_of), ("_softmax", softmax_of), ("linalg_vector_norm", norm_of),
        ("_fused_rms_norm", rms_norm_of)]
    return [(name, function) for name, function in known if hasattr(torch.ops.aten, name.partition(".")[0])]


_lock = threading.Lock()
_users = {"cpu": 0, "cuda": 0}
_overrides: Dict[str, torch.library.Library] = {}


def _override(device: str) -> torch.library.Library:
    library = torch.library.Library("aten", "IMPL")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a kernel of torch is overridden, which is meant
            for name, function in _in_place_of_torch():
                library.impl(name, function, device.upper())
    except BaseException:
        library._destroy()
        raise
    return library


@contextlib.contextmanager
def batch_invariant(device: str = "cuda") -> Iterator[None]:
    """Within it torch's own sum, mean, var, var_mean, logsumexp, softmax, log_softmax, vector norms and rms_norm are
    tilefold's, on tensors of `device` ("cuda" or "cpu"), in every thread: a row has the same bits in a batch of any
    size.

    For inference: backward is torch's own. Matrix products, attention and forms with out= stay torch's, and what
    torch.compile has fused is not reached. Norms of other orders, and corrections other than 0 and 1, are refused
    within it.
    """
    if device not in ("cpu", "cuda"):
        raise _errors.invalid(f"device is {device!r}, and must be 'cuda' or 'cpu'")
    with _lock:
        if _users[device] == 0:
            _overrides[device] = _override(device)
        _users[device] += 1
    try:
        yield
    finally:
        with _lock:
            _users[device] -= 1
            if _users[device] == 0:
                _overrides.pop(device)._destroy()
