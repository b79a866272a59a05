# SPDX-License-Identifier: Apache-2.0
"""What is raised, each with the code of libtilefold in `status` (docs/c.md)."""
from __future__ import annotations

from typing import Dict, Tuple, Type


class TilefoldError(RuntimeError):
    """What libtilefold refused. The text names the bad value; `status` is the code of tilefold.h."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status

    def __reduce__(self) -> Tuple[type, Tuple[int, str]]:
        # The arguments of __init__, so that an error comes back whole from another process.
        return type(self), (self.status, str(self))


class EmptyError(TilefoldError, ValueError):
    """There is nothing to fold, and the operation has no result for that."""


class UnsupportedError(TilefoldError, TypeError):
    """Items of this dtype, or of this memory, are not taken."""


class ArgumentError(TilefoldError, ValueError):
    """A shape, an axis, an offset, a count or an operation that is wrong."""


class FormatError(TilefoldError, ValueError):
    """Bytes that are not what they were taken for: truncated, altered, of another version or operation."""


INVALID_ARGUMENT, UNKNOWN_OP, UNSUPPORTED, EMPTY, BAD_SHAPE, FORMAT = 1, 3, 4, 5, 6, 13
CLASSES: Dict[int, Type[TilefoldError]] = {
    INVALID_ARGUMENT: ArgumentError,
    UNKNOWN_OP: ArgumentError,
    UNSUPPORTED: UnsupportedError,
    EMPTY: EmptyError,
    BAD_SHAPE: ArgumentError,
    FORMAT: FormatError,
}
