# SPDX-License-Identifier: Apache-2.0
"""numba."""
from __future__ import annotations

from typing import Any, ContextManager, Tuple

import numpy as np

from .._dtypes import Code, in_numpy, name_of
from .._errors import unsupported
from ._base import OfCudaArrays, handle_of


class Numba(OfCudaArrays):
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
        return self.cuda.to_device(x.copy_to_host().astype(in_numpy(code)))  # waits

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
