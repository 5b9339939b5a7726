"""Imports in branches that nothing catches, and decorators of the compiler that are handed on."""

from __future__ import annotations

from torch2ms import translate_source


def text_of(source: str) -> str:
    return translate_source(source).text


def codes_of(source: str) -> list[str]:
    return [d.code for d in translate_source(source).diagnostics]


def test_an_import_in_a_branch_without_a_fallback_binds_its_name() -> None:
    branch = "import typing\nif typing.TYPE_CHECKING:\n    from typing import overload\nelse:\n    {line}\n"
    known = text_of(branch.format(line="from torch.jit import _overload as overload"))
    assert "    overload = unchanged.unchanged\n" in known
    assert "TORCH2MS" not in known
    source = branch.format(line="from torch.compiler import no_such as overload")
    assert "    overload = torch.compiler.no_such\n" in text_of(source)
    assert "T2M202" in codes_of(source)


def test_a_branch_of_a_try_that_catches_still_fails() -> None:
    branch = (
        "    if typing.TYPE_CHECKING:\n        from typing import f\n    else:\n        from torch.compiler import f\n"
    )
    source = f"try:\n{branch}except ImportError:\n    f = None\n"
    assert "        raise ImportError('f')\n" in text_of(source)
    assert "T2M202" not in codes_of(source)


def test_a_decorator_of_the_compiler_can_be_handed_on() -> None:
    source = "import torch\nwrap = torch.jit.script if fast else cache\nparts = [torch.compile, torch.jit.ignore]\n"
    text = text_of(source)
    assert "wrap = unchanged.unchanged if fast else cache\n" in text
    assert "parts = [unchanged.unchanged, unchanged.unchanged]\n" in text
    assert "@torch" not in text_of("import torch\n@torch.jit.ignore\ndef f(x):\n    return x\n")


def test_a_module_that_either_branch_imports_stays_bound() -> None:
    source = "try:\n    import {own} as m\nexcept ImportError:\n    import {torchs} as m\n\nx = m.Normal(0.0, 1.0)\n"
    found = text_of(source.format(own="pyro.distributions", torchs="torch.distributions"))
    assert "except ImportError:\n    m = distributions\n" in found
    left = source.format(own="own.fft", torchs="torch.fft")
    assert "    m = torch.fft\n" in text_of(left)
    assert "T2M202" in codes_of(left)


def test_a_module_that_only_torch_has_needs_no_name() -> None:
    source = "try:\n    import torch.fft as m\nexcept ImportError:\n    m = None\n\nx = m.fft(y)\n"
    assert "m = torch" not in text_of(source)


def test_distributions_can_be_handed_on() -> None:
    source = "import torch.distributions as D\nregister(D)\n"
    assert "register(distributions)\n" in text_of(source)
    assert codes_of(source) == []


def test_an_import_that_nothing_catches_is_guarded_in_a_branch_as_well() -> None:
    source = "import torch\n\nif torch.__version__ >= '2':\n    import torch._dynamo\n\n\ndef f():\n"
    text = translate_source(f"{source}    return torch._dynamo.nonsense()\n").text
    assert "    import torch\n    import torch._dynamo\nexcept ImportError:\n" in text
    assert ":\n    pass\n" in text
    caught = source.replace("if torch.__version__ >= '2':", "try:").replace(
        "dynamo\n", "dynamo\nexcept ImportError:\n    pass\n"
    )
    assert "try:\n    import torch._dynamo\n" in translate_source(f"{caught}    return torch._dynamo.nonsense()\n").text
