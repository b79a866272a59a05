# SPDX-License-Identifier: Apache-2.0
"""order="torch": PyTorch's ordered sums and products."""
import hashlib
from typing import Any

import numpy as np
import pytest

import tilefold

BLOCK = 8192
#: Of test/support/torch_order.hpp, which names the source.
HASHES = {
    ("sum", "f2", 8, 4097): "0532ce6becb24fef", ("sum", "f2", 8, 100003): "7ca7afe152551d32",
    ("sum", "f4", 8, 27): "56b42ce6ec0dd5a2", ("sum", "f4", 8, 20000): "dd3c69b9b0dd6d1e",
    ("sum", "f4", 8, 40000): "00f118660d7a6ecf", ("sum", "f4", 3, 262144): "43932e982470bb77",
    ("sum", "f8", 8, 100003): "93bc7250f8575381", ("prod", "f2", 8, 100003): "2d52e87b8e56a9c5",
    ("prod", "f4", 8, 100003): "4cef96575c26539a", ("prod", "f8", 8, 100003): "de84b76fd6125a71",
}


def rows_of(function: str, dtype: str, rows: int, columns: int) -> Any:
    """As CUDA makes them: a division by c is a product with 1 / c, and narrow floats are made of float32."""
    v = np.arange(rows * columns, dtype="f8").reshape(rows, columns)
    x = (v % 29 - 14) * (1 / 29) + (v % 7 - 3) * (1 / 13) + (v % 4093 - 2046) * (1 / 4093) * 0.25
    if function == "prod":
        x = 1.0 + x * (1 / max(8.0, columns ** 0.5))
    return x if dtype == "f8" else x.astype("f4").astype(dtype)


def tree(add: Any, x: Any) -> Any:
    while len(x) > 1:
        joined = add(x[0:len(x) // 2 * 2:2], x[1::2])
        x = np.concatenate([joined, x[len(joined) * 2:]])
    return x[0]


def from_left(add: Any, x: Any, first: Any) -> Any:
    """The definition, along the last axis of one."""
    for begin in range(0, len(x), BLOCK):
        first = add(first, tree(add, x[begin:begin + BLOCK]))
    return first


@pytest.mark.parametrize("case", HASHES)
def test_hashes_that_pytorch_pins(case: Any) -> None:
    function, dtype, rows, columns = case
    found = getattr(tilefold, function)(rows_of(*case), 1, dtype=dtype, order="torch")
    assert found.dtype == dtype
    assert hashlib.sha256(found.tobytes()).hexdigest()[:16] == HASHES[case]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [1, 8191, 8193, 24576, 24577, 32768, 100001])
def test_definition(dtype: str, n: int) -> None:
    x = np.random.default_rng(n).normal(0, 1, n).astype(dtype)
    expected = from_left(np.add, x, np.array(0, dtype))
    assert tilefold.sum(x, order="torch").tobytes() == expected.tobytes()
    assert tilefold.reduce(x, "torch_sum").tobytes() == expected.tobytes()
    assert tilefold.sum(np.stack([x, x], 1), 0, order="torch").tobytes() == 2 * expected.tobytes()
    near_one = 1 + x / np.array(1000, dtype)
    assert tilefold.prod(near_one, order="torch").tobytes() == from_left(np.multiply, near_one, np.array(1, dtype)).tobytes()
    offsets = np.array([0, n // 3, n])
    found = tilefold.segment_reduce(x, offsets, "torch_sum")
    assert found.tobytes() == b"".join(from_left(np.add, part, np.array(0, dtype)).tobytes()
                                       for part in (x[:n // 3], x[n // 3:]))


def test_arguments() -> None:
    x = np.arange(40000, dtype="f4")
    assert tilefold.sum([1, 2, 3], order="torch") == 6 and tilefold.sum([True], order="torch").dtype == np.int64
    assert tilefold.sum([1, 2], dtype="f4", order="torch").dtype == np.float32
    assert tilefold.sum(x, dtype="f8", order="torch").tobytes() == tilefold.sum(x.astype("f8"), order="torch").tobytes()
    assert tilefold.sum(x, initial=2, order="torch") == np.float32(2) + tilefold.sum(x, order="torch")
    assert tilefold.sum(x, where=x < 9, order="torch") == 36
    assert np.signbit(tilefold.sum(np.full(50000, -0.0))) and not np.signbit(tilefold.sum(np.full(50000, -0.0), order="torch"))
    assert not np.signbit(tilefold.sum(np.zeros(0), order="torch")) and tilefold.prod(np.zeros(0), order="torch") == 1
    with pytest.raises(tilefold.ArgumentError, match="order is 'numpy', and must be None or 'torch'"):
        tilefold.sum(x, order="numpy")  # type: ignore[call-overload]
    with pytest.raises(tilefold.UnsupportedError, match="^tilefold.sum: order='torch' is for .*, not for complex64"):
        tilefold.sum(x.astype("c8"), order="torch")
    with pytest.raises(tilefold.UnsupportedError, match="^tilefold.prod: order='torch' is for .*, not for complex128"):
        tilefold.prod(x, dtype="c16", order="torch")
    half = (x % 3).astype("f2")
    wide = tilefold.sum(half, order="torch")
    assert wide.dtype == np.float32 and tilefold.sum(half, dtype=half.dtype, order="torch") == wide.astype("f2")
    with pytest.raises(tilefold.UnsupportedError, match="there are no pieces of torch_sum"):
        tilefold.piece(x, 0, "torch_sum")
