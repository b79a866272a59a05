# SPDX-License-Identifier: Apache-2.0
"""JAX."""
from __future__ import annotations

import math
from typing import Any, ContextManager, Sequence, Tuple

import numpy as np

from .. import _library
from .._dtypes import Code, in_numpy, name_of, of_dtype
from .._errors import unsupported
from .._threads import executor_of
from ._base import GpuLibrary, Items


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
        made = self.jax.device_put(np.zeros(shape, in_numpy(code)), like.device)
        if of_dtype(np.dtype(made.dtype)) != code:
            raise unsupported(f"the result is {name_of(code)}, which JAX has after jax.config.update('jax_enable_x64', "
                              "True)")
        return made

    def address(self, x: Any) -> int:
        return int(x.block_until_ready().unsafe_buffer_pointer())

    # JAX reads in streams of its own, so what a fold has written has to be there.
    def cast(self, x: Any, code: Code) -> Any:
        return self.done(x).astype(in_numpy(code))

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
        _library.call("tilefold_synchronize", executor_of(int(x.__dlpack_device__()[1]), 1))
        return x
