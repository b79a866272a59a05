# SPDX-License-Identifier: Apache-2.0
"""libtilefold by ctypes: it is found, loaded, and called."""
from __future__ import annotations

import contextlib
import ctypes
import difflib
import functools
import os
import re
from typing import Any, Dict, Iterator, List, Sequence, Tuple

import numpy as np

from . import _errors
from ._dtypes import of_dtype

_path = os.environ.get("TILEFOLD_LIBRARY") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "libtilefold.so")


def _load() -> ctypes.CDLL:
    """The library of this package, or that of TILEFOLD_LIBRARY. ImportError says what is missing."""
    if not os.path.exists(_path):
        raise ImportError(f"tilefold: there is no {_path}: install the wheel (pip install ./python), or name a "
                          "built libtilefold.so in the environment variable TILEFOLD_LIBRARY")
    try:
        return ctypes.CDLL(_path)
    except OSError as error:
        raise ImportError(f"tilefold: {_path} cannot be loaded: {error}. It needs oneTBB and Highway, which wheels "
                          "bring along, and Debian has as libtbb12 and libhwy1") from error


_lib = _load()


class Dtype(ctypes.Structure):
    """A DLDataType."""
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Statistics(ctypes.Structure):
    """A tilefold_statistics."""
    _fields_ = [("count", ctypes.c_int64), ("mean", ctypes.c_double), ("variance", ctypes.c_double),
                ("min", ctypes.c_double), ("max", ctypes.c_double)]


_pointer, _int64, _int32 = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32
_signatures: dict[str, list[Any]] = {
    "tilefold_host_executor": [_int32, ctypes.POINTER(_pointer)],
    "tilefold_stream_executor": [_int32, _pointer, ctypes.POINTER(_pointer)],
    "tilefold_has_cuda": [],
    "tilefold_synchronize": [_pointer],
    "tilefold_reduce": [_pointer, ctypes.c_char_p, _pointer, Dtype, _int64, _pointer],
    "tilefold_reduce_as": [_pointer, ctypes.c_char_p, _pointer, Dtype, _int64, _pointer, Dtype],
    "tilefold_result": [ctypes.c_char_p, Dtype, ctypes.POINTER(Dtype), ctypes.POINTER(_int32)],
    "tilefold_segmented_reduce": [_pointer, ctypes.c_char_p, _pointer, Dtype, _int64, _pointer, Dtype, _int64,
                                  _pointer],
    "tilefold_log_softmax": [_pointer, _pointer, Dtype, _int64, _int64, _pointer, Dtype],
    "tilefold_reduce_by_key": [_pointer, ctypes.c_char_p, _pointer, Dtype, _pointer, Dtype, _int64, _pointer,
                               _pointer, ctypes.POINTER(_int64)],
    "tilefold_reduce_by_index": [_pointer, ctypes.c_char_p, _pointer, Dtype, _pointer, Dtype, _int64, _int64, _int64,
                                 _int32, _pointer],
    "tilefold_axis_reduce": [_pointer, ctypes.c_char_p, _pointer, Dtype, _int32, _pointer, _pointer, _int32,
                             _pointer, _pointer, _pointer],
    "tilefold_axis_reduce_as": [_pointer, ctypes.c_char_p, _pointer, Dtype, _int32, _pointer, _pointer, _int32,
                                _pointer, _pointer, Dtype, _pointer],
    "tilefold_stats": [_pointer, _pointer, Dtype, _int64, ctypes.POINTER(Statistics)],
    "tilefold_dot": [_pointer, _pointer, _pointer, Dtype, _int64, _pointer],
    "tilefold_release": [_pointer],
    "tilefold_piece_create": [ctypes.c_char_p, Dtype, _int64, ctypes.POINTER(_pointer)],
    "tilefold_piece_append": [_pointer, _pointer, _pointer, _int64],
    "tilefold_piece_merge": [_pointer, _pointer],
    "tilefold_piece_info": [_pointer, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(Dtype),
                            ctypes.POINTER(_int64), ctypes.POINTER(_int64)],
    "tilefold_piece_value": [_pointer, _pointer],
    "tilefold_piece_bytes": [_pointer, _pointer, _int64, ctypes.POINTER(_int64)],
    "tilefold_piece_from_bytes": [_pointer, _int64, ctypes.POINTER(_pointer)],
    "tilefold_accumulator_create": [Dtype, ctypes.POINTER(_pointer)],
    "tilefold_accumulator_add": [_pointer, _pointer, _pointer, _int64],
    "tilefold_accumulator_merge": [_pointer, _pointer],
    "tilefold_accumulator_value": [_pointer, _pointer],
    "tilefold_accumulator_mean": [_pointer, _int64, _pointer],
    "tilefold_accumulator_bytes": [_pointer, _pointer, _int64, ctypes.POINTER(_int64)],
    "tilefold_accumulator_from_bytes": [Dtype, _pointer, _int64, ctypes.POINTER(_pointer)],
}
try:
    for _name, _arguments in _signatures.items():
        getattr(_lib, _name).argtypes = _arguments
        getattr(_lib, _name).restype = _int32
    _lib.tilefold_last_error.restype = ctypes.c_char_p
    _lib.tilefold_version_text.restype = ctypes.c_char_p
    _lib.tilefold_op_name.argtypes = [_int32]
    _lib.tilefold_op_name.restype = ctypes.c_char_p
    for _name in ("tilefold_destroy", "tilefold_piece_destroy", "tilefold_accumulator_destroy"):
        getattr(_lib, _name).argtypes = [_pointer]
        getattr(_lib, _name).restype = None
except AttributeError as _error:
    raise ImportError(f"tilefold: {_path} is not the libtilefold of this package: {_error}") from _error

has_cuda = bool(_lib.tilefold_has_cuda())
version: str = _lib.tilefold_version_text().decode()


_functions = {_name: getattr(_lib, _name) for _name in _signatures}


#: For calls that are short: raise_refusal() has to be called with a status that is not 0.
tilefold_reduce_as = _functions["tilefold_reduce_as"]
tilefold_axis_reduce_as = _functions["tilefold_axis_reduce_as"]


def raise_refusal(status: int) -> None:
    """Raises what the calling thread's last call was refused for."""
    text = _lib.tilefold_last_error().decode(errors="replace")
    text = _NAMES_OF_C.sub(lambda found: _OF_PYTHON[found[0]], text)
    raise _errors.CLASSES.get(status, _errors.TilefoldError)(status, text)


def call(name: str, *arguments: Any) -> None:
    """Calls a function of libtilefold, without the interpreter's lock; raises what it refuses."""
    status = _functions[name](*arguments)
    if status != 0:
        raise_refusal(status)


_TINY, _SMALL, _ONE = 5e-324, 2.0 ** -60, 1.0  # variables: a compiler would compute with constants in its own mode


def is_standard_mode() -> bool:
    """Whether floats of the calling thread round to nearest, and subnormal ones count."""
    return _TINY * _ONE != 0 and _ONE + _SMALL == _ONE == _ONE - _SMALL


@contextlib.contextmanager
def standard_mode() -> Iterator[None]:
    """Within it NumPy computes as libtilefold does, which sets the mode for itself: a library that was built with
    -ffast-math, or fesetround(), may have set another one."""
    if is_standard_mode():
        yield
        return
    kept = ctypes.create_string_buffer(64)  # a fenv_t has at most 32 bytes
    _lib.fegetenv(kept)
    _lib.fesetenv(_pointer(-1))  # FE_DFL_ENV
    try:
        yield
    finally:
        _lib.fesetenv(kept)


destroy = _lib.tilefold_destroy
piece_destroy = _lib.tilefold_piece_destroy
accumulator_destroy = _lib.tilefold_accumulator_destroy


@functools.lru_cache(maxsize=None)
def code_of(dtype: np.dtype[Any]) -> Dtype:
    """The Dtype of a NumPy dtype; UnsupportedError if there is none."""
    return Dtype(*of_dtype(dtype), 1)


def int64s(values: Sequence[int]) -> Any:
    return (_int64 * (len(values) or 1))(*values)


def int32s(values: Sequence[int]) -> Any:
    return (_int32 * (len(values) or 1))(*values)


def _names_of_c() -> Tuple[str, ...]:
    found: List[str] = []
    while (name := _lib.tilefold_op_name(len(found))) is not None:
        found.append(name.decode())
    return tuple(found)


#: Names of functions of this package and of NumPy, and what they are in C.
ALIASES = {"prod": "product", "argmin": "arg_min", "argmax": "arg_max", "var": "population_variance",
           "std": "population_standard_deviation", "norm": "l2", "vector_norm": "l2"}
_OF_PYTHON = {of_c: name for name, of_c in ALIASES.items() if of_c != "l2"}
_NAMES_OF_C = re.compile(rf"\b(?:{'|'.join(_OF_PYTHON)})(?= (?:of|has) )")
_names: Dict[str, bytes] = {name: name.encode() for name in _names_of_c()}
_names.update((name, of_c.encode()) for name, of_c in ALIASES.items())


def name_of_op(op: Any) -> bytes:
    """The name of an operation as C has it."""
    if not isinstance(op, str):
        raise _errors.ArgumentError(_errors.UNKNOWN_OP, f"tilefold: op is {op!r}, and must be a name")
    try:
        return _names[op]
    except KeyError:
        near = difflib.get_close_matches(op, _names, 1)
    hint = f", did you mean {near[0]!r}? There" if near else "; there"
    raise _errors.ArgumentError(_errors.UNKNOWN_OP, f"tilefold: there is no operation {op!r}{hint} are {', '.join(_names)}")
