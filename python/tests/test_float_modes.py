# SPDX-License-Identifier: Apache-2.0
"""A library that is loaded into the process may set another rounding, or flush subnormals to zero: results have the
same bits, and the mode is the caller's afterwards."""
import contextlib
import ctypes
import platform
import sys

import numpy as np
import pytest
from oracle import items

import tilefold

pytestmark = [pytest.mark.skipif(sys.platform != "linux" or platform.machine() != "x86_64", reason="another fenv_t"),
              pytest.mark.filterwarnings("ignore")]
#: The bits of MXCSR: flush to zero and denormals are zero; down, up, toward zero.
MODES = {"flush": 0x8040, "down": 0x2000, "up": 0x4000, "toward zero": 0x6000}
_libm = ctypes.CDLL("libm.so.6") if sys.platform == "linux" else None


def now():
    found = (ctypes.c_uint32 * 8)()
    assert _libm.fegetenv(found) == 0
    return found


@contextlib.contextmanager
def mode(bits):
    kept, other = now(), now()
    other[7] |= bits
    assert _libm.fesetenv(other) == 0
    try:
        yield
        assert now()[7] & 0xe040 == bits, "as the caller had it"
    finally:
        _libm.fesetenv(kept)


def test_the_modes_are_modes():
    tiny, one, small = 5e-324, 1.0, 2.0 ** -60
    with mode(MODES["flush"]):
        flushed = tiny * one
    with mode(MODES["up"]):
        above = one + small
    assert flushed == 0 and above > 1 and tiny * one > 0


FOLDS = ["sum", "prod", "min", "max", "minmax", "mean", "var", "std", "argmin", "argmax", "any", "all", "count_nonzero",
         "logsumexp", "norm", "exact_sum", "exact_mean", "compensated_sum", "stats"]
MASK = np.arange(70) % 3 == 0
CALLS = {
    **{f"{name} along {axis}": lambda x, name=name, axis=axis: getattr(tilefold, name)(x, axis=axis)
       for name in FOLDS for axis in (None, 0, 1)},
    "var with ddof": lambda x: tilefold.var(x, ddof=2), "std of f4": lambda x: tilefold.std(x, 0, ddof=0.5, dtype="f4"),
    "stats with ddof": lambda x: tilefold.stats(x, 1, ddof=2), "vdot": lambda x: tilefold.vdot(x, x),
    "fuse": lambda x: tilefold.fuse("mean", "var", "std", "min", "max")(x, 0),
    "segments": lambda x: tilefold.segment_reduce(x.ravel(), [0, 5, 420], "mean"),
    "keys": lambda x: tilefold.reduce_by_key(np.arange(420) // 50, x.ravel(), "mean")[1],
    "by index": lambda x: tilefold.reduce_by_index(np.arange(420) % 50, x.ravel(), 60, "mean"),
    "bincount": lambda x: tilefold.bincount(np.arange(420) % 50, x.ravel()),
    "batched": lambda x: tilefold.batched([x, x[:2]], "mean"), "piece": lambda x: tilefold.piece(x, 0, "mean").value(),
    "accumulator": lambda x: tilefold.exact_accumulator(x.dtype).add(x).value(),
    "sum as f4": lambda x: tilefold.sum(x, dtype="f4"), "sum as f8": lambda x: tilefold.sum(x, 0, dtype="f8"),
    "initial": lambda x: tilefold.sum(x, 1, initial=1), "where": lambda x: tilefold.sum(x, where=MASK),
    "mean where": lambda x: tilefold.mean(x, 1, where=MASK),
    "var where": lambda x: tilefold.var(x, 1, ddof=2, where=MASK),
}


def bits_of(call, x):
    try:
        found = call(x)
    except tilefold.TilefoldError as error:
        return type(error)
    return [np.asarray(one).tobytes() for one in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("name", MODES)
@pytest.mark.parametrize("dtype", ["f2", "bfloat16", "f4", "f8", "i4", "?", "c8"])
def test_results_have_the_same_bits_in_every_mode(dtype, name):
    plain = items(dtype, (6, 70))
    tiny = plain * plain.dtype.type({"f4": 1e-41, "c8": 1e-41, "f8": 1e-311}.get(dtype, 1))
    for x in (plain, tiny):
        for what, call in CALLS.items():
            expected = bits_of(call, x)
            with mode(MODES[name]):
                got = bits_of(call, x)
            assert got == expected, what
