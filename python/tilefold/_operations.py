# SPDX-License-Identifier: Apache-2.0
"""What an operation makes of items, whatever verb it is used with."""
from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from . import _errors, _library


class Operation:
    """An operation of libtilefold with the items that it reads, and the dtype and shape that it gives."""

    def __init__(self, op: str, x: np.ndarray[Any, Any]) -> None:
        if not isinstance(op, str):
            raise _errors.ArgumentError(_errors.UNKNOWN_OP, f"tilefold: op is {op!r}, and must be a name")
        extreme_of_bool = x.dtype == bool and op in ("min", "max", "minmax")
        self.items = x.view(np.uint8) if extreme_of_bool else x  # 0 and 1 are in order
        self.name = op.encode()
        self.code = _library.code_of(self.items.dtype)
        self._given, count = _library.result_of(op, self.items.dtype)
        self.dtype = x.dtype if extreme_of_bool else self._given
        #: What a result adds to the shape: (2,) of a pair.
        self.tail: Tuple[int, ...] = (count,) if count > 1 else ()

    @property
    def address(self) -> int:
        return self.items.ctypes.data

    def memory(self, shape: Tuple[int, ...]) -> np.ndarray[Any, Any]:
        """For results of that shape, as libtilefold writes them."""
        return np.empty(shape + self.tail, self._given)

    def results(self, written: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """What was written there, as `dtype`. The least of no bool is written as 255."""
        return written.astype(self.dtype, copy=False)
