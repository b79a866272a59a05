# SPDX-License-Identifier: Apache-2.0
"""All-reduce and reduce-scatter of torch tensors in rank order. tilefold.torch offers these functions where torch has
torch.distributed.

    rank 0  a0 b0 c0        all-to-all: rank 1 has part 1      fold of columns        all-gather
    rank 1  a1 b1 c1   ->   of every rank, a row each      ->  op(op(b0, b1), b2) ->  a b c on every rank
    rank 2  a2 b2 c2        b0 | b1 | b2

torch.distributed moves the values, as bytes and unchanged; libtilefold joins them. So a bit depends on the ranks'
values and their order alone: not on the number of items, the backend, the device or the route of a message.
"""
from __future__ import annotations

from typing import Any, List, Optional, Tuple, Union

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed import distributed_c10d

from . import _errors, _gpu
from ._torch_operators import differentiable, new, on_gpu, on_host, op as operator

__all__ = ["all_reduce", "all_reduce_", "reduce_scatter", "reduce_scatter_tensor"]

Group = Union[None, str, "dist.ProcessGroup"]

_FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_INTEGERS = tuple(getattr(torch, name) for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
                                                    "uint64") if hasattr(torch, name))
#: The dtypes that each operation takes.
_TAKES = {"sum": _FLOATS + _INTEGERS, "product": _FLOATS + _INTEGERS, "min": _FLOATS + _INTEGERS + (torch.bool,),
          "max": _FLOATS + _INTEGERS + (torch.bool,), "mean": _FLOATS, "exact_sum": _FLOATS}
#: Operations whose result is linear in every rank's values.
_LINEAR = ("sum", "mean", "exact_sum")
#: Up to here one gather of all ranks' values takes the place of an all-to-all and a gather: one message's latency
#: less. The number is not measured yet.
_GATHERED_BYTES = 256 << 10


# ---- what ranks send


def _resolved(group: str) -> Any:
    return distributed_c10d._resolve_process_group(group)


def _size_of(group: str) -> int:
    """torch.compile knows this function of torch, and not _resolved()."""
    return int(distributed_c10d._get_group_size_by_name(group))


def _row(x: Tensor) -> Tensor:
    """The items of x in row-major order, as a tensor of one axis; a copy only if they do not lie so."""
    return x.detach().resolve_neg().contiguous().view(-1)


def _bytes(x: Tensor) -> Tensor:
    """What is sent: every backend knows bytes, and changes none."""
    return x.view(torch.uint8)


def _gather(row: Tensor, group: Any, out: Optional[Tensor] = None) -> Tensor:
    """The rows of all ranks, one after the other."""
    if out is None:
        out = row.new_empty(group.size() * row.numel())
    if group.size() == 1:
        out.copy_(row)
    elif out.numel():
        dist.all_gather_into_tensor(_bytes(out), _bytes(row), group=group)
    return out


def _exchange(row: Tensor, group: Any) -> Tensor:
    """Cuts the row into a part for each rank. Row r of the result is what rank r has for this one."""
    world = group.size()
    if world > 1:
        sent, row = row, torch.empty_like(row)
        dist.all_to_all_single(_bytes(row), _bytes(sent), group=group)
    return row.view(world, -1)


def _padded(row: Tensor, world: int) -> Tensor:
    """The row, followed by the zeros that make its parts equal. Their results are dropped."""
    n = row.numel()
    missing = -n % world
    if missing == 0:
        return row
    padded = row.new_empty(n + missing)
    padded[:n].copy_(row)
    padded[n:].zero_()
    return padded


# ---- the fold


def _adapter(x: Tensor) -> Any:
    return on_gpu if x.is_cuda else on_host


def _folded(rows: Tensor, op: str) -> Tensor:
    """The operation of libtilefold over each column, rounded once to the dtype of the rows."""
    library = _adapter(rows)
    found: Tensor = _gpu.fold(library, rows, op, (0,), False, None, library.code_of(rows))
    return found


def _joined(rows: Tensor, op: str) -> Tensor:
    return _exact_sum_of_16_bits(rows) if op == "exact_sum" and rows.element_size() == 2 else _folded(rows, op)


def _exact_sum_of_16_bits(rows: Tensor) -> Tensor:
    """libtilefold has exact sums of float32 and float64 on every device, and what was rounded to float32 must not be
    rounded again. So the float32 is rounded to odd, by the sign of what it has lost: its last bit then says that
    something was cut off, and the second rounding is that of the real sum."""
    wide = rows.to(torch.float32)
    near = _folded(wide, "exact_sum")
    lost = _folded(torch.cat([wide, near.neg().unsqueeze(0)]), "exact_sum")
    is_cut = near.isfinite() & (lost != 0)
    # Without their sign bits of floats count up from zero: one less is the next float towards zero.
    is_beyond = is_cut & (near.signbit() != lost.signbit())
    odd = (near.view(torch.int32) - is_beyond.to(torch.int32)) | is_cut.to(torch.int32)
    library = _adapter(rows)
    found: Tensor = library.narrowed(odd.view(torch.float32), library.code_of(rows))
    return found


# ---- operators of torch


def _all_reduced(x: Tensor, op: str, group: Any, out: Optional[Tensor]) -> Tensor:
    """The result as a row, in `out` if it can be gathered there."""
    row, world = _row(x), group.size()
    n = row.numel()
    if n == 0:
        return torch.empty_like(row)
    if world == 1 or world * n * row.element_size() <= _GATHERED_BYTES:
        return _joined(_gather(row, group).view(world, n), op)
    part = _joined(_exchange(_padded(row, world), group), op)
    return _gather(part, group, out if n % world == 0 else None)[:n]


@operator("all_reduce(Tensor x, str op, str group) -> Tensor", lambda x, op, group: new(x))
def _all_reduce(x: Tensor, op: str, group: str) -> Tensor:
    return _all_reduced(x, op, _resolved(group), None).view(x.shape)


def _keep_op_and_group(ctx: Any, inputs: Tuple[Any, ...], output: Any) -> None:
    _, ctx.op, ctx.group = inputs


def _require_linear(op: str, name: str) -> None:
    if op not in _LINEAR:
        raise _errors.unsupported(f"{name} with op {op!r} has no gradient; sum, mean and exact_sum have one")


def _backward_of_all_reduce(ctx: Any, g: Tensor) -> Tuple[Any, ...]:
    _require_linear(ctx.op, "all_reduce")
    return _all_reduce(g, ctx.op, ctx.group), None, None


differentiable("all_reduce", _backward_of_all_reduce, _keep_op_and_group)


@operator("all_reduce_(Tensor(a!) x, str op, str group) -> ()", lambda x, op, group: None)
def _all_reduce_in_place(x: Tensor, op: str, group: str) -> None:
    out = x.detach().view(-1) if x.is_contiguous() and not x.is_neg() else None
    found = _all_reduced(x, op, _resolved(group), out)
    if out is None or found.data_ptr() != out.data_ptr():
        x.detach().copy_(found.view(x.shape))


def _part(x: Tensor, op: str, group: Any) -> Tensor:
    """This rank's part of the result, as a row."""
    row = _row(x)
    return _joined(_exchange(row, group), op) if row.numel() else torch.empty_like(row)


def _shape_of_part(x: Tensor, world: int) -> List[int]:
    return [x.shape[0] // world, *x.shape[1:]]


@operator("reduce_scatter(Tensor x, str op, str group) -> Tensor",
     lambda x, op, group: x.new_empty(_shape_of_part(x, _size_of(group))))
def _reduce_scatter(x: Tensor, op: str, group: str) -> Tensor:
    ranks = _resolved(group)
    return _part(x, op, ranks).view(_shape_of_part(x, ranks.size()))


@operator("reduce_scatter_backward(Tensor g, str op, str group) -> Tensor",
     lambda g, op, group: g.new_empty([g.shape[0] * _size_of(group), *g.shape[1:]]))
def _reduce_scatter_backward(g: Tensor, op: str, group: str) -> Tensor:
    ranks = _resolved(group)
    if op == "mean":
        library = _adapter(g)
        g = library.narrowed(g.to(torch.float64) / ranks.size(), library.code_of(g))
    return _gather(_row(g), ranks).view(g.shape[0] * ranks.size(), *g.shape[1:])


def _backward_of_reduce_scatter(ctx: Any, g: Tensor) -> Tuple[Any, ...]:
    _require_linear(ctx.op, "reduce_scatter")
    return _reduce_scatter_backward(g, ctx.op, ctx.group), None, None


differentiable("reduce_scatter", _backward_of_reduce_scatter, _keep_op_and_group)


@operator("reduce_scatter_tensor(Tensor(a!) output, Tensor x, str op, str group) -> ()",
     lambda output, x, op, group: None)
def _reduce_scatter_tensor(output: Tensor, x: Tensor, op: str, group: str) -> None:
    if x.numel() != 0:
        output.detach().copy_(_part(x, op, _resolved(group)).view(output.shape))


# ---- what users call


def _name_of(group: Group) -> str:
    """Of a process group; operators of torch take no other form of it."""
    if isinstance(group, str):
        return group
    if group == dist.GroupMember.NON_GROUP_MEMBER:
        raise _errors.invalid("this rank is not in the group")
    name: str = (distributed_c10d._get_default_group() if group is None else group).group_name
    return name


def _require(x: Tensor, op: str) -> None:
    if op not in _TAKES:
        raise _errors.invalid(f"op is {op!r}, and must be one of {', '.join(_TAKES)}")
    if x.layout is not torch.strided:
        raise _errors.unsupported(f"tensors of layout {x.layout} are not taken")
    if x.dtype not in _TAKES[op]:
        raise _errors.unsupported(f"tensors of {x.dtype} are not taken with op {op!r}")


def _needs_gradient(*tensors: Tensor) -> bool:
    return torch.is_grad_enabled() and any(one.requires_grad for one in tensors)


def all_reduce(x: Tensor, op: str = "sum", group: Group = None) -> Tensor:
    """Returns, on every rank, the ranks' x joined item by item: each item is the neighbour tree over the values of
    ranks 0, 1, 2... of the group, that is tilefold's fold of torch.stack(all x) over dim 0.

    x         a tensor of any shape and strides on the CPU or a GPU, of the same shape and dtype on every rank. It is
              not changed.
    op        "sum", "product": of float16, bfloat16 and float32 in float32, of float64 in float64, rounded once;
              of integers modulo 2^bits.
              "mean": of floats; the sum in float64, divided by the number of ranks and rounded once.
              "exact_sum": of floats; the real sum of the values, rounded once.
              "min", "max": also of bool; a NaN wins, and -0.0 is less than 0.0.
    group     a torch.distributed.ProcessGroup, its name, or None for all ranks.

    Returns a new contiguous tensor of x's shape, dtype and device. A NaN in it is the canonical quiet NaN.

    Order: that of ranks in the group. The bits are the same for any number of items and channels, with NCCL and Gloo,
    on CPU and GPU, eager and compiled.
    Gradient: of "sum", "mean" and "exact_sum", the all_reduce of the gradients with the same op, that is, of the sum of
    the ranks' losses. Others raise UnsupportedError in backward.
    Communication: an all-to-all and an all-gather, in each of which a rank of W sends (W - 1) / W of x. If W times x
    has at most 256 KiB, one all-gather of x instead. With NCCL in the order of the current stream: the host does not
    wait. Of an empty x nothing is sent.
    Workspace beside the result: x once for what arrives and 1 / W of x for this rank's part, three times that for
    16-bit floats; once more x if it is not contiguous or W does not divide its number of items. Up to 256 KiB: W times
    x. "exact_sum" of 16-bit floats: about 5 times x.

    Raises: ArgumentError for another op, and on a rank outside of the group; UnsupportedError for a dtype or layout
    that op does not take; both before anything is sent. Shapes and dtypes of ranks are not compared, as in
    torch.distributed: where they differ, a rank may get wrong values, wait forever, or (Gloo) be ended. Up to 256 KiB
    TORCH_DISTRIBUTED_DEBUG=DETAIL makes torch compare the ranks' numbers of bytes and raise RuntimeError.
    """
    _require(x, op)
    found: Tensor = _all_reduce(x, op, _name_of(group))
    return found


def all_reduce_(x: Tensor, op: str = "sum", group: Group = None) -> Tensor:
    """all_reduce() in place, as torch.distributed.all_reduce(): writes the result to x, of any strides, and returns x.

    A contiguous x whose number of items the number of ranks divides is written by the all-gather itself; others are
    copied to. If x needs a gradient, it is that of x.copy_(all_reduce(x)). If an argument
    is refused, x is not changed.
    """
    _require(x, op)
    name = _name_of(group)
    if _needs_gradient(x):
        return x.copy_(_all_reduce(x, op, name))
    _all_reduce_in_place(x, op, name)
    return x


def reduce_scatter(x: Tensor, op: str = "sum", group: Group = None) -> Tensor:
    """Returns this rank's part of all_reduce(x, op, group), with the same bits: of W equal parts along dim 0, that of
    its rank in the group.

    Arguments, dtypes and order are those of all_reduce(). The result is a new contiguous tensor of the shape
    (x.shape[0] / W, *x.shape[1:]).

    Gradient: the ranks' gradients, gathered; of "mean" divided by W, in float64 and rounded once.
    Communication: an all-to-all, in which each rank sends (W - 1) / W of x. Workspace: x once more.

    Raises: what all_reduce() does, and ArgumentError if x has no dims, or W does not divide x.shape[0].
    """
    _require(x, op)
    name = _name_of(group)
    world = _size_of(name)
    if x.dim() == 0 or x.shape[0] % world != 0:
        raise _errors.bad_shape(f"reduce_scatter of a tensor of {tuple(x.shape)} over {world} ranks: dim 0 must be a "
                                f"multiple of {world}")
    found: Tensor = _reduce_scatter(x, op, name)
    return found


def reduce_scatter_tensor(output: Tensor, input: Tensor, op: str = "sum", group: Group = None) -> Tensor:
    """reduce_scatter() into a tensor, with the arguments of torch.distributed.reduce_scatter_tensor(): writes this
    rank's part of the items of `input` in row-major order to `output`, and returns `output`.

    `output` has 1 / W of the items of `input`, in any shape and strides, and its dtype and device.

    Raises: what reduce_scatter() does, and ArgumentError if the number of items, the dtype or the device is another.
    Then `output` is not changed.
    """
    _require(input, op)
    name = _name_of(group)
    world = _size_of(name)
    if output.numel() * world != input.numel():
        raise _errors.bad_shape(f"reduce_scatter_tensor of {input.numel()} items over {world} ranks to an output of "
                                f"{output.numel()}: {world} times as many as the output has are needed")
    if output.dtype != input.dtype or output.device != input.device:
        raise _errors.invalid(f"output is of {output.dtype} on {output.device}, and input of {input.dtype} on "
                              f"{input.device}")
    if _needs_gradient(output, input):
        return output.copy_(_reduce_scatter(input.reshape(-1), op, name).view(output.shape))
    _reduce_scatter_tensor(output, input, op, name)
    return output
