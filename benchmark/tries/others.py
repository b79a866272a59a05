"""What torch and NCCL give for the same floats on one and on two GPUs."""
import struct, sys, torch, torch.distributed as dist, torch.multiprocessing as mp

def bits(x):
    return "0x%08x" % struct.unpack("<I", struct.pack("<f", float(x)))[0]

def items(n):
    g = torch.Generator().manual_seed(7)
    return torch.randn(n, generator=g) * torch.exp2(torch.randint(-10, 11, (n,), generator=g).float())

def run(rank, ranks, n):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29511", rank=rank, world_size=ranks)
    x = items(n)
    begin, end = n * rank // ranks, n * (rank + 1) // ranks
    s = x[begin:end].cuda().sum()
    dist.all_reduce(s)
    # rows: an all-reduce of a vector
    v = torch.stack([x[begin:end].cuda() * k for k in (1.0, 3.0)]).sum(1)
    dist.all_reduce(v)
    if rank == 0:
        print(f"torch.sum and all_reduce on {ranks} GPUs: {bits(s)}", flush=True)
    dist.destroy_process_group()

if __name__ == "__main__":
    n = 100_000_007
    x = items(n)
    print("torch.sum on one GPU:", bits(x.cuda().sum()), " from the second item's address:", bits(torch.cat([torch.zeros(1), x]).cuda()[1:].sum()))
    for ranks in (1, 2):
        mp.spawn(run, (ranks, n), nprocs=ranks)
    import tilefold
    a = tilefold.sum(x.cuda())
    print("tilefold.sum, GPU:", bits(a), " host:", bits(tilefold.sum(x.numpy())))
    cut = n // 2
    p = tilefold.piece(x[:cut].numpy(), 0, "sum"); q = tilefold.piece(x[cut:].cuda(), cut, "sum")
    p.merge(q)
    print("two pieces, host and GPU:", bits(p.value()))
