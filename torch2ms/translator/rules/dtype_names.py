"""Types of tensors by PyTorch's old names: ``x.type(torch.FloatTensor)``, and a name that holds one of two of them."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.values.dtypes import family
from torch2ms.translator.values.kinds import candidates

__all__ = ["TYPES", "floating_type"]

# The names that x.type() takes and gives: torch.FloatTensor, torch.cuda.FloatTensor.
TYPES = {
    "Tensor": "float32",
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16",
    "ByteTensor": "uint8",
    "CharTensor": "int8",
    "ShortTensor": "int16",
    "IntTensor": "int32",
    "LongTensor": "int64",
    "BoolTensor": "bool_",
}


def floating_type(tree: ast.expr, code: cst.BaseExpression, ctx: Context) -> cst.BaseExpression | None:
    """Return the dtype of ``torch.FloatTensor`` or ``torch.float32``, of both candidates where a name has two."""
    kind = ctx.kind(tree)
    if not kind.of.endswith("Tensor") and kind.name in ("api", "dtype") and family(kind.of) == "float":
        return code
    text = tree.value if isinstance(tree, ast.Constant) else ""
    names = candidates(kind) if kind.name == "api" else (str(text),) if isinstance(text, str) and text else ()
    words = {TYPES.get(name.rpartition(".")[2], "") for name in names}
    word = words.pop() if len(words) == 1 else ""
    return ctx.reference(f"mindspore.{word}") if word.startswith(("float", "bfloat")) else None
