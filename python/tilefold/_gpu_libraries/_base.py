# SPDX-License-Identifier: Apache-2.0
"""What a library of arrays of a GPU has to show: one class each is beside this file."""
from __future__ import annotations

from typing import Any, ContextManager, NamedTuple, Sequence, Tuple

import numpy as np

from .._dtypes import BOOL, Code, is_float, of_dtype
from .._errors import bad_shape, invalid, unsupported


class Items(NamedTuple):
    """Where the items of an array lie, and in which stream they are ready."""
    address: int
    code: Code
    shape: Sequence[int]
    steps: Sequence[int]  # strides, counted in items
    device: int
    stream: int
    read_only: bool = False


def handle_of(stream: Any) -> int:
    """The cudaStream_t of a stream: an int, or a stream of torch, CuPy, numba or cuda.core."""
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    if hasattr(stream, "handle"):
        return int(getattr(stream.handle, "value", stream.handle) or 0)
    if isinstance(stream, int) and not isinstance(stream, bool) and stream >= 0:
        return stream
    raise invalid(f"stream is {stream!r}, and must be a stream of a GPU library or the number of a cudaStream_t")


class GpuLibrary:
    """A library of arrays. What makes arrays, and what works on them, does so in the current stream."""
    name = ""

    def owns(self, x: Any) -> bool:
        raise NotImplementedError

    def alias(self, x: Any) -> Any:
        """The items of x as they lie now: what items() says of it stays true if another thread, or a signal's handler,
        gives x another shape or other memory. x itself where one read of it shows all, or nothing can change."""
        return x

    def items(self, x: Any) -> Items:
        raise NotImplementedError

    def code_of(self, x: Any) -> Code:
        """That of items()."""
        return self.items(x).code

    def in_stream(self, x: Any, stream: Any) -> ContextManager[Any]:
        raise NotImplementedError

    def is_row_major(self, x: Any, items: Items) -> bool:
        """Whether items stand one after the other."""
        step = 1
        for extent, own in zip(reversed(items.shape), reversed(items.steps)):
            if extent != 1 and own != step:
                return False
            step *= extent
        return True

    def empty(self, like: Any, shape: Tuple[int, ...], code: Code) -> Any:
        """A new row-major array on the device of `like`."""
        raise NotImplementedError

    def address(self, x: Any) -> int:
        raise NotImplementedError

    def cast(self, x: Any, code: Code) -> Any:
        raise NotImplementedError

    def narrowed(self, x: Any, code: Code) -> Any:
        """Results that are float64, rounded once to a floating type; others as cast()."""
        found = self.cast(x, code)
        return self.canonical(found) if is_float(code) else found

    def canonical(self, x: Any) -> Any:
        """Results of a floating type whose NaNs are the host's: a GPU that converts or multiplies one makes another."""
        return x

    def scaled(self, x: Any, factor: float, is_root: bool) -> Any:
        """Results times a factor, or the roots of that."""
        x = x if factor == 1 else x * factor
        return self.canonical(x ** 0.5 if is_root else x)

    def whole_numbers(self, x: Any, code: Code) -> Any:
        """Floats as integers: toward zero, the nearest that the type holds, 0 of NaN."""
        return self.cast(x, code)

    def contiguous(self, x: Any) -> Any:
        raise NotImplementedError

    def copy(self, to: Any, x: Any) -> None:
        raise NotImplementedError

    def from_numpy(self, like: Any, array: np.ndarray[Any, Any]) -> Any:
        raise NotImplementedError

    def stacked(self, initial: Any, x: Any) -> Any:
        """An array whose row 0 is `initial` throughout, and whose row 1 is x."""
        raise NotImplementedError

    def masked(self, x: Any, mask: Any, value: Any) -> Any:
        """x with `value` in the places where `mask`, an array of bool that spreads over it, is false."""
        raise unsupported(f"where= is not there for arrays of {self.name}")

    def require_mask(self, x: Any, mask: Any) -> None:
        if not self.owns(mask) or self.code_of(mask) != BOOL:
            raise unsupported(f"where is a {type(mask).__name__}, and must be an array of bool of {self.name} on the "
                              "GPU")
        shape, of_x = tuple(mask.shape), tuple(x.shape)
        if len(shape) > len(of_x) or any(m not in (1, n) for m, n in zip(shape[::-1], of_x[::-1])):
            raise bad_shape(f"where has the shape {shape}, which does not spread over {of_x}")

    def number(self, x: Any) -> int:
        """Waits for an array of one integer."""
        return int(x)

    def done(self, x: Any) -> Any:
        """What is given to the user."""
        return x


class OfCudaArrays(GpuLibrary):
    """Arrays that show themselves by __cuda_array_interface__."""

    def device_of(self, x: Any) -> int:
        raise NotImplementedError

    def current_stream(self, x: Any) -> int:
        raise NotImplementedError

    def items(self, x: Any) -> Items:
        shown = x.__cuda_array_interface__
        if shown.get("mask") is not None:
            raise unsupported("masks are not taken")
        address, read_only = shown["data"]
        dtype = np.dtype(shown["typestr"])
        shape, strides = tuple(shown["shape"]), shown.get("strides")
        if strides is None:
            steps, step = [0] * len(shape), 1
            for i in reversed(range(len(shape))):
                steps[i] = step
                step *= shape[i]
        else:
            if any(step % dtype.itemsize for step in strides):
                raise unsupported(f"strides of {strides} bytes are not whole items of {dtype}")
            steps = [step // dtype.itemsize for step in strides]
        return Items(address or 0, of_dtype(dtype), shape, steps, self.device_of(x), self.current_stream(x),
                     bool(read_only))

    def address(self, x: Any) -> int:
        return int(x.__cuda_array_interface__["data"][0] or 0)
