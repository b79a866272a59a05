#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes torch_golden.inc: what PyTorch on a GPU gives for reductions that no order of evaluation
changes, sums of integers, minima and maxima. The items are spelled a second time in torch_golden.hpp.

    make_torch_golden.py > torch_golden.inc
"""
import numpy
import torch

SHAPE = (3, 5, 2, 7)
SEGMENTS = (1, 2, 3, 4, 7, 8, 9, 31, 32, 33, 5, 1, 64, 10)  # 210 items, as many as the shape holds


def words(n):
    """The hash of each index, all 32 bits of it in use."""
    x = numpy.arange(n, dtype=numpy.uint64) * 2654435761 + 12345 & 0xffffffff
    x ^= x >> 15
    x = x * 2246822519 & 0xffffffff
    x ^= x >> 13
    return x.astype(numpy.uint32).view(numpy.int32)


def floats(n):
    """Of both signs, with a NaN and both infinities."""
    x = words(n).astype(numpy.float32) * numpy.float32(2.0**-20)
    x[17], x[90], x[151] = numpy.nan, numpy.inf, -numpy.inf
    return x


def emit(what, subset, values):
    if values.dtype.is_floating_point:
        # A NaN is written as the one that tilefold's results have.
        values = torch.where(torch.isnan(values), torch.full_like(values, float("nan")), values)
        values = values.view(torch.int32)
    for i, value in enumerate(values.flatten().cpu().tolist()):
        print(f'{{"{what}", {subset}, {i}, {value}}},')


def main():
    n = int(numpy.prod(SHAPE))
    integers = torch.from_numpy(words(n)).cuda().reshape(SHAPE)
    reals = torch.from_numpy(floats(n)).cuda().reshape(SHAPE)
    print("// SPDX-License-Identifier: Apache-2.0\n//")
    print(f"// Written by make_torch_golden.py: PyTorch {torch.__version__} on {torch.cuda.get_device_name()}.")
    print("// What is folded, the set of reduced axes (-1: segments), which result, its value or bits.")
    for subset in range(1, 16):
        axes = [i for i in range(4) if subset >> i & 1]
        emit("integer_sum", subset, integers.sum(dim=axes))
        emit("integer_min", subset, integers.amin(dim=axes))
        emit("integer_max", subset, integers.amax(dim=axes))
        emit("float_min", subset, reals.amin(dim=axes))
        emit("float_max", subset, reals.amax(dim=axes))
    lengths = torch.tensor(SEGMENTS, device="cuda")
    for what in ("min", "max"):
        emit(f"float_{what}", -1, torch.segment_reduce(reals.flatten(), what, lengths=lengths))
    ends = numpy.cumsum(SEGMENTS)
    flat = integers.flatten()
    emit("integer_sum", -1, torch.stack([flat[e - l:e].sum() for e, l in zip(ends, SEGMENTS)]))


if __name__ == "__main__":
    main()
