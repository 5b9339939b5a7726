"""Texts that are seldom written, and must neither break the translated file nor stop its translation."""

from __future__ import annotations

import ast

import pytest

from torch2ms import translate_source


def _translated(text: str) -> str:
    result = translate_source(text)
    assert [found.message for found in result.diagnostics if found.code == "T2M900"] == []
    ast.parse(result.text)
    return result.text


def test_texts_inside_of_an_f_string_have_other_quotes_than_its_own() -> None:
    text = _translated(
        'import torch\ndef f(x: torch.Tensor):\n    return f"{str(x.shape)} {torch.get_float32_matmul_precision()}"\n'
        "def g(x: torch.Tensor):\n    return f'{str(x.shape)} {torch.get_float32_matmul_precision()}'\n"
    )
    assert """f"{f'torch.Size({list(x.shape)})'} {'highest'}\"""" in text
    assert """f'{f"torch.Size({list(x.shape)})"} {"highest"}'""" in text


def test_a_value_taken_out_of_a_call_may_run_over_lines() -> None:
    text = _translated(
        "import torch\n"
        "def f(shadow: dict[str, torch.Tensor], state: dict[str, torch.Tensor]):\n"
        "    for name in shadow:\n"
        "        shadow[name].copy_(\n"
        "            0.9 * shadow[name]\n"
        "            + 0.1 * state[name]\n"
        "        )\n"
    )
    assert "= (0.9 * shadow[name]\n            + 0.1 * state[name])" in text


def test_autograd_grad_without_arguments_stays() -> None:
    assert ".grad()" in _translated("import torch\nfrom torch import autograd\ndef f():\n    autograd.grad()\n")


def test_tabs_in_a_block_of_spaces_are_the_files_fault() -> None:
    result = translate_source("import torch\nif torch.ones(1):\n    if True:\n\t    x = 1\n    y = 2\n")
    assert [(found.code, found.advice) for found in result.diagnostics] == [
        ("T2M101", "Indent the whole file by spaces, or by tabs.")
    ]


def test_switches_are_read_as_their_defaults_and_set_without_effect() -> None:
    text = _translated(
        "import torch\n"
        "from torch.backends import cudnn\n"
        "was = cudnn.deterministic\n"
        "cudnn.deterministic = cudnn.benchmark = True\n"
        "cudnn.enabled, cudnn.benchmark = False, True\n"
        "torch.backends.cudnn.deterministic = was\n"
    )
    assert text == (
        "from torch2ms_runtime import switches\n"
        'was = switches.get("torch.backends.cudnn.deterministic", False)\n'
        'switches.put("torch.backends.cudnn.deterministic", True); '
        'switches.put("torch.backends.cudnn.benchmark", True)\n'
        'switches.put("torch.backends.cudnn.deterministic", was)\n'
    )


def test_a_switch_set_beside_another_name_stays() -> None:
    result = translate_source("import torch\na, torch.backends.cudnn.benchmark = 1, True\n")
    assert "T2M203" in [found.code for found in result.diagnostics]
    ast.parse(result.text)


def test_torch_is_an_attribute_of_torch() -> None:
    text = _translated("import torch\ndef f(x: torch.torch.Tensor):\n    return torch.torch.nn.ReLU()(x)\n")
    assert "x: ms.Tensor" in text
    assert "torch" not in text


def test_imports_that_are_tried_go_with_what_would_stand_in_for_them() -> None:
    text = _translated(
        "# where it is\n"
        "try:\n    from torch.hub import load_state_dict_from_url\n"
        "except ImportError:\n    from torch.utils.model_zoo import load_url as load_state_dict_from_url\n\n\n"
        "def f(url):\n    return load_state_dict_from_url(url)\n"
    )
    assert text == (
        "# where it is\nfrom torch2ms_runtime.hub import load_state_dict_from_url\n\n\n"
        "def f(url):\n    return load_state_dict_from_url(url)\n"
    )


def test_what_is_tried_stays_where_it_does_more_than_to_import() -> None:
    text = _translated(
        "try:\n    import torch\n    HAS = True\nexcept ImportError:\n    HAS = False\nx = torch.ones(2)\n"
    )
    assert "try:\n    HAS = True\nexcept ImportError:\n    HAS = False\n" in text


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("return(x.cuda())", "return(x)"),
        ("if(x.cpu()):\n        return(x.size())", "if(x):\n        return(x.shape)"),
        ("return not(x.cuda())", "return not(x)"),
        ("y = 1 if(x.cuda())else(x.cpu())", "y = 1 if(x)else(x)"),
        ("return [(x.cuda())for x in(x.cuda())if(x.cpu())]", "return [(x)for x in(x)if(x)]"),
        ("y = x in(x.cuda())and(x.cpu())or(x.cuda())", "y = x in(x)and(x)or(x)"),
        ("while(x.cuda()):pass", "while(x):pass"),
        ("assert(x.cuda())", "assert(x)"),
        ("yield(x.cuda())", "yield(x)"),
        (
            "match(x.cuda()):\n        case 1 if(x.cpu()):\n            return(x.cuda())\n"
            "        case _ if (x.cpu()):\n            pass",
            "match(x):\n        case 1 if(x):\n            return(x)\n        case _ if x:\n            pass",
        ),
        ("return (x.cuda()).sum()", "return x.sum()"),
    ],
)
def test_parentheses_stay_where_they_stand_for_a_space(lines: str, expected: str) -> None:
    assert expected in _translated(f"import torch\ndef f(x: torch.Tensor):\n    {lines}\n")
