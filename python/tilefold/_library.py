# SPDX-License-Identifier: Apache-2.0
"""libtilefold by ctypes: its functions, types and errors."""
import ctypes
import os
import threading

import numpy as np

_path = os.environ.get("TILEFOLD_LIBRARY") or os.path.join(os.path.dirname(__file__), "libtilefold.so")
_lib = ctypes.CDLL(_path)


class Dtype(ctypes.Structure):
    """A DLDataType."""
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Statistics(ctypes.Structure):
    _fields_ = [("count", ctypes.c_int64), ("mean", ctypes.c_double), ("variance", ctypes.c_double),
                ("min", ctypes.c_double), ("max", ctypes.c_double)]


class TilefoldError(RuntimeError):
    """What libtilefold refused; `status` is its code."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class EmptyError(TilefoldError, ValueError):
    """Nothing to fold, and the operation has no result for that."""


class UnsupportedError(TilefoldError, TypeError):
    """Not for this dtype."""


class ArgumentError(TilefoldError, ValueError):
    """A count, an axis, an offset or an operation that is wrong."""


_errors = {1: ArgumentError, 3: ArgumentError, 4: UnsupportedError, 5: EmptyError, 6: ArgumentError}

_pointer, _int64, _int32 = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32
_signatures = {
    "tilefold_host_executor": [_int32, ctypes.POINTER(_pointer)],
    "tilefold_result": [ctypes.c_char_p, Dtype, ctypes.POINTER(Dtype), ctypes.POINTER(_int32)],
    "tilefold_segmented_reduce": [_pointer, ctypes.c_char_p, _pointer, Dtype, _int64, _pointer, Dtype, _int64,
                                  _pointer],
    "tilefold_reduce_by_key": [_pointer, ctypes.c_char_p, _pointer, Dtype, _pointer, Dtype, _int64, _pointer,
                               _pointer, ctypes.POINTER(_int64)],
    "tilefold_axis_reduce": [_pointer, ctypes.c_char_p, _pointer, Dtype, _int32, _pointer, _pointer, _int32,
                             _pointer, _pointer, _pointer],
    "tilefold_stats": [_pointer, _pointer, Dtype, _int64, ctypes.POINTER(Statistics)],
    "tilefold_dot": [_pointer, _pointer, _pointer, Dtype, _int64, _pointer],
}
for _name, _arguments in _signatures.items():
    getattr(_lib, _name).argtypes = _arguments
    getattr(_lib, _name).restype = _int32
_lib.tilefold_last_error.restype = ctypes.c_char_p
_lib.tilefold_version_text.restype = ctypes.c_char_p
_lib.tilefold_destroy.argtypes = [_pointer]
_lib.tilefold_destroy.restype = None

version = _lib.tilefold_version_text().decode()


def call(name, *arguments):
    """Calls a function of libtilefold, without the interpreter's lock; raises what it refuses."""
    status = getattr(_lib, name)(*arguments)
    if status != 0:
        text = _lib.tilefold_last_error().decode()
        raise _errors.get(status, TilefoldError)(status, text)


class _Executor:
    """A host executor, for one thread; destroyed with it."""

    def __init__(self):
        self.handle = _pointer()
        call("tilefold_host_executor", 0, ctypes.byref(self.handle))

    def __del__(self):
        if self.handle and _lib is not None:
            _lib.tilefold_destroy(self.handle)


_local = threading.local()


def executor():
    """The calling thread's executor."""
    if not hasattr(_local, "executor"):
        _local.executor = _Executor()
    return _local.executor.handle


_codes = {"i": 0, "u": 1, "f": 2, "b": 6, "c": 5}


def code_of(dtype):
    """The Dtype of a NumPy dtype; TypeError if there is none."""
    code = _codes.get(dtype.kind)
    bits = 8 * dtype.itemsize
    if dtype.name == "bfloat16":
        return Dtype(4, 16, 1)
    if code is None or bits > (128 if dtype.kind == "c" else 64):
        raise TypeError(f"tilefold: arrays of {dtype} are not taken")
    return Dtype(code, bits, 1)


_letters = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}


def result_of(op, dtype):
    """(NumPy dtype, how many numbers) of the result of an operation."""
    result, count = Dtype(), _int32()
    call("tilefold_result", op.encode(), code_of(dtype), ctypes.byref(result), ctypes.byref(count))
    if result.code == 6:
        return np.dtype(bool), count.value
    if result.code == 4:
        return dtype, count.value
    return np.dtype(f"{_letters[result.code]}{result.bits // 8}"), count.value
