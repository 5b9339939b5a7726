"""Operators on tensors that MindSpore lacks or reads otherwise: shifts, ``~`` on ints, ``abs`` of complex numbers.

And numbers of numpy in front of a tensor: ``np.sqrt(d) * x`` is an array where ``x`` is a tensor of MindSpore's.
"""

from __future__ import annotations

import ast
import struct
from typing import Any

import libcst as cst

from torch2ms.mapping_tables.schema import Row
from torch2ms.translator.context import Context
from torch2ms.translator.rules.expressions.class_tests import exact_class_test
from torch2ms.translator.rules.expressions.complex_numbers import complex_function, complex_operator, is_complex_number
from torch2ms.translator.rules.expressions.formatting import rewrite_print, text_call
from torch2ms.translator.rules.expressions.joined_layers import joined
from torch2ms.translator.rules.expressions.rare_operators import rare_operator
from torch2ms.translator.rules.expressions.zero_rank_dtypes import narrowed
from torch2ms.translator.rules.recipes.attributes import told_none
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import bare, build, code_of, parenthesised, parse_expression
from torch2ms.translator.values.dtypes import family, is_dtype
from torch2ms.translator.values.kinds import Kind, candidates
from torch2ms.translator.values.queries.complex_values import has_complex, may_be_complex
from torch2ms.translator.values.queries.edge_cases import names_bytes
from torch2ms.translator.values.queries.known_values import values_of
from torch2ms.translator.values.queries.layer_members import is_settings
from torch2ms.translator.values.queries.numpy_arrays import is_array
from torch2ms.translator.values.queries.ranks import ranks
from torch2ms.translator.values.use_evidence import is_mask, uses

__all__ = [
    "careful",
    "doubled_arguments",
    "promoted",
    "rewrite_builtin",
    "rewrite_operator",
    "settled",
    "shift",
    "takes_whole",
]

# What torch computes in float32 for ints and bools, and MindSpore's kernels refuse.
_IN_FLOATS = frozenset(
    """exp exp2 expm1 log log2 log10 log1p sin sinc cos tan asin acos atan arcsin arccos arctan sinh cosh tanh asinh
    acosh atanh arcsinh arccosh arctanh sigmoid expit rsqrt erf erfc erfinv lgamma gammaln digamma psi logit i0 atan2
    arctan2 hypot deg2rad rad2deg logsumexp isinf""".split()
)
_COMPARISONS = frozenset(
    """eq ne lt le gt ge equal not_equal less less_equal greater greater_equal maximum minimum""".split()
)
_CLAMPS = frozenset({"clamp", "clip"})
# Of functions that take numbers beside tensors, those whose MindSpore namesakes take tensors in their place
_TAKING_NUMBERS = frozenset("clamp clip where add sub mul pow multiply subtract remainder masked_fill".split())
_DOUBLE = ("torch.float64", "torch.double")
_ARITHMETIC = frozenset({"add", "sub", "mul", "div", "true_divide", "pow", "multiply", "subtract", "divide"})
_OF_AXES = frozenset({"flip", "cumprod", "transpose", "swapaxes", "swapdims"})  # of a number: the number
_ROUNDING = frozenset({"floor", "ceil", "round"})  # an int stays what it is

# Functions of numpy whose result may be an int.
_WHOLE = frozenset({"prod", "sum", "max", "min", "amax", "amin", "argmax", "argmin", "abs", "int64", "int32", "cumsum"})

_SHIFTS: dict[type[ast.operator], str] = {ast.LShift: "bitwise_left_shift", ast.RShift: "bitwise_right_shift"}


def rewrite_operator(updated: Any, tree: ast.AST, ctx: Context) -> Any:
    """Return what ``a << b`` and ``~a`` become where MindSpore's tensors do not do what torch's do."""
    if isinstance(tree, ast.BinOp) and type(tree.op) in _SHIFTS and isinstance(updated, cst.BinaryOperation):
        if ctx.kind(tree.left).is_tensor or ctx.kind(tree.right).is_tensor:
            return shift(updated.left, updated.right, tree.op, ctx)
    elif isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Invert) and isinstance(updated, cst.UnaryOperation):
        kind = ctx.kind(tree.operand)
        is_flag = is_mask(uses(ctx.analysis.tree).of(tree.operand))
        unknown = not family(kind.of) and not is_flag and (ctx.once(_has_whole) or ctx.once(names_bytes))
        may_be_tensor = kind.is_tensor or (not kind.known and ctx.once(names_bytes))
        if may_be_tensor and (family(kind.of) == "int" or unknown):  # MindSpore's ~ is logical: it gives bools
            inverted = ctx.reference("torch2ms.runtime.functional.bitwise_not")
            return build("{f}({value})", f=inverted, value=updated.expression)
    elif isinstance(tree, ast.BinOp) and isinstance(updated, cst.BinaryOperation):
        rare = rare_operator(updated, tree, ctx)
        if rare is not None:
            return rare
        container = joined(updated, tree, ctx)
        if container is not None:
            return container
        computed = complex_operator(updated, tree, ctx) if ctx.kind(ctx.parent(tree)).name != "ndarray" else None
        if computed is not None:
            return computed
        if _is_number(tree, ctx):
            return updated.with_changes(left=_number(updated.left, tree, ctx))
        if _may_be_number(tree, ctx) or _is_bits_of_number(tree, ctx):
            return updated.with_changes(left=updated.right, right=updated.left)
        left = narrowed(_doubled(updated.left, tree.left, tree.right, ctx), tree.left, tree.right, ctx)
        right = narrowed(_doubled(updated.right, tree.right, tree.left, ctx), tree.right, tree.left, ctx)
        if ctx.kind(tree.left).is_tensor and is_array(tree.right, ctx):
            right = build("{tensor}({x})", tensor=ctx.reference("mindspore.Tensor"), x=bare(right))
        elif ctx.kind(tree.left).is_tensor and _may_be_array(tree.right, ctx):
            right = build("{f}({x})", f=ctx.reference("torch2ms.runtime.functional.operand"), x=bare(right))
        is_same = left is updated.left and right is updated.right
        return updated if is_same else updated.with_changes(left=left, right=right)
    elif isinstance(tree, ast.Compare) and isinstance(updated, cst.Comparison) and len(tree.ops) == 1:
        test = told_none(updated, tree) or exact_class_test(updated, tree, ctx)
        return _compared(updated, tree, ctx) if test is None else test
    return updated


def _compared_with_array(updated: cst.Comparison, tree: ast.Compare, ctx: Context) -> cst.BaseExpression | None:
    """Return ``labels == ms.Tensor(c)`` for ``labels == c`` where ``c`` is numpy's, a number or an array.

    MindSpore's tensors answer such a question with one False; what may be a tensor asks the runtime.
    """
    kinds = [ctx.kind(part) for part in (tree.left, tree.comparators[0])]
    arrays = [kind.name == "ndarray" for kind in kinds]
    others = [kind for kind in kinds if kind.name != "ndarray"]
    if len(others) != 1 or (others[0].known and not others[0].is_tensor):
        return None
    target = updated.comparisons[0]
    if others[0].is_tensor:
        tensor = ctx.reference("mindspore.Tensor")
        if arrays[0]:
            return updated.with_changes(left=build("{tensor}({x})", tensor=tensor, x=bare(updated.left)))
        right = build("{tensor}({x})", tensor=tensor, x=bare(target.comparator))
        return updated.with_changes(comparisons=[target.with_changes(comparator=right)])
    value = tree.comparators[0] if arrays[0] else tree.left
    if ast.unparse(value) not in ctx.once(_treated_as_tensors):
        return None
    name = "equals" if isinstance(tree.ops[0], ast.Eq) else "differs"
    function = ctx.reference(f"torch2ms.runtime.functional.{name}")
    return build("{f}({a}, {b})", f=function, a=bare(updated.left), b=bare(target.comparator))


_OF_TENSORS = frozenset({"cpu", "cuda", "detach", "size", "long", "numel"})


def _treated_as_tensors(ctx: Context) -> frozenset[str]:
    """Return the names and attributes of a file of which something is asked that only tensors have."""
    called = (node.func for node in ctx.analysis.all(ast.Call) if isinstance(node.func, ast.Attribute))
    return frozenset(ast.unparse(func.value) for func in called if func.attr in _OF_TENSORS)


def _compared(updated: cst.Comparison, tree: ast.Compare, ctx: Context) -> cst.BaseExpression:
    target = updated.comparisons[0]
    if isinstance(tree.ops[0], (ast.Eq, ast.NotEq)):
        same = _compared_with_array(updated, tree, ctx)
        if same is not None:
            return same
    left = _doubled(updated.left, tree.left, tree.comparators[0], ctx)
    right = _doubled(target.comparator, tree.comparators[0], tree.left, ctx)
    if left is updated.left and right is target.comparator:
        return updated
    return updated.with_changes(left=left, comparisons=[target.with_changes(comparator=right)])


def doubled_arguments(row: Row, updated: cst.Call, tree: ast.Call, ctx: Context, *, is_method: bool) -> cst.Call:
    """Return a call of a comparison, a bound, an operation with its Python float made a tensor, beside float64.

    A complex number becomes one for the arithmetic functions as well.
    """
    name = row.name.rpartition(".")[2]
    complex_too = name in _ARITHMETIC and any(is_complex_number(value) for value in walk(tree))
    is_rounded = name in _COMPARISONS or name in _TAKING_NUMBERS
    if not (is_rounded or complex_too) or row.name not in (f"torch.{name}", f"torch.Tensor.{name}"):
        return updated
    values = [*tree.args, *(keyword.value for keyword in tree.keywords)]
    first = tree.func.value if is_method and isinstance(tree.func, ast.Attribute) else next(iter(values), None)
    if name == "where" and not is_method:  # the first is the condition
        first = next((value for value in values if ctx.kind(value).of in _DOUBLE), None)
    if first is None or len(values) != len(updated.args):
        return updated
    pairs = zip(updated.args, values, strict=True)
    return updated.with_changes(
        args=[
            arg if _is_named(arg, "alpha") else arg.with_changes(value=_doubled(arg.value, value, first, ctx))
            for arg, value in pairs
        ]
    )


def _is_named(arg: cst.Arg, name: str) -> bool:
    return arg.keyword is not None and arg.keyword.value == name


def _doubled(code: cst.BaseExpression, tree: ast.expr, other: ast.expr, ctx: Context) -> cst.BaseExpression:
    """Return a number beside a float64 tensor as a tensor: MindSpore rounds Python's floats to float32 there."""
    double = ctx.kind(other)
    if double.is_tensor and is_complex_number(tree):
        wide = "complex128" if double.of in ("torch.float64", "torch.double", "torch.complex128") else "complex64"
        names = {"tensor": ctx.reference("mindspore.Tensor"), "dtype": ctx.reference(f"mindspore.{wide}")}
        return build("{tensor}({x}, {dtype})", x=code, **names)  # MindSpore refuses it as it is
    if not double.is_tensor or double.of not in _DOUBLE or ctx.kind(tree).name != "float":
        return code
    number = tree.operand if isinstance(tree, ast.UnaryOp) else tree
    if isinstance(number, ast.Constant) and isinstance(number.value, float) and _is_short(number.value):
        return code
    names = {"tensor": ctx.reference("mindspore.Tensor"), "dtype": ctx.reference("mindspore.float64")}
    return build("{tensor}({x}, {dtype})", x=code, **names)


def _is_short(value: float) -> bool:
    """Whether float32 holds a number as it is."""
    try:
        return bool(struct.unpack("f", struct.pack("f", value))[0] == value)
    except OverflowError:
        return False


def _is_number(tree: ast.BinOp, ctx: Context) -> bool:
    """Whether numpy's number stands in front of a tensor (an array there is refused by torch itself)."""
    return ctx.kind(tree.left).name == "ndarray" and ctx.kind(tree.right).is_tensor


def _may_be_array(tree: ast.expr, ctx: Context) -> bool:
    """Whether what stands behind a tensor is numpy's and handed on: ``r * done``, of a buffer that gives arrays.

    A number that a function of numpy's gives, ``x * np.sqrt(d)``, is taken as it is.
    """
    if isinstance(tree, ast.BinOp):
        return any(_may_be_array(part, ctx) for part in (tree.left, tree.right))
    if isinstance(tree, ast.UnaryOp):
        return _may_be_array(tree.operand, ctx)
    if ctx.kind(tree).name != "ndarray":
        return False
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute):
        return ctx.kind(tree.func.value).is_tensor  # x.numpy()
    if isinstance(tree, ast.Name):
        values = values_of(tree, ctx)
        return not values or any(_may_be_array(value, ctx) for value in values if value is not tree)
    return isinstance(tree, (ast.Attribute, ast.Subscript))


def _may_be_number(tree: ast.BinOp, ctx: Context) -> bool:
    """Whether what stands in front of a tensor may be a number of numpy's, which would make an array of it.

    ``self.limit * torch.tanh(x)``, where nothing shows what ``limit`` is: behind the tensor it does no harm.
    """
    if not isinstance(tree.op, (ast.Mult, ast.Add)) or ctx.kind(tree.left).known or not ctx.kind(tree.right).is_tensor:
        return False
    return isinstance(tree.left, ast.Attribute) and not isinstance(tree.right, ast.BinOp)


def _is_bits_of_number(tree: ast.BinOp, ctx: Context) -> bool:
    """Whether a number stands in front of a tensor in ``1 | x``: MindSpore has these operators behind tensors only."""
    if not isinstance(tree.op, (ast.BitOr, ast.BitAnd, ast.BitXor)) or not ctx.kind(tree.right).is_tensor:
        return False
    return ctx.kind(tree.left).name in ("int", "bool") and not isinstance(tree.right, ast.BinOp)


def _number(left: cst.BaseExpression, tree: ast.BinOp, ctx: Context) -> cst.BaseExpression:
    """Return Python's number for one of numpy's."""
    if isinstance(left, cst.Call) and isinstance(left.func, cst.Name) and left.func.value == "int":
        return left  # what is counted of a shape
    functions = [node.func for node in walk(tree.left) if isinstance(node, ast.Call)]
    called = {function.attr for function in functions if isinstance(function, ast.Attribute)}
    if family(ctx.kind(tree.right).of) == "int" or not called or not called.isdisjoint(_WHOLE):
        return build("{x}.item()", x=parenthesised(left))
    return build("float({x})", x=left)


def shift(left: cst.BaseExpression, right: cst.BaseExpression, op: ast.operator, ctx: Context) -> cst.BaseExpression:
    """Return ``functional.bitwise_left_shift(left, right)`` or its counterpart to the right."""
    name = _SHIFTS[type(op)]
    return build("{f}({a}, {b})", f=ctx.reference(f"torch2ms.runtime.functional.{name}"), a=left, b=right)


def rewrite_builtin(updated: cst.BaseExpression, tree: ast.Call, ctx: Context) -> cst.BaseExpression:
    """Return what ``abs(c)``, ``str(x.dtype)``, ``repr(x.shape)`` and ``copy.deepcopy(x)`` become."""
    if not isinstance(updated, cst.Call):
        return updated
    updated = rewrite_print(updated, tree, ctx)
    if len(tree.args) != 1 or tree.keywords:
        return updated
    if ctx.kind(tree.func).of == "copy.deepcopy":
        return _deep_copy(updated, tree.args[0], ctx)
    if ctx.kind(tree.func).of == "copy.copy":
        return _shallow_copy(updated, tree.args[0], ctx)
    if not isinstance(tree.func, ast.Name):
        return updated
    if isinstance(tree.args[0], ast.Starred) or ctx.kind(tree.func).known:
        return updated
    kind = ctx.kind(tree.args[0])
    if tree.func.id == "abs" and kind.is_tensor and may_be_complex(tree.args[0], ctx):
        return updated.with_changes(func=ctx.reference("torch2ms.runtime.functional.abs"))
    if tree.func.id in ("str", "repr"):
        if is_dtype(kind):
            return updated.with_changes(func=ctx.reference("torch2ms.runtime.functional.dtype_name"))
        if kind.name == "Size":
            return _size_text(updated)
        if kind.is_tensor or (kind.name in ("list", "tuple", "dict") and _holds_tensors(kind)):
            return text_call(updated.args[0].value, tree.args[0], ctx)
        _tell_text(tree, kind, ctx)
    return updated


_DESCRIBED = {"Module": "a network", "Optimizer": "an optimizer", "Scheduler": "a scheduler"}


def _tell_text(tree: ast.Call, kind: Kind, ctx: Context) -> None:
    """Report the text of an object that MindSpore describes in other words; what is only printed may differ."""
    keys = candidates(kind)
    if kind.name not in _DESCRIBED or any(":" in key and ctx.world.sets(key, "__repr__") for key in keys):
        return
    parent = ctx.parent(tree)
    if not (isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "print"):
        ctx.report("T2M303", tree, f"MindSpore describes {_DESCRIBED[kind.name]} in other words than PyTorch")


def _shallow_copy(updated: cst.Call, tree: ast.expr, ctx: Context) -> cst.BaseExpression:
    """Return ``x`` for ``copy.copy(x)`` of a tensor: that shares its memory, where MindSpore's copy does not."""
    return updated.args[0].value if ctx.kind(tree).is_tensor else updated


def _deep_copy(updated: cst.Call, tree: ast.expr, ctx: Context) -> cst.Call:
    """Return a copy that shares no memory: MindSpore's tensors do with what Python's deepcopy makes of them."""
    kind = ctx.kind(tree)
    if kind.name == "Tensor":
        return cst.ensure_type(build("{x}.copy()", x=updated.args[0].value), cst.Call)
    held = isinstance(tree, ast.Subscript) and not kind.known and not is_settings(tree.value, ctx)
    container = kind.name in ("dict", "list", "tuple") and (_holds_tensors(kind) or not _is_plain(kind))
    if held or container or kind.name == "instance":
        return updated.with_changes(func=ctx.reference("torch2ms.runtime.functional.deepcopy"))
    return updated


def _is_plain(kind: Kind) -> bool:
    """Whether a container shows that it holds numbers and texts alone."""
    return bool(kind.items) and all(
        _is_plain(item) if item.name in ("dict", "list", "tuple") else item.name in ("int", "float", "str", "bool")
        for item in kind.items
    )


def _holds_tensors(kind: Kind) -> bool:
    return kind.name == "Tensor" or any(_holds_tensors(item) for item in kind.items)


def _size_text(updated: cst.Call) -> cst.BaseExpression:
    """Return ``f"torch.Size({list(x.shape)})"``: torch's sizes say what they are, MindSpore's are tuples."""
    shape = code_of(updated.args[0].value)
    return updated if '"' in shape or "\n" in shape else parse_expression(f'f"torch.Size({{list({shape})}})"')


def promoted(row: Row, updated: cst.Call, tree: ast.Call, ctx: Context, *, is_method: bool) -> cst.Call | None:
    """Return a call of a function of floats with its int tensors cast, as torch does; None if it has none."""
    name = row.name.rpartition(".")[2]
    if name in _CLAMPS and not _clamps_bools(tree, ctx):
        return None
    if name not in _IN_FLOATS | _CLAMPS or not row.name.startswith(
        ("torch.Tensor.", "torch.special.", "torch.nn.functional.sig", "torch.nn.functional.tanh", "torch." + name)
    ):
        return None
    changed = False
    func = updated.func
    whole = isinstance(tree.func, ast.Attribute) and _is_whole(tree.func.value, ctx)
    if is_method and whole and isinstance(func, cst.Attribute):
        dtype = "float32" if name in _IN_FLOATS else "int64"
        updated = updated.with_changes(func=func.with_changes(value=_floats(func.value, ctx, dtype)))
        changed = True
    args = list(updated.args)
    values = [*tree.args, *(keyword.value for keyword in tree.keywords)]
    for position, value in enumerate(values if len(values) == len(args) else ()):
        if _is_whole(value, ctx):
            dtype = "float32" if name in _IN_FLOATS else "int64"
            args[position] = args[position].with_changes(value=_given_floats(args[position], ctx, dtype))
            changed = True
    return updated.with_changes(args=args) if changed else None


def settled(row: Row, updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression | None:
    """Return what ``floor`` of ints, ``amax`` of bools and ``abs`` of complex numbers become: the dtype decides."""
    name = row.name.rpartition(".")[2]
    is_method = row.name.startswith("torch.Tensor.")
    value = next(iter(tree.args), next((k.value for k in tree.keywords if k.arg == "input"), None))
    if is_method and isinstance(tree.func, ast.Attribute):
        value = tree.func.value
    if value is None or row.name not in (f"torch.Tensor.{name}", f"torch.{name}") or not ctx.kind(value).is_tensor:
        return None
    computed = complex_function(row, updated, tree, ctx)
    if computed is not None:
        return computed
    of = family(ctx.kind(value).of)
    if _adapted(name, ctx.kind(value).of) and not any(keyword.arg in (None, "out") for keyword in tree.keywords):
        function = f"torch2ms.runtime.functional.{name}"
        ctx.account(tree.func, row.name, "mapped", function)
        own = [cst.Arg(updated.func.value)] if is_method and isinstance(updated.func, cst.Attribute) else []
        return updated.with_changes(func=ctx.reference(function), args=[*own, *updated.args])
    if name in _OF_AXES and ranks(value, ctx) == {0} and not (name == "cumprod" and of == "bool"):  # which widens them
        ctx.account(tree.func, row.name, "mapped", "mindspore.Tensor.copy")
        named = [arg for arg in updated.args if arg.keyword is not None and arg.keyword.value == "input"]
        given = (named or updated.args)[0].value if not is_method else None
        held = updated.func.value if given is None and isinstance(updated.func, cst.Attribute) else given
        assert held is not None
        return build("{x}.copy()", x=parenthesised(held))
    alone = len(tree.args) + len(tree.keywords) == (0 if is_method else 1)
    modulus = name in ("abs", "absolute") and may_be_complex(value, ctx)
    if not alone or not ((name in _ROUNDING and of == "int") or modulus):
        return None
    code = updated.func.value if is_method and isinstance(updated.func, cst.Attribute) else updated.args[0].value
    if of == "int" and not modulus:
        ctx.account(tree.func, row.name, "mapped", "mindspore.Tensor.copy")
        return build("{x}.copy()", x=code)
    ctx.account(tree.func, row.name, "mapped", "torch2ms.runtime.functional.abs")
    return build("{f}({x})", f=ctx.reference("torch2ms.runtime.functional.abs"), x=code)


def careful(row: Row, target: str, ctx: Context) -> str:
    """Return the runtime's function for one that is handed on in a file that may call it with what it cannot take.

    That is ``abs`` where the file has complex numbers, of which MindSpore's gives complex ones again.
    """
    is_modulus = row.name in ("torch.abs", "torch.absolute") and ctx.once(has_complex)
    return "torch2ms.runtime.functional.abs" if is_modulus else target


def takes_whole(row: Row, ctx: Context) -> bool:
    """Whether a function of floats is handed on in a file that hands whole numbers to what it does not name."""
    name = row.name.rpartition(".")[2]
    return name in _IN_FLOATS and row.name == f"torch.{name}" and ctx.once(_hands_whole)


def _hands_whole(ctx: Context) -> bool:
    for call in ctx.analysis.all(ast.Call):
        callee = ctx.kind(call.func)
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if callee.name in ("unknown", "function") and any(_is_whole(value, ctx) for value in given):
            return True
        if callee.name == "api" and not ctx.is_import_root(call.func) and any(_is_whole(v, ctx) for v in given):
            return True  # a name for one of torch's functions
    return False


_OF_WHOLE = frozenset({"LongTensor", "IntTensor", "from_numpy", "as_tensor", "arange", "randint", "tensor"})


def _has_whole(ctx: Context) -> bool:
    """Whether a file makes tensors that may hold whole numbers."""
    return any(
        family(ctx.kind(call).of) == "int" or (ctx.kind(call).is_tensor and not family(ctx.kind(call).of))
        for call in ctx.analysis.all(ast.Call)
        if getattr(call.func, "attr", getattr(call.func, "id", "")) in _OF_WHOLE
    )


def _adapted(name: str, dtype: str) -> bool:
    """Whether a function of this dtype gives another one in MindSpore, or none at all."""
    if dtype == "torch.uint8":
        return name in ("all", "any")
    return dtype == "torch.bool" and name in ("amax", "amin", "add")


def _is_whole(tree: ast.expr, ctx: Context) -> bool:
    kind = ctx.kind(tree)
    return kind.is_tensor and family(kind.of) in ("int", "bool")


def _clamps_bools(tree: ast.Call, ctx: Context) -> bool:
    """Whether flags are brought between two whole numbers, which makes them numbers."""
    values = [*tree.args, *(keyword.value for keyword in tree.keywords)]
    if isinstance(tree.func, ast.Attribute):
        values.append(tree.func.value)
    flags = any(ctx.kind(value).is_tensor and family(ctx.kind(value).of) == "bool" for value in values)
    return flags and not any(isinstance(getattr(value, "value", None), float) for value in values)


def _floats(code: cst.BaseExpression, ctx: Context, dtype: str = "float32") -> cst.BaseExpression:
    return build("{x}.astype({dtype})", x=code, dtype=ctx.reference(f"mindspore.{dtype}"))


def _given_floats(arg: cst.Arg, ctx: Context, dtype: str) -> cst.BaseExpression:
    if arg.star == "*":  # f(*tensors): each of them
        item = cst.Name("item")
        return build("({cast} for item in {x})", cast=_floats(item, ctx, dtype), x=arg.value)
    return _floats(arg.value, ctx, dtype)
