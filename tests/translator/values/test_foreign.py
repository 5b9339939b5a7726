"""Values of other packages than torch: their methods give no tensors."""

from __future__ import annotations

from torch2ms import translate_source


def test_what_methods_of_images_give_is_no_tensor() -> None:
    """A text that is nowhere else a tensor's stays as it is: no branch by the type, no mark."""
    body = (
        "def load_image(filename, size):\n"
        "    img = Image.open(filename).convert('RGB')\n"
        "    img = img.resize((size, size), Image.LANCZOS)\n"
        "    flipped = Image.open(filename).rotate(90).transpose(0).resize((size, size))\n"
        "    return img.crop((0, 0, 1, 1)).transpose(1), flipped\n"
    )
    result = translate_source(f"import torch\nfrom PIL import Image\n{body}x = torch.ones(3)\n")
    assert body in result.text
    assert not result.diagnostics
