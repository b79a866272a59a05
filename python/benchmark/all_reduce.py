# SPDX-License-Identifier: Apache-2.0
"""Times of tilefold.torch.all_reduce_ beside torch.distributed.all_reduce, in place, of bfloat16 from 4 KiB to 256 MiB:

    torchrun --nproc-per-node 4 python/benchmark/all_reduce.py [--csv FILE]         NCCL, GPUs of one machine
    torchrun --nproc-per-node 2 python/benchmark/all_reduce.py --backend gloo --most 20     a trial on the CPU

A time is that of one call among many, by the clock of the host, which waits before and after all of them. The two take
turns, so that both meet the machine's swings. The slowest rank's time of a round counts; a ratio is the median of the
rounds' ratios: above 1 tilefold is faster. `bits_vary` says whether the backend's sum of one part of the numbers has
other bits in a message of another length; tilefold's is compared, too, and must not.
"""
import argparse
import csv
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist

import tilefold
import tilefold.torch as tt

COLUMNS = ("backend", "ranks", "bytes", "backend_us", "tilefold_us", "ratio", "bits_vary")
ROUNDS = 7


def wait(device):
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def microseconds(function, x, repeats):
    """Of a call on the slowest rank."""
    function(x)
    wait(x.device)
    dist.barrier()
    start = time.perf_counter()
    for _ in range(repeats):
        function(x)
    wait(x.device)
    spent = torch.tensor([(time.perf_counter() - start) / repeats * 1e6], dtype=torch.float64, device=x.device)
    dist.all_reduce(spent, dist.ReduceOp.MAX)
    return float(spent)


def has_other_bits(function, x):
    """Whether the first half of a message has other bits alone."""
    whole, half = x.clone(), x[:x.numel() // 2].clone()
    function(whole)
    function(half)
    differs = (whole[:half.numel()] != half).any().int()
    dist.all_reduce(differs, dist.ReduceOp.MAX)
    return bool(differs)


def row(backend, items):
    numbers = torch.randn(items, generator=torch.Generator("cpu").manual_seed(dist.get_rank()))
    x = numbers.to(torch.bfloat16).to(device_of(backend))
    if has_other_bits(tt.all_reduce_, x):
        sys.exit(f"all_reduce.py: tilefold's bits depend on the length of a message of {items} items")
    varies = has_other_bits(dist.all_reduce, x)
    x.zero_()  # sums of sums would overflow
    repeats = max(3, min(200, (64 << 20) // x.nbytes))
    pairs = [[microseconds(function, x, repeats) for function in (dist.all_reduce, tt.all_reduce_)]
             for _ in range(ROUNDS)]
    theirs, ours = (statistics.median(one) for one in zip(*pairs))
    ratio = statistics.median(a / b for a, b in pairs)
    return dict(zip(COLUMNS, (backend, dist.get_world_size(), x.nbytes, f"{theirs:.1f}", f"{ours:.1f}", f"{ratio:.3f}",
                              int(varies))))


def device_of(backend):
    return torch.device("cuda", int(os.environ["LOCAL_RANK"])) if backend == "nccl" else torch.device("cpu")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", help="a file for the rows")
    parser.add_argument("--backend", default="nccl", choices=("nccl", "gloo"))
    parser.add_argument("--most", type=int, default=28, help="the longest message is 2^MOST bytes")
    arguments = parser.parse_args()
    device = device_of(arguments.backend)
    if device.type == "cuda":
        torch.cuda.set_device(device)
    dist.init_process_group(arguments.backend)
    table = [row(arguments.backend, 1 << (bits - 1)) for bits in range(12, arguments.most + 1, 2)]
    if dist.get_rank() == 0:
        where = torch.cuda.get_device_name() if device.type == "cuda" else "CPU"
        print(f"tilefold {tilefold.__version__}, torch {torch.__version__}, {dist.get_world_size()} ranks, {where}")
        for file in [sys.stdout] + ([open(arguments.csv, "w", newline="")] if arguments.csv else []):
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(table)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
