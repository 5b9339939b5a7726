"""``requires_grad`` of tensors that are no parameters, where the answer makes no difference."""

from __future__ import annotations

import pytest

from torch2ms import translate_source


def body_of(statement: str) -> tuple[str, set[str]]:
    """Return what a statement about the tensor ``x`` becomes, and the codes reported."""
    source = f"import torch\n\n\ndef use(x: torch.Tensor):\n    {statement}\n"
    result = translate_source(source)
    return result.text.rpartition("def use(x: ms.Tensor):\n")[2].strip(), {d.code for d in result.diagnostics}


def test_it_only_decides_whether_to_detach() -> None:
    text, codes = body_of("return x.detach().cpu().numpy() if x.requires_grad else x.cpu().numpy()")
    assert text == "return x.asnumpy()"
    assert "T2M203" not in codes


@pytest.mark.parametrize("said", ["not x.requires_grad", "x.requires_grad == False", "x.requires_grad is False"])
def test_an_assertion_goes(said: str) -> None:
    text, codes = body_of(f"assert {said}, 'a message'\n    return x")
    assert text == "return x"
    assert "T2M203" not in codes


def test_setting_it_to_false_means_nothing() -> None:
    text, codes = body_of("x.requires_grad = False")
    assert text == "x.requires_grad = False"
    assert "T2M203" not in codes
    assert "T2M302" in codes


def test_setting_it_to_anything_where_nobody_reads_a_gradient_means_nothing() -> None:
    assert "T2M203" not in body_of("x.requires_grad = y")[1]
    assert "T2M203" in body_of("x.requires_grad = y\n    return x.grad")[1]


@pytest.mark.parametrize(
    "statement",
    [
        "return 1 if x.requires_grad else 2",
        "if x.requires_grad:\n        return 1",
        "y = a or not x.requires_grad",
        "while any(x.requires_grad for _ in y):\n        pass",
    ],
)
def test_anything_else_is_asked_of_the_gradient_function_that_runs(statement: str) -> None:
    text, codes = body_of(statement)
    assert text.endswith(statement.replace("x.requires_grad", "autograd.requires_grad(x)"))
    assert codes == {"T2M303"}


@pytest.mark.parametrize("statement", ["return x.requires_grad", "print(not x.requires_grad)", "y = x.requires_grad"])
def test_what_is_shown_or_handed_on_is_marked(statement: str) -> None:
    assert "T2M203" in body_of(statement)[1]


def test_outside_of_functions_no_gradient_function_runs() -> None:
    source = "import torch\nfrom other import g\nx: torch.Tensor = g()\nprint(x.requires_grad)\n"
    result = translate_source(source)
    assert "print(x.requires_grad)" in result.text
    assert "T2M203" in {d.code for d in result.diagnostics}


@pytest.mark.parametrize("test", ["x.requires_grad", "not x.requires_grad"])
def test_a_test_that_refuses_tensors_lets_them_pass(test: str) -> None:
    text, codes = body_of(f"if {test}:\n        raise ValueError('a message')\n    return x")
    assert text == "return x"
    assert codes == {"T2M302", "T2M304"}


@pytest.mark.parametrize("test", ["x.requires_grad", "not x.requires_grad"])
def test_a_test_that_only_copies_the_tensor_copies_it(test: str) -> None:
    text, codes = body_of(f"if {test}:\n        x = x.clone()\n    x[0] = 1\n    return x")
    assert text == "x = ops.deepcopy(x)\n    x[0] = 1\n    return x"
    assert "T2M203" not in codes


def test_what_could_not_be_typed_may_be_a_weight() -> None:
    source = (
        "import torch\n\n\ndef check(v):\n    if v.requires_grad:\n        raise ValueError\n\n\nt = torch.ones(3)\n"
    )
    result = translate_source(source)
    assert "if getattr(v, 'requires_grad', False):" in result.text
    assert {d.code for d in result.diagnostics} == {"T2M302"}


def test_it_only_decides_whether_memory_is_saved() -> None:
    source = """import torch
import torch.utils.checkpoint as cp


class A(torch.nn.Module):
    def forward(self, *xs):
        if self.saves and any(x.requires_grad for x in xs):
            return cp.checkpoint(self.f, *xs)
        return self.f(*xs)
"""
    result = translate_source(source)
    assert "if self.saves and any(False for x in xs):\n            return self.f(*xs)\n" in result.text
    assert {d.code for d in result.diagnostics} == {"T2M302", "T2M304"}
    kept = translate_source(source.replace("*xs)\n        return", "**xs)\n        return"))
    assert "T2M203" in {d.code for d in kept.diagnostics}


_HISTORY = "import torch\nx = torch.ones(2, requires_grad=True)\ny = x * 3\n"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("y.grad_fn is None", "False"),
        ("y.grad_fn is not None", "True"),
        ("x.grad_fn is None", "True"),
        ("y.detach().grad_fn is not None", "False"),
        ("x.grad_fn", "None"),
        ("not y.grad_fn is None", "True"),
    ],
)
def test_whether_a_tensor_has_a_history(said: str, expected: str) -> None:
    assert translate_source(f"{_HISTORY}a = {said}\n").text.strip().endswith(f"\na = {expected}")


@pytest.mark.parametrize(
    "said", ["a = y.grad_fn", "print(y.grad_fn)", "a = y.grad_fn == None", "a = None is y.grad_fn"]
)
def test_a_history_itself_is_marked(said: str) -> None:
    assert "TORCH2MS T2M203" in translate_source(f"{_HISTORY}{said}\n").text


def test_the_history_of_what_is_not_known_is_marked() -> None:
    text = translate_source("import torch\ndef f(z: torch.Tensor):\n    return z.grad_fn is None\n").text
    assert "TORCH2MS T2M203" in text
    assert "z.grad_fn is None" in text
