#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Writes golden.inc, the bits that folds must have, without the library.
#
#     make_golden.py > golden.inc
#     make_golden.py --check golden.inc     fails unless that is what it would write
#
# Plain Python. The items come from a small generator that golden.hpp spells again in C++; the fold is
# the five lines that define the neighbour tree; arithmetic is done on Python's integers and doubles.
# A float operation is done in double and rounded once more: since a double has more than twice a
# float's significand, plus two bits, that is the float operation itself.

import struct
import sys

SIZES = [1, 2, 3, 5, 6, 7, 8, 13, 31, 32, 33, 100, 127, 255, 256, 257, 1000, 1023, 4095, 4096, 4097,
         10007, 65537, 100003]
MASK = 2**64 - 1


def fold(op, x):
    while len(x) > 1:
        pairs = [op(a, b) for a, b in zip(x[0::2], x[1::2])]
        x = pairs + ([x[-1]] if len(x) % 2 else [])
    return x[0]


class Numbers:
    """The generator: 31 bits at a time of a 64-bit linear congruential sequence."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) & MASK
        return self.state >> 33


def f32(x):
    try:
        return struct.unpack('<f', struct.pack('<f', x))[0]
    except OverflowError:
        return float('inf') if x > 0 else float('-inf')


def f32_from_bits(bits):
    return struct.unpack('<f', struct.pack('<I', bits))[0]


def f64_from_bits(bits):
    return struct.unpack('<d', struct.pack('<Q', bits))[0]


def hex_of(layout, *values):
    """The bytes of a value in memory, the last one first."""
    return struct.pack('<' + layout, *values)[::-1].hex()


# Items. `spread` is how many binades above and below 1 the magnitudes reach.

def float_item(r, spread):
    sign, significand = r.next() & 1, r.next() & 0x7fffff
    exponent = 127 + r.next() % (2 * spread + 1) - spread
    return f32_from_bits(sign << 31 | exponent << 23 | significand)


def near_one_item(r, binade):
    """Within 1/64 of 2^binade, so that products of many stay finite."""
    sign, above, distance = r.next() & 1, r.next() & 1, r.next() & 0x1ffff
    significand = distance if above else 0x7fffff - 2 * distance
    exponent = 126 + above + binade
    return f32_from_bits(sign << 31 | exponent << 23 | significand)


def double_item(r, spread):
    sign, high, low = r.next() & 1, r.next() & 0xfffff, r.next() & 0x7fffffff
    exponent = 1023 + r.next() % (2 * spread + 1) - spread
    return f64_from_bits(sign << 63 | exponent << 52 | high << 32 | low)


def half_item(r):
    sign, significand = r.next() & 1, r.next() & 0x3ff
    exponent = r.next() % 24  # 0 is subnormal
    magnitude = significand * 2.0**-24 if exponent == 0 else (1024 + significand) * 2.0**(exponent - 25)
    return -magnitude if sign else magnitude


def bfloat16_item(r):
    sign, significand = r.next() & 1, r.next() & 0x7f
    exponent = 120 + r.next() % 15
    return f32_from_bits(sign << 31 | exponent << 23 | significand << 16)


# Operators.

def add_f32(a, b):
    return f32(a + b)


def multiply_f32(a, b):
    return f32(a * b)


def multiply_complex(a, b):
    re = f32(f32(a[0] * b[0]) - f32(a[1] * b[1]))
    im = f32(f32(a[0] * b[1]) + f32(a[1] * b[0]))
    return (re, im)


def multiply_matrices(a, b):
    p = 65521
    return tuple((a[2 * i] * b[j] + a[2 * i + 1] * b[2 + j]) % p for i in (0, 1) for j in (0, 1))


def mixed_bits(x):
    x = ((x ^ (x >> 30)) * 0xbf58476d1ce4e5b9) & MASK
    x = ((x ^ (x >> 27)) * 0x94d049bb133111eb) & MASK
    return x ^ (x >> 31)


def leaf_hash(i):
    return (mixed_bits((i + 0x9e3779b97f4a7c15) & MASK), mixed_bits(~i & MASK))


def node_hash(a, b):
    x = mixed_bits((a[0] + 3 * a[1] + 0x9e3779b97f4a7c15) & MASK)
    y = mixed_bits(b[0] ^ (5 * b[1]) & MASK)
    return ((mixed_bits((x + 7 * y) & MASK) + a[1]) & MASK,
            mixed_bits(((x << 1) & MASK) ^ ((y + b[0]) & MASK)))


# Cases: name, the item that a generator makes, operator, memory layout of the result.

CASES = [
    ('float_sum', lambda r: float_item(r, 12), add_f32, 'f'),
    ('float_product', lambda r: near_one_item(r, 0), multiply_f32, 'f'),
    ('float_minimum', lambda r: float_item(r, 12), min, 'f'),
    ('double_sum', lambda r: double_item(r, 30), lambda a, b: a + b, 'd'),
    ('double_maximum', lambda r: double_item(r, 30), max, 'd'),
    ('half_sum', half_item, add_f32, 'f'),
    ('bfloat16_sum', bfloat16_item, add_f32, 'f'),
    ('int32_sum', lambda r: 2 * r.next(), lambda a, b: (a + b) % 2**32, 'I'),
    ('uint8_sum', lambda r: r.next() & 0xff, lambda a, b: a + b, 'I'),
    ('int64_product', lambda r: (r.next() << 31 | r.next()) | 1, lambda a, b: a * b % 2**64, 'Q'),
    ('complex_product', lambda r: (near_one_item(r, 0), near_one_item(r, -6)), multiply_complex,
     'ff'),
    ('matrix_product', lambda r: tuple(r.next() % 65521 for _ in range(4)), multiply_matrices,
     '4I'),
    ('order_hash', lambda r: leaf_hash(r.next()), node_hash, 'QQ'),
]


def golden_lines():
    yield '// SPDX-License-Identifier: Apache-2.0'
    yield '//'
    yield '// Written by make_golden.py: case, number of items, bytes of the result from the last on.'
    for seed, (name, item, op, layout) in enumerate(CASES, start=1):
        numbers = Numbers(seed)
        items = [item(numbers) for _ in range(max(SIZES))]
        for n in SIZES:
            result = fold(op, items[:n])
            values = result if isinstance(result, tuple) else (result,)
            yield f'{{"{name}", {n}, "{hex_of(layout, *values)}"}},'


def write_or_check(lines):
    """Writes the lines, or with --check FILE compares them with what is committed there."""
    text = ''.join(line + '\n' for line in lines)
    if sys.argv[1:2] != ['--check']:
        sys.stdout.write(text)
        return
    with open(sys.argv[2]) as committed:
        if committed.read() != text:
            sys.exit(f'{sys.argv[2]} is not what {sys.argv[0]} writes')


if __name__ == '__main__':
    write_or_check(golden_lines())
