# SPDX-License-Identifier: Apache-2.0
"""torch."""
from __future__ import annotations

import math
from typing import Any, Callable, ContextManager, Dict, Tuple

import numpy as np

from .._dtypes import FLOAT64, NAMES, Code, ends_of
from .._errors import invalid, unsupported
from ._base import GpuLibrary, Items, handle_of


class Torch(GpuLibrary):
    """For users tensors of a GPU whose gradient would not be lost; for tilefold.torch others, too."""
    name = "torch"

    def __init__(self, torch: Any, of_user: bool = True, on_host: bool = False) -> None:
        self.torch, self.of_user, self.on_host = torch, of_user, on_host
        self.codes: Dict[Any, Code] = {}
        self.dtypes: Dict[Code, Any] = {}
        for code, name in NAMES.items():
            dtype = getattr(torch, name, None)
            if dtype is not None:
                self.codes[dtype], self.dtypes[code] = code, dtype
        self.tensor = torch.Tensor
        # torch's own, without a frame of Python around it.
        self.address = torch.Tensor.data_ptr  # type: ignore[method-assign]
        raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
        #: Of a device's number. The runtime's own function where there is one, for it is faster.
        self.current_stream: Callable[[int], int] = (lambda device: 0) if on_host else raw or self._stream_of_torch

    def _stream_of_torch(self, device: int) -> int:
        return int(self.torch.cuda.current_stream(device).cuda_stream)

    def owns(self, x: Any) -> bool:
        return isinstance(x, self.tensor) and bool(x.is_cuda) != self.on_host

    def alias(self, x: Any) -> Any:
        self._require_no_gradient(x)
        return x.detach()  # resize_(), set_() and the like of x leave it as it is, and it keeps its memory

    def _require_no_gradient(self, x: Any) -> None:
        if self.of_user and x.requires_grad and self.torch.is_grad_enabled():
            raise unsupported("this tensor requires a gradient, which would be lost: use tilefold.torch, or "
                              "x.detach()")

    def items(self, x: Any) -> Items:
        self._require_no_gradient(x)
        if x.layout is not self.torch.strided:
            raise unsupported(f"tensors of layout {x.layout} are not taken")
        if x.is_neg() or x.is_conj():
            raise unsupported("this tensor is a conjugated or negated view: use x.resolve_conj().resolve_neg()")
        device = x.get_device()
        return Items(x.data_ptr(), self.code_of(x), x.shape, x.stride(), device, self.current_stream(device))

    def in_stream(self, x: Any, stream: Any) -> ContextManager[Any]:
        cuda = self.torch.cuda
        if not isinstance(stream, cuda.Stream):
            stream = cuda.ExternalStream(handle_of(stream), device=x.device)
        if stream.device != x.device:
            raise invalid(f"the stream is one of {stream.device}, and x is on {x.device}")
        context: ContextManager[Any] = cuda.stream(stream)
        return context

    def code_of(self, x: Any) -> Code:
        code = self.codes.get(x.dtype)
        if code is None:
            raise unsupported(f"tensors of {x.dtype} are not taken")
        return code

    def is_row_major(self, x: Any, items: Items) -> bool:
        return bool(x.is_contiguous())

    def empty(self, like: Any, shape: Tuple[int, ...], code: Code) -> Any:
        return like.new_empty(shape, dtype=self.dtypes[code])

    def cast(self, x: Any, code: Code) -> Any:
        return x.to(self.dtypes[code])

    def narrowed(self, x: Any, code: Code) -> Any:
        if code[1] != 16 or self.code_of(x) != FLOAT64:
            return super().narrowed(x, code)
        # torch goes by way of float32. One that is rounded to odd has a last bit that says that something was cut off.
        near = x.to(self.torch.float32)
        back = near.to(self.torch.float64)
        bits = near.view(self.torch.int32)
        is_cut = x.isfinite() & (back != x)
        bits = self.torch.where(is_cut, (bits - (back.abs() > x.abs()).to(self.torch.int32)) | 1, bits)
        return self.canonical(self.cast(bits.view(self.torch.float32), code))

    def canonical(self, x: Any) -> Any:
        return x.nan_to_num_(math.nan, math.inf, -math.inf)

    def whole_numbers(self, x: Any, code: Code) -> Any:
        if code[0] == 1 and code[1] > 8:  # torch has little for these
            return self.cast(x, code)
        least, most = ends_of(code)
        wide = x.to(self.torch.float64)
        above, below = wide >= float(most), wide <= float(least)
        inside = self.cast(wide.masked_fill(above | below | wide.isnan(), 0.0), code)
        return inside.masked_fill(above, most).masked_fill(below, least)

    def contiguous(self, x: Any) -> Any:
        return x.contiguous()

    def copy(self, to: Any, x: Any) -> None:
        to.copy_(x)

    def from_numpy(self, like: Any, array: np.ndarray[Any, Any]) -> Any:
        return self.torch.from_numpy(array).to(like.device)

    def stacked(self, initial: Any, x: Any) -> Any:
        return self.torch.stack([self.torch.full_like(x, initial), x])

    def masked(self, x: Any, mask: Any, value: Any) -> Any:
        self.require_mask(x, mask)
        code, bits = self.code_of(x)
        if code == 1 and bits > 8:  # torch fills no such tensors, but has their bits as signed ones
            signed = x.view(self.dtypes[0, bits])
            filled = signed.masked_fill(mask.logical_not(), value - (1 << bits if value >> (bits - 1) else 0))
            return filled.view(x.dtype)
        return x.masked_fill(mask.logical_not(), value)
