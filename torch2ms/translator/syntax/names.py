"""Names: what an import statement binds, and which roots are torch's.

A reference to torch is a Kind ``api`` whose ``of`` is the canonical name; several possible names are joined with ``|``,
and whoever acts on it must find that all agree.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

__all__ = ["EITHER_DEVICE", "PROJECT", "TORCH_ROOTS", "dotted", "imported", "is_torch_name"]

# All but the first two take torch's tensors and networks
TORCH_ROOTS = frozenset(
    {
        "torch", "torchvision", "einops", "apex", "tensorboardX", "accelerate", "timm", "safetensors", "transformers",
        "diffusers", "peft",
    }
)  # fmt: skip
EITHER_DEVICE = {"torch", "torch.cuda"}  # ``torch.cuda if use_cuda else torch``: tensors of one device or the other
PROJECT = "project:"  # prefix of Kind("module").of for modules of the project


def is_torch_name(name: str) -> bool:
    """Whether a dotted name starts in torch or torchvision."""
    return name.partition(".")[0] in TORCH_ROOTS


def dotted(node: ast.AST) -> str | None:
    """Return ``a.b.c`` for a plain attribute chain, else None."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    parts.append(node.id)
    return ".".join(reversed(parts))


def imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str, str | None]]:
    """Yield (bound name, dotted module, attribute or None) for every alias of an import statement.

    ``import a.b`` binds ``a``; a star import yields ``("*", module, "*")``.
    """
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname:
                yield alias.asname, alias.name, None
            else:
                root = alias.name.partition(".")[0]
                yield root, root, None
    else:
        for alias in node.names:
            yield alias.asname or alias.name, node.module or "", alias.name
