"""In-place operations become what changes the right tensor in MindSpore, or say that they do not."""

from __future__ import annotations

import textwrap

import pytest

from torch2ms.translator.pipeline import SourceResult, translate_source

HEADER = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"


def translated(source: str) -> SourceResult:
    return translate_source(HEADER + textwrap.dedent(source))


def lines_of(source: str) -> list[str]:
    """Return the statements of the function ``f`` that ``source`` defines."""
    text = translated(source).text
    body = text[text.index("def f(") :].splitlines()[1:]
    return [line.strip() for line in body if line.strip() and "# TORCH2MS" not in line]


def codes_of(source: str) -> list[str]:
    return [item.code for item in translated(source).diagnostics]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("y.add_(z)", "y = y + z"),
        ("y.add_(z, alpha=2)", "y = y + 2 * z"),
        ("y.add_(0.1, z)", "y = y + 0.1 * z"),
        ("y.sub_(z + 1, alpha=a)", "y = y - a * (z + 1)"),
        ("y.mul_(z + 1)", "y = y * (z + 1)"),
        ("y.mul_(0.9).add_(z, alpha=0.1)", "y = y * 0.9 + 0.1 * z"),
        ("y.add_(1).mul_(2)", "y = (y + 1) * 2"),
        ("y.add_(1).clamp_(0).sub_(z)", "y = (y + 1).clamp(0) - z"),
        ("y.pow_(2).neg_()", "y = (y ** 2).neg()"),
        ("y.div_(-2)", "y = y / -2"),
        ("y.clamp_(0, 1)", "y = y.clamp(0, 1)"),
        ("y.zero_()", "y = ops.zeros_like(y)"),
        ("F.relu_(y)", "y = ops.relu(y)"),
        ("torch.relu_(y)", "y = ops.relu(y)"),
        ("y.unsqueeze_(0)", "y = y.unsqueeze(0)"),
        ("y.copy_(z)", "y = ops.broadcast_to(z, y.shape).astype(y.dtype)"),
        ("y.copy_(z).mul_(2)", "y = ops.broadcast_to(z, y.shape).astype(y.dtype) * 2"),
        ("w = y.mul_(2)", "w = y = y * 2"),
        ("y = y.mul_(2)", "y = y * 2"),
        ("return y.mul_(2)", "return y * 2"),
        ("y[0].add_(1)", "y[0] = y[0] + 1"),
        ("y[:, 1:].zero_()", "y[:, 1:] = 0"),
        ("y[..., 0].fill_(a)", "y[..., 0] = a"),
    ],
)
def test_a_tensor_that_nothing_else_sees(statement: str, expected: str) -> None:
    source = f"def f(x: torch.Tensor, z: torch.Tensor, a: float):\n    y = x * 2\n    {statement}\n"
    assert lines_of(source) == ["y = x * 2", expected]
    assert "T2M305" not in codes_of(source)


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (["x.add_(1)"], ["x[...] = x + 1"]),
        (["x.zero_()"], ["x[...] = 0"]),
        (["x.copy_(z)"], ["x[()] = z"]),
        (["y = x.mul_(z)"], ["x[...] = x.copy() * z", "y = x"]),
        (["return x.mul_(z)"], ["x[...] = x.copy() * z", "return x"]),
        (["y = z * 1", "w = y", "y.add_(1)", "return w"], ["y = z * 1", "w = y", "y[...] = y + 1", "return w"]),
        (["y = z * 1", "kept.append(y)", "y.add_(1)"], ["y = z * 1", "kept.append(y)", "y[...] = y + 1"]),
        (["for t in [x, z]:", "    t.mul_(2)"], ["for t in [x, z]:", "t[...] = t * 2"]),
        (["x[0, : len(z)].copy_(z)"], ["x[0, : len(z)] = z"]),
        (["x[0][: z.size(0)].mul_(2)"], ["x[0][: z.shape[0]] = x[0][: z.shape[0]] * 2"]),
        (["ts = [x, z]", "ts[0].mul_(2)"], ["ts = [x, z]", "ts[0][...] = ts[0] * 2"]),
    ],
)
def test_a_tensor_that_others_see_is_filled(statements: list[str], expected: list[str]) -> None:
    body = "\n    ".join(statements)
    assert lines_of(f"def f(x: torch.Tensor, z: torch.Tensor, kept: list):\n    {body}\n") == expected


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("y.narrow(1, 0, 2).add_(z)", "y[:, :2] = ops.narrow(y, 1, 0, 2) + z"),
        ("y.narrow(0, a, n - a).fill_(1)", "y[a:a + (n - a)] = 1"),
        ("y[n].narrow(1, a, 2).zero_()", "y[n, :, a:a + 2] = 0"),
        ("y[n].narrow(dim=1, length=n, start=a).zero_()", "y[n, :, a:a + n] = 0"),
        ("y.narrow(0, 1, 2).mul_(2).add_(z)", "y[1:1 + 2] = ops.narrow(y, 0, 1, 2) * 2 + z"),
        ("y.select(1, 0).copy_(z.data)", "y[:, 0] = z.data"),
        ("y.select(0, -1).zero_()", "y[-1] = 0"),
        ("y.narrow(-1, 0, 2).zero_()", "y[functional.along(y, -1, 0, 2)] = 0"),
    ],
)
def test_a_narrowed_part_is_assigned_by_its_index(statement: str, expected: str) -> None:
    source = (
        f"class A(nn.Module):\n    pass\n\n\ndef f(n: int, a: int, z):\n    y = torch.ones(3, 4, 5)\n    {statement}"
    )
    assert lines_of(source)[1] == expected


@pytest.mark.parametrize("statement", ["y[z].narrow(0, 0, 2).zero_()", "y.narrow(0, -2, 2).zero_()"])
def test_a_narrowed_part_that_no_index_names_is_left(statement: str) -> None:
    source = f"class A(nn.Module):\n    pass\n\n\ndef f(z):\n    y = torch.ones(3, 4, 5)\n    {statement}"
    assert "T2M203" in codes_of(source)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("torch.log_(x).sub_(z)", "x[...] = ops.log(x.copy()) - z"),
        ("torch.relu_(x).add_(z).mul_(2)", "x[...] = (ops.relu(x) + z) * 2"),
        ("y = F.relu_(x * 2).add_(z)", "y = ops.relu(x * 2) + z"),
    ],
)
def test_a_chain_starts_at_what_a_function_is_given(statement: str, expected: str) -> None:
    assert lines_of(f"def f(x: torch.Tensor, z):\n    {statement}")[0] == expected


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (["y = x * 1", "return y.add_(1) + y"], "return functional.filled(y, y + 1) + y"),
        (
            ["y = x * 1", "if y.add_(1).any():", "    return y"],
            "if functional.any(functional.filled(y, y + 1)):",
        ),
        (["return x.mul_(2).sum()"], "return functional.filled(x, x * 2).sum()"),
        (["return list(map(lambda t: t.zero_(), [x]))"], "return list(map(lambda t: functional.filled(t, 0), [x]))"),
        (["d = {'a': x}", "return d['a'].add_(1).sum()"], "return functional.filled(d['a'], d['a'] + 1).sum()"),
        (["show(x.add_(1))"], "show(functional.filled(x, x + 1))"),
        (["w = (x.add_(1), x)"], "w = (functional.filled(x, x + 1), x)"),
        (["return [t.neg_() for t in (x, x * 2)]"], "return [functional.filled(t, t.neg()) for t in (x, x * 2)]"),
        (["y = x[0].add_(1)", "return y"], "y = functional.filled(x[0], x[0] + 1)"),
    ],
)
def test_in_an_expression_a_tensor_is_filled_by_a_call(statements: list[str], expected: str) -> None:
    body = "\n    ".join(statements)
    source = f"def f(x: torch.Tensor):\n    {body}\n"
    assert expected in lines_of(source)
    assert "T2M203" not in codes_of(source)
    assert "T2M305" not in codes_of(source)


def test_what_may_be_a_weight_is_filled_so_that_it_can_be_assigned_later() -> None:
    source = "def f(x: torch.Tensor):\n    x.zero_()\n    x.mul_(2)\n    return x.add_(1)\n"
    layer = "\nclass L(torch.nn.Linear):\n    def reset_parameters(self):\n        w = torch.ones(2)\n        f(w)\n"
    text = translated(source + layer).text
    assert "    x[...] = 0\n    x.copy_(x * 2)\n    x.copy_(x + 1)\n    return x\n" in text
    assert "    x[...] = x * 2\n" in translated(source).text


def test_an_alias_made_later_is_none() -> None:
    source = "def f(x: torch.Tensor):\n    y = x * 1\n    y.add_(1)\n    w = y\n    return w\n"
    assert lines_of(source)[1] == "y = y + 1"


def test_each_of_several_names_gets_its_own_value() -> None:
    source = "def f(x: torch.Tensor):\n    y, z = x * 1, x\n    y.add_(1)\n    z.add_(1)\n"
    assert lines_of(source)[1:] == ["y = y + 1", "z[...] = z + 1"]


def test_an_alias_made_in_a_loop_is_one_before_too() -> None:
    source = """
        def f(x: torch.Tensor, n: int, kept: list):
            y = x * 1
            for i in range(n):
                y.add_(1)
                kept.append(y)
    """
    assert "y[...] = y + 1" in lines_of(source)


@pytest.mark.parametrize(
    "statements",
    [
        ["y = x.view(-1)", "y.add_(1)"],
        ["y = x.t()", "y.mul_(2)"],
        ["y = x * 1", "w = y.view(-1)", "y.add_(1)", "return w"],
        ["a, b = x.chunk(2)", "a.zero_()"],
        ["for row in x:", "    row.add_(1)"],
    ],
)
def test_views_are_marked(statements: list[str]) -> None:
    body = "\n    ".join(statements)
    assert "T2M305" in codes_of(f"def f(x: torch.Tensor):\n    {body}\n")


@pytest.mark.parametrize(
    "statement",
    [
        "x[x > 0].zero_()",  # a copy, in torch too
        "x[index].zero_()",
        "make()[0].add_(1)",
    ],
)
def test_what_cannot_be_said_is_left(statement: str) -> None:
    source = f"def f(x: torch.Tensor, index):\n    {statement}\n"
    assert lines_of(source) == [statement]
    assert codes_of(source) == ["T2M203"]


def test_a_networks_input_is_bound_anew() -> None:
    source = """
        class Net(nn.Module):
            def forward(self, x):
                x.add_(1)
                return x
    """
    result = translated(source)
    assert "x = x + 1" in result.text
    assert [item.code for item in result.diagnostics] == ["T2M305"]


NET = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 3)
            self.norm = nn.BatchNorm1d(3)
            self.w = nn.Parameter(torch.ones(3))

        def step(self, x: torch.Tensor):
            {statement}
"""
WEIGHT = "self.fc.weight"


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("self.w.add_(x)", "ops.assign(self.w, self.w + x)"),
        ("self.w.data.add_(x, alpha=-0.1)", "ops.assign(self.w, self.w + -0.1 * x)"),
        ("self.w.data.copy_(x)", "ops.assign(self.w, x)"),
        ("x = x.data.detach() + x.detach().data", "x = ops.stop_gradient(x) + ops.stop_gradient(x)"),
        ("self.w.detach().mul_(0.5)", "ops.assign(self.w, self.w * 0.5)"),
        (
            "self.norm.running_mean.mul_(0.9).add_(x, alpha=0.1)",
            "ops.assign(self.norm.moving_mean, self.norm.moving_mean * 0.9 + 0.1 * x)",
        ),
        (
            f"{WEIGHT}.data.normal_(0, 0.02)",
            f"{WEIGHT}.set_data(init.initializer(init.Normal(sigma=0.02, mean=0), {WEIGHT}.shape, {WEIGHT}.dtype))",
        ),
        (
            f"{WEIGHT}.data.uniform_(-0.1, 0.1)",
            f"{WEIGHT}.set_data(init.initializer(init.Uniform(0.1), {WEIGHT}.shape, {WEIGHT}.dtype))",
        ),
        (f"{WEIGHT}.data.uniform_(0, 0.1)", f"ops.assign({WEIGHT}, ops.rand_like({WEIGHT}) * 0.1)"),
        ("self.w.data.zero_()", "self.w.set_data(init.initializer('zeros', self.w.shape, self.w.dtype))"),
        ("self.w.data.fill_(3)", "self.w.set_data(init.initializer(3, self.w.shape, self.w.dtype))"),
        ("self.w.requires_grad_(False)", "self.w.requires_grad = False"),
        (
            "self.v = nn.Parameter(torch.ones(3)).requires_grad_(False)",
            "self.v = ms.Parameter(ops.ones(3), requires_grad=False)",
        ),
    ],
)
def test_parameters_and_buffers_are_assigned(statement: str, expected: str) -> None:
    lines = translated(NET.format(statement=statement)).text.splitlines()
    assert lines[-1].strip() == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("torch.empty(2, 3).normal_(0, 0.02)", "ops.randn((2, 3)) * 0.02"),
        ("torch.empty(2, 3).normal_()", "ops.randn((2, 3))"),
        ("torch.rand(3).mul_(2).sub_(1)", "ops.rand(3) * 2 - 1"),
        ("x.new_zeros(3).fill_(2)", "ops.full_like(ops.zeros(3, dtype=x.dtype), 2)"),
        ("(x + 1).clamp_(min=0)", "(x + 1).clamp(min=0)"),
        ("x.clone().add_(1)", "ops.deepcopy(x) + 1"),
        ("x.clone().add_(1) * 2", "(ops.deepcopy(x) + 1) * 2"),
        ("x.clone().add_(1)[0].sum()", "(ops.deepcopy(x) + 1)[0].sum()"),
        ("x.clone().add_(1).sum()", "(ops.deepcopy(x) + 1).sum()"),
        ("x.clone().add_(1).clamp_(0, 1)", "(ops.deepcopy(x) + 1).clamp(0, 1)"),
        ("-x.clone().add_(1)", "-(ops.deepcopy(x) + 1)"),
        ("[x.clone().add_(1)]", "[ops.deepcopy(x) + 1]"),
        ("y if y is None else x.clone().add_(1)", "y if y is None else (ops.deepcopy(x) + 1)"),
        ("(x > 0).eq_(y)", "(x > 0).eq(y).astype((x > 0).dtype)"),
    ],
)
def test_fresh_values(value: str, expected: str) -> None:
    assert lines_of(f"def f(x: torch.Tensor, y: torch.Tensor):\n    return {value}\n") == [f"return {expected}"]


@pytest.mark.parametrize(
    ("statement", "marked"),
    [("y.data.masked_fill_(m, 0)", True), ("ys[0].data.zero_()", True), ("y.masked_fill_(m, 0)", False),
     ("self.w.data.zero_()", False)],
)  # fmt: skip
def test_changes_that_torchs_gradient_does_not_see_are_marked(statement: str, marked: bool) -> None:
    source = (
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.w = nn.Parameter(torch.ones(2))\n\n"
        "    def forward(self, x: torch.Tensor, m: torch.Tensor):\n        y = x * 2\n        ys = [y, x * 3]\n"
        f"        {statement}\n        return y, ys\n"
    )
    messages = [d.message for d in translate_source(source).diagnostics]
    assert any("torch's gradient" in message for message in messages) == marked


def test_a_view_of_itself_in_a_loop_is_no_circle() -> None:
    source = "import torch\n\n\ndef f(x: torch.Tensor, n: int):\n    for _ in range(n):\n        x = x[..., 2:]\n"
    result = translate_source(source + "        x *= 2\n    return x\n")
    assert "T2M900" not in [item.code for item in result.diagnostics]


@pytest.mark.parametrize(
    ("loop", "line"),
    [
        ("for i, x in enumerate(xs):\n    x += i", "x[...] = x + i"),
        ("for x in xs:\n    x -= 1", "x[...] = x - 1"),
        ("for x, k in zip(xs, [1, 2]):\n    x *= k", "x[...] = x.copy() * k"),
        ("for k, x in {'a': xs[0]}.items():\n    x += 1", "x[...] = x + 1"),
    ],
)
def test_what_a_loop_takes_from_a_list_is_changed_where_it_is(loop: str, line: str) -> None:
    found = translate_source(f"import torch\nxs = [torch.zeros(2), torch.ones(2)]\n{loop}\nprint(xs)\n")
    assert f"    {line}\n" in found.text
    assert "T2M305" not in {d.code for d in found.diagnostics}


def test_a_name_of_a_loop_that_is_bound_anew_holds_another_tensor() -> None:
    source = "import torch\nxs = [torch.zeros(2), torch.ones(2)]\nfor x in xs:\n    x = x + 1\n    x += 1\n"
    assert "[...]" not in translate_source(source + "print(xs)\n").text


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("y.chunk(4)[1].fill_(1)", "y.chunk(4)[1][()] = 1"),
        ("getattr(y, 'b').chunk(4)[1].fill_(1)", "getattr(y, 'b').chunk(4)[1][()] = 1"),
        ("y.chunk(2)[0].mul_(2)", "y.chunk(2)[0][()] = y.chunk(2)[0] * 2"),
        ("y.unbind(0)[0].zero_()", "y.unbind(0)[0][()] = 0"),
    ],
)
def test_a_piece_of_what_was_cut_up(statement: str, expected: str) -> None:
    assert lines_of(f"def f(y):\n    {statement}\n    return y\n")[0] == expected


def test_a_piece_of_a_release_without_views_is_reported() -> None:
    from torch2ms import Options, Target

    source = HEADER + "def f(y: torch.Tensor):\n    y.chunk(4)[1].fill_(1)\n"
    result = translate_source(source, options=Options(target=Target((2, 0))))
    assert "T2M203" in [item.code for item in result.diagnostics]


WEIGHTED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))

    def f(self, x: torch.Tensor, g):
        y = {value}
        y += self.w
        y += self.w
        return y
"""


@pytest.mark.parametrize("value", ["g(x)", "-self.w", "abs(self.w)", "torch.where(x > 0, x, 0 * x)"])
def test_what_is_computed_with_a_weight_is_none(value: str) -> None:
    text = translated(WEIGHTED.format(value=value)).text
    assert "ops.assign" not in text  # through which no gradient flows
    assert text.count("y += self.w") == 2


def test_the_row_of_padding_is_emptied() -> None:
    source = "def f(m):\n    if isinstance(m, nn.Embedding):\n        m.weight.data[m.padding_idx].zero_()\n"
    assert lines_of(source)[-1] == "m.embedding_table[m.padding_idx] = 0"


@pytest.mark.parametrize(
    ("array", "is_own"),
    [
        ("np.arange(4.0)", True),
        ("np.sin(a).reshape(2, 2)", True),
        ("a.astype(np.float32)", True),
        ("a.reshape(2, 2)", False),
        ("np.asarray(a)", False),
        ("a.astype(np.float32, copy=False)", False),
    ],
)
def test_a_new_array_is_held_by_nobody_else(array: str, is_own: bool) -> None:
    source = f"import numpy as np\na = np.ones(4)\nx = torch.from_numpy({array})\ny = x\nz = x.add_(1)\n"
    assert ("T2M305" in codes_of(source)) is not is_own


@pytest.mark.parametrize(
    ("body", "seen"),
    [
        ("        v = y.view(-1)\n        y = torch.where(c, v.view(2, 3), y)\n", False),
        ("        v = y.view(-1)\n        if i == c:\n            break\n        y = torch.exp(y)\n", True),
        ("        v = y.view(-1)\n        y = y.view(2, 3)\n", True),
        ("        v = y.view(-1)\n", True),
    ],
)
def test_a_view_of_what_a_name_held_before_does_not_count(body: str, seen: bool) -> None:
    source = f"def f(x: torch.Tensor, c):\n    y = x * 2\n    for i in range(3):\n{body}    y += 1\n    return y, v\n"
    assert ("T2M305" in codes_of(source)) is seen


def test_all_elements_in_one_row() -> None:
    body = "    m = torch.zeros(n, 3)\n    m.view(-1).index_add_(0, i, v)\n    return m\n"
    text = translate_source(f"import torch\n\n\ndef f(n, i, v):\n{body}").text
    assert "m = functional.index_add(m.view(-1), 0, i, v).view(m.shape)" in text
    shared = translate_source(
        f"import torch\n\n\ndef f(n, i, v):\n{body.replace('m = torch.zeros(n, 3)', 'm = n')}"
    ).text
    assert ".view(m.shape)" not in shared


@pytest.mark.parametrize(("made", "seen"), [("torch.zeros(2, 3)", False), ("x", True)])
def test_a_cast_of_a_new_tensor_is_held_by_nobody_else(made: str, seen: bool) -> None:
    body = f"    x = torch.ones(2, 3)\n    y = {made}.float()\n    y[:, 0] = 1\n    z = torch.exp(x)\n"
    source = f"def f():\n{body}"
    assert ("T2M305" in codes_of(source)) is seen


@pytest.mark.parametrize(("default", "made"), [("0.1", "ops.full_like(t, k)"), ("None", "ops.broadcast_to(k, ")])
def test_what_a_network_is_given_with_a_number_as_default_is_no_tensor(default: str, made: str) -> None:
    body = "        t = torch.zeros_like(x)\n        t.fill_(k)\n        return t\n"
    forward = f"    def forward(self, x, k={default}):\n{body}"
    assert made in translate_source(f"import torch\n\n\nclass M(torch.nn.Module):\n{forward}").text


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("y.view(-1)[::n + 1].fill_(-1)", "y.view(-1)[::n + 1] = -1"),
        ("y.view(-1)[0].zero_()", "y.view(-1)[0] = 0"),
        ("g(y)[0].fill_(1)", "g(y)[0].fill_(1)"),  # anything may come back
        ("y.view(-1)[::2].add_(1)", "y.view(-1)[::2].add_(1)"),  # read as well
    ],
)
def test_part_of_a_view_is_filled(line: str, expected: str) -> None:
    assert expected in lines_of(f"""
    def f(x, n, g):
        y = torch.mm(x, x)
        {line}
        return y
    """)


@pytest.mark.parametrize("kept", ["m.weight.detach()", "m.weight.data", "[p.detach() for p in m.parameters()]"])
@pytest.mark.parametrize("change", ["m.weight.data.zero_()", "nn.init.zeros_(m.weight)"])
def test_a_name_for_the_memory_of_a_weight_sees_what_is_written(kept: str, change: str) -> None:
    source = f"def f(m: nn.Linear):\n    before = {kept}\n    {change}\n    return before\n"
    assert "set_data" not in translated(source).text
    other = f"def f(m: nn.Linear):\n    before = m.bias.detach()\n    {change}\n    return before\n"
    assert "set_data" in translated(other).text


def test_a_function_that_is_told_not_to_work_in_place_binds_nothing() -> None:
    source = (
        "def f(x):\n    y = x.masked_fill(x > 0, float('nan'))\n    z = F.relu(y, inplace=False)\n    return y + z\n"
    )
    assert "z = functional.nans.relu(y)" in translated(source).text


@pytest.mark.parametrize("change", ["y += 1", "y.add_(1)", "x += 1", "x.add_(1)"])
def test_as_tensor_of_a_tensor_is_another_name_for_it(change: str) -> None:
    source = f"def f(n):\n    x = torch.ones(n)\n    y = torch.as_tensor(x)\n    {change}\n    return x, y\n"
    assert "T2M305" not in codes_of(source)
    assert lines_of(source)[2].startswith(f"{change[0]}[")


@pytest.mark.parametrize("change", ["t_()", "squeeze_(0)", "unsqueeze_(0)", "transpose_(0, 1)"])
def test_another_name_sees_the_new_shape(change: str) -> None:
    source = f"def f(x: torch.Tensor):\n    x.{change}\n    return x\n"
    assert lines_of(source)[0].startswith("x.assign_value(")
    assert "T2M305" not in codes_of(source)
    fresh = source.replace("    x.", "    x = torch.ones(1, 2)\n    x.")
    assert "assign_value" not in translated(fresh).text


@pytest.mark.parametrize("move", ["cuda()", "cpu()", "to('cuda')", "to(x.device)"])
def test_what_is_moved_is_held_by_its_name_alone(move: str) -> None:
    source = "import torch\n\n\ndef f(x: torch.Tensor):\n    y = torch.ones(3)\n"
    source += f"    y = y.{move}\n    y += 1\n    return y\n"
    assert "T2M305" not in {item.code for item in translate_source(source).diagnostics}
    held = source.replace("    y += 1", "    x = y.view(-1)\n    y += 1").replace("return y", "return x, y")
    assert "T2M305" in {item.code for item in translate_source(held).diagnostics}


def test_what_a_distribution_computes_is_seen_nowhere_else() -> None:
    source = (
        HEADER + "from torch.distributions import Normal\n\n\n"
        "class Policy(nn.Module):\n    def forward(self, x):\n        at = Normal(x, x.exp())\n"
        "        found = at.log_prob(x)\n        found -= 1\n        return found\n"
    )
    assert "T2M305" not in [d.code for d in translate_source(source).diagnostics]
    kept = source.replace("at.log_prob(x)", "at.mean")
    assert "T2M305" in [d.code for d in translate_source(kept).diagnostics]
