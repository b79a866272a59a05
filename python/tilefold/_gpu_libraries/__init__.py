# SPDX-License-Identifier: Apache-2.0
"""Finds the library of an array that is on a GPU.

A library has an adapter here, by the name of its module: how it shows where items lie, and how it makes a new array.
None is imported by this package: an array of a library is there only if its library is. Others are seen through DLPack,
or else through __cuda_array_interface__, by an adapter of torch or CuPy.
"""
from __future__ import annotations

import functools
import sys
from typing import Any, Callable, Dict, Optional, Tuple

import numpy as np

from .._errors import unsupported
from ._base import GpuLibrary, Items
from ._cupy import Cupy
from ._dlpack import OF_CUDA, CudaArrays, Dlpack, device_of, tensor_of_cuda_array
from ._jax import Jax
from ._numba import Numba
from ._torch import Torch

__all__ = ["CudaArrays", "Cupy", "Dlpack", "GpuLibrary", "Items", "Jax", "Numba", "Torch", "library_of",
           "tensor_of_cuda_array"]


#: By the module that an array's type comes from: the module that must be there, and the adapter.
_ADAPTERS: Dict[str, Tuple[str, Callable[[Any], GpuLibrary]]] = {
    "torch": ("torch", Torch), "cupy": ("cupy", Cupy), "numba": ("numba.cuda", Numba),
    "numba_cuda": ("numba.cuda", Numba), "jax": ("jax", Jax), "jaxlib": ("jax", Jax),
}


@functools.lru_cache(maxsize=None)
def _library_of(module: str, adapter: Callable[[Any], GpuLibrary]) -> GpuLibrary:
    return adapter(sys.modules[module])


#: The libraries of types that have been seen. What a short call does first.
_by_type: Dict[Any, GpuLibrary] = {}


def _library_of_type(kind: Any) -> Optional[GpuLibrary]:
    for base in kind.__mro__:
        module, adapter = _ADAPTERS.get(base.__module__.partition(".")[0], ("", Torch))
        if module in sys.modules:
            found = _by_type[kind] = _library_of(module, adapter)
            return found
    return None


def _dlpack_library(x: Any) -> Optional[GpuLibrary]:
    """Of an array of a GPU whose library is not known."""
    if not hasattr(x, "__dlpack__") or device_of(x)[0] not in OF_CUDA:
        return None
    for name in ("torch", "cupy"):
        if name in sys.modules:
            found = _by_type[type(x)] = Dlpack(_library_of(*_ADAPTERS[name]), sys.modules[name].from_dlpack, type(x))
            return found
    return None


def _cuda_array_library(x: Any) -> Optional[GpuLibrary]:
    """Of an array with __cuda_array_interface__ whose library is not known."""
    for name, see in (("torch", tensor_of_cuda_array), ("cupy", lambda y: sys.modules["cupy"].asarray(y))):
        if name in sys.modules:
            found = _by_type[type(x)] = CudaArrays(_library_of(*_ADAPTERS[name]), see, type(x))
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
        device, number = device_of(x)
        if device not in (1, 3):
            found = _dlpack_library(x)
            if found is not None:
                return found
            raise unsupported(f"this {type(x).__name__} is on DLPack's device ({device}, {number}). Arrays of "
                              "other libraries than torch, CuPy and JAX are taken where they are CUDA's and torch or "
                              "CuPy has been imported, whose memory results are")
    elif shows_itself:
        found = _cuda_array_library(x)
        if found is not None:
            return found
        raise unsupported(f"this {type(x).__name__} is in CUDA's memory. Arrays of other libraries than torch, CuPy, "
                          "numba and JAX are taken where torch or CuPy has been imported, whose memory results are")
    return None
