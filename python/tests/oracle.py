# SPDX-License-Identifier: Apache-2.0
"""What results must be, from NumPy where a result is exact, from the order's definition for folds of floats, and
from fractions for what is rounded. No code of tilefold is used."""
import math
import os
import secrets
from fractions import Fraction

import ml_dtypes
import numpy as np

#: Seeds of random items: two that stay, and one of this run, which pytest prints at the top and in the name of a test.
SEEDS = [1, 2, int(os.environ.get("TILEFOLD_TEST_SEED") or secrets.randbelow(2 ** 32))]
INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
NARROW_INTEGERS = [one for one in INTEGERS if one[1] != "8"]
FLOATS = ["f2", "bfloat16", "f4", "f8"]
#: What errors call operations that have another name in C.
IN_PYTHON = {"arg_min": "argmin", "arg_max": "argmax", "product": "prod", "population_variance": "var",
             "population_standard_deviation": "std"}
REAL = INTEGERS + FLOATS + ["?"]
COMPLEX = ["c8", "c16"]
DTYPES = REAL + COMPLEX


def dtype_of(name):
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def is_float(dtype):
    return dtype.kind == "f" or dtype.name == "bfloat16"


def items(dtype, shape, seed=1):
    """Every value of an integer is likely; floats have both signs and magnitudes from 2**-8 to 2**8."""
    rng = np.random.default_rng(seed)
    dtype = dtype_of(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)

    def parts():
        return rng.standard_normal(shape) * np.exp2(rng.integers(-8, 9, shape))

    return (parts() + 1j * parts() if dtype.kind == "c" else parts()).astype(dtype)


def same_bits(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def tree(rows, join):
    """The order of tilefold: neighbours are joined, level by level; of every row at once."""
    while rows.shape[1] > 1:
        joined = join(rows[:, 0:rows.shape[1] - 1:2], rows[:, 1::2])
        rows = np.concatenate([joined, rows[:, -1:]], 1) if rows.shape[1] % 2 else joined
    return rows[:, 0]


def torch_order(rows, join):
    """The order of PyTorch's sums: trees over blocks, whose values are joined from left to right."""
    values = [tree(rows[:, begin:begin + 8192], join) for begin in range(0, rows.shape[1], 8192)]
    total = values[0]
    for value in values[1:]:
        total = join(total, value)
    return total


def in_32_bits(dtype):
    """The accumulator of "sum32" and "product32"."""
    return np.dtype(f"{dtype.kind}4")


def narrow(dtype):
    """The accumulator of "sum" and "product"."""
    if dtype.kind in "iub":
        return wide(dtype)
    return np.dtype("f4") if is_float(dtype) and dtype.itemsize < 4 else dtype


def wide(dtype):
    return np.dtype("f8") if is_float(dtype) else np.dtype("u8" if dtype.kind == "u" else "i8")


def fractions_of(row):
    return [Fraction(float(x)) if is_float(row.dtype) else Fraction(int(x)) for x in row]


def each(function, dtype="f8"):
    """function of the fractions of a row, as float."""
    return lambda rows: np.array([function(fractions_of(row)) for row in rows], dtype)


def variance(ddof):
    def one(row):
        n = len(row)
        if n == ddof:
            return math.nan
        mean = sum(row) / n
        return float(sum((x - mean) ** 2 for x in row) / (n - ddof))

    return one


def root(x):
    """The square root of a fraction that may be beyond what squares of floats can hold."""
    return math.sqrt(float(x)) if x < 10 ** 300 else math.sqrt(float(x / 10 ** 300)) * 1e150


def deviation(ddof):
    return lambda row: math.sqrt(variance(ddof)(row))


def exponentials(row):
    greatest = max(row)
    return float(greatest), math.fsum(math.exp(float(x - greatest)) for x in row)


def nearest(dtype, real):
    """The float of a type that is nearest to a fraction; of two, the even one."""
    if dtype == np.float64:
        return np.float64(float(real))  # as Python rounds
    near = np.array(float(real), dtype)
    word = near.view(f"i{dtype.itemsize}")
    around = [(word + step).astype(word.dtype).view(dtype) for step in (-1, 0, 1)]
    around = [x for x in around if np.isfinite(x.astype("f8"))]
    return min(around, key=lambda x: (abs(Fraction(float(x)) - real), int(x.view(word.dtype)) & 1))


def items_for(op, dtype, shape, seed=1):
    """items() that `op` takes: 64 bits hold the sums of all."""
    x = items(dtype, shape, seed)
    return x >> x.dtype.type(20) if op == "exact_sum" and dtype in ("i8", "u8") else x


def exactly(rows, divisor=1, of_integers=None):
    """The real sum of each row, divided, and rounded once; of integers in 64 bits if it is not divided."""
    def one(row):
        real = sum(fractions_of(row)) / divisor
        if is_float(row.dtype):
            return nearest(row.dtype, real)
        if of_integers is not None:
            return np.array(float(real), of_integers)
        return np.array(int(real), wide(row.dtype))

    return np.stack([one(row) for row in rows])


def rounded_once(rows):
    """The float of rows' own type that is nearest to the real sum; of two, the even one."""
    def one(row):
        exact = sum(fractions_of(row))
        near = rows.dtype.type(float(exact))
        if rows.dtype == np.float64:
            return near  # as Python rounds
        around = [np.nextafter(near, rows.dtype.type(-np.inf)), near, np.nextafter(near, rows.dtype.type(np.inf))]
        return min(around, key=lambda x: (abs(Fraction(float(x)) - exact), x.view("u4") & 1))

    return np.array([one(row) for row in rows], rows.dtype)


def multiply(a, b):
    """Of complex numbers: four products, two sums, each rounded."""
    if a.dtype.kind != "c":
        return a * b
    made = np.empty(a.shape, a.dtype)
    made.real = a.real * b.real - a.imag * b.imag
    made.imag = a.real * b.imag + a.imag * b.real
    return made


def canonical(results):
    """With the one NaN that results have."""
    parts = {"c": (results.real, results.imag), "f": (results,)}.get(results.dtype.kind, ())
    for part in parts:
        part[np.isnan(part)] = np.nan
    return results


def verdicts(rows):
    """Of integers or bool: the sum of each row modulo 2^64, and whether 64 bits hold it."""
    dtype = np.dtype("u8" if rows.dtype.kind == "u" else "i8")
    ends = np.iinfo(dtype)
    sums = [sum(int(x) for x in row) for row in rows]
    return np.array([(ends.min + (real - ends.min) % 2 ** 64, ends.min <= real <= ends.max) for real in sums],
                    object).reshape(-1, 2).astype(dtype)


def first_of(places):
    return lambda rows: places(rows.astype("f4") if rows.dtype.name == "bfloat16" else rows, 1).astype("i8")


def bits(ufunc):
    return lambda rows: ufunc.reduce(rows, 1)


# Operation: (the dtypes that it takes, what it is of rows, the relative error that it may have; 0: the same bits).
# Exponentials of narrow floats have a float's precision (docs/numerics.md): see tolerance_of().
TABLE = {
    "sum": (DTYPES, lambda r: tree(r.astype(narrow(r.dtype)), np.add), 0),
    "sum64": (REAL, lambda r: tree(r.astype(wide(r.dtype)), np.add), 0),
    "sum32": (NARROW_INTEGERS, lambda r: tree(r.astype(in_32_bits(r.dtype)), np.add), 0),
    "product": (DTYPES, lambda r: canonical(tree(r.astype(narrow(r.dtype)), multiply)), 0),
    "product32": (NARROW_INTEGERS, lambda r: tree(r.astype(in_32_bits(r.dtype)), np.multiply), 0),
    "product64": (REAL, lambda r: tree(r.astype(wide(r.dtype)), np.multiply), 0),
    "min": (INTEGERS + FLOATS, lambda r: np.min(r, 1), 0),
    "max": (INTEGERS + FLOATS, lambda r: np.max(r, 1), 0),
    "minmax": (INTEGERS + FLOATS, lambda r: np.stack([np.min(r, 1), np.max(r, 1)], -1), 0),
    "arg_min": (REAL, first_of(np.argmin), 0),
    "arg_max": (REAL, first_of(np.argmax), 0),
    "any": (DTYPES, lambda r: np.any(r != 0, 1), 0),
    "all": (DTYPES, lambda r: np.all(r != 0, 1), 0),
    "count_nonzero": (DTYPES, lambda r: np.sum(r != 0, 1, dtype="i8"), 0),
    "bit_and": (INTEGERS, bits(np.bitwise_and), 0),
    "bit_or": (INTEGERS, bits(np.bitwise_or), 0),
    "bit_xor": (INTEGERS, bits(np.bitwise_xor), 0),
    "mean": (REAL, each(lambda row: float(sum(row) / len(row))), 1e-13),
    "variance": (REAL, each(variance(1)), 1e-12),
    "population_variance": (REAL, each(variance(0)), 1e-12),
    "standard_deviation": (REAL, each(deviation(1)), 1e-12),
    "population_standard_deviation": (REAL, each(deviation(0)), 1e-12),
    "l1": (REAL, each(lambda row: float(sum(abs(x) for x in row))), 1e-14),
    "l2": (REAL, each(lambda row: root(sum(x * x for x in row))), 1e-14),
    "linf": (REAL, lambda r: np.max(np.abs(r.astype("f8")), 1).astype("f4" if is_float(r.dtype) and r.itemsize < 8 else "f8"), 0),
    "logsumexp": (REAL, each(lambda row: exponentials(row)[0] + math.log(exponentials(row)[1])), 1e-13),
    "softmax_pair": (REAL, each(exponentials), 1e-13),
    "compensated_sum": (["f4", "f8"], rounded_once, 2e-7),
    "exact_sum": (REAL, exactly, 0),
    "exact_mean": (REAL, lambda r: exactly(r, r.shape[1], "f8"), 0),
    "checked_sum": (INTEGERS + ["?"], verdicts, 0),
    "torch_sum": (FLOATS, lambda r: 0 + torch_order(r.astype(narrow(r.dtype)), np.add), 0),
    "torch_product": (FLOATS, lambda r: canonical(torch_order(r.astype(narrow(r.dtype)), np.multiply)), 0),
}


#: Whose results have the dtype of floats that are folded.
AS_ITEMS = {"mean", "variance", "population_variance", "standard_deviation", "population_standard_deviation"}


def tolerance_of(op, dtype):
    if op in AS_ITEMS and dtype in ("f2", "bfloat16", "f4"):
        return {"f2": 2.0 ** -11, "bfloat16": 2.0 ** -8, "f4": 2.0 ** -24}[dtype]
    narrow_exponentials = op in ("logsumexp", "softmax_pair") and dtype in ("f2", "bfloat16", "f4")
    return 2.0 ** -23 if narrow_exponentials else TABLE[op][2]


def rows_of(x, axes):
    """x as a copy whose row i has the items of result i, one after the other."""
    left = [i for i in range(x.ndim) if i not in axes]
    moved = x.transpose(left + sorted(axes))
    shape = [x.shape[i] for i in left]
    return np.array(moved.reshape(math.prod(shape), math.prod(x.shape) // max(1, math.prod(shape))), order="C"), shape
