# SPDX-License-Identifier: Apache-2.0
"""Arrays that show themselves by __dlpack__ or __cuda_array_interface__, of libraries that are not known."""
from __future__ import annotations

import math
import operator
import sys
import types
from typing import Any, Callable, Tuple

import numpy as np

from .._dtypes import of_dtype
from .._errors import unsupported
from ._base import GpuLibrary, Items


#: DLPack's devices that are CUDA's: its memory, and managed memory.
OF_CUDA = (2, 13)


def device_of(x: Any) -> Tuple[int, int]:
    """DLPack's device of x, as x says: the kind and the number. UnsupportedError for what is no device."""
    try:
        device, number = x.__dlpack_device__()
        return operator.index(device), operator.index(number)
    except MemoryError:
        raise
    except Exception as error:
        raise unsupported(f"__dlpack_device__() of this {type(x).__name__} gives no device, which is two integers: "
                          f"{type(error).__name__}: {error}") from error


class Dlpack(GpuLibrary):
    """Arrays of a library that is not known, which have __dlpack__: torch or CuPy, whichever is loaded, sees them,
    and makes results. Those go back through `from_dlpack` of the module that the arrays' type comes from, if it has
    one; else they are torch's or CuPy's, which have __dlpack__, too."""

    def __init__(self, base: GpuLibrary, see: Callable[[Any], Any], kind: Any) -> None:
        self.base, self.see, self.kind = base, see, kind
        self.name = f"{kind.__module__}.{kind.__name__}"
        module = sys.modules.get(kind.__module__.partition(".")[0])
        self.give: Callable[[Any], Any] = getattr(module, "from_dlpack", lambda x: x)

    def owns(self, x: Any) -> bool:
        return self.base.owns(x) or (isinstance(x, self.kind) and device_of(x)[0] in OF_CUDA)

    def view(self, x: Any) -> Any:
        """The same memory; the producer makes it ready in the current stream, as DLPack says."""
        return x if self.base.owns(x) else self.see(x)

    def address(self, x: Any) -> int:
        return self.base.address(x)

    def copy(self, to: Any, x: Any) -> None:
        self.base.copy(self.view(to), self.view(x))

    def stacked(self, initial: Any, x: Any) -> Any:
        return self.base.stacked(initial, self.view(x))

    def masked(self, x: Any, mask: Any, value: Any) -> Any:
        return self.base.masked(self.view(x), self.view(mask), value)

    def number(self, x: Any) -> int:
        return self.base.number(x)

    def done(self, x: Any) -> Any:
        return self.give(x) if self.base.owns(x) else x


def _of_view(name: str) -> Any:
    """The method of that name of the library that sees x."""
    def method(self: Dlpack, x: Any, *arguments: Any) -> Any:
        return getattr(self.base, name)(self.view(x), *arguments)

    return method


for _name in ("alias", "items", "in_stream", "empty", "cast", "narrowed", "scaled", "whole_numbers", "contiguous",
              "from_numpy"):
    setattr(Dlpack, _name, _of_view(_name))


class CudaArrays(Dlpack):
    """The same of arrays that have __cuda_array_interface__ alone."""

    def owns(self, x: Any) -> bool:
        return self.base.owns(x) or (isinstance(x, self.kind) and hasattr(x, "__cuda_array_interface__"))

    def items(self, x: Any) -> Items:
        if self.base.owns(x):
            return self.base.items(x)
        return super().items(x)._replace(read_only=bool(x.__cuda_array_interface__["data"][1]))


def tensor_of_cuda_array(x: Any) -> Any:
    """torch's view, for whose current stream the items are ready: x may name the stream in which they become so."""
    torch = sys.modules["torch"]
    shown = dict(x.__cuda_array_interface__)
    if shown.get("mask") is not None:
        raise unsupported("masks are not taken")
    of_dtype(np.dtype(shown["typestr"]))  # torch takes another byte order for its own
    shown["data"] = (shown["data"][0], False)  # torch takes nothing else, and tilefold looks itself
    stream = shown.pop("stream", None)
    # `owner` lives as long as torch's view.
    view = types.SimpleNamespace(__cuda_array_interface__=shown, owner=x)
    tensor = torch.as_tensor(view, device=f"cuda:{torch.cuda.current_device()}")
    if math.prod(shown["shape"]) > 0 and tensor.data_ptr() != shown["data"][0]:
        raise unsupported(f"this {type(x).__name__} is not on torch's current GPU, {torch.cuda.current_device()}")
    if stream is not None:
        legacy = int(stream) in (0, 1)  # torch has a name of its own for it
        made_in = (torch.cuda.default_stream(tensor.device) if legacy else
                   torch.cuda.ExternalStream(int(stream), device=tensor.device))
        torch.cuda.current_stream(tensor.device).wait_stream(made_in)
    return tensor
