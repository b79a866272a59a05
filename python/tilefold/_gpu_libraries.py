# SPDX-License-Identifier: Apache-2.0
"""The libraries whose arrays of a GPU are taken: how one shows where its items lie, and how a new one is made.

None is imported here: an array of a library is there only if its library is.
"""
from __future__ import annotations

import contextlib
import functools
import math
import sys
import types
from typing import Any, Callable, ContextManager, Dict, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _errors

#: DLPack's code and the bits of a type.
Code = Tuple[int, int]
BOOL: Code = (6, 8)
_NAMES: Dict[Code, str] = {
    (0, 8): "int8", (0, 16): "int16", (0, 32): "int32", (0, 64): "int64", (1, 8): "uint8", (1, 16): "uint16",
    (1, 32): "uint32", (1, 64): "uint64", (2, 16): "float16", (4, 16): "bfloat16", (2, 32): "float32",
    (2, 64): "float64", BOOL: "bool", (5, 64): "complex64", (5, 128): "complex128",
}
_CODES = {name: code for code, name in _NAMES.items()}


def unsupported(text: str) -> _errors.UnsupportedError:
    return _errors.UnsupportedError(_errors.UNSUPPORTED, "tilefold: " + text)


def name_of(code: Code) -> str:
    return _NAMES[code]


def is_float(code: Code) -> bool:
    return code[0] in (2, 4)


def of_dtype(dtype: np.dtype[Any]) -> Code:
    if dtype.name not in _CODES or not dtype.isnative:
        raise unsupported(f"arrays of {dtype} are not taken")
    return _CODES[dtype.name]


@functools.lru_cache(maxsize=None)
def of_name(dtype: Any) -> Code:
    """The code of what a user names a dtype by: torch.float32, "f4", numpy.float32; in any byte order."""
    name = str(dtype).partition(".")[2] if str(dtype).startswith("torch.") else None
    if name is None and dtype == "bfloat16":
        name = "bfloat16"
    return _CODES[name] if name in _CODES else of_dtype(np.dtype(dtype).newbyteorder("="))


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
    raise _errors.ArgumentError(_errors.INVALID_ARGUMENT, f"tilefold: stream is {stream!r}, and must be a stream of a "
                                "GPU library or the number of a cudaStream_t")


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
        return self.cast(x, code)

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
            raise _errors.ArgumentError(_errors.BAD_SHAPE, f"tilefold: where has the shape {shape}, which does not "
                                        f"spread over {of_x}")

    def number(self, x: Any) -> int:
        """Waits for an array of one integer."""
        return int(x)

    def done(self, x: Any) -> Any:
        """What is given to the user."""
        return x


class Torch(GpuLibrary):
    """For users tensors of a GPU whose gradient would not be lost; for tilefold.torch others, too."""
    name = "torch"

    def __init__(self, torch: Any, of_user: bool = True, on_host: bool = False) -> None:
        self.torch, self.of_user, self.on_host = torch, of_user, on_host
        self.codes: Dict[Any, Code] = {}
        self.dtypes: Dict[Code, Any] = {}
        for code, name in _NAMES.items():
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
        return isinstance(x, self.tensor) and bool(x.is_cuda)

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
            raise _errors.ArgumentError(_errors.INVALID_ARGUMENT,
                                        f"tilefold: the stream is one of {stream.device}, and x is on {x.device}")
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
        if code[1] != 16 or self.code_of(x) != (2, 64):
            return self.canonical(self.cast(x, code)) if is_float(code) else self.cast(x, code)
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
        least, most = (0, 2 ** code[1] - 1) if code[0] == 1 else (-2 ** (code[1] - 1), 2 ** (code[1] - 1) - 1)
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


class _OfCudaArrays(GpuLibrary):
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


class Cupy(_OfCudaArrays):
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
    def _stream(self, x: Any, stream: Any) -> Any:
        with x.device, self.cupy.cuda.ExternalStream(handle_of(stream)):
            yield

    def in_stream(self, x: Any, stream: Any) -> ContextManager[Any]:
        found: ContextManager[Any] = self._stream(x, stream)
        return found

    def empty(self, like: Any, shape: Tuple[int, ...], code: Code) -> Any:
        with like.device:
            return self.cupy.empty(shape, name_of(code))

    def cast(self, x: Any, code: Code) -> Any:
        with x.device:
            return x.astype(name_of(code))

    def narrowed(self, x: Any, code: Code) -> Any:
        if code[1] != 16 or x.dtype != np.float64:
            return self.canonical(self.cast(x, code)) if is_float(code) else self.cast(x, code)
        with x.device:  # as torch, CuPy goes by way of float32
            near = x.astype("f4")
            back, bits = near.astype("f8"), near.view("i4")
            is_cut = self.cupy.isfinite(x) & (back != x)
            bits = self.cupy.where(is_cut, (bits - (abs(back) > abs(x)).astype("i4")) | 1, bits)
            return self.canonical(bits.view("f4").astype(name_of(code)))

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


class Numba(_OfCudaArrays):
    """numba has no current stream: work goes to the default one, and none can be named."""
    name = "numba"

    def __init__(self, cuda: Any) -> None:
        self.cuda = cuda

    def owns(self, x: Any) -> bool:
        return bool(self.cuda.is_cuda_array(x)) and type(x).__module__.startswith("numba")

    def device_of(self, x: Any) -> int:
        return int(self.cuda.get_current_device().id)

    def current_stream(self, x: Any) -> int:
        return handle_of(self.cuda.default_stream())

    def in_stream(self, x: Any, stream: Any) -> ContextManager[Any]:
        raise unsupported("numba has no current stream: make it a CuPy array (cupy.asarray(x)) to choose one")

    def empty(self, like: Any, shape: Tuple[int, ...], code: Code) -> Any:
        return self.cuda.device_array(shape, name_of(code))

    def cast(self, x: Any, code: Code) -> Any:
        raise unsupported(f"numba does not convert arrays: x cannot become {name_of(code)}")

    def narrowed(self, x: Any, code: Code) -> Any:
        return self.cuda.to_device(x.copy_to_host().astype(of_name_in_numpy(code)))  # waits

    def scaled(self, x: Any, factor: float, is_root: bool) -> Any:
        return self.cuda.to_device(super().scaled(x.copy_to_host(), factor, is_root))  # waits

    def contiguous(self, x: Any) -> Any:
        raise unsupported("numba does not copy arrays with strides, and these items do not stand one after the other")

    def copy(self, to: Any, x: Any) -> None:
        to.copy_to_device(x)

    def from_numpy(self, like: Any, array: np.ndarray[Any, Any]) -> Any:
        return self.cuda.to_device(array)

    def stacked(self, initial: Any, x: Any) -> Any:
        raise unsupported("initial is not there for numba's arrays")

    def number(self, x: Any) -> int:
        return int(x.copy_to_host())


class Jax(GpuLibrary):
    """JAX shows no stream, so a call waits: for its items before, and for the result after."""
    name = "JAX"

    def __init__(self, jax: Any) -> None:
        self.jax = jax

    def owns(self, x: Any) -> bool:
        return isinstance(x, self.jax.Array) and not isinstance(x, self.jax.core.Tracer) and self._is_on_gpu(x)

    def _is_on_gpu(self, x: Any) -> bool:
        devices = len(x.sharding.device_set)
        if devices != 1:
            raise unsupported(f"this JAX array lies on {devices} devices, and an array has to lie on one: use "
                              "jax.device_put(x, device), or fold x.addressable_shards[i].data")
        return bool(x.__dlpack_device__()[0] == 2)

    def _axes(self, x: Any) -> Sequence[int]:
        """As they lie in memory, the outermost first."""
        shown = getattr(x, "format", None) or getattr(x, "layout", None)  # the second one before JAX 0.7
        layout = getattr(shown, "layout", None) or getattr(shown, "device_local_layout", None)
        if layout is None:  # of an array that was deleted, which says so itself
            return range(x.ndim)
        if layout.tiling:
            raise unsupported(f"the items of this JAX array stand in tiles of {layout.tiling}: use jax.numpy.array(x)")
        axes: Sequence[int] = layout.major_to_minor
        return axes

    def items(self, x: Any) -> Items:
        steps, step = [0] * x.ndim, 1
        for i in reversed(self._axes(x)):
            steps[i] = step
            step *= x.shape[i]
        return Items(self.address(x), of_dtype(np.dtype(x.dtype)), x.shape, steps, int(x.__dlpack_device__()[1]), 1,
                     True)

    def in_stream(self, x: Any, stream: Any) -> ContextManager[Any]:
        raise unsupported("JAX has streams of its own: none can be named")

    def empty(self, like: Any, shape: Tuple[int, ...], code: Code) -> Any:
        made = self.jax.device_put(np.zeros(shape, of_name_in_numpy(code)), like.device)
        if of_dtype(np.dtype(made.dtype)) != code:
            raise unsupported(f"the result is {name_of(code)}, which JAX has after "
                              "jax.config.update('jax_enable_x64', True)")
        return made

    def address(self, x: Any) -> int:
        return int(x.block_until_ready().unsafe_buffer_pointer())

    # JAX reads in streams of its own, so what a fold has written has to be there.
    def cast(self, x: Any, code: Code) -> Any:
        return self.done(x).astype(of_name_in_numpy(code))

    def narrowed(self, x: Any, code: Code) -> Any:
        return self.canonical(self.cast(x, code)) if is_float(code) else self.cast(x, code)

    def canonical(self, x: Any) -> Any:
        return self.jax.numpy.where(x == x, x, math.nan)

    def scaled(self, x: Any, factor: float, is_root: bool) -> Any:
        return super().scaled(self.done(x), factor, is_root)

    def number(self, x: Any) -> int:
        return int(self.done(x))

    def contiguous(self, x: Any) -> Any:
        return self.jax.numpy.array(x)

    def from_numpy(self, like: Any, array: np.ndarray[Any, Any]) -> Any:
        return self.jax.device_put(array, like.device)

    def stacked(self, initial: Any, x: Any) -> Any:
        return self.jax.numpy.stack([self.jax.numpy.full_like(x, initial), x])

    def masked(self, x: Any, mask: Any, value: Any) -> Any:
        self.require_mask(x, mask)
        numpy = self.jax.numpy
        return numpy.where(numpy.broadcast_to(mask, x.shape), x, numpy.asarray(value, x.dtype))

    def done(self, x: Any) -> Any:
        from . import _gpu, _library
        _library.call("tilefold_synchronize", _gpu.executor_of(int(x.__dlpack_device__()[1]), 1))
        return x


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
        return self.base.owns(x) or (isinstance(x, self.kind) and x.__dlpack_device__()[0] in _OF_CUDA)

    def view(self, x: Any) -> Any:
        """The same memory; the producer makes it ready in the current stream, as DLPack says."""
        return x if self.base.owns(x) else self.see(x)

    def alias(self, x: Any) -> Any:
        return self.base.alias(self.view(x))

    def items(self, x: Any) -> Items:
        return self.base.items(self.view(x))

    def in_stream(self, x: Any, stream: Any) -> ContextManager[Any]:
        return self.base.in_stream(self.view(x), stream)

    def empty(self, like: Any, shape: Tuple[int, ...], code: Code) -> Any:
        return self.base.empty(self.view(like), shape, code)

    def address(self, x: Any) -> int:
        return self.base.address(x)

    def cast(self, x: Any, code: Code) -> Any:
        return self.base.cast(self.view(x), code)

    def narrowed(self, x: Any, code: Code) -> Any:
        return self.base.narrowed(self.view(x), code)

    def scaled(self, x: Any, factor: float, is_root: bool) -> Any:
        return self.base.scaled(self.view(x), factor, is_root)

    def whole_numbers(self, x: Any, code: Code) -> Any:
        return self.base.whole_numbers(self.view(x), code)

    def contiguous(self, x: Any) -> Any:
        return self.base.contiguous(self.view(x))

    def copy(self, to: Any, x: Any) -> None:
        self.base.copy(self.view(to), self.view(x))

    def from_numpy(self, like: Any, array: np.ndarray[Any, Any]) -> Any:
        return self.base.from_numpy(self.view(like), array)

    def stacked(self, initial: Any, x: Any) -> Any:
        return self.base.stacked(initial, self.view(x))

    def masked(self, x: Any, mask: Any, value: Any) -> Any:
        return self.base.masked(self.view(x), self.view(mask), value)

    def number(self, x: Any) -> int:
        return self.base.number(x)

    def done(self, x: Any) -> Any:
        return self.give(x) if self.base.owns(x) else x


class CudaArrays(Dlpack):
    """The same of arrays that have __cuda_array_interface__ alone."""

    def owns(self, x: Any) -> bool:
        return self.base.owns(x) or (isinstance(x, self.kind) and hasattr(x, "__cuda_array_interface__"))

    def items(self, x: Any) -> Items:
        if self.base.owns(x):
            return self.base.items(x)
        return super().items(x)._replace(read_only=bool(x.__cuda_array_interface__["data"][1]))


def _tensor_of_cuda_array(x: Any) -> Any:
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


def _cuda_array_library(x: Any) -> Optional[GpuLibrary]:
    """Of an array with __cuda_array_interface__ whose library is not known."""
    for name, see in (("torch", _tensor_of_cuda_array), ("cupy", lambda y: sys.modules["cupy"].asarray(y))):
        if name in sys.modules:
            found = _by_type[type(x)] = CudaArrays(_library_of(name), see, type(x))
            return found
    return None


#: DLPack's devices that are CUDA's: its memory, and managed memory.
_OF_CUDA = (2, 13)


def _dlpack_library(x: Any) -> Optional[GpuLibrary]:
    """Of an array of a GPU whose library is not known."""
    if not hasattr(x, "__dlpack__") or x.__dlpack_device__()[0] not in _OF_CUDA:
        return None
    for name in ("torch", "cupy"):
        if name in sys.modules:
            found = _by_type[type(x)] = Dlpack(_library_of(name), sys.modules[name].from_dlpack, type(x))
            return found
    return None


def of_name_in_numpy(code: Code) -> np.dtype[Any]:
    if code == (4, 16):
        import ml_dtypes
        bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return bfloat16
    return np.dtype(name_of(code))


@functools.lru_cache(maxsize=None)
def _library_of(name: str) -> GpuLibrary:
    if name == "torch":
        return Torch(sys.modules["torch"])
    if name == "cupy":
        return Cupy(sys.modules["cupy"])
    if name == "numba":
        return Numba(sys.modules["numba.cuda"])
    return Jax(sys.modules["jax"])


#: The module that an array's type comes from, and the one that must be there.
_MODULES = {"torch": "torch", "cupy": "cupy", "numba": "numba.cuda", "numba_cuda": "numba.cuda", "jax": "jax",
            "jaxlib": "jax"}


#: The libraries of types that have been seen. What a short call does first.
_by_type: Dict[Any, GpuLibrary] = {}


def _library_of_type(kind: Any) -> Optional[GpuLibrary]:
    for base in kind.__mro__:
        top = base.__module__.partition(".")[0]
        if top in _MODULES and _MODULES[top] in sys.modules:
            found = _by_type[kind] = _library_of(_MODULES[top].partition(".")[0])
            return found
    return None


def library_of(x: Any) -> Optional[GpuLibrary]:
    """The library of an array that is on a GPU; None of all else. UnsupportedError of arrays of a GPU whose library
    is not known."""
    kind: Any = type(x)
    found = _by_type.get(kind)
    if found is not None and found.owns(x):
        return found
    if isinstance(x, (np.ndarray, np.generic)):
        return None
    if found is None:
        found = _library_of_type(kind)
        if found is not None and found.owns(x):
            return found
    shows_itself = hasattr(x, "__cuda_array_interface__") and not isinstance(x, type)
    if hasattr(x, "__dlpack_device__"):
        device, number = x.__dlpack_device__()
        if device not in (1, 3):
            found = _dlpack_library(x)
            if found is not None:
                return found
            raise unsupported(f"this {type(x).__name__} is on DLPack's device ({int(device)}, {number}). Arrays of other "
                              "libraries than torch, CuPy and JAX are taken where they are CUDA's and torch or CuPy has "
                              "been imported, whose memory results are")
    elif shows_itself:
        found = _cuda_array_library(x)
        if found is not None:
            return found
        raise unsupported(f"this {type(x).__name__} is in CUDA's memory. Arrays of other libraries than torch, CuPy, numba "
                          "and JAX are taken where torch or CuPy has been imported, whose memory results are")
    return None
