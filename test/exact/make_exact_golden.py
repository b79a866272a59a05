#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Writes what exact reducers of hard items must give, without the library: exact_golden.inc and
# exact_dots.inc.
#
#     make_exact_golden.py DIRECTORY
#     make_exact_golden.py --check DIRECTORY     fails unless they are what it would write there
#
# Plain Python. Values are fractions, rounded once here; sums of doubles are also those of math.fsum.
# Items are made as patterns of bits from a small generator, which exact_golden.hpp spells again in
# C++. A row is a hash of the results of many multisets, and of one range of all of them.

import math
import pathlib
import struct
import sys
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'golden'))
from make_golden import Numbers  # noqa: E402

MASK = 2**64 - 1


class Format:
    """A binary floating format; items are patterns of its bits."""

    def __init__(self, name, fraction, exponents):
        self.name, self.fraction, self.exponents = name, fraction, exponents
        self.sign = 1 << (fraction + exponents.bit_length())
        self.infinity = exponents << fraction
        self.nan = self.infinity | 1 << (fraction - 1)
        self.least = 2 - (exponents + 1) // 2 - fraction  # exponent of the smallest number
        self.width = (fraction + 1 + exponents.bit_length()) // 8

    def bits(self, negative, exponent, fraction):
        return ((self.sign if negative else 0) | exponent << self.fraction
                | fraction & ((1 << self.fraction) - 1))

    def is_nan(self, x):
        return x & ~self.sign > self.infinity

    def is_infinite(self, x):
        return x & ~self.sign == self.infinity

    def units(self, x):
        """The value in units of the smallest number."""
        exponent, fraction = (x & ~self.sign) >> self.fraction, x & ((1 << self.fraction) - 1)
        size = fraction if exponent == 0 else (fraction | 1 << self.fraction) << (exponent - 1)
        return -size if x & self.sign else size

    def value(self, x):
        return Fraction(self.units(x)) * Fraction(2)**self.least

    def rounded(self, value):
        """The bits of a fraction other than zero, rounded once, ties to even."""
        units = abs(value) / Fraction(2)**self.least
        log2 = units.numerator.bit_length() - units.denominator.bit_length()
        if units < Fraction(2)**log2:
            log2 -= 1
        shift = max(0, log2 - self.fraction)
        # Python rounds ties to even. What is carried goes into the exponent.
        bits = (shift << self.fraction) + round(units / 2**shift)
        return (self.sign if value < 0 else 0) | min(bits, self.infinity)


FORMATS = [Format('float', 23, 255), Format('double', 52, 2047), Format('half', 10, 31),
           Format('bfloat16', 7, 255)]


# ---- multisets, each a list of patterns; exact_golden.hpp has the same

def wide(r):
    high = r.next()
    return high << 31 | r.next()


def shuffled(items, r):
    for i in range(len(items) - 1, 0, -1):
        j = r.next() % (i + 1)
        items[i], items[j] = items[j], items[i]
    return items


def any_item(f, r):
    negative = r.next() & 1
    exponent = r.next() % f.exponents
    return f.bits(negative, exponent, wide(r))


def any_bits(f, r, m):
    return [any_item(f, r) for _ in range(40)]


def cancelling(f, r, m):
    items = []
    for _ in range(16):
        x = any_item(f, r)
        items += [x, x ^ f.sign]
    items.append(f.bits(r.next() & 1, r.next() % (f.exponents // 4), wide(r)))
    return shuffled(items, r)


def ramp(f, r, m):
    """Every exponent once, signs in turn."""
    return shuffled([f.bits(e & 1, e, wide(r)) for e in range(f.exponents)], r)


def extremes(f, r, m):
    return [f.bits(r.next() & 1, f.exponents - 1, MASK if r.next() & 1 else wide(r))
            for _ in range(2 + m % 7)]


def subnormals(f, r, m):
    return [f.bits(r.next() & 1, r.next() % 3, wide(r)) for _ in range(16)]


def halfway(f, r, m):
    """The middle between two neighbours, or one beside it: at every binade, both parities."""
    exponent = f.fraction + 2 + m // 6 % (f.exponents - f.fraction - 2)
    x = f.bits(m // 3 & 1, exponent, wide(r) & ~1 | m // 3 & 1)
    half = f.bits(m // 3 & 1, exponent - f.fraction - 1, 0)
    tiny = f.bits(r.next() & 1, 0, 1 if m % 3 else 0)
    return shuffled([x, half, tiny], r)


def zeros(f, r, m):
    return [f.bits(m % 4 != 0 or r.next() & 1, 0, 0) for _ in range(5)]


def specials(f, r, m):
    items = [any_item(f, r) for _ in range(5)]
    for _ in range(1 + m % 3):
        kind = r.next() % 4
        negative = r.next() & 1
        payload = 0 if kind < 3 else wide(r) | 1
        items.append(f.bits(negative, f.exponents, payload))
    return shuffled(items, r)


# Name, its multisets, how many of them.
FAMILIES = [('any_bits', any_bits, 60), ('cancelling', cancelling, 60), ('ramp', ramp, 3),
            ('extremes', extremes, 60), ('subnormals', subnormals, 60), ('halfway', halfway, None),
            ('zeros', zeros, 12), ('specials', specials, 60)]


def multisets(family, f):
    number = [name for name, _, _ in FAMILIES].index(family)
    _, make, count = FAMILIES[number]
    if count is None:
        count = 6 * (f.exponents - f.fraction - 2)
    r = Numbers(1000 * number + f.width * 100 + f.fraction)
    return [make(f, r, m) for m in range(count)]


# ---- reducers

def special(f, items):
    """The bits of a sum of items that are not all finite; else None."""
    infinities = {x for x in items if f.is_infinite(x)}
    if any(f.is_nan(x) for x in items) or len(infinities) > 1:
        return f.nan
    return infinities.pop() if infinities else None


def zero(f, items):
    return f.sign if all(x == f.sign for x in items) else 0


def exact_sum(f, items, divisor=1):
    found = special(f, items)
    if found is not None:
        return found
    units = sum(f.units(x) for x in items)
    if units == 0:
        return zero(f, items)
    bits = f.rounded(Fraction(units, divisor) * Fraction(2)**f.least)
    if f.name == 'double' and divisor == 1 and bits & ~f.sign < f.infinity:
        doubles = [struct.unpack('<d', struct.pack('<Q', x))[0] for x in items]
        try:
            assert math.fsum(doubles) == struct.unpack('<d', struct.pack('<Q', bits))[0]
        except OverflowError:
            pass  # on the way
    return bits


def exact_mean(f, items):
    return exact_sum(f, items, len(items))


def product(f, x, y):
    """The value of x y: a fraction, or bits of what is none."""
    if f.is_nan(x) or f.is_nan(y):
        return f.nan
    if f.is_infinite(x) or f.is_infinite(y):
        if f.units(x) == 0 or f.units(y) == 0:
            return f.nan
        return f.infinity | (x ^ y) & f.sign
    return None


def exact_dot(f, xs, ys):
    found = [product(f, x, y) for x, y in zip(xs, ys)]
    others = special(f, [p for p in found if p is not None])
    if others is not None:
        return others
    units = sum(f.units(x) * f.units(y) for x, y in zip(xs, ys))
    if units == 0:
        minus = all(f.units(x) * f.units(y) == 0 and (x ^ y) & f.sign for x, y in zip(xs, ys))
        return f.sign if minus else 0
    return f.rounded(units * Fraction(4)**f.least)


def with_reversed(f, items):
    return exact_dot(f, items, items[::-1])


def exact_sum_of_squares(f, items):
    return exact_dot(f, items, items)


def exact_l2(f, items):
    found = special(f, [f.nan if f.is_nan(x) else x & ~f.sign for x in items])
    if found is not None:
        return found
    units = sum(f.units(x)**2 for x in items)
    if units == 0:
        return 0
    # More bits than any format has, and an odd last one if that is not all.
    root = math.isqrt(units << 200)
    root = 2 * root + (root * root != units << 200)
    return f.rounded(Fraction(root, 2**101) * Fraction(2)**f.least)


REDUCERS = [('sum', exact_sum), ('mean', exact_mean), ('sum_of_squares', exact_sum_of_squares),
            ('l2', exact_l2), ('dot_with_reversed', with_reversed)]


# ---- ill-conditioned dot products (Ogita, Rump, Oishi: Accurate sum and dot product, 2005): half of
# the terms of any size, then terms that cancel what was there more and more

def nearest(f, value):
    if value == 0:
        return 0
    return min(f.rounded(value) & ~f.sign, f.infinity - 1) | (f.sign if value < 0 else 0)


def ill_conditioned(f, r, n, spread):
    middle = (f.exponents - 1) // 2
    xs, ys, value = [], [], Fraction(0)

    def append(x, y):
        nonlocal value
        xs.append(x)
        ys.append(y)
        value += f.value(x) * f.value(y)

    def of_size(size):
        return f.bits(r.next() & 1, middle + size, wide(r))

    append(of_size(spread // 2), of_size(spread // 2))
    while len(xs) < n // 2:
        append(of_size(r.next() % (spread // 2 + 1)), of_size(r.next() % (spread // 2 + 1)))
    for i in range(n - len(xs)):
        x = of_size(spread // 2 * (n - len(xs) - 1 - i) // (n // 2))
        wanted = f.value(of_size(0)) - value
        append(x, nearest(f, wanted / f.value(x)))
    order = shuffled(list(range(n)), r)
    return [xs[i] for i in order], [ys[i] for i in order]


def dot_lines():
    yield '// SPDX-License-Identifier: Apache-2.0'
    yield '//'
    yield '// Written by make_exact_golden.py: type, the factors of a dot product, its value.'
    for name, spreads in [('float', (20, 60, 100)), ('double', (40, 120, 400, 900))]:
        f = next(f for f in FORMATS if f.name == name)
        for spread in spreads:
            xs, ys = ill_conditioned(f, Numbers(spread), 20, spread)
            text = ' '.join(f'{x:x} {y:x}' for x, y in zip(xs, ys))
            yield f'{{"{name}", "{text}", 0x{exact_dot(f, xs, ys):x}}},'


def hash_of(results):
    hash = 0xcbf29ce484222325  # FNV-1a of 64-bit words
    for bits in results:
        hash = (hash ^ bits) * 0x100000001b3 & MASK
    return hash


def golden_lines():
    yield '// SPDX-License-Identifier: Apache-2.0'
    yield '//'
    yield '// Written by make_exact_golden.py: type, family, reducer, a hash of the results of its'
    yield '// multisets, and the result of all of their items.'
    for f in FORMATS:
        for family, _, _ in FAMILIES:
            sets = multisets(family, f)
            everything = [x for items in sets for x in items]
            for name, reducer in REDUCERS:
                each = hash_of(reducer(f, items) for items in sets)
                yield (f'{{"{f.name}", "{family}", "{name}", 0x{each:016x}, '
                       f'0x{reducer(f, everything):x}}},')


def main():
    directory = pathlib.Path(sys.argv[-1])
    for name, lines in [('exact_golden.inc', golden_lines()), ('exact_dots.inc', dot_lines())]:
        text = ''.join(line + '\n' for line in lines)
        if sys.argv[1] != '--check':
            (directory / name).write_text(text)
        elif (directory / name).read_text() != text:
            sys.exit(f'{name} is not what make_exact_golden.py writes')


if __name__ == '__main__':
    main()
