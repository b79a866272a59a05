# SPDX-License-Identifier: Apache-2.0
"""What mypy says of calls is what they give: each row is checked by mypy, and called."""
import inspect
import os
import pathlib
import re
import subprocess
import sys
import types
import typing

import numpy as np
import pytest

import tilefold as tf

PRELUDE = """
from __future__ import annotations
from typing import Any, Dict, List, Optional, Tuple, Union
from typing_extensions import assert_type
import numpy as np
from numpy.typing import NDArray
import tilefold as tf

class Tensor:
    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]: return {}
    def __array__(self) -> NDArray[Any]: return f4
    def __dlpack__(self, *, stream: Any = None) -> Any: ...
    def __dlpack_device__(self) -> Tuple[int, int]: return 2, 0
    def __getitem__(self, i: int) -> Tensor: return self

class JaxArray:
    @property
    def sharding(self) -> object: return None
    def __dlpack__(self) -> Any: ...
    def __array__(self) -> NDArray[Any]: return f4

class OfHost:
    def __dlpack__(self, *, stream: Any = None) -> Any: return f4.__dlpack__()
    def __dlpack_device__(self) -> Tuple[int, int]: return 1, 0

Result = Union[NDArray[np.float32], np.float32]
Mean = Union[NDArray[np.float32], np.floating[Any], NDArray[np.floating[Any]]]
f2, f4, f8 = np.ones((3, 4), np.float16), np.ones((3, 4), np.float32), np.ones((3, 4), np.float64)
c8 = np.ones((3, 4), np.complex64)
i4, u1, row = np.ones((3, 4), np.int32), np.ones((3, 4), np.uint8), np.ones(12, np.float32)
numbers: List[float] = [1.0, 2.0]
o4: NDArray[np.float32] = np.ones(4, np.float32)
o8: NDArray[np.int64] = np.ones(4, np.int64)
keys: NDArray[np.int16] = np.ones(12, np.int16)
of_keys: NDArray[np.float32] = np.ones(12, np.float32)
b: NDArray[np.bool_] = np.ones((3, 4), np.bool_)
axis: Optional[int] = eval("None")
flag: bool = eval("False")
array: Optional[NDArray[np.float32]] = eval("None")
on_host = OfHost()
"""
GPU = "tensor, jax = Tensor(), JaxArray()\n"

#: Call and type.
ROWS = """
tf.sum(f4)                                      np.float32
tf.sum(f8)                                      np.float64
tf.sum(f4, order="torch")                       np.float32
tf.sum(f2)                                      np.number[Any]
tf.sum(c8)                                      np.complex64
tf.sum(i4)                                      np.integer[Any]
tf.sum(b)                                       np.integer[Any]
tf.sum(numbers)                                 np.number[Any]
tf.sum(on_host)                                 np.number[Any]
tf.sum(f4, 0)                                   NDArray[np.float32]
tf.sum(f4, axis=(0, 1), keepdims=True)          NDArray[np.float32]
tf.sum(f4, keepdims=True)                       NDArray[np.float32]
tf.sum(f4, axis)                                Result
tf.sum(f4, axis, out=array)                     Result
tf.mean(f4, axis, keepdims=flag)                Mean
tf.any(f4, keepdims=flag)                       Union[np.bool_, NDArray[np.bool_]]
tf.stats(f4, keepdims=flag)                     tf.Stats[Any, Any]
tf.sum(i4, 0)                                   NDArray[np.integer[Any]]
tf.sum(f4, 0, out=o4)                           NDArray[np.float32]
tf.sum(f4, dtype=np.float64)                    np.float64
tf.sum(f4, 0, dtype=np.dtype(np.int16))         NDArray[np.int16]
tf.sum(f4, dtype="f8", initial=1, where=b)      np.number[Any]
tf.prod(f4)                                     np.float32
tf.prod(u1, 1)                                  NDArray[np.integer[Any]]
tf.min(f2)                                      np.float16
tf.min(i4)                                      np.int32
tf.min(i4, 0)                                   NDArray[np.int32]
tf.min(f4, initial=0, where=b)                  np.float32
tf.max(b)                                       np.bool_
tf.max(f8, keepdims=True)                       NDArray[np.float64]
tf.max(f4, 0, out=o4)                           NDArray[np.float32]
tf.minmax(i4)                                   NDArray[np.int32]
tf.minmax(numbers)                              NDArray[Any]
tf.mean(f2)                                     np.float16
tf.mean(f4, 1)                                  NDArray[np.float32]
tf.mean(i4)                                     np.floating[Any]
tf.mean(numbers, keepdims=True)                 NDArray[np.floating[Any]]
tf.mean(f4, dtype=np.float64)                   np.float64
tf.mean(i4, 0, dtype=np.float32)                NDArray[np.float32]
tf.mean(f4, dtype="f8", where=b)                np.floating[Any]
tf.mean(f4, 0, out=o4)                          NDArray[np.float32]
tf.var(f4)                                      np.float32
tf.var(i4, 0, ddof=1)                           NDArray[np.floating[Any]]
tf.var(f4, dtype=np.float64, correction=1.5)    np.float64
tf.std(f8, keepdims=True)                       NDArray[np.float64]
tf.std(b)                                       np.floating[Any]
tf.std(f4, 0, out=o4)                           NDArray[np.float32]
tf.argmin(f4)                                   np.int64
tf.argmin(f4, 0)                                NDArray[np.int64]
tf.argmax(numbers)                              np.int64
tf.argmax(f4, 0, out=o8)                        NDArray[np.int64]
tf.any(f4)                                      np.bool_
tf.any(f4, 0, where=b)                          NDArray[np.bool_]
tf.all(on_host)                                 np.bool_
tf.all(i4, keepdims=True)                       NDArray[np.bool_]
tf.count_nonzero(c8)                            np.int64
tf.count_nonzero(c8, (0,))                      NDArray[np.int64]
tf.logsumexp(f4)                                np.float64
tf.logsumexp(f4, 0)                             NDArray[np.float64]
tf.norm(f4)                                     np.floating[Any]
tf.norm(f4, 1, 0)                               NDArray[np.floating[Any]]
tf.exact_sum(f4)                                np.float32
tf.exact_sum(i4)                                np.integer[Any]
tf.exact_sum(f8, 0, where=b)                    NDArray[np.float64]
tf.exact_sum(numbers)                           np.number[Any]
tf.exact_mean(f4)                               np.float32
tf.exact_mean(i4, 0)                            NDArray[np.floating[Any]]
tf.compensated_sum(f4)                          np.float32
tf.compensated_sum(f8, 0)                       NDArray[np.float64]
tf.checked_sum(i4).value                        np.integer[Any]
tf.checked_sum(i4).fits                         np.bool_
tf.checked_sum(i4, 0).value                     NDArray[np.integer[Any]]
tf.checked_sum(i4, 0).fits                      NDArray[np.bool_]
tf.stats(f4).count                              int
tf.stats(f4).mean                               float
tf.stats(f4, 0).count                           NDArray[np.int64]
tf.stats(f4, 0).variance                        NDArray[np.float64]
tf.vdot(f4, f4)                                 np.float32
tf.vdot(i4, i4)                                 np.integer[Any]
tf.vdot(numbers, numbers)                       np.number[Any]
tf.reduce(f4, "mean")                           np.floating[Any]
tf.reduce(f4, "argmin")                         np.int64
tf.reduce(f4, "any")                            np.bool_
tf.reduce(f4, "sum64")                          np.number[Any]
tf.reduce(f4, "minmax")                         NDArray[Any]
tf.reduce(f4, "min")                            Any
tf.reduce(f4, "min", 0)                         NDArray[Any]
tf.reduce(f4, "min", 0, out=o4)                 NDArray[np.float32]
tf.fuse("mean", "var")(f4).mean                 Any
tf.segment_reduce(row, [0, 4])                  NDArray[Any]
tf.segment_reduce(row, [0, 1, 2, 3, 4], out=o4) NDArray[np.float32]
tf.batched([f4, f4], "max")                     NDArray[Any]
tf.reduce_by_key(keys, row)                     Tuple[NDArray[np.int16], NDArray[Any]]
tf.reduce_by_key(keys.tolist(), row)            Tuple[NDArray[Any], NDArray[Any]]
tf.reduce_by_key(keys, row, out=(keys, of_keys)) Tuple[NDArray[np.int16], NDArray[np.float32]]
tf.reduce_by_index(o8, o4)                      NDArray[Any]
tf.reduce_by_index([0, 1], [[2.0], [3.0]], 4, "max", mode="drop") NDArray[Any]
tf.reduce_by_index(o8, o4, 4, out=o4)           NDArray[np.float32]
tf.bincount(o8)                                 NDArray[np.int64]
tf.bincount([0, 2], minlength=7)                NDArray[np.int64]
tf.bincount(o8, o4)                             NDArray[np.float64]
tf.bincount(o8, array)                          NDArray[Any]
tf.piece(f4)                                    tf.Piece
tf.piece(f4).value()                            Any
tf.exact_accumulator("f4")                      tf.ExactAccumulator
tf.exact_accumulator("f4").add(f4).value()      np.number[Any]
tf.exact_accumulator("f4").add(f4).mean(12)     np.floating[Any]
tf.get_num_threads()                            int
tf.set_num_threads(0)                           None
tf.release_memory()                             None
"""
#: Arrays of a GPU: for mypy alone.
GPU_ROWS = "".join(f"""
tf.{name}(tensor)                               Tensor
tf.{name}(tensor, axis=0, keepdims=True)        Tensor
tf.{name}(jax, axis=0)                          JaxArray
tf.{name}(tensor, axis=0, out=tensor)           Tensor
""" for name in ("sum", "prod", "min", "max", "minmax", "mean", "var", "std", "argmin", "argmax", "any", "all",
                 "count_nonzero", "logsumexp", "norm", "exact_sum", "exact_mean", "compensated_sum")) + """
tf.reduce(tensor, "min")                        Tensor
tf.segment_reduce(tensor, [0, 4])               Tensor
tf.segment_reduce(tensor, tensor, out=tensor)   Tensor
tf.batched([tensor, tensor])                    Tensor
tf.reduce_by_key(jax, tensor)                   Tuple[JaxArray, Tensor]
tf.reduce_by_index(tensor, tensor, 3)           Tensor
tf.reduce_by_index(jax, jax, op="max")          JaxArray
tf.bincount(tensor)                             Tensor
tf.bincount(tensor, tensor)                     Tensor
tf.vdot(tensor, tensor)                         Tensor
tf.stats(tensor).count                          int
tf.stats(tensor).mean                           Tensor
tf.checked_sum(tensor, 0).fits                  Tensor
"""
#: What mypy refuses, and a call too.
REFUSED = """
tf.sum(f4, 0, True)
tf.sum(f4, axis=1.5)
tf.any(f4, initial=1)
tf.argmin(f4, where=b)
tf.max(f4, dtype=np.float64)
tf.mean(f4, out=3)
tf.norm(f4, "l1")
tf.reduce(f4)
tf.reduce_by_index(o8, o4, "max")
tf.bincount(o8, None, None)
"""


def rows(text):
    return [re.split(r" {2,}|(?<=\)) ", line.strip(), maxsplit=1) for line in text.splitlines() if line.strip()]


CALLS, GPU_CALLS = rows(ROWS), rows(GPU_ROWS)
REFUSED_CALLS = [line for line in REFUSED.splitlines() if line]


@pytest.fixture(scope="module")
def errors(tmp_path_factory):
    """mypy's words on each call."""
    pytest.importorskip("mypy")
    folder = tmp_path_factory.mktemp("typing")
    lines = [f"assert_type({call}, {kind})" for call, kind in CALLS + GPU_CALLS] + REFUSED_CALLS
    before = PRELUDE + GPU
    (folder / "calls.py").write_text(before + "\n".join(lines) + "\n")
    package = pathlib.Path(tf.__file__).parent.parent
    environment = {**os.environ, **({} if package.name == "site-packages" else {"MYPYPATH": str(package)})}
    found = subprocess.run([sys.executable, "-m", "mypy", "--config-file", pathlib.Path(__file__).parent.parent / "pyproject.toml",
                            "--cache-dir", folder / "cache", "calls.py"], cwd=folder, env=environment,
                           capture_output=True, text=True)
    assert found.returncode in (0, 1) and not found.stderr, found.stdout + found.stderr
    said = {}
    for line in found.stdout.splitlines():
        place = re.match(r"calls\.py:(\d+): error: (.*)", line)
        if place:
            at = int(place[1]) - 1 - before.count("\n")
            assert at >= 0, line
            said.setdefault(lines[at], []).append(place[2])
    return said


@pytest.mark.parametrize("call, kind", CALLS + GPU_CALLS)
def test_mypy_knows_the_type(errors, call, kind):
    assert errors.get(f"assert_type({call}, {kind})", []) == []


@pytest.mark.parametrize("call", REFUSED_CALLS)
def test_mypy_refuses_what_a_call_refuses(errors, call):
    assert errors.get(call), "mypy takes it"
    with pytest.raises((TypeError, ValueError)):
        eval(call, dict(NAMES))


NAMES: typing.Dict[str, typing.Any] = {}
exec(PRELUDE.replace("from typing_extensions import assert_type\n", ""), NAMES)


def is_of(value, kind):
    """Whether a value is of a type as the rows write it."""
    if kind in (None, typing.Any):
        return kind is typing.Any or value is None
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Union:
        return any(is_of(value, one) for one in inner)
    if origin is tuple:
        return len(value) == len(inner) and all(map(is_of, value, inner))
    if origin is np.ndarray:
        item, = typing.get_args(inner[1])
        item = typing.get_origin(item) or item
        return isinstance(value, np.ndarray) and (item is typing.Any or issubclass(value.dtype.type, item))
    return isinstance(value, origin or kind)


@pytest.mark.parametrize("call, kind", CALLS)
def test_a_call_gives_that_type(call, kind):
    names = dict(NAMES)
    value = eval(call, names)
    assert is_of(value, eval(kind, names)), type(value)


def test_every_function_has_a_row():
    functions = {name for name in tf.__all__ if isinstance(getattr(tf, name), types.FunctionType)}
    assert {call.split("(")[0][3:] for call, _ in CALLS} >= functions and len(functions) > 25


def test_functions_are_themselves_for_help():
    """Not an object with a call: help(), inspect and pickle see what they saw."""
    for name in tf.__all__:
        function = getattr(tf, name)
        if isinstance(function, types.FunctionType):
            assert function.__name__ == name and function.__doc__
            assert not hasattr(function, "__wrapped__") and "kwargs" not in str(inspect.signature(function))
            assert inspect.signature(function).return_annotation not in (inspect.Signature.empty, "Any")
    assert str(inspect.signature(tf.argmin)).startswith("(x: 'Items', axis: 'Axis' = None, *, keepdims: 'bool' = False")
    assert "Any" not in dir(tf)
