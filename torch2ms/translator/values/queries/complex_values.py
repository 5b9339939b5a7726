"""Complex tensors: whether a file has any, and whether a value may be one."""

from __future__ import annotations

import ast

from torch2ms.translator.values.dtypes import family
from torch2ms.translator.values.file_facts import FileFacts

__all__ = ["OF_COMPLEX", "has_complex", "may_be_complex"]


def may_be_complex(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether a tensor is complex, or of unknown dtype in a file that has complex tensors."""
    dtype = ctx.kind(tree).of
    return family(dtype) == "complex" or (not family(dtype) and ctx.once(has_complex))


OF_COMPLEX = frozenset({"complex", "complex64", "complex128", "cfloat", "cdouble", "polar", "view_as_complex", "fft"})


def has_complex(ctx: FileFacts) -> bool:
    """Whether a file names complex tensors: a literal, a dtype, ``torch.polar``, a Fourier transform."""
    return any(
        (isinstance(node, ast.Constant) and isinstance(node.value, complex))
        or (isinstance(node, ast.Attribute) and node.attr in OF_COMPLEX)
        for node in ctx.analysis.nodes
    )
