# SPDX-License-Identifier: Apache-2.0
"""What is raised, each with the code of libtilefold in `status`."""
from __future__ import annotations

import re
import sys
from typing import Any, Dict, Tuple, Type


def _function() -> str:
    """The function of the package that the user has called: "tilefold.sum", "tilefold.Piece.merge"."""
    frame: Any = sys._getframe(2)
    outermost: Any = None
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "tilefold":
        outermost, frame = frame, frame.f_back
    if outermost is None:
        return "tilefold"
    name = outermost.f_code.co_name
    owner = outermost.f_locals.get("self", outermost.f_locals.get("cls"))
    kind = owner if isinstance(owner, type) else type(owner)
    if kind.__name__ == "Fused":
        return "tilefold.fuse"
    if kind.__module__.partition(".")[0] == "tilefold":
        return f"tilefold.{kind.__name__}" + ("" if name.startswith("_") else f".{name}")
    return "tilefold" if name.startswith(("_", "<")) else f"tilefold.{name}"


class TilefoldError(RuntimeError):
    """What libtilefold refused. The text names the bad value; `status` is the code of its C interface."""

    def __init__(self, status: int, text: str) -> None:
        # What was refused comes under the name of a function of C, or of none.
        super().__init__(re.sub(r"^tilefold(_\w+)?(?=: )", _function(), text))
        self.status = status

    def __reduce__(self) -> Tuple[type, Tuple[int, str], Dict[str, Any]]:
        # The arguments of __init__ and all attributes, so that an error comes back whole from another process.
        return type(self), (self.status, str(self)), self.__dict__


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


def invalid(text: str) -> ArgumentError:
    return ArgumentError(INVALID_ARGUMENT, "tilefold: " + text)


def bad_shape(text: str) -> ArgumentError:
    return ArgumentError(BAD_SHAPE, "tilefold: " + text)


def unsupported(text: str) -> UnsupportedError:
    return UnsupportedError(UNSUPPORTED, "tilefold: " + text)
