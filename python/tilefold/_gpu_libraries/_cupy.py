# SPDX-License-Identifier: Apache-2.0
"""CuPy."""
from __future__ import annotations

import contextlib
import math
from typing import Any, Iterator, Tuple

import numpy as np

from .._dtypes import Code, name_of
from .._operations import odd_float32
from ._base import OfCudaArrays, handle_of


class Cupy(OfCudaArrays):
    name = "CuPy"

    def __init__(self, cupy: Any) -> None:
        self.cupy = cupy

    def owns(self, x: Any) -> bool:
        return isinstance(x, self.cupy.ndarray)

    def device_of(self, x: Any) -> int:
        return int(x.device.id)

    def current_stream(self, x: Any) -> int:
        with x.device:
            return int(self.cupy.cuda.get_current_stream().ptr)

    @contextlib.contextmanager
    def in_stream(self, x: Any, stream: Any) -> Iterator[None]:
        with x.device, self.cupy.cuda.ExternalStream(handle_of(stream)):
            yield

    def empty(self, like: Any, shape: Tuple[int, ...], code: Code) -> Any:
        with like.device:
            return self.cupy.empty(shape, name_of(code))

    def cast(self, x: Any, code: Code) -> Any:
        with x.device:
            return x.astype(name_of(code))

    def narrowed(self, x: Any, code: Code) -> Any:
        if code[1] != 16 or x.dtype != np.float64:
            return super().narrowed(x, code)
        with x.device:  # as torch, CuPy goes by way of float32
            return self.canonical(odd_float32(self.cupy, x).astype(name_of(code)))

    def canonical(self, x: Any) -> Any:
        with x.device:
            return self.cupy.where(x == x, x, math.nan)

    def contiguous(self, x: Any) -> Any:
        with x.device:
            return self.cupy.ascontiguousarray(x)

    def copy(self, to: Any, x: Any) -> None:
        with x.device:
            to[...] = x

    def from_numpy(self, like: Any, array: np.ndarray[Any, Any]) -> Any:
        with like.device:
            return self.cupy.asarray(array)

    def stacked(self, initial: Any, x: Any) -> Any:
        with x.device:
            return self.cupy.stack([self.cupy.full_like(x, initial), x])

    def masked(self, x: Any, mask: Any, value: Any) -> Any:
        self.require_mask(x, mask)
        with x.device:
            return self.cupy.where(self.cupy.broadcast_to(mask, x.shape), x, self.cupy.asarray(value, x.dtype))
