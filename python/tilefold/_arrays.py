# SPDX-License-Identifier: Apache-2.0
"""What is taken as an array, and made one that libtilefold can read."""
from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, Protocol, Tuple, Union

import numpy as np

from . import _errors

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_ON_HOST = (1, 3)  # DLPack's kDLCPU, and kDLCUDAHost: pinned memory


class SupportsDLPack(Protocol):
    """An array of another library."""

    def __dlpack__(self, *, stream: Any = ...) -> Any: ...

    def __dlpack_device__(self) -> Tuple[int, int]: ...


def unsupported(text: str) -> _errors.UnsupportedError:
    return _errors.UnsupportedError(_errors.UNSUPPORTED, "tilefold: " + text)


def _from_other_library(x: Any) -> np.ndarray[Any, Any]:
    """x, which has __dlpack__, without a copy."""
    kind, number = x.__dlpack_device__()
    if kind not in _ON_HOST:
        raise unsupported(f"GPU arrays are not taken yet: this {type(x).__name__} is on DLPack's device "
                          f"({int(kind)}, {number}). Copy it to the host first")
    try:
        return np.from_dlpack(x)
    except (BufferError, RuntimeError) as error:
        raise unsupported(f"NumPy cannot read this {type(x).__name__}: {error}") from error


def array_of(x: Any) -> np.ndarray[Any, Any]:
    """x as an array: without a copy of what NumPy or DLPack can show."""
    if isinstance(x, np.ma.MaskedArray):
        raise unsupported("masks are not taken: use x.filled(value), or x.compressed()")
    if isinstance(x, (np.ndarray, np.generic)):
        return np.asarray(x)
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        return _from_other_library(x)
    if hasattr(x, "__cuda_array_interface__"):
        raise unsupported(f"GPU arrays are not taken yet: this {type(x).__name__} is in CUDA's memory. Copy it to the "
                          "host first")
    return np.asarray(x)


def items_of(x: Any) -> np.ndarray[Any, Any]:
    """x as an array in the machine's byte order, whose items stand at addresses and strides of their size.

    Every layout of whole items is taken as it is: reversed, transposed, with strides of 0. Copied are arrays of
    the other byte order, unaligned ones, and fields of packed records.
    """
    array = array_of(x)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    size = array.dtype.itemsize
    if size and (not array.flags.aligned or builtins.any(step % size for step in array.strides)):
        array = np.ascontiguousarray(array).reshape(array.shape)
    return array


def row_of(x: Any) -> np.ndarray[Any, Any]:
    """The items of x one after the other in memory, in row-major order; copied if they are not."""
    return np.ascontiguousarray(items_of(x))


Items = Union["ArrayLike", SupportsDLPack]
