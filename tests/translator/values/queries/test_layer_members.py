"""Methods of networks on objects whose classes are not resolved."""

from __future__ import annotations

import textwrap

from torch2ms.translator.pipeline import translate_source

FOREIGN = """
    import torch
    from {module} import Base


    class Wrapped(Base):
        def own(self):
            return [name for name, _ in self.named_parameters()]


    def names(model: Wrapped):
        return [name for name, _ in model.named_parameters()], sum(p.numel() for p in model.parameters())
"""


def test_weights_of_a_class_that_derives_from_a_package_are_asked_for_so_that_any_object_answers() -> None:
    text = translate_source(textwrap.dedent(FOREIGN.format(module="mystery"))).text
    assert "in modules.named_parameters(self)]" in text
    assert "in modules.named_parameters(model)]" in text
    assert "in modules.parameters(model))" in text


def test_a_class_that_derives_from_a_package_without_torch_keeps_its_methods() -> None:
    text = translate_source(textwrap.dedent(FOREIGN.format(module="sklearn.base"))).text
    assert "in self.named_parameters()]" in text
    assert "in model.named_parameters()]" in text
