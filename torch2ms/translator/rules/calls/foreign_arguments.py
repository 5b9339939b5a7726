"""Tensors handed to packages that know PyTorch's: ``wandb.log({"loss": loss})`` and ``plt.axis(limits)`` get arrays.

What NumPy counts of a shape, ``np.prod(x.size())``, becomes an int: it is the size of a layer somewhere else, and
MindSpore's layers take no number of NumPy's. So does a product that is a size of a network of the project.
"""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import build
from torch2ms.translator.values.kinds import Kind, candidates

__all__ = ["as_arrays"]

# What writes numbers out as JSON, and what takes a tensor apart: MindSpore's numbers claim to have parts
_TAKERS = frozenset({"wandb.log", "matplotlib.pyplot.axis", "matplotlib.pyplot.xlim", "matplotlib.pyplot.ylim"})


def as_arrays(updated: cst.Call, tree: ast.Call, callee: Kind, ctx: Context) -> cst.Call:
    """Return a call of another package's function with arrays of NumPy for the tensors among its arguments."""
    if callee.of == "numpy.prod" and (_counts_a_shape(tree, ctx) or _is_size(tree, ctx)):
        return _called("int", updated)
    if callee.name != "module" or callee.of not in _TAKERS or len(updated.args) != len(tree.args) + len(tree.keywords):
        return updated
    given = [*tree.args, *(word.value for word in tree.keywords)]
    args = [
        arg.with_changes(value=_as_array(arg.value, value, ctx)) for arg, value in zip(updated.args, given, strict=True)
    ]
    return updated.with_changes(args=args)


def _counts_a_shape(tree: ast.Call, ctx: Context) -> bool:
    """Whether the elements of a tensor are counted, and the number is kept: not asked for its members, nor an int."""
    if len(tree.args) != 1 or tree.keywords or not (ctx.kind(tree.args[0]).name == "Size" or _is_shape(tree.args[0])):
        return False
    around = ctx.parent(tree)
    is_int = isinstance(around, ast.Call) and getattr(around.func, "id", "") == "int"
    return not is_int and not isinstance(around, ast.Attribute)


def _is_size(tree: ast.Call, ctx: Context) -> bool:
    """Whether a product is handed to a network of the project as a size: ``GatedDense(np.prod(args.shape), 300)``."""
    parent = ctx.parent(tree)
    call = ctx.parent(parent) if isinstance(parent, ast.keyword) else parent
    if len(tree.args) != 1 or tree.keywords or not isinstance(call, ast.Call) or ctx.kind(call).name != "Module":
        return False
    for key in candidates(ctx.kind(call.func)):
        for info in filter(None, map(ctx.world.class_info, ctx.world.ancestry(key))):
            method = info.methods.get("__init__")
            if method is None:
                continue
            names = [arg.arg for arg in method.node.args.args[1:]]
            place = call.args.index(tree) if tree in call.args else len(names)
            name = parent.arg if isinstance(parent, ast.keyword) else names[place] if place < len(names) else ""
            return name is not None and _makes_layers(name, method.node)
    return False


def _makes_layers(name: str, function: ast.AST) -> bool:
    """Whether a constructor hands a parameter on, to what it makes: ``nn.Linear(size, 3)``."""
    made = (node for node in walk(function) if isinstance(node, ast.Call))
    given = (value for call in made for value in (*call.args, *(word.value for word in call.keywords)))
    return any(isinstance(part, ast.Name) and part.id == name for value in given for part in walk(value))


def _is_shape(tree: ast.expr) -> bool:
    """Whether an expression is ``x.shape``, ``x.size()`` or a part of it: a shape whatever ``x`` is."""
    if isinstance(tree, ast.Subscript) and isinstance(tree.slice, ast.Slice):
        return _is_shape(tree.value)
    if isinstance(tree, ast.Call):
        return getattr(tree.func, "attr", "") == "size" and not tree.args and not tree.keywords
    return isinstance(tree, ast.Attribute) and tree.attr == "shape"


def _called(name: str, argument: cst.BaseExpression) -> cst.Call:
    """Return ``name(argument)``."""
    return cst.Call(cst.Name(name), [cst.Arg(argument)])


def _as_array(code: cst.BaseExpression, value: ast.expr, ctx: Context) -> cst.BaseExpression:
    if ctx.kind(value).is_tensor:
        return build("{x}.asnumpy()", x=code)
    if isinstance(code, cst.Dict) and isinstance(value, ast.Dict) and len(code.elements) == len(value.values):
        elements = [
            element.with_changes(value=_as_array(element.value, held, ctx))
            if isinstance(element, cst.DictElement)
            else element
            for element, held in zip(code.elements, value.values, strict=True)
        ]
        return code.with_changes(elements=elements)
    return code
