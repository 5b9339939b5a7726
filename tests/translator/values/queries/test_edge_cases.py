"""Inputs at the edge: NaN and tensors without elements get functions of their own, all other calls do not."""

from __future__ import annotations

import pytest

from torch2ms import translate_source
from torch2ms.config import Options, Target

HEAD = "import torch\nx = torch.rand(3, 4)\n"


def _translated(text: str) -> str:
    return translate_source(HEAD + text).text


@pytest.mark.parametrize(
    "text",
    [
        "y = x.max()",
        "y = torch.maximum(x, x)",
        "y = x.clamp_min(0.5)",
        "y = torch.tensor_split(x, (1, 2))",
        "y = torch.nn.functional.relu6(x)",
        "y = torch.minimum(x, x)",
        "def f(freqs):\n    return torch.polar(torch.ones_like(freqs), freqs)",
        "def f(a):\n    return torch.nn.functional.relu6(a).conj()",
        "z = torch.fft.fft(x)\nangle = torch.angle(z)\ny = torch.polar(torch.abs(z), z.angle())[0]",
        "y = x.clamp(0, 1)",
        "best = float('inf')\ny = torch.nn.functional.max_pool2d(x, 2)",  # infinity alone costs no second pooling
        "y = torch.nn.functional.leaky_relu(x, 0.1)",
        "ok = torch.isnan(x).any()\ny = x.max()",  # a guard against NaN names none
        "name = 'nanette'\ny = torch.relu(x)",
        "y = x.sum()",
        "y = x[0].mean()",
        "y = x[1:].sum()",
        "index = torch.tensor([0, 2])\ny = x[index].sum()",
        "mask = x > 2\ny = mask.sum()",
        "y = torch.zeros(3).sum()",
        "def f(k):\n    return x[:k].sum()",
        "for i in range(1, 3):\n    y = x[:i].sum()",
        "mask = x > 2\ny = x.masked_fill(mask, 0).sum()",
    ],
)
def test_plain_calls_stay_plain(text: str) -> None:
    made = _translated(text)
    assert "nans" not in made
    assert "selections" not in made
    assert "nan_pools" not in made
    assert "functional.leaky_relu" not in made


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("x[0] = float('nan')\ny = x.max()", "functional.nans.max(x)"),
        ("x[0] = torch.nan\ny = torch.max(x, 1, keepdim=True)", "functional.nans.max(x, 1, keepdim=True)"),
        ("import math\nx[0] = math.nan\ny = torch.clip(x, min=0.5)", "functional.nans.clamp(x, min=0.5)"),
        ("x[0] = float('NaN')\ny = x.sort(descending=True)", "functional.nans.sort(x, descending=True)"),
        ("y = x[x > 2].sum()", "functional.selections.sum(x[x > 2])"),
        ("y = x.nonzero().sum()", "functional.selections.sum(x.nonzero())"),
        ("y = (x[pos_mask] - 1).sum()", "functional.selections.sum(x[pos_mask] - 1)"),
        ("for i in places:\n    y = x[i].sum()", "    y = x[i].sum()"),
        ("mask = x > 2\ny = x[mask]\nz = y.mean()", "functional.selections.mean(y)"),
        ("y = torch.sum((x[x > 2] - 1).abs())", "functional.selections.sum((x[x > 2] - 1).abs())"),
        ("y = torch.zeros(0, 3).sum(0)", "functional.selections.sum(ops.zeros((0, 3)), 0)"),
        ("y = torch.tensor([]).mean()", "functional.selections.mean("),
        ("for i in range(3):\n    y = x[:i].sum()", "functional.selections.sum(x[:i])"),
        ("def f(i):\n    return x[i + 1 :].sum(0)", "functional.selections.sum(x[i + 1 :], 0)"),
        ("def f(i):\n    return (x[i] < x[i + 1 :]).sum()", "functional.selections.sum(x[i] < x[i + 1 :])"),
        (
            "def f(ends, i):\n    return x[ends[i] : ends[i + 1]].sum(0)",
            "functional.selections.sum(x[ends[i] : ends[i + 1]], 0)",
        ),
        ("def f(i):\n    return x[i : i + 2].sum(0)", "return x[i : i + 2].sum(0)"),
        ("y = x[1:].sum()", "x[1:].sum()"),
        ("n = int((x > 2).sum())\ny = x[:n].mean()", "functional.selections.mean(x[:n])"),
        ("rows, cols = torch.where(x > 2)\ny = x[rows].sum()", "functional.selections.sum(x[rows])"),
        ("places = (x > 2).nonzero()[:, 0]\ny = x[places, 0].sum()", "functional.selections.sum(x[places, 0])"),
        ("y = torch.relu(x[x > 2].sigmoid()).mean()", "functional.selections.mean(ops.relu(x[x > 2].sigmoid()))"),
        (
            "p = torch.where(x > 2)[0]\ny = x.index_select(0, p).sum()",
            "functional.selections.sum(x.index_select(0, p))",
        ),
        ("def f(a):\n    return a[a > 2]\ny = f(x).sum()", "functional.selections.sum(f(x))"),
        ("e = torch.tensor([])\ny = (torch.cat([e, e]).unique() > 1).any()", "functional.selections.any("),
        (
            "class A:\n    def __init__(self):\n        self.t = torch.tensor([])\n"
            "    def f(self):\n        return (self.t > 1).any()",
            "functional.selections.any(self.t > 1)",
        ),
        ("y = torch.nn.functional.mse_loss(x[x > 2], x[x > 2])", "functional.loss.mse_loss(x[x > 2], x[x > 2])"),
        ("loss = torch.nn.HuberLoss()\ny = loss(x[x > 2], x[x > 2])", "loss = layers.HuberLoss()"),
        ("y = (x > 1).sign()", "functional.sign(x > 1)"),
        ("y = x.clamp_min(x[0])", "functional.clamp_min(x, x[0])"),
        ("y = torch.tensor_split(x, torch.tensor([1, 2]))", "functional.tensor_split(x, ms.tensor([1, 2]))"),
        ("y = torch.nn.functional.relu6(torch.arange(9))", "functional.relu6(ops.arange(9))"),
        ("y = torch.nn.functional.relu6(x.double())", "functional.relu6(x.astype(ms.float64))"),
        ("y = torch.minimum(x > 1, x > 2)", "functional.minimum(x > 1, x > 2)"),
        ("y = torch.min(x > 1, x > 2)", "functional.min(x > 1, x > 2)"),
        ("y = x.conj() + 1", "y = x + 1"),
        ("y = x.narrow(1, 0, 0)", "functional.narrow(x, 1, 0, 0)"),
        ("y = torch.polar(x[:, None], x)", "functional.polar(x[:, None], x)"),
        ("y = torch.transpose(dim1=0, dim0=0, input=x.sum())", "y = x.sum().copy()"),
        ("y = x.__rmod__(x[0])", "y = (x[0] % x)"),
        ("b = x.byte()\ny = ~b.reshape(-1)", "functional.bitwise_not("),
        ("b = x.byte()\nclass C:\n    def __call__(self, q):\n        return ~q", "functional.bitwise_not(q)"),
        ("y = x.double().lerp(x, 0.3)", "functional.lerp(x.astype(ms.float64), x, 0.3)"),
        ("c = torch.complex(x, x)\ny = c.any(0)", "functional.any(c, 0)"),
        ("c = torch.complex(x, x)\ny = c.bool()", "y = (c != 0)"),
        ("c = torch.complex(x, x)\ny = c.to(torch.bool)", "y = (c != 0)"),
        ("y = torch.zeros(0, 3).chunk(2)", "functional.chunk(ops.zeros((0, 3)), 2)"),
        ("x[0] = float('inf')\ny = x // 2", "y = functional.floor_divide(x, 2)"),
        ("y = x % float('inf')", "y = functional.remainder(x, float('inf'))"),
        ("x[0] = float('inf')\ny = 2 % x", "y = functional.remainder(2, x)"),
        ("x[0] = float('inf')\ny = x % 2", "y = x % 2"),
        ("x[0] = float('inf')\ny = '%s' % x", "y = '%s' % functional.tensor_text(x)"),
        ("y = torch.nn.functional.max_pool2d(torch.ones(3, 8, 8), 2)", "functional.pooling.max_pool2d("),
        ("n = torch.arange(9) * 2654435761\ny = n % 7", "y = functional.remainder(n, 7)"),
        ("n = torch.arange(9) * 2654435761\ny = n.sum()", "y = functional.whole.sum(n)"),
        ("x[0] = torch.nan\ny = torch.nn.functional.max_pool2d(x[None, None], 2)", "functional.nan_pools.max_pool2d("),
        ("x[0] = torch.nan\ny = torch.nn.MaxPool1d(2)(x)", "exact.MaxPool1d(2)(x)"),
        ("y = torch.nn.functional.leaky_relu(x.double(), 0.1)", "functional.leaky_relu(x.astype(ms.float64), 0.1)"),
        ("y = torch.randn_like(torch.complex(x, x))", "functional.randn_like("),
        ("y = torch.exp(x.double())", "functional.exp(x.astype(ms.float64))"),
        ("y = torch.exp(torch.arange(3))", "functional.exp("),
        ("y = torch.exp(x)", "ops.exp(x)"),
        ("y = torch.nn.functional.interpolate((x > 0).byte(), size=3)", "functional.interpolate("),
        ("y = torch.squeeze(x, ())", "functional.squeeze(x, ())"),
        ("y = torch.randn_like(x.half())", "functional.randn_like(x.half())"),
        ("y = torch.randn_like(x.double())", "functional.randn_like(x.astype(ms.float64))"),
        ("n = torch.arange(9)\ny = n * 16777619\ny %= 2**32", "y = functional.remainder(y, 2**32)"),
        ("n = torch.arange(9)\ny = (n << 31) // (n + 1)", "functional.floor_divide("),
        ("n = torch.arange(9) + 10**9\ny = n ** 2", "y = functional.power(n, 2)"),
        ("n = torch.arange(9) + (1 << 30)\nn.remainder_(7)", "n = functional.remainder(n, 7)"),
        (
            "class H(torch.nn.Module):\n    def forward(self, ids):\n        return ids * 2654435761 % 1024",
            "return functional.remainder(ids * 2654435761, 1024)",
        ),
        (
            "def f(a):\n    return a.max()\nv = torch.tensor([[0.0, 1.0], [0.0, 0.0]])\ny = f(v / v.sum(1))",
            "return functional.nans.max(a)",
        ),
    ],
)
def test_calls_at_an_edge(text: str, made: str) -> None:
    assert made in _translated(text)


@pytest.mark.parametrize(
    "text",
    [
        "n = torch.arange(9)\ny = n % 7 // 2",  # nothing large in the file
        "n = torch.arange(2**20)\ny = n % 7 // 2",
        "seed = 2**40\ny = x % 7.5",
        "seed = 2**40\ny = x.float() // 2",
        "seed = 2**40\nlow = seed % 2**32",
        "seed = 2**40\nsize = x.shape[0] // 2 % 3",
        "seed = 2**40\nn = torch.arange(9)\ny = n % 2.5",
        "seed = 2**40\ny = x ** 2",
        "seed = 2**40\ntext = '%d' % seed",
    ],
)
def test_rests_of_small_numbers_and_of_floats_stay_operators(text: str) -> None:
    assert "functional" not in _translated(text)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ('print(f"{x.shape}")', 'print(f"{x.shape}")'),
        ('raise ValueError(f"bad {x.shape}")', 'raise ValueError(f"bad {x.shape}")'),
        ('y = f"{x.shape[0]}"', 'y = f"{x.shape[0]}"'),
        ('y = f"{tuple(x.shape)}"', 'y = f"{tuple(x.shape)}"'),
        ('y = f"{x.shape} {1}"', 'y = f"torch.Size({list(x.shape)}) {1}"'),
        ('print("%s" % (x.shape,))', 'print("%s" % (x.shape,))'),
        ("y = 7 % x.shape[0]", "y = 7 % x.shape[0]"),
        ('y = "%s %d" % (x.shape, 3)', 'y = "%s %d" % (f"torch.Size({list(x.shape)})", 3)'),
        ('y = "{}".format(x.shape)', 'y = "{}".format(f"torch.Size({list(x.shape)})")'),
        ('y = "{}".format(x.dtype)', '"{}".format(functional.dtype_name(x.dtype))'),
    ],
)
def test_texts_of_sizes_and_dtypes(text: str, made: str) -> None:
    assert made in _translated(text)


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("y = x.shape[0]\nprint(y, str(y), f'{y}')", None),
        ("y = str(x)", None),
        (
            "w = torch.ones(4).requires_grad_()\ny = str((x * w).sum())",
            "WARNING",
        ),  # PyTorch adds the name of its gradient
        ("print('x', x)\nopt.step()", "NOTE"),
    ],
)
def test_the_text_of_a_tensor_is_spoken_of(text: str, severity: str | None) -> None:
    found = translate_source(f"import torch\nx = torch.ones(2, 3)\n{text}\n").diagnostics
    assert [d.severity.name for d in found if d.code == "T2M303"] == [severity] * (severity is not None)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("net = torch.nn.Linear(2, 2)\ny = copy.deepcopy(net)", "y = copy.deepcopy(net)"),
        ("y = copy.deepcopy({'a': 1})", "y = copy.deepcopy({'a': 1})"),
        ("y = copy.deepcopy(x)", "y = x.copy()"),
        ("d = {'a': x}\ny = copy.deepcopy(d)", "y = functional.deepcopy(d)"),
        ("d = [x, {'a': x}]\ny = copy.deepcopy(d)", "y = functional.deepcopy(d)"),
        ("class Box:\n    t = 1\n\ny = copy.deepcopy(Box())", "y = functional.deepcopy(Box())"),
        ("y = copy.deepcopy([1, 2])", "y = copy.deepcopy([1, 2])"),
    ],
)
def test_deep_copies_share_no_memory(text: str, made: str) -> None:
    assert made in _translated("import copy\n" + text)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("y = torch.ones(2)\ny += 1", "y += 1"),
        ("y = x[0]\ny += 1", "y[()] = y + 1"),  # a view, which MindSpore's tensors share, too
        ("y = x.view(-1)\nx -= y.sum()", "x[()] = x - y.sum()"),
        ("w = x.requires_grad_()\ny = x[0]\ny += 1", "y += 1"),  # gradients do not see such writes: T2M305
        ("y = x.flatten()\ny += 1", "y += 1"),  # a copy in MindSpore: T2M305
        ("def f(t):\n    t += 1\n    return t", "t += 1"),  # the caller has the result
        ("y = x\ny += 1", "y[...] = y + 1"),
        ("ys = [x]\nx -= 3\nprint(ys)", "x[...] = x - 3"),
        ("def f(t):\n    t *= 2\nf(x)", "t[...] = t * 2"),
    ],
)
def test_what_others_hold_is_filled(text: str, made: str) -> None:
    assert f"{made}\n" in _translated(text) + "\n"


@pytest.mark.parametrize(
    ("statement", "becomes"),
    [
        ("net.eval().cpu()", "net.set_train(False)"),
        ("net.train().to(device)", "net.set_train()"),
        ("net.cuda().eval()", "net.set_train(False)"),
    ],
)
def test_a_move_behind_another_call_goes_alone(statement: str, becomes: str) -> None:
    source = f"import torch\nfrom torch import nn\ndevice = 'cuda'\nnet = nn.Linear(2, 2)\n{statement}\n"
    assert translate_source(source).text.endswith(f"{becomes}\n")


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("y = x[torch.tensor([0, 1])]\ny[0] = 1", "y = x[ms.tensor([0, 1])].copy()"),  # else x changes as well
        ("y = x[x > 0]\ny[:] = 1", "y = x[x > 0].copy()"),
        ("y = x[x > 0]\ny += 1", "y = x[x > 0]"),
        ("y = x[0]\ny[0] = 1", "y = x[0]"),
        ("y = x[[0, 1]]\nprint(y)", "y = x[[0, 1]]"),
    ],
)
def test_a_selection_that_is_written_into_is_a_copy(text: str, made: str) -> None:
    assert f"{made}\n" in _translated(text) + "\n"


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("y = x.any(1)", "y = functional.any(x, 1)"),  # MindSpore's any misreads floats and ints on CPU
        ("y = (x > 0).any(1)", "y = functional.any(x > 0, 1)"),
        ("y = x.isnan().any()", "y = functional.any(x.isnan())"),
        ("y = torch.any(x, 1)", "y = functional.any(x, 1)"),
        ("y = x.logsumexp(1)", "y = x.logsumexp(1)"),
        ("i = -float('inf')\ny = x.logsumexp(1)", "y = functional.nans.logsumexp(x, 1)"),
        ("i = float('nan')\ny = x.softmax(1)", "y = functional.nans.softmax(x, 1)"),
        ("d = x.double()\ny = d == 0.1", "y = d == ms.Tensor(0.1, ms.float64)"),  # rounded to float32 otherwise
        ("d = x.double()\ny = d.clamp(min=0.1)", "y = d.clamp(min=ms.Tensor(0.1, ms.float64))"),
        ("d = x.double()\ny = torch.where(x > 0, d, 0.1)", "y = ops.where(x > 0, d, ms.Tensor(0.1, ms.float64))"),
        ("d = x.double()\ny = torch.mul(d, 0.1)", "y = ops.mul(d, ms.Tensor(0.1, ms.float64))"),
        ("d = x.double()\ny = torch.add(d, d, alpha=0.1)", "y = functional.add(d, d, alpha=0.1)"),
        ("d = x.double()\ny = d.clamp(min=0.5)", "y = d.clamp(min=0.5)"),  # float32 holds it as it is
        ("y = x.clamp(min=0.1)", "y = x.clamp(min=0.1)"),
        ("y = torch.where(x > 0, x, 0.1)", "y = ops.where(x > 0, x, 0.1)"),
        ("y = x // 2", "y = x // 2"),
        ("y = x.sign()", "y = x.sign()"),
        ("n = torch.tensor(3)\ny = [0] * n", "y = [0] * int(n)"),
        ("d = x.double()\ny = d == 0.5", "y = d == 0.5"),
        ("y = torch.ones(2).half() * 2\ny += torch.ones(2)", "y = (y + ops.ones(2)).astype(y.dtype)"),
    ],
)
def test_dtypes_that_the_text_shows_decide(text: str, made: str) -> None:
    assert f"{made}\n" in _translated(text) + "\n"


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("parts = x.chunk(2)\nparts[0].add_(1)", "parts[0][()] = parts[0] + 1"),
        ("held = {'w': x}\nw = held['w']\nw += 1", "w[...] = w + 1"),
        ("w = torch.zeros(2, requires_grad=True)\nw.fill_(2)\no = torch.optim.SGD([w], lr=0.1)",
         "ops.assign(w, ops.full_like(w, 2))"),
        ("d = x.double()\ny = d.sum() - 0.1", "y = d.sum() - ms.Tensor(0.1, ms.float64)"),
        ("d = x.double()\ny = d.lt(0.3)", "y = d.lt(ms.Tensor(0.3, ms.float64))"),
    ],
)  # fmt: skip
def test_who_holds_a_tensor_sees_its_changes(text: str, made: str) -> None:
    assert f"{made}\n" in _translated(text) + "\n"


def test_an_attribute_that_has_another_name_is_not_changed_in_silence() -> None:
    box = "class Box:\n    def __init__(self):\n        self.t = torch.zeros(2)\nbox = Box()\n"
    assert "T2M305" not in _translated(box + "box.t += 1")
    assert "T2M305" in _translated(box + "kept = box.t\nbox.t += 1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y = torch.sqrt(torch.tensor([1.0, 4.0])).clamp(min=0.5)", ".clamp(min=0.5)"),
        ("def f(x):\n    return torch.sqrt(x).clamp(min=0.5)", "ops.sqrt(x).clamp(min=0.5)"),
        ("y = x.softmax(-1)", "functional.softmax(x, -1)"),
        ("def total(t):\n    return t.sum()\ntotal(torch.ones(3))", "return t.sum()"),
    ],
)
def test_what_the_text_does_not_show_stays(text: str, expected: str) -> None:
    assert expected in _translated(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("w = torch.tensor([-1.0, 4.0])\ny = torch.sqrt(w).clamp(min=0.5)", "nans.clamp("),
        ("y = x.masked_fill(x > 2, -float('inf')).softmax(-1)", "nans.softmax("),
        ("def total(t):\n    return t.sum()\ntotal(x[x > 10])", "selections.sum(t)"),
        ("y = (x[x > 10] > 20).any()", "selections.any(x[x > 10] > 20)"),
    ],
)
def test_what_the_text_shows(text: str, expected: str) -> None:
    assert expected in _translated(text)


def test_a_tensor_that_an_object_was_made_with_is_not_changed_in_silence() -> None:
    box = "class Box:\n    def __init__(self, t):\n        self.t = t\n    def bump(self):\n        self.t += 1\n"
    assert "T2M305" not in _translated(box + "Box(3).bump()")
    assert "T2M305" in _translated(box + "Box(x).bump()")


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("y = x.float()\ny[0] = 1\nprint(x)", True),
        ("y = x.numpy()\ny[0] = 1\nprint(x)", True),
        ("y = x.double()\ny[0] = 1\nprint(x)", False),  # another dtype: PyTorch copies as well
        ("y = x.numpy()\ny[0] = 1\nprint(y)", False),  # nothing reads the tensor again
    ],
)
def test_casts_that_share_memory_are_told_where_it_shows(text: str, is_told: bool) -> None:
    assert ("T2M305" in {d.code for d in translate_source(HEAD + text + "\n").diagnostics}) is is_told


@pytest.mark.parametrize(
    ("rest", "is_counted"),
    [
        ("out = {k: v for k, v in state.items()}", True),
        ("out = state['weight']", False),
        ("def f():\n    return state['weight']\nout = list(state.values())", False),
    ],
)
def test_a_state_whose_values_are_all_asked_for_has_the_counter(rest: str, is_counted: bool) -> None:
    text = _translated(f"m = torch.nn.BatchNorm1d(4)\nstate = m.state_dict()\n{rest}")
    assert ("counted.BatchNorm1d" in text) is is_counted


@pytest.mark.parametrize(
    ("place", "moved"),
    [("None", "y[None].swapaxes(0, 1)"), ("k", "y[k].swapaxes(0, 1)"), ("...", "y[...].swapaxes(0, 1)")],
)
def test_what_has_an_axis_after_all_is_not_taken_for_a_number(place: str, moved: str) -> None:
    source = (
        f"import torch\n\ny = torch.arange(6.0)\nk = torch.tensor([[0, 1], [2, 3]])\nz = y[{place}].transpose(0, 1)\n"
    )
    assert f"z = {moved}" in translate_source(source).text


def test_a_number_out_of_a_vector_has_no_axes() -> None:
    source = "import torch\n\ny = torch.arange(6.0)\nfor i in range(6):\n    z = y[i].transpose(0, 0)\n"
    assert "z = y[i].copy()" in translate_source(source).text


def test_what_a_mask_selects_may_be_nothing_in_another_shape() -> None:
    source = "import torch\n\nx = torch.randn(4, 3)\ny = x[x > 9].view(-1).sum()\nz = x.reshape(0, 3).matmul(x)\n"
    text = translate_source(source).text
    assert "y = functional.selections.sum(x[x > 9].view(-1))" in text
    assert "z = functional.selections.matmul(x.reshape(0, 3), x)" in text


@pytest.mark.parametrize(
    ("program", "level"),
    [
        ("print(torch.fft.fft(x))", "note"),  # portable code runs on CPU; other devices are named when they are chosen
        ("print(torch.fft.fft(x * math.inf))", "warning"),
        ("q, r = torch.linalg.qr(x)", "note"),
        ("x.requires_grad_()\nq, r = torch.linalg.qr(x)\nr.sum().backward()", "warning"),
        ("w = torch.ones(3, requires_grad=True)\nq, r = torch.linalg.qr(x.detach())\n(w * r.sum()).sum().backward()",
         "note"),
        ("print(x.to_sparse())", "note"),
        ("print(torch.as_strided(x, (2, 2), (1, 2)))", "note"),  # x was just made, and nothing writes into it
        ("x[0] = 2\nprint(torch.as_strided(x, (2, 2), (1, 2)))", "warning"),
        ("print(torch.as_strided_copy(x, (2, 2), (1, 2)))", "note"),
        ("print(torch.as_strided_copy(x.t(), (2, 2), (1, 2)))", "warning"),
    ],
)  # fmt: skip
def test_a_target_that_is_not_exact_is_marked_beyond_its_limits(program: str, level: str) -> None:
    result = translate_source(f"import math\nimport torch\n\nx = torch.ones(4, 4)\n{program}\n")
    assert [str(d.severity) for d in result.diagnostics if d.code == "T2M303"] == [level]


def test_a_target_for_fewer_devices_is_no_note_on_the_others() -> None:
    source = "import torch\n\nprint(torch.special.i0(torch.ones(3)))\n"
    levels = {
        device: [str(d.severity) for d in translate_source(source, options=Options(Target(device=device))).diagnostics]
        for device in ("portable", "cpu", "ascend")
    }
    assert levels["portable"] == levels["cpu"] == ["note"]
    assert levels["ascend"]
    assert "note" not in levels["ascend"]
