# SPDX-License-Identifier: Apache-2.0
"""Parts of a sequence as values, and sums that need no order: what is kept, sent, and put together later."""
from __future__ import annotations

import ctypes
import math
import operator
import os
import threading
import weakref
from typing import TYPE_CHECKING, Any, Callable, Optional, Tuple, Type

import numpy as np

from . import _errors, _gpu, _library, _threads
from ._arrays import Items, items_of, require_no_stream, row_of
from ._dtypes import BOOL, Code, in_numpy, name_of, of_dtype, of_name
from ._gpu_libraries import library_of
from ._operations import plan_of, rounded
from ._out import Result


class _Kept:
    """What libtilefold keeps behind a handle. Any thread may use it, one at a time: others wait. A signal's handler
    that comes in between two steps of a call may use it, too, in the same thread: the lock lets it.

    A forked process has only the thread that forked. There each lock is a new one, and what another thread was
    changing at the time of the fork is refused."""
    _destroy: Callable[..., None]

    def __init__(self) -> None:
        if self.__dict__.get("_handle"):
            raise TypeError(f"tilefold: this {type(self).__name__} is made already")
        self._handle = ctypes.c_void_p()
        self._lock = threading.RLock()
        self._changing: Optional[int] = None  # the thread that is changing it
        self._is_torn = False
        _alive[id(self)] = self

    def __del__(self) -> None:
        handle = self.__dict__.get("_handle")
        if handle:
            type(self)._destroy(handle)

    def _not_made(self) -> TypeError:
        name = type(self).__name__
        maker = "piece()" if isinstance(self, Piece) else "exact_accumulator()"
        return TypeError(f"tilefold: this {name} was not made by {maker}, {name}.from_bytes() or pickle")

    if not TYPE_CHECKING:  # to a type checker the class has what is written here, and nothing else
        def __getattr__(self, name: str) -> Any:
            """Of an object from __new__() alone."""
            if name in ("_handle", "_lock", "_changing", "_is_torn", "_code"):
                raise self._not_made()
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _require_whole(self) -> None:
        if not self._handle:  # __init__() has raised
            raise self._not_made()
        if self._is_torn:
            raise _errors.invalid(f"this {type(self).__name__} was being changed by another thread when the process "
                                  "was forked; make a new one")

    def _call(self, name: str, *arguments: Any) -> None:
        with self._lock:
            self._require_whole()
            _library.call(name, self._handle, *arguments)

    def _change(self, name: str, *arguments: Any) -> None:
        """Calls a function that changes it. The lock is held."""
        self._require_whole()
        before, self._changing = self._changing, threading.get_ident()
        try:
            _library.call(name, self._handle, *arguments)
        finally:
            self._changing = before

    def _copy(self) -> _Kept:
        raise NotImplementedError

    def _change_with(self, name: str, other: _Kept) -> None:
        """Calls a function of two. Whoever holds one lock must not wait for another, because a signal's handler may use
        either: if somebody uses the other, its bytes are merged."""
        with self._lock:
            if other._lock.acquire(blocking=False):
                try:
                    other._require_whole()
                    return self._change(name, other._handle)
                finally:
                    other._lock.release()
        copied = other._copy()
        with self._lock:
            self._change(name, copied._handle)

    def _bytes(self, name: str) -> bytes:
        size = ctypes.c_int64()
        with self._lock:
            self._require_whole()
            while True:
                _library.call(name, self._handle, None, 0, ctypes.byref(size))
                found = ctypes.create_string_buffer(size.value)
                try:
                    _library.call(name, self._handle, found, len(found), ctypes.byref(size))
                    return found.raw[:size.value]
                except _errors.ArgumentError:
                    pass  # a signal's handler has added to it: it wants more bytes

    def _add(self, name: str, x: Items, code: Code, stream: Any) -> None:
        """Calls a function that adds the items of x, of this type, in row-major order."""
        library = library_of(x)
        if library is None:
            require_no_stream(stream)
            row = row_of(x)
            self._require(of_dtype(row.dtype), code)
            with self._lock:
                self._change(name, _threads.executor(), row.ctypes.data, row.size)
            return
        with _gpu.current(library, x, stream):
            kept, items = _gpu.row_of(library, x)
            self._require(items.code, code)
            with self._lock:
                self._change(name, _threads.executor_of(items.device, items.stream), items.address,
                             math.prod(items.shape))
            del kept  # its memory was read until here

    def _require(self, given: Code, code: Code) -> None:
        if given != code:
            raise _errors.invalid(f"items are {name_of(given)}, and must be {name_of(code)}, as those before them")


_alive: weakref.WeakValueDictionary[int, _Kept] = weakref.WeakValueDictionary()


def _after_fork() -> None:
    for one in list(_alive.values()):
        one._lock = threading.RLock()
        one._is_torn = one._is_torn or one._changing not in (None, threading.get_ident())


os.register_at_fork(after_in_child=_after_fork)


def _from_bytes(kind: Any, *arguments: Any) -> Any:
    """What pickles name: kind.from_bytes itself would be stored as a call of getattr()."""
    return kind.from_bytes(*arguments)


def _code_of_items(x: Items) -> Code:
    library = library_of(x)
    return of_dtype(items_of(x).dtype) if library is None else library.code_of(x)


def _index(name: str, value: Any, least: int) -> int:
    """An argument that is an integer from `least` to 2**63 - 1."""
    try:
        found = operator.index(value)
    except TypeError:
        raise _errors.unsupported(f"{name} is {value!r:.40}, and must be an integer") from None
    if not least <= found < 2 ** 63:
        raise _errors.invalid(f"{name} is {found}, and must be {least} or more, and below 2**63")
    return found


def _as_bytes(data: Any) -> bytes:
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise _errors.invalid(f"bytes are a {type(data).__name__}")
    return bytes(data)


class Piece(_Kept):
    """What items [begin, end) of a sequence bring to its fold: piece() makes one.

    In whatever parts a sequence is cut, wherever those are folded and in whatever groups they are merged, value() has
    the bits of reduce() over the whole. A piece is small (at most 126 accumulators), lies on the host, and goes
    through pickle and to_bytes() to other processes and machines.
    """
    _destroy = _library.piece_destroy

    def __init__(self) -> None:
        raise TypeError("tilefold: use piece(x, position, op), or Piece.from_bytes(data)")

    @classmethod
    def _new(cls) -> Piece:
        made = cls.__new__(cls)
        _Kept.__init__(made)
        return made

    def _look(self) -> Tuple[str, Code, int, int]:
        op, dtype = ctypes.c_char_p(), _library.Dtype()
        begin, end = ctypes.c_int64(), ctypes.c_int64()
        self._call("tilefold_piece_info", ctypes.byref(op), ctypes.byref(dtype), ctypes.byref(begin),
                   ctypes.byref(end))
        assert op.value is not None
        return op.value.decode(), (dtype.code, dtype.bits), begin.value, end.value

    @property
    def op(self) -> str:
        """The operation's name."""
        return self._look()[0]

    @property
    def dtype(self) -> str:
        """The name of the items' dtype: "float32", "bfloat16"."""
        return name_of(self._look()[1])

    @property
    def begin(self) -> int:
        """The position of its first item."""
        return self._look()[2]

    @property
    def end(self) -> int:
        """The position behind its last item."""
        return self._look()[3]

    def append(self, x: Items, *, stream: Any = None) -> Piece:
        """Adds the items of x, in row-major order, which follow those that are there; waits for them. Returns itself.

        x is an array as piece() takes it, of this piece's dtype.
        """
        self._add("tilefold_piece_append", x, self._look()[1], stream)
        return self

    def merge(self, following: Piece) -> Piece:
        """Adds the items of a piece of the same operation and dtype that begins where this one ends. Returns itself.

        Raises: ArgumentError, which names both positions, or both operations and dtypes.
        """
        if not isinstance(following, Piece):
            raise _errors.invalid(f"a piece cannot be merged with a {type(following).__name__}")
        self._change_with("tilefold_piece_merge", following)
        return self

    def value(self) -> Result:
        """The fold of items [0, end): a NumPy scalar, or an array of "minmax", "softmax_pair" and "summary".

        Raises: ArgumentError if the piece does not begin at 0; EmptyError of no items, where reduce() raises it.
        """
        op, code, _, _ = self._look()
        plan = plan_of(op.encode(), code)
        result = np.empty(plan.tail, in_numpy(plan.result))
        self._call("tilefold_piece_value", result.ctypes.data)
        return rounded(result, in_numpy(plan.given))[()]

    def to_bytes(self) -> bytes:
        """The piece for another process, of any machine that stores the least byte of a number first."""
        return self._bytes("tilefold_piece_bytes")

    @classmethod
    def from_bytes(cls, data: bytes) -> Piece:
        """The piece that gave these bytes. Raises: FormatError, which says what is wrong with others."""
        data, made = _as_bytes(data), cls._new()
        _library.call("tilefold_piece_from_bytes", data, len(data), ctypes.byref(made._handle))
        return made

    def _copy(self) -> Piece:
        return Piece.from_bytes(self._bytes("tilefold_piece_bytes"))

    def __reduce__(self) -> Tuple[Callable[..., Piece], Tuple[Type[Piece], bytes]]:
        return _from_bytes, (type(self), self.to_bytes())

    def __repr__(self) -> str:
        op, code, begin, end = self._look()
        return f"tilefold.Piece({op!r} of {name_of(code)}, items [{begin}, {end}))"


def piece(x: Items, position: int = 0, op: str = "sum", *, stream: Any = None) -> Piece:
    """What items x bring to the fold of a longer sequence, in which they stand from `position` on.

        parts = [piece(x[:1000]), piece(x[1000:], 1000)]
        parts[0].merge(parts[1]).value()          # the bits of reduce(x, "sum")

    x         an array as reduce() takes it, of any shape; its items are taken in row-major order. Of a GPU: for
              "sum", "sum64", "product", "product64", "min", "max", "minmax", "any", "all", "count_nonzero",
              "bit_and" and its kin, "l1", "linf"; "mean", "exact_sum" and "exact_mean" of floats; "logsumexp" and
              "softmax_pair" of integers and float64. The call waits for the result. Copied if its items do not stand
              one after the other.
    position  of the first item, 0 or more. Places that "arg_min" finds count from 0.
    op        a name of reduce(). min and max of bool are all and any.
    stream    as for reduce().

    Work: that of reduce(x, op), in at most 2 log2(n) + 1 folds.

    Raises: ArgumentError for a position or an operation that is wrong; UnsupportedError, also for operations that a
    GPU has no pieces of.
    """
    position = _index("position", position, 0)
    code = _code_of_items(x)
    if code == BOOL and op in ("min", "max"):
        op = "all" if op == "min" else "any"
    made = Piece._new()
    _library.call("tilefold_piece_create", _library.name_of_op(op), _library.Dtype(*code, 1), position,
                  ctypes.byref(made._handle))
    return made.append(x, stream=stream)


class ExactAccumulator(_Kept):
    """A sum without rounding, to which items come in any order: exact_accumulator() makes one.

    Its value depends on the items alone, not on their order nor on how they were split among accumulators; so do its
    bytes. It has 40 to 300 bytes, lies on the host, and goes through pickle. A NaN, or infinities of both
    signs, give NaN; a sum of -0.0 alone is -0.0.
    """
    _destroy = _library.accumulator_destroy

    def __init__(self, dtype: Any) -> None:
        super().__init__()
        code = of_name(dtype)
        _library.call("tilefold_accumulator_create", _library.Dtype(*code, 1), ctypes.byref(self._handle))
        self._code = code

    @property
    def dtype(self) -> str:
        """The name of the items' dtype."""
        return name_of(self._code)

    def add(self, x: Items, *, stream: Any = None) -> ExactAccumulator:
        """Adds all items of x, an array of this dtype (of a GPU: floats); waits for them. Returns itself."""
        self._add("tilefold_accumulator_add", x, self._code, stream)
        return self

    def merge(self, other: ExactAccumulator) -> ExactAccumulator:
        """Adds all that `other`, of the same dtype, was given. Returns itself."""
        if not isinstance(other, ExactAccumulator):
            raise _errors.invalid(f"an accumulator cannot be merged with a {type(other).__name__}")
        self._change_with("tilefold_accumulator_merge", other)
        return self

    def _result(self, op: bytes) -> Any:
        return np.empty((), in_numpy(plan_of(op, self._code).result))

    def value(self) -> np.number[Any]:
        """The sum as exact_sum() gives it: rounded once to the dtype, of integers and bool in 64 bits. 0 of nothing."""
        result = self._result(b"exact_sum")
        self._call("tilefold_accumulator_value", result.ctypes.data)
        value: np.number[Any] = result[()]
        return value

    def mean(self, n: int) -> np.floating[Any]:
        """The sum divided by n > 0, rounded once to the dtype; of integers and bool to float64."""
        n = _index("n", n, 1)
        result = self._result(b"exact_mean")
        self._call("tilefold_accumulator_mean", n, result.ctypes.data)
        mean: np.floating[Any] = result[()]
        return mean

    def to_bytes(self) -> bytes:
        """For another process, of any machine that stores the least byte of a number first: equal for equal items."""
        return self._bytes("tilefold_accumulator_bytes")

    @classmethod
    def from_bytes(cls: Type[ExactAccumulator], dtype: Any, data: bytes) -> ExactAccumulator:
        """The accumulator for items of `dtype` that gave these bytes. Raises: FormatError of others."""
        data, made = _as_bytes(data), cls.__new__(cls)
        _Kept.__init__(made)
        made._code = of_name(dtype)
        _library.call("tilefold_accumulator_from_bytes", _library.Dtype(*made._code, 1), data, len(data),
                      ctypes.byref(made._handle))
        return made

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExactAccumulator):
            return NotImplemented
        return self._code == other._code and self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]  # it changes

    def _copy(self) -> ExactAccumulator:
        return ExactAccumulator.from_bytes(self.dtype, self._bytes("tilefold_accumulator_bytes"))

    def __reduce__(self) -> Tuple[Callable[..., ExactAccumulator], Tuple[Type[ExactAccumulator], str, bytes]]:
        return _from_bytes, (type(self), self.dtype, self.to_bytes())

    def __repr__(self) -> str:
        try:
            return f"tilefold.ExactAccumulator({self.dtype!r}, value={self.value()!r})"
        except _errors.TilefoldError:
            return f"tilefold.ExactAccumulator({self.dtype!r}, value beyond {name_of(self._code)})"


def exact_accumulator(dtype: Any) -> ExactAccumulator:
    """A sum without rounding for items of `dtype`: floats (bfloat16 by name, too), integers or bool.

        total = exact_accumulator("float32").add(x).add(y)
        total.value()                             # the real sum, rounded once, in whatever order items came

    Raises: UnsupportedError for other dtypes.
    """
    return ExactAccumulator(dtype)
