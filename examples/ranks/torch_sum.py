# SPDX-License-Identifier: Apache-2.0
"""The same sum, to the last bit, on any number of processes of a torch process group:

    pip install torch tilefold
    for n in 1 2 3 7; do torchrun --nproc-per-node $n examples/ranks/torch_sum.py; done
"""
import torch
import torch.distributed as dist

import tilefold


def reduce_over_ranks(x, op="sum"):
    """tilefold.reduce(whole, op), on every rank; `whole` is the ranks' items one after the other, of which this has x.

    x has one axis, and any number of items, also none. Two gathers: the lengths, and at most some KB of each rank.
    """
    lengths = gather(len(x))
    mine = tilefold.piece(x, position=sum(lengths[:dist.get_rank()]), op=op)
    first, *others = [tilefold.Piece.from_bytes(data) for data in gather(mine.to_bytes())]
    for piece in others:
        first.merge(piece)
    return first.value()


def gather(value):
    """What all ranks give, in their order."""
    values = [None] * dist.get_world_size()
    dist.all_gather_object(values, value)
    return values


def main():
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    n = 1000003
    position = torch.arange(n * rank // ranks, n * (rank + 1) // ranks)
    x = torch.ldexp((position * 7919 % 1009 - 504).float(), position % 24)
    ours = float(reduce_over_ranks(x))
    theirs = x.sum()
    dist.all_reduce(theirs)
    if rank == 0:
        print(f"{ranks} ranks: tilefold {ours.hex()}, all_reduce of the ranks' sums {float(theirs).hex()}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
