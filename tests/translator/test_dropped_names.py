"""Names that PyTorch dropped, and calls whose arguments are only known when they are made."""

from __future__ import annotations

from textwrap import dedent

import pytest

from torch2ms import translate_source
from torch2ms.diagnostics import Severity
from torch2ms.translator.pipeline import SourceResult


def translated(code: str) -> SourceResult:
    return translate_source("import torch\n" + dedent(code))


def errors(result: SourceResult) -> list[str]:
    return [found.message for found in result.diagnostics if found.severity is Severity.ERROR]


def test_what_pytorch_had_for_two_pythons_is_pythons_own() -> None:
    result = translated("""
        from torch._six import container_abcs, inf, string_classes

        def collate(batch, norm):
            if isinstance(batch, container_abcs.Mapping):
                return {key: batch[key] for key in batch}
            return batch if isinstance(batch, string_classes) else norm == inf
    """)
    assert not errors(result)
    assert "from collections import abc" in result.text
    assert "isinstance(batch, abc.Mapping)" in result.text
    assert "isinstance(batch, str) else norm == inf" in result.text


def test_what_is_saved_may_only_be_known_when_it_is() -> None:
    result = translated("""
        def save_on_master(*args, **kwargs):
            if main_process():
                torch.save(*args, **kwargs)

        save = torch.save
    """)
    assert not errors(result)
    assert "checkpoint.save_given(*args, **kwargs)" in result.text
    assert "save = checkpoint.save_given" in result.text


def test_a_reset_in_a_function_of_its_own_forgets_what_is_kept() -> None:
    result = translated("""
        net = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        def norm(model):
            return sum(p.grad.norm() for p in model.parameters())
        def prepare(i):
            optimizer.zero_grad()
            print(i)
        for i in range(3):
            prepare(i)
            net(torch.ones(1, 2)).sum().backward()
            norm(net)
            optimizer.step()
    """)
    assert "    gradients.reset(optimizer)\n    print(i)\n" in result.text


@pytest.mark.parametrize(
    ("call", "expected", "said"),
    [
        ("StepLR(optim, 3, verbose=True)", "return StepLR(optim, 3)", True),
        ("ReduceLROnPlateau(optim, verbose=False, patience=1)", "ReduceLROnPlateau(optim, patience=1)", False),
        ("OneCycleLR(optim, 0.1, total_steps=9, verbose=1)", "return OneCycleLR(optim, 0.1, total_steps=9)", True),
    ],
)
def test_schedulers_that_print_what_they_change(call: str, expected: str, said: bool) -> None:
    head = "import torch\nfrom torch.optim.lr_scheduler import OneCycleLR, ReduceLROnPlateau, StepLR\n\n\n"
    result = translate_source(f"{head}def f(optim):\n    return {call}\n")
    assert expected in result.text
    assert "verbose" not in result.text
    assert [str(d.severity) for d in result.diagnostics if d.code == "T2M303"] == ["note"] * said
    assert not [d for d in result.diagnostics if d.code == "T2M203"]
