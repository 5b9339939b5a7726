"""Moves and casts of values of which nothing is known: what is the same on tensors and networks needs no type."""

from __future__ import annotations

from torch2ms import translate_source

HEAD = "import torch\n\n\n"


def test_a_text_that_networks_are_moved_to_is_a_device() -> None:
    source = (
        "def f(net: torch.nn.Module, tokens, prompt, cuda):\n    d = 'cuda' if cuda else 'cpu'\n    net.to(d)\n"
        "    return net(tokens(prompt).to(d))\n"
    )
    assert translate_source(HEAD + source).text.endswith("    return net(tokens(prompt))\n")


def test_a_text_that_nothing_is_moved_to_may_be_a_unit() -> None:
    source = 'def f(length, x: torch.Tensor):\n    unit = "km"\n    return length.to(unit), x + 1\n'
    assert "length.to(unit)" in translate_source(HEAD + source).text


def test_a_number_that_nothing_is_moved_to_may_be_a_unit() -> None:
    source = "def f(length, x: torch.Tensor):\n    return length.to(3), x + 1\n"
    assert "length.to(3)" in translate_source(HEAD + source).text


def test_what_becomes_the_same_of_a_tensor_and_a_network_needs_no_type() -> None:
    source = "def f(make, x: torch.Tensor):\n    net = make()\n    net = net.cuda()\n    return net(x.relu())\n"
    report = translate_source(HEAD + source)
    assert report.text.endswith("    net = make()\n    return net(ops.relu(x))\n")
    assert "T2M207" not in {item.code for item in report.diagnostics}


def test_the_save_of_something_unknown_is_no_networks() -> None:
    source = "def f(picture, x: torch.Tensor):\n    picture.save('a.png')\n    return x + 1\n"
    assert "T2M207" not in {item.code for item in translate_source(HEAD + source).diagnostics}
