# SPDX-License-Identifier: Apache-2.0
#
# tilefold.torch: values and gradients against torch's own in double, the same bits alone and in a batch, twice and
# compiled. On the CPU and, where there is one, on the GPU (TILEFOLD_TEST_DEVICES=cpu leaves it out).
import contextlib
import io
import math
import os
import pathlib
import sys

import pytest
import torch
from test_between_steps import between_steps

import tilefold
import tilefold.torch as tt

ROOT = pathlib.Path(__file__).parents[2]
DEVICES = os.environ.get("TILEFOLD_TEST_DEVICES", "cpu,cuda").split(",")
DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
F = torch.nn.functional

#: name: (ours, torch's, the shape of the operand)
CASES = {
    "sum": (lambda x: tt.sum(x, 1), lambda x: x.sum(1)),
    "sum of all": (tt.sum, torch.sum),
    "sum keeping": (lambda x: tt.sum(x, (0, -1), True), lambda x: x.sum((0, -1), True)),
    "mean": (lambda x: tt.mean(x, (0, 2)), lambda x: x.mean((0, 2))),
    "var": (lambda x: tt.var_mean(x, 1)[0], lambda x: torch.var_mean(x, 1)[0]),
    "var_mean": (lambda x: sum(tt.var_mean(x, (1, 2), correction=0, keepdim=True)),
                 lambda x: sum(torch.var_mean(x, (1, 2), correction=0, keepdim=True))),
    "logsumexp": (lambda x: tt.logsumexp(x, 1), lambda x: torch.logsumexp(x, 1)),
    "log_softmax": (lambda x: tt.log_softmax(x, -1), lambda x: torch.log_softmax(x, -1)),
    "log_softmax of columns": (lambda x: tt.log_softmax(x, 0), lambda x: torch.log_softmax(x, 0)),
    "softmax": (lambda x: tt.softmax(x, 2), lambda x: torch.softmax(x, 2)),
    "rms_norm": (lambda x: tt.rms_norm(x, x.shape[-1:]), lambda x: F.rms_norm(x, x.shape[-1:])),
    "rms_norm of two": (lambda x: tt.rms_norm(x, x.shape[-2:], eps=0.1),
                        lambda x: F.rms_norm(x, x.shape[-2:], eps=0.1)),
    "norm": (lambda x: tt.norm(x, 2, 1), lambda x: torch.linalg.vector_norm(x, 2, 1)),
    "norm 1": (lambda x: tt.norm(x, 1), lambda x: torch.linalg.vector_norm(x, 1)),
    "norm inf": (lambda x: tt.norm(x, math.inf, (1, 2), True),
                 lambda x: torch.linalg.vector_norm(x, math.inf, (1, 2), True)),
}


def data(device, dtype, shape=(5, 17, 40), seed=1):
    rng = torch.Generator().manual_seed(seed)
    return (torch.randn(shape, generator=rng, dtype=torch.float64) * 3).to(dtype).to(device)


def same(a, b):
    raw = {2: torch.int16, 4: torch.int32, 8: torch.int64}[a.element_size()]
    return a.dtype == b.dtype and a.shape == b.shape and torch.equal(a.contiguous().view(raw), b.contiguous().view(raw))


def error(dtype):
    return {torch.float64: 1e-12, torch.float32: 2e-5, torch.float16: 2e-2, torch.bfloat16: 1e-1}[dtype]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name, dtype, device):
    ours, theirs = CASES[name]
    x = data(device, dtype).requires_grad_()
    exact = x.detach().double().requires_grad_()
    eps = {"rms_norm": torch.finfo(dtype).eps}.get(name)
    y = ours(x)
    z = theirs(exact) if eps is None else F.rms_norm(exact, exact.shape[-1:], eps=eps)
    assert y.dtype == dtype and y.shape == z.shape and y.device == x.device
    torch.testing.assert_close(y.double(), z, rtol=error(dtype), atol=error(dtype))
    g = data(device, dtype, y.shape, 2)
    y.backward(g)
    z.backward(g.double())
    assert x.grad.dtype == dtype
    torch.testing.assert_close(x.grad.double(), exact.grad, rtol=3 * error(dtype), atol=3 * error(dtype))
    again = x.detach().clone().requires_grad_()
    ours(again).backward(g)
    assert same(again.grad, x.grad), "deterministic"


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["sum", "mean", "var_mean", "logsumexp", "log_softmax", "softmax", "norm", "rms_norm"])
def test_gradcheck(name, device):
    x = data(device, torch.float64, (3, 4, 5)).requires_grad_()
    assert torch.autograd.gradcheck(CASES[name][0], x)


@pytest.mark.parametrize("device", DEVICES)
def test_weight_of_rms_norm(device):
    x, w = data(device, torch.float64, (6, 8)).requires_grad_(), data(device, torch.float64, (8,), 3).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, w: tt.rms_norm(x, (8,), w, 1e-3), (x, w))
    torch.testing.assert_close(tt.rms_norm(x, (8,), w, 1e-3), F.rms_norm(x, (8,), w, 1e-3))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_row_alone_and_in_a_batch(dtype, device):
    rows = {"log_softmax": lambda x: tt.log_softmax(x, -1), "softmax": lambda x: tt.softmax(x, -1),
            "rms_norm": lambda x: tt.rms_norm(x, x.shape[-1:]), "sum": lambda x: tt.sum(x, -1),
            "mean": lambda x: tt.mean(x, -1), "logsumexp": lambda x: tt.logsumexp(x, -1),
            "norm": lambda x: tt.norm(x, 2, -1)}
    for n in (1, 7, 64, 1000, 5000):
        x = data(device, dtype, (70, n))
        for name, function in rows.items():
            batch = function(x)
            for i in (0, 33, 69):
                assert same(function(x[i:i + 1])[0], batch[i]), (name, n, i)
            assert same(function(x[5:40]), batch[5:40]), (name, n)


@pytest.mark.skipif(len(DEVICES) < 2, reason="TILEFOLD_TEST_DEVICES names one device")
@pytest.mark.parametrize("dtype", DTYPES)
def test_cpu_and_gpu_have_the_same_bits(dtype):
    x = data("cpu", dtype, (30, 501))
    for function in (lambda x: tt.sum(x, 1), tt.mean, lambda x: tt.var_mean(x, 0)[0], lambda x: tt.norm(x, 2, 1),
                     lambda x: tt.logsumexp(x, 1)):
        assert same(function(x), function(x.cuda()).cpu())


@pytest.mark.parametrize("device", DEVICES)
def test_extremes(device):
    inf = math.inf
    x = torch.tensor([[-inf, -inf], [0, -inf], [1000, 1000], [inf, 0]], device=device)
    torch.testing.assert_close(tt.logsumexp(x, 1), torch.logsumexp(x, 1))
    x = x[:3]
    torch.testing.assert_close(tt.log_softmax(x, 1), torch.log_softmax(x, 1), equal_nan=True)
    torch.testing.assert_close(tt.softmax(x, 1), torch.softmax(x, 1), equal_nan=True)
    assert tt.mean(torch.ones(0, device=device)).isnan() and tt.sum(torch.ones(0, device=device)) == 0
    assert tt.log_softmax(torch.ones(0, 3, device=device), 1).shape == (0, 3)
    assert tt.softmax(torch.tensor(2.0, device=device), 0) == 1
    assert tt.log_softmax(torch.tensor(2.0, device=device), -1) == 0
    assert tt.sum(torch.ones(3, dtype=torch.bool, device=device)).dtype == torch.int64
    large = torch.tensor([1000.0, 0.0, 999.0], device=device)
    torch.testing.assert_close(tt.log_softmax(large, 0).double(), torch.log_softmax(large.double(), 0), rtol=1e-6,
                               atol=1e-7)


@pytest.mark.parametrize("device", DEVICES)
def test_errors(device):
    x = torch.ones(2, 3, device=device)
    for call, text in [(lambda: tt.sum(x, 2), "no dim 2"), (lambda: tt.sum(x, (0, -2)), "named twice"),
                       (lambda: tt.norm(x, 3), "p is 3"), (lambda: tt.var_mean(x, 0, correction=2), "correction is 2"),
                       (lambda: tt.softmax(x, (0, 1)), r"dim is \(0, 1\), and must be one"),
                       (lambda: tt.log_softmax(x, None), "dim is None, and must be one"),
                       (lambda: tt.softmax(x, -3), "no dim -3"), (lambda: tt.log_softmax(x[0, 0], 1), "no dim 1"),
                       (lambda: tt.batch_invariant("gpu").__enter__(), "device is 'gpu'"),
                       (lambda: tt.mean(x.long()), "floating"), (lambda: tt.rms_norm(x, (2,)), r"over \(2,\)"),
                       (lambda: tt.rms_norm(x, (3,), torch.ones(2, device=device)), r"weight of \(2,\)")]:
        with pytest.raises(tilefold.TilefoldError, match=text):
            call()


@pytest.mark.parametrize("device", DEVICES)
def test_compiled(device):
    def loss(x):
        return -(tt.log_softmax(x, -1) * tt.softmax(x, -1)).sum() + tt.norm(tt.rms_norm(x, x.shape[-1:]))

    x = data(device, torch.float32, (20, 30)).requires_grad_()
    seen = []

    def backend(graph, _):
        seen.extend(str(node.target) for node in graph.graph.nodes)
        return graph.forward

    compiled = torch.compile(loss, fullgraph=True, backend=backend)(x)
    assert any("tilefold" in one for one in seen), seen
    eager = loss(x)
    assert same(compiled, eager)
    (a,), (b,) = torch.autograd.grad(compiled, x), torch.autograd.grad(eager, x)
    assert same(a, b)
    torch.library.opcheck(torch.ops.tilefold.sum.default, (x, [1], False))
    torch.library.opcheck(torch.ops.tilefold.log_softmax.default, (x, 1))
    torch.library.opcheck(torch.ops.tilefold.var_mean.default, (x, [0], 1, False))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_strides_of_compiled_results(device, dtype):
    # A graph is made for the strides that the fakes tell.
    x, g = (data(device, dtype, (6, 5, 4), seed).transpose(0, 2) for seed in (1, 2))
    y, w, scale = tt.softmax(x, 1), x[0, 0], data(device, torch.float64, (4, 5, 1)).abs()
    for name, *arguments in [
            ("sum", x, [1], True), ("mean", x, [0, 1], False), ("var_mean", x, [1], 1, True),
            ("logsumexp", x, [0], False), ("log_softmax", x, 0), ("softmax", x, 1), ("norm", x, 2.0, [1], True),
            ("rms_norm", x, 1, None, 1e-3), ("rms_norm", x, 1, w, 1e-3),
            ("var_mean_backward", g, g, x, x, 6, 1), ("var_mean_backward", None, g[:1].expand(4, 5, 6), x, x, 6, 1),
            ("var_mean_backward", g, None, x, x, 6, 1), ("logsumexp_backward", g, x, x),
            ("log_softmax_backward", g, y.transpose(0, 1).contiguous().transpose(0, 1), 1),
            ("softmax_backward", g, y, 1), ("rms_norm_backward", g, x, 1, None, scale),
            ("rms_norm_backward", g, x, 1, w, scale), ("norm_backward", g, x, x, 1.0, [1]),
            ("norm_backward", g, x, x, 2.0, [1]), ("norm_backward", g, x, x, math.inf, [1])]:
        op = getattr(torch.ops.tilefold, name).default
        torch.library.opcheck(op, arguments, test_utils=("test_schema", "test_faketensor"))
        results = op(*arguments)
        assert all(one.is_contiguous() for one in (results if isinstance(results, tuple) else [results])), name


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", CASES)
def test_gradients_of_transposed_tensors_compiled(name, device):
    x = data(device, torch.float32, (6, 5, 4)).transpose(0, 2).requires_grad_()
    eager = CASES[name][0](x)
    compiled = torch.compile(CASES[name][0], fullgraph=True, backend="aot_eager")(x)
    assert same(compiled, eager)
    g = data(device, torch.float32, tuple(reversed(eager.shape)), 2).permute(tuple(reversed(range(eager.dim()))))
    (a,), (b,) = torch.autograd.grad(compiled, x, g), torch.autograd.grad(eager, x, g)
    assert same(a, b)


@pytest.mark.parametrize("device", DEVICES)
def test_gradient_of_the_mean_alone(device):
    # The variance has a slope of NaN here, and no part in the result.
    for x in ([[2.0], [3.0]], [[math.inf, 1.0], [2.0, -math.inf]]):
        x = torch.tensor(x, device=device, requires_grad=True)
        (got,) = torch.autograd.grad(tt.var_mean(x, 1)[1].sum(), x)
        assert same(got, torch.full_like(x, 1 / x.shape[1]))
        assert torch.autograd.grad(tt.var_mean(x, 1)[0].sum(), x)[0].isnan().any()
    x = data(device, torch.float64, (3, 4)).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: tt.var_mean(x, 1)[1], x)
    assert torch.autograd.gradcheck(lambda x: tt.var_mean(x, 1)[0], x)
    assert torch.autograd.gradcheck(lambda x: tt.var_mean(x, 1), x)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", CASES)
def test_a_backward_of_a_backward_is_refused(name, device):
    x = data(device, torch.float64, (3, 4, 5)).requires_grad_()
    function = CASES[name][0]
    (g,) = torch.autograd.grad(function(x).pow(2).sum(), x, create_graph=True)
    if name.startswith("sum") or name == "mean":
        assert torch.autograd.gradgradcheck(function, x)
    else:
        with pytest.raises(tilefold.UnsupportedError, match="backward of a backward is not there"):
            g.sum().backward()


def test_in_place_of_torch_by_many(monkeypatch):
    # Each leaves when it likes; torch's own come back with the last, and for each device by itself.
    x = data("cpu", torch.float32, (30, 600))
    ours, before = tt.log_softmax(x, -1), torch.log_softmax(x, -1)
    assert not same(ours, before)
    first, second, other = (tt.batch_invariant(one) for one in ("cpu", "cpu", "cuda"))
    for one in (first, other, second):
        one.__enter__()
    for one in (other, first):
        one.__exit__(None, None, None)
        assert same(torch.log_softmax(x, -1), ours)
    second.__exit__(None, None, None)
    assert same(torch.log_softmax(x, -1), before)
    with tt.batch_invariant("cuda"):
        assert same(torch.log_softmax(x, -1), before)

    known = tt._in_place_of_torch()
    monkeypatch.setattr(tt, "_in_place_of_torch", lambda: known + [("sum", None)])
    with pytest.raises((TypeError, ValueError), match="callable"):
        tt.batch_invariant("cpu").__enter__()
    assert same(torch.log_softmax(x, -1), before), "nothing is left of one that failed"
    monkeypatch.undo()
    with tt.batch_invariant("cpu"):
        assert same(torch.log_softmax(x, -1), ours)


@pytest.mark.parametrize("device", DEVICES)
def test_in_place_of_torch(device):
    x = data(device, torch.float32, (30, 600))
    before = torch.log_softmax(x, -1)
    with tt.batch_invariant(device):
        with tt.batch_invariant(device):
            assert same(torch.log_softmax(x, -1), tt.log_softmax(x, -1))
        assert same(torch.softmax(x, -1), tt.softmax(x, -1))
        assert same(x.sum(-1), tt.sum(x, -1)) and same(x.sum(), tt.sum(x))
        assert same(x.mean(-1), tt.mean(x, -1)) and same(x.mean(), tt.mean(x))
        assert same(torch.linalg.vector_norm(x, dim=-1), tt.norm(x, 2, -1))
        assert same(torch.var_mean(x, -1)[0], tt.var_mean(x, -1)[0]) and same(x.var(-1), tt.var_mean(x, -1)[0])
        assert same(torch.logsumexp(x, -1), tt.logsumexp(x, -1))
        if device == "cuda":
            assert same(F.rms_norm(x, (600,), eps=1e-5), tt.rms_norm(x, (600,), eps=1e-5))
        assert x.long().sum().dtype == torch.int64 and (x > 0).sum() == int((x > 0).cpu().numpy().sum())
        half = x.half()
        assert same(torch.softmax(half, -1, dtype=torch.float32), tt.softmax(half, -1, torch.float32))
    assert same(torch.log_softmax(x, -1), before)


def test_the_example_of_the_readme():
    sys.path.insert(0, str(ROOT / "docs" / "site"))
    import snippets

    block, = [b for b in snippets.read_blocks("README.md") if "import torch" in b.code]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.code, block.place, "exec"), {})
    assert printed.getvalue() == block.output


@pytest.mark.parametrize("device", DEVICES)
def test_a_tensor_that_is_set_to_other_memory_between_two_steps(device):
    """By another thread, or a signal's handler: it is read as it was at one of them."""
    memory = torch.cat([torch.arange(1.0, 2001.0), torch.full((4000,), 1e6)]).to(device)
    layouts = [memory[:1000].view(10, 100), memory[:1000].view(10, 100).T, memory[500:600].view(2, 50)]
    x = torch.empty(0, device=device)
    calls = [lambda: tt.sum(x), lambda: tt.sum(x, 0), lambda: tt.mean(x, 1, True)]
    if device == "cuda":
        calls += [lambda: tilefold.max(x), lambda: tilefold.sum(x, 0), lambda: tilefold.piece(x).value()]
    for call in calls:
        possible = []
        for layout in layouts:
            x.set_(layout)
            possible.append(torch.as_tensor(call()))
        at, count = 0, 1
        while at < count:
            at, count = at + 1, 0
            x.set_(layouts[0])

            def handler():
                nonlocal count
                count += 1
                if count == at:
                    x.set_(layouts[1 + at % 2])

            got = None
            with between_steps(handler), contextlib.suppress(tilefold.ArgumentError, RuntimeError):
                got = torch.as_tensor(call())
            assert got is None or any(torch.equal(got, one) for one in possible), (at, got)
