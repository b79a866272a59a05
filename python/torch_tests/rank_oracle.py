# SPDX-License-Identifier: Apache-2.0
"""What an all-reduce must be, in NumPy: tensors are arrays of bits, and their floats are decoded, joined and rounded
here. No code of tilefold or torch is used."""
from fractions import Fraction

import numpy as np

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
#: Of a float's bits: the width, and the place of the exponent.
_FORMATS = {"float16": (16, 10), "bfloat16": (16, 7), "float32": (32, 23), "float64": (64, 52)}


def dtypes_of(op):
    if op in ("mean", "exact_sum"):
        return FLOATS
    return FLOATS + INTEGERS + (("bool",) if op in ("min", "max") else ())


def _decoded(bits, dtype):
    if dtype == "bfloat16":
        return (bits.astype("u4") << 16).view("f4")
    return bits.view(dtype)


def _encoded(x, dtype):
    """Floats rounded once to dtype, as bits; a NaN is the quiet one without a sign."""
    width, place = _FORMATS[dtype]
    with np.errstate(all="ignore"):
        bits = _nearest_bfloat16(x.astype("f8")) if dtype == "bfloat16" else x.astype(dtype).view(f"u{width // 8}")
    return np.where(np.isnan(x), ((1 << (width - place)) - 1 >> 1 << place) | 1 << (place - 1), bits).astype(bits.dtype)


def _nearest_bfloat16(x):
    """Of the three bfloat16 around each float64 the nearest one, of two the even one."""
    near = np.abs(x).astype("f4").view("u4") >> 16
    around = np.stack([np.where(near > 0, near - 1, 0), near, np.minimum(near + 1, 0x7f80)])
    values = np.where(around == 0x7f80, 2.0 ** 128, (around << 16).view("f4").astype("f8"))
    away = np.where(np.isinf(x), around != 0x7f80, np.abs(np.minimum(np.abs(x), 2.0 ** 129) - values))
    order = np.lexsort((around & 1, away), axis=0)
    best = np.take_along_axis(around, order[:1], 0)[0]
    return (best | (np.signbit(x).astype("u4") << 15)).astype("u2")


def neighbour_tree(rows, join):
    if len(rows) == 1:
        return rows[0]
    half = 1 << ((len(rows) - 1).bit_length() - 1)
    return join(neighbour_tree(rows[:half], join), neighbour_tree(rows[half:], join))


def left_to_right(rows, join):
    result = rows[0]
    for row in rows[1:]:
        result = join(result, row)
    return result


def _exact_sum(rows, dtype):
    """Bits of the float nearest to the real sum of each column."""
    width, place = _FORMATS[dtype]
    results = np.empty(rows.shape[1], f"u{width // 8}")
    inf = ((1 << (width - place - 1)) - 1) << place
    for i, column in enumerate(rows.T):
        x = [float(one) for one in column]
        plain = sum(one for one in x if not np.isfinite(one))
        if plain != 0:
            results[i] = inf | (1 << (place - 1) if np.isnan(plain) else 0) | ((plain == -np.inf) << (width - 1))
            continue
        real = sum(Fraction(one) for one in x)
        sign = real < 0 or (real == 0 and all(np.signbit(x)))
        results[i] = _nearest(abs(real), dtype) | (int(sign) << (width - 1))
    return results


def _nearest(real, dtype):
    width, place = _FORMATS[dtype]
    try:
        near = int(_encoded(np.array([float(real)]), dtype)[0])
    except OverflowError:
        near = ((1 << (width - place - 1)) - 1) << place
    least = 2 - (1 << (width - place - 2)) - place  # the exponent of the least float

    def value(bits):
        exponent, rest = bits >> place, bits & ((1 << place) - 1)
        whole = Fraction(rest if exponent == 0 else rest + (1 << place))
        return whole * Fraction(2) ** (least + max(exponent, 1) - 1)

    around = [bits for bits in (near - 1, near, near + 1) if 0 <= bits <= ((1 << (width - place - 1)) - 1) << place]
    return min(around, key=lambda bits: (abs(value(bits) - real), bits & 1))


def _ordered(bits):
    """Bits of floats as integers in the order of the floats: -0.0 before 0.0."""
    signed = bits.view(f"i{bits.itemsize}")
    return signed ^ ((signed >> (bits.itemsize * 8 - 1)) & np.iinfo(signed.dtype).max)


def _extremes(rows, dtype, op):
    pick = np.min if op == "min" else np.max
    if dtype not in FLOATS:
        return pick(rows, 0)
    bits = _ordered(pick(_ordered(rows), 0))
    found = bits.view(rows.dtype)
    has_nan = np.isnan(_decoded(rows, dtype)).any(0)
    return np.where(has_nan, _encoded(np.array([np.nan]), dtype), found)


def all_reduced(rows, dtype, op, fold=neighbour_tree):
    """Bits of the result, of a row of bits for each rank."""
    if op in ("min", "max"):
        return _extremes(rows, dtype, op)
    join = np.multiply if op == "product" else np.add
    with np.errstate(all="ignore"):
        if dtype in INTEGERS:
            return fold(rows.astype("u8" if dtype[0] == "u" else "i8"), join).astype(dtype)
        x = _decoded(rows, dtype)
        if op == "exact_sum":
            return _exact_sum(x, dtype)
        if op == "mean":
            x = x.astype("f8")
            plain, far = fold(x, join) / len(rows), fold(x * 2.0 ** -64, join) / len(rows) * 2.0 ** 64
            return _encoded(np.where(np.isfinite(x).all(0) & ~np.isfinite(plain), far, plain), dtype)
        return _encoded(fold(x.astype("f8" if dtype == "float64" else "f4"), join), dtype)


def values(rank, dtype, n, seed=1):
    """Bits of what a rank has: floats of both signs and many magnitudes, and among them NaN, infinities, zeros of
    both signs and the least floats; every integer."""
    rng = np.random.default_rng([seed, rank, n])
    if dtype == "bool":
        return rng.integers(0, 2, n).astype(bool)
    if dtype in INTEGERS:
        ends = np.iinfo(dtype)
        return rng.integers(ends.min, ends.max, n, dtype, endpoint=True)
    width, place = _FORMATS[dtype]
    spread = {"float16": 6, "bfloat16": 20, "float32": 20, "float64": 40}[dtype]
    bits = _encoded(rng.standard_normal(n) * np.exp2(rng.integers(-spread, spread + 1, n)), dtype)
    sign, inf = 1 << (width - 1), ((1 << (width - place - 1)) - 1) << place
    quiet = inf | 1 << (place - 1)
    special = np.array([0, sign, inf, inf | sign, quiet | 5, quiet | sign, 1, sign | 1], bits.dtype)
    if n > 7:
        chosen = rng.random(n) < 0.03
        bits = np.where(chosen, special[rng.integers(0, len(special), n)], bits)
        bits[:2] = sign  # -0.0 of all ranks
        bits[2] = inf - 1 if rank % 2 else (inf - 1) | sign  # the greatest floats, which cancel
        bits[3] = inf - 1  # and which overflow
    return bits
