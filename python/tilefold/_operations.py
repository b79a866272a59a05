# SPDX-License-Identifier: Apache-2.0
"""What an operation makes of items, whatever verb it is used with."""
from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from . import _library


class Operation:
    """An operation of libtilefold with the items that it reads, and the dtype and shape that it gives."""

    def __init__(self, op: str, x: np.ndarray[Any, Any]) -> None:
        self.items = x
        self.name = _library.name_of_op(op)
        self.code = _library.code_of(x.dtype)
        self.dtype, count = _library.result_of(op, x.dtype)
        #: What a result adds to the shape: (2,) of a pair.
        self.tail: Tuple[int, ...] = (count,) if count > 1 else ()

    @property
    def address(self) -> int:
        return self.items.ctypes.data

    def memory(self, shape: Tuple[int, ...]) -> np.ndarray[Any, Any]:
        """For results of that shape."""
        return np.empty(shape + self.tail, self.dtype)
