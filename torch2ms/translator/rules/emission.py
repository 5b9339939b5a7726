"""Emission: a bound torch call written as the call of its target."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace

import libcst as cst

from torch2ms.mapping_tables.counterparts import counterparts, place_of
from torch2ms.mapping_tables.schema import MappedTo, Row, Signature
from torch2ms.mapping_tables.transforms import TRANSFORMS
from torch2ms.translator.context import Context
from torch2ms.translator.rules.call_site import BY_NAME_ALONE, SPLAT_SAFE, CallSite, Leave, Replace
from torch2ms.translator.rules.layer_sizes import (
    NUMBERS,
    SIZES,
    is_number,
    may_be_list,
    may_be_no_bool,
    may_be_numpy,
    may_be_word,
    single_size,
)
from torch2ms.translator.syntax.argument_binding import BoundArgument, BoundCall, parsed, same_literal
from torch2ms.translator.syntax.cst_builders import as_tuple, bare, build, fix_commas, keyword_arg, parenthesised
from torch2ms.translator.values.families import RECURRENT
from torch2ms.translator.values.kinds import Kind

__all__ = ["STARRED", "ContextArgument", "choose_row", "emit_call", "fits", "with_numbers"]

STARRED = "arguments are passed with * or **, so that they cannot be renamed"

TENSOR_METHOD = "mindspore.Tensor."
CELL_METHOD = "mindspore.nn.Cell."
# Prefixes of targets that are members of an object: the call keeps its receiver.
_MEMBERS = (
    TENSOR_METHOD,
    CELL_METHOD,
    "mindspore.Parameter.",
    "mindspore.experimental.optim.Optimizer.",
    "mindspore.experimental.optim.lr_scheduler.LRScheduler.",
    "mindspore.experimental.optim.lr_scheduler.ReduceLROnPlateau.",
)
_SIZES = frozenset({"unknown", "int", "list", "none"})  # what may be an int or a list, as far as is known
_IGNORABLE = frozenset({"device", "dtype", "layout", "pin_memory", "requires_grad", "memory_format"})


@dataclass(frozen=True, slots=True)
class ContextArgument:
    """An argument as transforms see it (``transforms.Argument``)."""

    tree: ast.expr
    code: cst.BaseExpression
    kind: Kind
    ctx: Context

    @property
    def is_number(self) -> bool:
        """Whether it is one number, by its kind or by what its scope does with it."""
        return is_number(self.tree, self.ctx)

    def runtime(self, name: str, *args: cst.BaseExpression) -> cst.BaseExpression:
        """Return a call of a runtime function on ``args``, or on the argument itself when there are none."""
        callee = self.ctx.reference(f"torch2ms.runtime.{name}")
        return cst.Call(callee, [cst.Arg(arg) for arg in args or (self.code,)])


def with_numbers(bound: BoundCall | None, row: Row, tree: ast.Call, ctx: Context) -> BoundCall | None:
    """Return the call of a layer with ints for tensors that are sizes: PyTorch takes ``nn.Embedding(ids.max(), 5)``."""
    if bound is None or row.kind != "class" or ctx.kind(tree).name != "Module":
        return bound
    made = dict(bound.arguments)
    for name, given in bound.arguments.items():
        parameter = bound.signature.get(name)
        if parameter is not None and parameter.default is None and ctx.kind(given.tree).is_tensor:
            code = build("int({x})", x=given.code)
            made[name] = replace(given, code=code, arg=given.arg.with_changes(value=code))
    return replace(bound, arguments=made)


def fits(option: MappedTo, bound: BoundCall | None, row: Row, ctx: Context) -> str | None:
    """Return None when a target's conditions hold for a call, else what stands in the way."""
    if bound is None:
        return None if not (option.when or option.reject) else "its signature is not known"
    moved = bound.splat and (_needs_names(option) or _is_reordered(option, bound, row, ctx))
    if moved and option.recipe not in SPLAT_SAFE and not _by_place(option, bound, ctx):
        return STARRED
    dtype = bound.get("dtype")
    if dtype is not None and row.kind == "class" and row.adapter and not _is_dtype(dtype.tree, ctx):
        return "dtype may be None, which MindSpore's layers do not take"
    for name, wanted in option.when.items():
        argument = bound.get(name)
        parameter = bound.signature.get(name)
        text = parameter.default if parameter is not None else None
        holds = same_literal(argument.tree, wanted) if argument is not None else _same_text(text, wanted)
        if not holds:
            return f"{name} must be {wanted}"
    for name, advice in option.reject.items():
        argument = bound.get(name)
        parameter = bound.signature.get(name)
        if argument is not None and not same_literal(argument.tree, parameter.default if parameter else None):
            return f"the argument {name}={ast.unparse(argument.tree)} has no counterpart: {advice}"
    return None


def _is_reordered(option: MappedTo, bound: BoundCall, row: Row, ctx: Context) -> bool:
    """Whether what a ``*`` may fill has another place: ``clamp_max(input, max)`` beside ``clamp(input, min, max)``."""
    signature = ctx.tables.target_signature(option.target, ctx.target.mindspore)
    if signature is None:
        return False
    given = [p.name for p in bound.signature.parameters if p.kind in ("positional_only", "positional")]
    places = [p.name for p in signature.parameters if p.kind in ("positional_only", "positional")]
    is_member = option.target.startswith(_MEMBERS)
    if row.kind == "method" and not is_member:
        places = places[1:]  # the receiver comes first
    elif row.kind != "method" and is_member:
        given = given[1:]
    if "out" in given:
        given = given[: given.index("out")]  # nobody gives a place what stands behind it
    filled = len(given) if bound.by_place else sum(argument.positional for argument in bound)
    return any(a != b for a, b in zip(given[:filled], places, strict=False))


def _is_dtype(tree: ast.expr, ctx: Context) -> bool:
    """Whether an expression names a dtype itself; what a variable of that kind holds may be None as well."""
    return isinstance(tree, ast.Attribute) and ctx.kind(tree).name in ("dtype", "api")


def _needs_names(option: MappedTo) -> bool:
    changes = option.rename or option.transform or option.write_default or option.add or option.recipe
    if option.target.startswith("torch2ms.runtime.") and not changes:
        return False  # what is dropped (out=) has been dealt with; the rest has torch's names
    return bool(option.rename or option.transform or option.write_default or option.add or option.drop or option.recipe)


def _by_place(option: MappedTo, bound: BoundCall, ctx: Context) -> bool:
    """Whether arguments given by their places mean the same to a target whose parameters are called otherwise."""
    recipe = option.recipe is not None and option.recipe not in BY_NAME_ALONE
    changes = option.transform or option.write_default or option.add or recipe
    signature = ctx.tables.target_signature(option.target, ctx.target.mindspore)
    if changes or bound.by_name or signature is None:
        return False
    named = {argument.parameter for argument in bound if not argument.positional}
    if named & {*option.rename, *option.drop}:
        return False
    given = [p.name for p in bound.signature.parameters if p.kind in ("positional_only", "positional")]
    if any(name in given for name in option.drop):  # else a * holds nothing that goes: out= has a name
        return False
    source = [option.rename.get(name, name) for name in given]
    places = [p.name for p in signature.parameters if p.kind in ("positional_only", "positional")]
    return places[: len(source)] == source


def _same_text(default: str | None, wanted: str) -> bool:
    if default is None:
        return False
    return default == wanted or same_literal(parsed(default), wanted)


def emit_call(site: CallSite, ctx: Context) -> Replace | Leave:
    """Return the call of the target, or what stands in the way."""
    option, tree = site.option, site.tree
    target = option.target
    is_member = target.startswith(_MEMBERS) or (site.receiver is not None and place_of(site.row.name) is None
                                                and counterparts(site.row.name) is not None)  # fmt: skip
    if site.bound is None and _needs_names(option):
        return Leave(f"the signature of {site.row.name} is not known")
    signature = ctx.tables.target_signature(target, ctx.target.mindspore)
    builder = _Builder(site, ctx, signature)
    receiver = site.receiver
    if is_member and receiver is None:
        receiver = builder.take_first()
        if receiver is None:
            return Leave("it is called without its first argument")
    if not is_member and receiver is not None:
        builder.args.append(cst.Arg(bare(receiver)))
        builder.position = 1
        receiver = None
    obstacle = builder.run()
    if obstacle is not None:
        return Leave(obstacle)
    if receiver is not None:
        func: cst.BaseExpression = cst.Attribute(parenthesised(receiver), cst.Name(target.rpartition(".")[2]))
        if isinstance(site.updated.func, cst.Attribute) and receiver is site.receiver:
            func = site.updated.func.with_changes(attr=cst.Name(target.rpartition(".")[2]))
    else:
        func = ctx.reference(target, tree.func)
    args = site.updated.args if builder.unchanged else fix_commas(builder.args, site.updated.args)
    codes = tuple(("T2M302", f"{name} was dropped: it does not change the result") for name in builder.dropped)
    return Replace(site.updated.with_changes(func=func, args=args), codes)


def _takes_tuples(site: CallSite, parameter: str) -> bool:
    """Whether an argument goes to one of MindSpore's own layers or windows: sizes are ints and tuples, never lists."""
    if site.row.kind == "class":
        return site.option.target.startswith("mindspore.nn.")
    return parameter in SIZES and site.option.target.startswith("mindspore.ops.")


def _only_element(argument: BoundArgument) -> BoundArgument:
    """Return the argument ``3`` for ``(3,)``."""
    tree, code = argument.tree, argument.code
    assert isinstance(tree, (ast.Tuple, ast.List))
    assert isinstance(code, (cst.Tuple, cst.List))
    return replace(argument, tree=tree.elts[0], code=code.elements[0].value)


@dataclass(slots=True)
class _Builder:
    """Builds the argument list of one target call."""

    site: CallSite
    ctx: Context
    signature: Signature | None
    args: list[cst.Arg] = field(default_factory=list)
    position: int = 0
    named: bool = False  # an argument was passed by keyword: no positional one may follow
    dropped: list[str] = field(default_factory=list)
    taken: str = ""

    @property
    def unchanged(self) -> bool:
        """Whether the arguments are the very ones of the source."""
        source = self.site.updated.args
        return len(self.args) == len(source) and all(a is b for a, b in zip(self.args, source, strict=True))

    def take_first(self) -> cst.BaseExpression | None:
        """Take the first argument away to be the receiver."""
        bound = self.site.bound
        if bound is None:
            return None
        first = bound.signature.parameters[0].name if bound.signature.parameters else ""
        argument = bound.get(first)
        if argument is None:
            return None
        self.taken = first
        return argument.code

    def run(self) -> str | None:
        """Build the arguments; return what stands in the way, if anything does."""
        site, option = self.site, self.site.option
        bound = site.bound
        if bound is None or (bound.splat and (not _needs_names(option) or _by_place(option, bound, self.ctx))):
            self.args.extend(arg for arg in site.updated.args)
            return None
        if bound.splat:
            return STARRED
        if bound.surplus:
            return f"the argument {ast.unparse(bound.surplus[0].tree)} fits no parameter of {site.row.name}"
        placed, named = [a for a in bound if a.positional], [a for a in bound if not a.positional]
        for argument in [*placed, *bound.extra, *named]:
            if argument.parameter == self.taken:
                continue
            obstacle = self._argument(argument)
            if obstacle is not None:
                return obstacle
        return self._defaults(bound)

    def _argument(self, argument: BoundArgument) -> str | None:
        option, name = self.site.option, argument.parameter
        if single_size(self.site.row.name, name, argument.tree):
            argument = _only_element(argument)
        if name == "out" and not same_literal(argument.tree, "None"):
            return "out= fills a tensor that exists already; assign the result instead"
        if name in option.drop:
            parameter = self.site.bound.signature.get(name) if self.site.bound is not None else None
            if not same_literal(argument.tree, parameter.default if parameter else None) and name not in _IGNORABLE:
                self.dropped.append(name)
            return None
        new = option.rename.get(name, name)
        value = argument.code
        transform = option.transform.get(name)
        if transform is not None and name == "padding" and may_be_word(argument.tree, self.ctx):
            return f"padding={ast.unparse(argument.tree)} may be a word"
        if transform is not None:
            made = TRANSFORMS[transform](ContextArgument(argument.tree, value, self.ctx.kind(argument.tree), self.ctx))
            if made is None:
                return f"{name}={ast.unparse(argument.tree)} cannot be written for {option.target}"
            value = made
        elif self.site.row.kind == "class" and name in NUMBERS and may_be_numpy(argument.tree, self.ctx):
            made_int = isinstance(value, cst.Call) and isinstance(value.func, cst.Name) and value.func.value == "int"
            value = value if made_int else cst.Call(cst.Name("int"), [cst.Arg(value)])
        elif _takes_tuples(self.site, name):
            value = self._as_layers_take(argument, value)
        if self.signature is not None and not self._known(new):
            default = self.site.bound.signature.get(name) if self.site.bound is not None else None
            if name in option.reject or same_literal(argument.tree, default.default if default else None):
                return None
            return f"the argument {name}={ast.unparse(argument.tree)} has no counterpart in {option.target}"
        self._append(argument, new, value)
        return None

    def _as_layers_take(self, argument: BoundArgument, value: cst.BaseExpression) -> cst.BaseExpression:
        """Return a value in the type that MindSpore's layers insist on: tuples, ints that are Python's, floats."""
        kind = self.ctx.kind(argument.tree).name
        if kind in _SIZES and argument.parameter in SIZES and may_be_list(argument.tree, self.ctx):
            return build("{size} if isinstance({size}, int) else tuple({size})", size=value)
        if kind == "list":
            return as_tuple(value)
        parameter = self.site.bound.signature.get(argument.parameter) if self.site.bound is not None else None
        if (kind == "int" and argument.parameter == "eps") or self._is_rate(argument, kind):
            if isinstance(value, cst.Integer):
                return cst.Float(f"{value.value}.0")
            return cst.Call(cst.Name("float"), [cst.Arg(value)])
        is_switch = parameter is not None and parameter.default in ("True", "False")
        if is_switch and kind in ("Parameter", "Tensor"):  # the bias of another layer, or None
            return build("{x} is not None", x=value)
        if is_switch and (kind == "int" or may_be_no_bool(argument.tree, self.ctx)):
            if isinstance(value, cst.Integer):
                return cst.Name(str(bool(int(value.value))))
            return cst.Call(cst.Name("bool"), [cst.Arg(value)])
        return value

    def _is_rate(self, argument: BoundArgument, kind: str) -> bool:
        """Whether this is, or may be, an int for the dropout of a recurrent layer, which takes nothing but floats."""
        if argument.parameter != "dropout" or self.site.row.name not in RECURRENT:
            return False
        return kind != "float" or self.ctx.kind(argument.tree).evidence == "annotation"  # dropout: float = 0

    def _known(self, name: str) -> bool:
        assert self.signature is not None
        return any(p.name == name or p.kind in ("var_keyword", "var_positional") for p in self.signature.parameters)

    def _append(self, argument: BoundArgument, name: str, value: cst.BaseExpression) -> None:
        arg = argument.arg if value is argument.arg.value else argument.arg.with_changes(value=value)
        by_place = argument.positional and argument.parameter not in self.site.option.named
        if by_place and not self.named and self._slot_is(name, argument):
            self.args.append(arg)
            self.position += 1
            return
        if self._is_starred(name) and not self.named:
            self.args.append(cst.Arg(arg.value, comma=arg.comma))
            return
        self.named = True
        if arg.keyword is not None and arg.keyword.value == name:
            self.args.append(arg)
        else:
            made = keyword_arg(name, arg.value)
            self.args.append(made.with_changes(comma=arg.comma, whitespace_after_arg=arg.whitespace_after_arg))

    def _is_starred(self, name: str) -> bool:
        """Whether a parameter is the target's ``*args``, to which nothing can be passed by name."""
        known = self.signature.get(name) if self.signature is not None else None
        return known is not None and known.kind == "var_positional"

    def _slot_is(self, name: str, argument: BoundArgument) -> bool:
        """Whether the next positional slot of the target is the parameter ``name``."""
        if self.signature is None:
            return argument.parameter == name
        slots = [p for p in self.signature.parameters if p.kind in ("positional_only", "positional", "var_positional")]
        if slots and slots[-1].kind == "var_positional" and self.position >= len(slots) - 1:
            return True
        return self.position < len(slots) and slots[self.position].name == name

    def _defaults(self, bound: BoundCall) -> str | None:
        option = self.site.option
        for name in option.write_default:
            if bound.get(name) is not None:
                continue
            parameter = bound.signature.get(name)
            if parameter is None or parameter.default is None:
                continue
            value = self.ctx.literal(parameter.default)
            transform = option.transform.get(name)
            if transform is not None:
                tree = parsed(parameter.default)
                made = TRANSFORMS[transform](ContextArgument(tree, value, Kind(), self.ctx))
                if made is None:
                    return f"the default {name}={parameter.default} cannot be written for {option.target}"
                value = made
            self.args.append(keyword_arg(option.rename.get(name, name), value))
        for name, text in option.add.items():
            called, bracket, rest = text.partition("(")
            value = self.ctx.reference(called) if text.startswith("mindspore.") else self.ctx.literal(text)
            if bracket and text.startswith("mindspore."):
                value = build(f"{{f}}({rest}", f=value)
            self.args.append(keyword_arg(name, value))
        return None


def choose_row(ctx: Context, tree: ast.AST, names: tuple[str, ...]) -> Row | None:
    """Return the row of a reference, or None after saying why there is none."""
    rows = [ctx.tables.row(name) for name in names]
    if not names or any(row is None for row in rows):
        missing = next((name for name, row in zip(names, rows, strict=True) if row is None), "torch")
        ctx.account(tree, missing, "unknown")
        ctx.report("T2M202", tree, f"{missing} is not in the mapping tables", symbol=missing)
        return None
    if len(names) > 1 and len({_essence(row) for row in rows}) > 1:
        listed = " or ".join(names)
        ctx.account(tree, names[0], "unknown")
        ctx.report("T2M206", tree, f"this may be {listed}, which translate differently", symbol=names[0])
        return None
    return rows[0]


def _essence(row: Row | None) -> tuple[object, ...]:
    if row is None:
        return ()
    return tuple((t.target, t.recipe, tuple(sorted(t.rename.items()))) for t in row.to), row.keep, row.unsupported
