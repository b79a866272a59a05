"""First calls in a new process: import, then the first and the hundredth sum of 10^6 floats on a GPU."""
import sys, time
import numpy as np, torch
x = torch.randn(1000000, device="cuda"); out = torch.empty(1, device="cuda"); torch.cuda.synchronize()
which = sys.argv[1]
t0 = time.perf_counter()
if which == "tilefold":
    import tilefold
    call = lambda: tilefold.sum(x)
elif which == "torch":
    call = lambda: torch.sum(x)
else:
    import cuda.compute as cc
    init = np.array([0], np.float32)
    if which == "cuda.compute": op = cc.OpKind.PLUS
    else:
        def op(a, b): return a + b
    call = lambda: cc.reduce_into(d_in=x, d_out=out, num_items=1000000, op=op, h_init=init)
t1 = time.perf_counter(); call(); torch.cuda.synchronize()
t2 = time.perf_counter()
for _ in range(100): call()
torch.cuda.synchronize(); t3 = time.perf_counter()
print(f"{which}: import {1e3 * (t1 - t0):.1f} ms, first call {1e3 * (t2 - t1):.2f} ms, then {1e4 * (t3 - t2):.1f} us a call")
