# SPDX-License-Identifier: Apache-2.0
#
# tilefold.torch.all_reduce and reduce_scatter on ranks of a Gloo group: their bits against rank_oracle, by each route
# of the values; gradients, compiled calls, layouts and errors.
import contextlib
import functools
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import rank_oracle
import torch
import torch.distributed as dist
from ranks import on_ranks

import tilefold
import tilefold.torch as tt
from tilefold import _torch_distributed

OPS = ("sum", "product", "min", "max", "mean", "exact_sum")


def sizes_of(world):
    return sorted({0, 1, 2, 7, world - 1, world, world + 1, 1000, 4097})


def tensor_of(bits, dtype):
    return torch.from_numpy(bits.view(f"i{bits.itemsize}")).view(getattr(torch, dtype))


def bits_of(x):
    raw = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()]
    return x.detach().contiguous().view(raw).numpy()


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(bits_of(a), bits_of(b))


def mine(dtype, n, seed=1):
    return tensor_of(rank_oracle.values(dist.get_rank(), dtype, n, seed), dtype)


def floats(shape, seed=1, dtype=torch.float32):
    rng = torch.Generator().manual_seed(100 * seed + dist.get_rank())
    x = torch.randn(shape, generator=rng)
    return torch.ldexp(x, torch.randint(-20, 20, x.shape, generator=rng)).to(dtype)


@contextlib.contextmanager
def gathering_up_to(number_of_bytes):
    before = _torch_distributed._GATHERED_BYTES
    _torch_distributed._GATHERED_BYTES = number_of_bytes
    try:
        yield
    finally:
        _torch_distributed._GATHERED_BYTES = before


@functools.lru_cache(maxsize=None)
def expected(world, dtype, op, n):
    rows = np.stack([rank_oracle.values(rank, dtype, n) for rank in range(world)])
    return rank_oracle.all_reduced(rows, dtype, op)


# ---- bits


def cases_of(world):
    for op in OPS:
        for dtype in rank_oracle.dtypes_of(op):
            # Integers have no rounding that sizes could show; and the oracle of exact sums adds fractions.
            sizes = sizes_of(world) if dtype in rank_oracle.FLOATS else (0, 1, world + 1, 1000)
            yield from ((op, dtype, n) for n in sizes if n <= (1000 if op == "exact_sum" else 4097))


def reduce_all_cases(world, number_of_bytes):
    with gathering_up_to(number_of_bytes):
        return [bits_of(tt.all_reduce(mine(dtype, n), op)) for op, dtype, n in cases_of(world)]


@pytest.mark.parametrize("world, route", [(1, "exchange"), (2, "exchange"), (3, "exchange"), (3, "gather"),
                                          (8, "exchange"), (8, "gather")])
def test_bits(world, route):
    results = on_ranks(world, reduce_all_cases, world, 1 << 40 if route == "gather" else 0)
    for i, (op, dtype, n) in enumerate(cases_of(world)):
        right = expected(world, dtype, op, n)
        for rank in range(world):
            np.testing.assert_array_equal(results[rank][i].view(right.dtype), right,
                                          f"{op} of {n} {dtype}, rank {rank} of {world}")


def test_the_oracle_rounds_as_torch():
    x = torch.ldexp(torch.randn(20000), torch.randint(-140, 128, (20000,)))
    x = torch.cat([x, torch.tensor([0.0, -0.0, 3.4e38, -3.4e38, float("inf"), 1.00390625, 1.01171875])])
    for dtype in ("bfloat16", "float16"):
        for wide in (x, x.double()):
            ours = rank_oracle._encoded(wide.numpy(), dtype)
            np.testing.assert_array_equal(ours.view("i2"), bits_of(x.to(getattr(torch, dtype))))


def reduce_from_left_to_right():
    def left_to_right(rows, op):
        result = rows[0].clone()
        for row in rows[1:]:
            result += row
        return result

    _torch_distributed._joined = left_to_right
    return bits_of(tt.all_reduce(floats(1000)))


def reduce_floats():
    return bits_of(floats(1000)), bits_of(tt.all_reduce(floats(1000)))


def test_ranks_joined_from_left_to_right_are_seen():
    found = on_ranks(8, reduce_floats)
    rows = np.stack([one[0] for one in found]).view("u4")
    wrong = on_ranks(8, reduce_from_left_to_right)[0]
    right = rank_oracle.all_reduced(rows, "float32", "sum").view("i4")
    assert np.array_equal(found[0][1], right)
    assert np.array_equal(wrong, rank_oracle.all_reduced(rows, "float32", "sum", rank_oracle.left_to_right).view("i4"))
    assert not np.array_equal(wrong, right)


def reduce_in_other_ways():
    x = floats(3001)
    whole = tt.all_reduce(x)
    for cuts in ([1, 3000], [1500, 1501], [1000] * 3 + [1], [100] * 30 + [1]):
        assert same(torch.cat([tt.all_reduce(part) for part in x.split(cuts)]), whole), cuts
    # Ranks 0 to 3 are an aligned block of ranks, and so are 4 to 7.
    rank = dist.get_rank()
    halves = [dist.new_group(range(first, first + 4)) for first in (0, 4)]
    pairs = [dist.new_group([i, i + 4]) for i in range(4)]
    of_half = tt.all_reduce(x, group=halves[rank // 4])
    assert same(tt.all_reduce(of_half, group=pairs[rank % 4].group_name), whole)
    with pytest.raises(tilefold.ArgumentError, match="all_reduce: this rank is not in the group"):
        tt.all_reduce(x, group=halves[1 - rank // 4])
    # The second place in a group of ranks 3, 5 and 6, in this order, is that of rank 5.
    some = dist.new_group([6, 3, 5])
    if rank in (3, 5, 6):
        found = tt.all_reduce(x, group=some)
        rows = [torch.empty_like(x) for _ in range(3)]
        dist.all_gather(rows, x, group=some)
        assert same(found, (rows[0] + rows[1]) + rows[2])


def test_cuts_of_a_message_and_of_ranks():
    on_ranks(8, reduce_in_other_ways)


# ---- reduce_scatter


def scatter():
    rank, world = dist.get_rank(), dist.get_world_size()
    for op in OPS:
        for dtype in rank_oracle.dtypes_of(op):
            for rows in (0, 1, 5):
                x = mine(dtype, world * rows * 6).view(world * rows, 2, 3)
                part = tt.all_reduce(x, op)[rank * rows:(rank + 1) * rows]
                assert same(tt.reduce_scatter(x, op), part), (op, dtype, rows)
                assert same(tt.reduce_scatter(x.transpose(1, 2), op), part.transpose(1, 2))
                output = torch.empty_like(part)
                assert tt.reduce_scatter_tensor(output, x, op) is output and same(output, part)
                output = torch.empty(2, 3, rows, dtype=x.dtype).permute(2, 0, 1)
                assert same(tt.reduce_scatter_tensor(output, x, op), part)
                output = torch.empty(rows * 6, dtype=x.dtype)
                assert same(tt.reduce_scatter_tensor(output, x, op).view(part.shape), part)


@pytest.mark.parametrize("world", (1, 3))
def test_reduce_scatter_is_a_part_of_all_reduce(world):
    on_ranks(world, scatter)


# ---- layouts, in place


def reduce_layouts(number_of_bytes):
    with gathering_up_to(number_of_bytes):
        x = floats((6, 5, 4))
        whole, bits = tt.all_reduce(x), bits_of(x)
        assert whole.is_contiguous() and np.array_equal(bits_of(x), bits), "x is not changed"
        for view in (lambda y: y.permute(2, 0, 1), lambda y: y[::2, 1:], lambda y: y[0, 0, 0]):
            found = tt.all_reduce(view(x))
            assert same(found, view(whole)) and found.is_contiguous()
            changed = x.clone()
            part = view(changed)
            assert tt.all_reduce_(part) is part and same(view(changed), view(whole))
            view(changed).copy_(view(x))
            assert same(changed, x), "nothing else is written"
        assert same(tt.all_reduce(x[:, :1].expand(6, 9, 4)), whole[:, :1].expand(6, 9, 4))
        negated = torch._neg_view(x)
        assert same(tt.all_reduce(negated), -whole)
        for n in (0, 1, 3, 4, 1000, 1001):
            y = floats(n)
            result = tt.all_reduce(y, "mean")
            assert tt.all_reduce_(y, "mean") is y and same(y, result), n
        y = torch.zeros(2000)
        y[3:1003] = floats(1000)
        result = tt.all_reduce(y[3:1003])
        tt.all_reduce_(y[3:1003])
        assert same(y[3:1003], result) and not y[:3].any() and not y[1003:].any()


@pytest.mark.parametrize("number_of_bytes", [0, 1 << 40], ids=["exchange", "gather"])
def test_layouts_and_in_place(number_of_bytes):
    on_ranks(2, reduce_layouts, number_of_bytes)


# ---- gradients


def gradients():
    rank, world = dist.get_rank(), dist.get_world_size()
    for dtype in (torch.float32, torch.bfloat16, torch.float64):
        for op in ("sum", "mean", "exact_sum"):
            x, g = floats((world * 4, 5), 1, dtype).requires_grad_(), floats((world * 4, 5), 2, dtype)
            (found,) = torch.autograd.grad(tt.all_reduce(x, op), x, g)
            assert same(found, tt.all_reduce(g, op)), (op, dtype)
            (found,) = torch.autograd.grad(tt.all_reduce_(x * 1, op), x, g)
            assert same(found, tt.all_reduce(g, op)), (op, dtype)
            part = g[:4]
            whole = [torch.empty_like(part) for _ in range(world)]
            dist.all_gather(whole, (part.double() / world).to(dtype) if op == "mean" else part)
            for found in (torch.autograd.grad(tt.reduce_scatter(x, op), x, part),
                          torch.autograd.grad(tt.reduce_scatter_tensor(torch.empty_like(part), x, op), x, part)):
                assert same(found[0], torch.cat(whole)), (op, dtype)
    # Of the sum of all ranks' losses, by differences.
    x = (torch.arange(1.0, 5.0, dtype=torch.float64) / 7 + rank).requires_grad_()
    weights = torch.arange(4.0, dtype=torch.float64) + rank
    for function in (lambda x: tt.all_reduce(x, "mean").square() @ weights,
                     lambda x: tt.reduce_scatter(x.repeat(world)).pow(3) @ weights):
        (slope,) = torch.autograd.grad(function(x), x)
        for changed in range(world):
            step = torch.zeros(4, dtype=torch.float64)
            step[1] = 1e-6 if changed == rank else 0
            losses = torch.stack([function((x + step).detach()), function((x - step).detach())])
            dist.all_reduce(losses)
            if changed == rank:
                torch.testing.assert_close(slope[1], (losses[0] - losses[1]) / 2e-6, rtol=1e-6, atol=0)
    (g,) = torch.autograd.grad(tt.all_reduce(x).square().sum(), x, create_graph=True)
    (gg,) = torch.autograd.grad(g.sum(), x)
    torch.testing.assert_close(gg, torch.full_like(x, 2.0 * world * world))
    for op in ("product", "min", "max"):
        for call in (tt.all_reduce, tt.reduce_scatter):
            with pytest.raises(tilefold.UnsupportedError, match=f"'{op}' has no gradient"):
                call(x.repeat(world), op).sum().backward()
    with pytest.raises(RuntimeError, match="leaf Variable"):
        tt.all_reduce_(x)
    with torch.no_grad():
        result = tt.all_reduce(x)
        assert same(tt.all_reduce_(x), result)


@pytest.mark.parametrize("world", (2, 3))
def test_gradients(world):
    on_ranks(world, gradients)


# ---- compiled


def compiled():
    world = dist.get_world_size()
    x = floats((world * 50, 3)).requires_grad_()
    group = dist.new_group(range(world))

    def functional(x):
        return tt.all_reduce(x * 2, "sum", group).sin() + tt.all_reduce(x, "mean") + tt.reduce_scatter(x).sum()

    def in_place(x):
        y, output = x * 2, torch.empty(50, 3)
        tt.all_reduce_(y)
        tt.reduce_scatter_tensor(output, y.detach(), "max", group)
        return y.sin() + output.sum()

    for function in (functional, in_place):
        eager = function(x)
        got = torch.compile(function, fullgraph=True, backend="aot_eager")(x)
        assert same(got, eager)
        g = floats(eager.shape, 2)
        (a,), (b,) = torch.autograd.grad(got, x, g), torch.autograd.grad(eager, x, g)
        assert same(a, b)
    with torch.no_grad():
        assert same(torch.compile(in_place, fullgraph=True, backend="aot_eager")(x), in_place(x))


def test_compiled():
    on_ranks(2, compiled)


def check_operators():
    name, ops = dist.group.WORLD.group_name, torch.ops.tilefold
    world = dist.get_world_size()
    x = floats((world * 2, 3)).t().contiguous().t()
    for one in (x, floats((world * 2, 3), dtype=torch.bfloat16), torch.empty(0, 3)):
        output = one[:one.shape[0] // world].contiguous()
        torch.library.opcheck(ops.all_reduce.default, (one.clone().requires_grad_(), "sum", name))
        torch.library.opcheck(ops.all_reduce_.default, (one.clone(), "mean", name))
        torch.library.opcheck(ops.reduce_scatter.default, (one.clone().requires_grad_(), "sum", name))
        torch.library.opcheck(ops.reduce_scatter_tensor.default, (output, one, "max", name))
        torch.library.opcheck(ops.reduce_scatter_backward.default, (output.clone(), "mean", name))


@pytest.mark.parametrize("world", (1, 2))
def test_operators_of_torch(world):
    on_ranks(world, check_operators)


# ---- buckets of gradients


def train(bucket_mb):
    torch.manual_seed(1)
    model = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(6)])
    model = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=bucket_mb)
    model.register_comm_hook(None, averaged_by_tilefold)
    model(floats((16, 64)) * 1e-3).square().sum().backward()
    return [bits_of(one.grad) for one in model.parameters()]


def averaged_by_tilefold(state, bucket):
    buffer = bucket.buffer()
    done = torch.futures.Future(devices=[buffer.device] if buffer.is_cuda else [])
    done.set_result(tt.all_reduce_(buffer, "mean"))
    return done


def test_gradients_do_not_depend_on_buckets():
    small, large = on_ranks(3, train, 0.02), on_ranks(3, train, 25)
    for one in small[1:] + large:
        for a, b in zip(small[0], one):
            np.testing.assert_array_equal(a, b)


# ---- errors


def errors():
    world = dist.get_world_size()
    x = floats((3 * world, 2))
    wrong = [
        (lambda: tt.all_reduce(x, "avg"), "all_reduce: op is 'avg', and must be one of sum, product, min, max, mean"),
        (lambda: tt.all_reduce_(x, dist.ReduceOp.SUM), "all_reduce_: op is"),
        (lambda: tt.all_reduce(x.long(), "mean"), "torch.int64 are not taken with op 'mean'"),
        (lambda: tt.all_reduce(x.int(), "exact_sum"), "torch.int32 are not taken with op 'exact_sum'"),
        (lambda: tt.all_reduce(x > 0), "torch.bool are not taken with op 'sum'"),
        (lambda: tt.all_reduce(x + 1j), "torch.complex64 are not taken"),
        (lambda: tt.all_reduce(x.to(torch.float8_e5m2)), "torch.float8_e5m2 are not taken"),
        (lambda: tt.all_reduce(x.to_sparse()), "layout torch.sparse_coo are not taken"),
        (lambda: tt.all_reduce(x, "sum", dist.GroupMember.NON_GROUP_MEMBER), "this rank is not in the group"),
        (lambda: tt.reduce_scatter(x[1:]), rf"of \({3 * world - 1}, 2\) over {world} ranks: .* multiple of {world}"),
        (lambda: tt.reduce_scatter(x[0, 0]), r"of a tensor of \(\) over"),
        (lambda: tt.reduce_scatter_tensor(x[:2], x), f"of {6 * world} items over {world} ranks to an output of 4"),
        (lambda: tt.reduce_scatter_tensor(x[:3].double(), x), "output is of torch.float64 on cpu, and input of"),
        (lambda: tt.reduce_scatter_tensor(x[:3], x, "or"), "reduce_scatter_tensor: op is 'or'"),
    ]
    for call, text in wrong:
        with pytest.raises(tilefold.TilefoldError, match=text):
            call()
        assert tt.all_reduce(torch.ones(1)) == world, "nothing was sent"


@pytest.mark.parametrize("world", (2,))
def test_errors(world):
    on_ranks(world, errors)


def test_without_a_group():
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        tt.all_reduce(torch.ones(3))


# ---- the example of docs/all_reduce.md


def test_the_example():
    root = pathlib.Path(__file__).parents[2]
    example = root / "examples" / "ranks" / "torch_all_reduce.py"
    program = example.read_text().partition('"""\n')[2]
    assert program and program in (root / "docs" / "all_reduce.md").read_text()
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, check=True, timeout=120)
    assert "tilefold: 0 of 5000 sums differ in a message of 10000" in done.stdout
