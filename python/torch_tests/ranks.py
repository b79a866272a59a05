# SPDX-License-Identifier: Apache-2.0
"""Runs a function on ranks: processes of a Gloo group on this machine, which meet at a file."""
import multiprocessing
import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing

import tilefold

# Ranks are forks of a process that has imported these: an import of torch takes seconds.
multiprocessing.set_forkserver_preload(["torch", "torch._dynamo", "tilefold.torch"])


def _run(rank, world, folder, job, arguments):
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    tilefold.set_num_threads(1)
    dist.init_process_group("gloo", store=dist.FileStore(f"{folder}/store", world), rank=rank, world_size=world)
    try:
        torch.save(job(*arguments), f"{folder}/{rank}")
        dist.barrier()  # no rank leaves while others still read from it
    finally:
        dist.destroy_process_group()


def on_ranks(world, job, *arguments):
    """What job(*arguments) returns on each rank. An exception of one is raised."""
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.start_processes(_run, (world, folder, job, arguments), world, start_method="forkserver")
        return [torch.load(f"{folder}/{rank}", weights_only=False) for rank in range(world)]
