"""Folders that a file puts on ``sys.path``, as far as it writes them out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torch2ms.translator.effects.reads_and_writes import dotted_path
from torch2ms.translator.syntax.ast_walk import walk

__all__ = ["added_folders"]


def added_folders(call: ast.Call) -> Iterator[str]:
    """Yield the folders of a call: ``core`` of ``sys.path.append(os.path.join(here, "core"))``; none of other calls."""
    place = dotted_path(call.func.value) if isinstance(call.func, ast.Attribute) else None
    if place != "sys.path":
        return
    for node in walk(call):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            parts = [part for part in node.value.split("/") if part not in ("", ".", "..")]
            if parts:
                yield "/".join(parts)
