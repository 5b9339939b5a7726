"""Copies of torch's own modules in projects: they ask for names that torch had in one release or another."""

from __future__ import annotations

from torch2ms.translator.pipeline import translate_source


def test_copies_of_attention_ask_for_names_of_several_releases() -> None:
    text = (
        "import torch\nfrom torch import nn\nfrom torch._jit_internal import Optional\n"
        "if float(torch.__version__.split('.')[1]) < 9:\n"
        "    from torch.nn.modules.linear import _LinearWithBias\n"
        "    from torch._overrides import has_torch_function\n"
        "else:\n"
        "    from torch.nn.modules.linear import NonDynamicallyQuantizableLinear as _LinearWithBias\n"
        "    from torch.overrides import has_torch_function\n\n\n"
        "class Attention(nn.Module):\n    bias: Optional[torch.Tensor]\n\n    def __init__(self):\n"
        "        super().__init__()\n        self.out = _LinearWithBias(4, 4)\n\n"
        "    def forward(self, x):\n        return self.out(x) if not has_torch_function((x,)) else None\n"
    )
    result = translate_source(text)
    assert not [found for found in result.diagnostics if str(found.severity) != "note"]
    assert "import torch\n" not in result.text
    assert "self.out = Dense(4, 4)" in result.text
    assert "bias: Optional[ms.Tensor]" in result.text or "bias: typing.Optional[ms.Tensor]" in result.text
