# SPDX-License-Identifier: Apache-2.0
"""What is taken as an array, and made one that libtilefold can read."""
from __future__ import annotations

import builtins
import operator
import sys
from typing import TYPE_CHECKING, Any, Protocol, Sequence, Tuple, Union

import numpy as np

from ._errors import bad_shape, invalid, unsupported
from ._gpu_libraries import library_of
from ._library import standard_mode

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class SupportsDLPack(Protocol):
    """An array of another library."""

    def __dlpack__(self, *, stream: Any = ...) -> Any: ...

    def __dlpack_device__(self) -> Tuple[int, int]: ...


class _CudaArray(Protocol):
    """Tensors of torch, arrays of CuPy and numba, and what shows itself as they do."""

    @property
    def __cuda_array_interface__(self) -> Any: ...


class _JaxArray(Protocol):
    """jax.Array, by what no other library's arrays have: its type says nothing of a GPU."""

    def __dlpack__(self) -> Any: ...

    @property
    def sharding(self) -> Any: ...


#: The arrays that count as on a GPU for type checkers. torch's and JAX's have the same type on the host.
GpuArray = Union[_CudaArray, _JaxArray]


def array_of(x: Any) -> np.ndarray[Any, Any]:
    """A new view of x, which is on the host: without a copy of what NumPy or DLPack can show.

    The caller may change shape, strides and dtype of x during the call, from another thread or a signal handler. The
    view keeps those that x had when the view was made.
    """
    # Whoever has such an array has imported numpy.ma. (Nothing is imported in a call: a forked child would wait for
    # an import that another thread had begun.)
    if isinstance(x, getattr(sys.modules.get("numpy.ma"), "MaskedArray", ())):
        raise unsupported("masks are not taken: use x.filled(value), or x.compressed()")
    if isinstance(x, (np.ndarray, np.generic)):
        return np.asarray(x).view()
    library = library_of(x)
    if library is not None:
        raise unsupported(f"this {library.name} array is on a GPU, and what it goes with is on the host")
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        try:
            return np.from_dlpack(x)
        except (BufferError, RuntimeError, SystemError, ValueError) as error:  # the last two: a capsule that was used
            raise unsupported(f"NumPy cannot read this {type(x).__name__}: {error}") from error
    return np.asarray(x).view()


def items_of(x: Any) -> np.ndarray[Any, Any]:
    """x as an array in the machine's byte order, whose items stand at addresses and strides of their size.

    Every layout of whole items is taken as it is: reversed, transposed, with strides of 0. Copied are arrays of
    the other byte order, unaligned ones, and fields of packed records.
    """
    array = array_of(x)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    size = array.dtype.itemsize
    # An array without items counts as aligned to NumPy, wherever it is.
    if size and (not array.flags.aligned or not array.size or builtins.any(step % size for step in array.strides)):
        array = array.copy()  # np.ascontiguousarray() leaves unaligned items where they are, if they are contiguous
    return array


def row_of(x: Any) -> np.ndarray[Any, Any]:
    """The items of x one after the other in memory, in row-major order; copied if they are not."""
    return np.ascontiguousarray(items_of(x))


Items = Union["ArrayLike", SupportsDLPack, GpuArray]
Axes = Union[int, Tuple[int, ...]]
Axis = Union[None, Axes]


def axes_of(axis: Axis, rank: int) -> Tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    named = axis if isinstance(axis, tuple) else (axis,)
    found = []
    for one in named:
        try:
            if isinstance(one, (bool, np.bool_)):
                raise TypeError
            one = operator.index(one)
        except TypeError:
            raise unsupported(f"axis is {axis!r}, and must be None, an integer or a tuple of integers") from None
        if not -rank <= one < rank:
            raise bad_shape(f"there is no axis {one} in an array of rank {rank}")
        found.append(one % rank)
    if len(set(found)) != len(found):
        raise bad_shape(f"an axis is named twice in {named}")
    return tuple(sorted(found))


def shapes_of(shape: Sequence[int], axis: Axis, keepdims: bool) -> Tuple[Tuple[int, ...], ...]:
    """The axes that are folded away, the shape that is left, and the shape of results."""
    if axis is None and not keepdims:  # faster so
        return tuple(range(len(shape))), (), ()
    axes = axes_of(axis, len(shape))
    left = tuple(n for i, n in enumerate(shape) if i not in axes)
    return axes, left, tuple(1 if i in axes else n for i, n in enumerate(shape)) if keepdims else left


def flag_of(keepdims: Any) -> bool:
    """keepdims, which is a bool. What stands in its place by mistake (a dtype, an out) is refused."""
    if not isinstance(keepdims, (bool, np.bool_)):
        raise invalid(f"keepdims is {keepdims!r}, and must be True or False")
    return bool(keepdims)


def converted(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Items as `dtype`. A float becomes the integer toward zero, the nearest that the dtype holds, or 0 if it is NaN,
    on every processor."""
    with standard_mode():
        if dtype.kind not in "iu" or array.dtype.kind not in "fcV":
            return array.astype(dtype)
        wide = array.astype(np.float64)
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        above, below = wide >= float(most), wide <= float(least)  # float(most) may be the power of two above it
        result = np.where(above | below | np.isnan(wide), 0.0, wide).astype(dtype)
    np.copyto(result, most, where=above)
    np.copyto(result, least, where=below)
    return result


def possible_number(number: int, name: str) -> int:
    """A number of results, which 64 bits hold."""
    if not 0 <= number < 2 ** 63:
        raise invalid(f"{name} is {number}")
    return number


def require_no_stream(stream: Any) -> None:
    if stream is not None:
        raise invalid("stream is for arrays of a GPU, and this one is on the host")
