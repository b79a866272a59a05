# SPDX-License-Identifier: Apache-2.0
#
# index_add, scatter_add, scatter_reduce and reduce_by_index of tilefold.torch: values and gradients against torch's own
# in double, and the bits of sums in tilefold's order. On the CPU and, where there is one, on the GPU.
import pytest
import torch
from test_torch import DEVICES, DTYPES, data, error, same

import tilefold
import tilefold.torch as tt

REDUCTIONS = ["sum", "prod", "mean", "amax", "amin"]
SHAPES = [((9,), 0, 40), ((9, 5), 0, 40), ((6, 9), 1, 30), ((4, 9, 3), -2, 25)]


def indices(device, shape, extent, seed=3):
    """Some of the results have many items, and some none."""
    rng = torch.Generator().manual_seed(seed)
    return (torch.randint(0, extent, shape, generator=rng) ** 2 // extent).to(device)


def with_extent(shape, dim, extent):
    shape = list(shape)
    shape[dim] = extent
    return shape


def compare(ours, theirs, inputs, dtype, seed=5):
    """Values and gradients of both, theirs in double."""
    a = [x.detach().clone().requires_grad_() for x in inputs]
    b = [x.detach().double().requires_grad_() for x in inputs]
    y, z = ours(*a), theirs(*b)
    assert y.dtype == dtype and y.shape == z.shape and y.device == inputs[0].device and y.is_contiguous()
    torch.testing.assert_close(y.double(), z, rtol=error(dtype), atol=error(dtype))
    g = data(y.device, dtype, y.shape, seed)
    y.backward(g)
    z.backward(g.double())
    for one, other in zip(a, b):
        assert one.grad.dtype == dtype
        torch.testing.assert_close(one.grad.double(), other.grad, rtol=5 * error(dtype), atol=5 * error(dtype))
    again = [x.detach().clone().requires_grad_() for x in inputs]
    once_more = ours(*again)
    once_more.backward(g)
    assert same(once_more, y) and all(same(one.grad, other.grad) for one, other in zip(again, a)), "deterministic"


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape, dim, n", SHAPES)
def test_index_add(shape, dim, n, dtype, device):
    index = indices(device, (n,), shape[dim])
    inputs = [data(device, dtype, shape, 1), data(device, dtype, with_extent(shape, dim, n), 2)]
    for alpha in (1, -0.5):
        compare(lambda x, y: tt.index_add(x, dim, index, y, alpha=alpha),
                lambda x, y: torch.index_add(x, dim, index, y, alpha=alpha), inputs, dtype)
    of_int32 = tt.index_add(inputs[0], dim, index.int(), inputs[1])
    assert same(of_int32, tt.index_add(inputs[0], dim, index, inputs[1]))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_order_of_sums(device, dtype):
    x, source = data(device, dtype, (20, 3), 1), data(device, dtype, (3000, 3), 2) * 1000
    index = indices(device, (3000,), 20)
    got, gathered = tt.index_add(x, 0, index, source), tt.reduce_by_index(index, source, 20)
    scattered = tt.scatter_add(x, 0, index[:, None].expand(3000, 3), source)
    for i in range(20):
        total = tilefold.sum(source[index == i].float().cpu().numpy(), 0)
        total = torch.from_numpy(total).to(device)
        assert same(gathered[i], total.to(dtype)), i
        assert same(got[i], (x[i].float() + total).to(dtype)) and same(scattered[i], got[i])
    own, items = 1 + x[:, 0] / 100, 1 + source[:40, 0] / 1e5
    products = tt.scatter_reduce(own, 0, index[:40], items, "prod")
    for i in range(20):
        factors = torch.cat([own[i:i + 1], items[index[:40] == i]])
        assert same(products[i], torch.tensor(tilefold.prod(factors.float().cpu().numpy())).to(products)), i


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape, dim, n", SHAPES)
def test_scatter_add(shape, dim, n, dtype, device):
    of_source = with_extent(shape, dim, n)
    inputs = [data(device, dtype, shape, 1), data(device, dtype, of_source, 2)]
    index = indices(device, of_source, shape[dim])
    compare(lambda x, y: tt.scatter_add(x, dim, index, y), lambda x, y: torch.scatter_add(x, dim, index, y), inputs, dtype)
    fewer = index[tuple(slice(max(m - 2, 1)) for m in of_source)]  # than items, along every dim
    small = tt.scatter_add(inputs[0], dim, fewer, inputs[1])
    torch.testing.assert_close(small.double(), torch.scatter_add(inputs[0].double(), dim, fewer, inputs[1].double()),
                               rtol=error(dtype), atol=error(dtype))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("shape, dim, n", SHAPES)
def test_scatter_reduce(shape, dim, n, include_self, reduce, device):
    of_source = with_extent(shape, dim, n)
    index = indices(device, of_source, shape[dim])
    for dtype in DTYPES:
        inputs = [data(device, dtype, shape, 1), data(device, dtype, of_source, 2)]
        if reduce == "prod":
            inputs = [torch.sign(x) * (0.5 + x.abs() / 20) for x in inputs]
        if not include_self:
            inputs[0] = inputs[0] + 100  # torch lets self share a gradient by chance, if it equals the extreme
        compare(lambda x, y: tt.scatter_reduce(x, dim, index, y, reduce, include_self=include_self),
                lambda x, y: torch.scatter_reduce(x, dim, index, y, reduce, include_self=include_self), inputs, dtype)


@pytest.mark.parametrize("device", DEVICES)
def test_equal_extremes_and_zeros_have_torchs_gradients(device):
    index = torch.tensor([0, 0, 0, 1, 1, 2, 2, 2], device=device)
    x = torch.tensor([3.0, 0.0, 2.0, 5.0], dtype=torch.float64, device=device)
    src = torch.tensor([3.0, 1.0, 3.0, 0.0, 0.0, 0.0, 2.0, 7.0], dtype=torch.float64, device=device)
    for reduce in ("amax", "amin", "prod"):
        for include_self in (True, False):
            compare(lambda x, y: tt.scatter_reduce(x, 0, index, y, reduce, include_self=include_self),
                    lambda x, y: torch.scatter_reduce(x, 0, index, y, reduce, include_self=include_self),
                    [x if include_self else x + 100, src], torch.float64)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("op", REDUCTIONS)
def test_gradcheck(op, device):
    source = data(device, torch.float64, (12, 2), 4).requires_grad_()
    index = indices(device, (12,), 5)
    assert torch.autograd.gradcheck(lambda x: tt.reduce_by_index(index, x, 4, op)[index.unique()], source)
    (g,) = torch.autograd.grad(tt.reduce_by_index(index, source, 4, op)[index].pow(2).sum(), source, create_graph=True)
    if op in ("sum", "mean"):
        assert torch.autograd.gradgradcheck(lambda x: tt.reduce_by_index(index, x, 4, op)[index], source)
    else:
        with pytest.raises(tilefold.UnsupportedError, match="backward of a backward is not there"):
            g.sum().backward()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("narrow", [torch.int8, torch.uint8, torch.int16, torch.int32])
def test_narrow_indices(device, narrow):
    """Places in the result are beyond what they hold."""
    index = indices(device, (30, 50), 100)
    x, src = data(device, torch.float32, (100, 50), 1), data(device, torch.float32, (30, 50), 2)
    for extent in (100, 300):
        own = x if extent == 100 else torch.cat([x, x, x])
        expected = tt.scatter_add(own, 0, index, src)
        torch.testing.assert_close(expected, torch.scatter_add(own, 0, index, src))
        assert same(tt.scatter_add(own, 0, index.to(narrow), src), expected)
    with_gradient = src[:, 0].clone().requires_grad_()
    tt.index_add(x[:, 0], 0, index[:, 0].to(narrow), with_gradient).sum().backward()
    assert bool((with_gradient.grad == 1).all())


@pytest.mark.parametrize("device", DEVICES)
def test_a_nan_is_an_extreme_and_has_its_gradient(device):
    index = torch.tensor([1, 1, 0, 1], device=device)
    source = torch.tensor([1, float("nan"), 2, 3], device=device, requires_grad=True)
    for op in ("amax", "amin"):
        source.grad = None
        tt.reduce_by_index(index, source, 3, op)[:2].sum().backward()
        assert source.grad.isnan().tolist() == [True, True, False, True] and source.grad[2] == 1


@pytest.mark.parametrize("device", DEVICES)
def test_integers(device):
    x, y = torch.arange(6, device=device), torch.arange(20, device=device) - 7
    index = indices(device, (20,), 6)
    for dtype in (torch.int64, torch.int32, torch.uint8):
        a, b = x.to(dtype), y.to(dtype)
        assert torch.equal(tt.index_add(a, 0, index, b), torch.index_add(a, 0, index, b))
        for reduce in ("sum", "amax", "amin", "prod"):
            assert torch.equal(tt.scatter_reduce(a, 0, index, b, reduce), torch.scatter_reduce(a, 0, index, b, reduce))
    assert tt.reduce_by_index(index, y.int(), 6).dtype == torch.int64


@pytest.mark.skipif(len(DEVICES) < 2, reason="TILEFOLD_TEST_DEVICES names one device")
@pytest.mark.parametrize("dtype", DTYPES)
def test_cpu_and_gpu_have_the_same_bits(dtype):
    index, source, x = indices("cpu", (5000,), 70), data("cpu", dtype, (5000, 6)), data("cpu", dtype, (70, 6), 2)
    for function in (lambda i, s, x: tt.index_add(x, 0, i, s),
                     lambda i, s, x: tt.scatter_add(x, 0, i[:, None].expand(-1, 6), s),
                     *(lambda i, s, x, op=op: tt.reduce_by_index(i, s, 70, op) for op in REDUCTIONS if op != "prod")):
        assert same(function(index, source, x), function(index.cuda(), source.cuda(), x.cuda()).cpu())


@pytest.mark.skipif("cuda" not in DEVICES, reason="TILEFOLD_TEST_DEVICES names no GPU")
def test_nothing_waits_and_what_is_out_of_range_is_left_out():
    index, source = torch.tensor([0, 5, -1, 1], device="cuda"), torch.ones(4, device="cuda")
    x = torch.zeros(2, device="cuda")
    torch.cuda.set_sync_debug_mode("error")
    try:
        added, scattered = tt.index_add(x, 0, index, source), tt.scatter_add(x, 0, index, source)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert added.tolist() == [1, 1] and scattered.tolist() == [1, 1]


@pytest.mark.parametrize("device", DEVICES)
def test_nothing_to_add(device):
    x, none = data(device, torch.float32, (4, 3)), torch.zeros(0, dtype=torch.int64, device=device)
    assert same(tt.index_add(x, 0, none, x[:0]), x) and same(tt.scatter_add(x, 0, none.reshape(0, 3), x[:0]), x)
    for include_self in (True, False):
        assert same(tt.scatter_reduce(x, 0, none.reshape(0, 3), x[:0], "amax", include_self=include_self), x)
    assert tt.reduce_by_index(none, x[:0], 2).shape == (2, 3) and tt.index_add(x[:0], 0, none, x[:0]).shape == (0, 3)


@pytest.mark.parametrize("device", DEVICES)
def test_errors(device):
    x, index = torch.ones(2, 3, device=device), torch.tensor([0, 1], device=device)
    calls = [(lambda: tt.index_add(x, 2, index, x), "no dim 2"), (lambda: tt.index_add(x, 1, index, x), "index_add along dim 1"),
             (lambda: tt.index_add(x, 0, index, x.double()), "source of torch.float64"),
             (lambda: tt.scatter_reduce(x, 0, index[:, None], x, "max"), "reduce is 'max'"),
             (lambda: tt.scatter_add(x, 0, index, x), r"an index of \(2,\)"),
             (lambda: tt.scatter_reduce(x.long(), 0, index[:, None], x.long(), "mean"), "no floating type"),
             (lambda: tt.reduce_by_index(index, x, 2, "max"), "op is 'max'"),
             (lambda: tt.reduce_by_index(index, x[:1], 2), "there must be an index for each row"),
             (lambda: tt.index_add(x.cfloat(), 0, index, x.cfloat()), "complex64 is not taken"),
             (lambda: tt.reduce_by_index(index, x.cfloat(), 2), "complex64 is not taken"),
             (lambda: tt.index_add(x, 0, index.bool(), x), "index is of torch.bool, and must be of integers"),
             (lambda: tt.scatter_add(x, 0, index[:, None].float(), x), "index is of torch.float32"),
             (lambda: tt.index_add(x, 0, index, x, alpha=1j), "alpha is 1j, and must be a number of torch.float32"),
             (lambda: tt.index_add(x.long(), 0, index, x.long(), alpha=2.5), "alpha is 2.5, and must be a number")]
    if device == "cpu":
        calls += [(lambda: tt.index_add(x, 0, index + 1, x), "item 1 has the index 2, but there are 2 results"),
                  (lambda: tt.scatter_add(x, 1, index[:, None] - 1, x), "index has -1 in it, and dim 1 of input has 3")]
    for call, text in calls:
        with pytest.raises(tilefold.TilefoldError, match=text):
            call()


@pytest.mark.parametrize("device", DEVICES)
def test_compiled(device):
    index = indices(device, (30,), 7)

    def loss(x, y):
        added = tt.index_add(x, 0, index, y, alpha=2)
        extreme = tt.scatter_reduce(x, 0, index[:, None].expand(30, 4), y, "amax")
        return (added * extreme).sum() + tt.scatter_reduce(x, 0, index[:, None].expand(30, 4), y, "mean",
                                                           include_self=False).sum()

    x = data(device, torch.float32, (7, 4)).requires_grad_()
    y = data(device, torch.float32, (30, 4), 2).requires_grad_()
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")(x, y)
    eager = loss(x, y)
    assert same(compiled, eager)
    for a, b in zip(torch.autograd.grad(compiled, (x, y)), torch.autograd.grad(eager, (x, y))):
        assert same(a, b)
    every = torch.arange(30, device=device) % 7  # no result is NaN
    for op in REDUCTIONS:
        torch.library.opcheck(torch.ops.tilefold.reduce_by_index.default, (every, y, 7, op))
    torch.library.opcheck(torch.ops.tilefold.places_by_index.default, (index[:, None].expand(30, 4), [7, 4], 0))
    g = data(device, torch.float32, (7, 4), 3)
    torch.library.opcheck(torch.ops.tilefold.reduce_by_index_backward.default, (g, index, y.detach(), g, "amax"))
