# SPDX-License-Identifier: Apache-2.0
"""The same sums in messages of two lengths, by torch and by tilefold: four processes of this machine, a Gloo group.

    pip install torch tilefold
    python examples/ranks/torch_all_reduce.py
"""
import tempfile
import torch
import torch.distributed as dist
import tilefold.torch as tt


def run(rank, ranks, folder):
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=ranks)
    x = torch.randn(10000, generator=torch.Generator().manual_seed(rank)).bfloat16()
    for name, function in (("torch", dist.all_reduce), ("tilefold", tt.all_reduce_)):
        whole, part = x.clone(), x[:5000].clone()
        function(whole)
        function(part)
        if rank == 0:
            print(f"{name}: {(whole[:5000] != part).sum()} of 5000 sums differ in a message of 10000")
    dist.barrier()  # no rank leaves while others read from it
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(run, (4, folder), nprocs=4)
