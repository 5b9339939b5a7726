"""Calls of layers, and their names: ``criterion(input=x, target=y)``, ``type(layer).__name__``."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import as_tuple, build, fix_commas
from torch2ms.translator.values.builtin_calls import TUPLE
from torch2ms.translator.values.kinds import PRESUMED, Kind, candidates
from torch2ms.translator.values.queries.ranks import ranks

__all__ = ["class_name", "is_chosen_recurrent", "named_inputs"]

_PAIR = ("input", "target")
# What torch calls the inputs of its layers, in order, where it is not ``input`` alone. Transformers and attention are
# missing: the layers that stand for them have torch's names.
_INPUTS = {
    **dict.fromkeys(
        (
            "MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "CrossEntropyLoss", "NLLLoss", "BCELoss",
            "BCEWithLogitsLoss", "KLDivLoss", "SoftMarginLoss", "HingeEmbeddingLoss", "MultiLabelMarginLoss",
            "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss2d",
        ),
        _PAIR,
    ),
    "PoissonNLLLoss": ("log_input", "target"),
    "GaussianNLLLoss": ("input", "target", "var"),
    "MarginRankingLoss": ("input1", "input2", "target"),
    "CosineEmbeddingLoss": ("input1", "input2", "target"),
    "TripletMarginLoss": ("anchor", "positive", "negative"),
    "TripletMarginWithDistanceLoss": ("anchor", "positive", "negative"),
    "CTCLoss": ("log_probs", "targets", "input_lengths", "target_lengths"),
    "Bilinear": ("input1", "input2"),
    "CosineSimilarity": ("x1", "x2"),
    "PairwiseDistance": ("x1", "x2"),
    **dict.fromkeys(("RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell"), ("input", "hx")),
    **dict.fromkeys(("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"), ("input", "output_size")),
    **dict.fromkeys(("MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"), ("input", "indices", "output_size")),
    "EmbeddingBag": ("input", "offsets", "per_sample_weights"),
}  # fmt: skip
_RECURRENT = frozenset({"batch_first", "bidirectional", "num_layers"})  # what recurrent layers alone are asked for
_KEPT = frozenset({"MultiheadAttention", "Transformer", "Identity"})


def named_inputs(updated: cst.Call, tree: ast.Call, callee: Kind, ctx: Context) -> cst.Call:
    """Return a call of a layer whose inputs stand in order: MindSpore's layers have other names for them."""
    if updated.args and _may_be_recurrent(callee, ctx) and _is_packed(tree, callee, ctx):
        run = ctx.reference("torch2ms.runtime.packing.run")
        return cst.Call(
            run, [cst.Arg(updated.func, comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))), *updated.args]
        )
    if any(arg.star for arg in updated.args):
        return updated
    ordered = _with_tuple(_in_order(updated, callee), tree, callee, ctx)
    return _with_batch(_with_size(ordered, callee, ctx), tree, callee, ctx)


def _in_order(updated: cst.Call, callee: Kind) -> cst.Call:
    """Return the call with its inputs in torch's order, without their names."""
    if not any(arg.keyword is not None for arg in updated.args):
        return updated
    orders = {_order(key) for key in candidates(callee)}
    order = orders.pop() if len(orders) == 1 else None
    if order is None:
        return updated
    positional = [arg for arg in updated.args if arg.keyword is None]
    named = {arg.keyword.value: arg for arg in updated.args if arg.keyword is not None}
    rest = order[len(positional) : len(updated.args)]
    if set(named) != set(rest):
        return updated
    args = [*positional, *(cst.Arg(named[name].value) for name in rest)]
    return updated.with_changes(args=fix_commas(args, updated.args))


# The number of axes of an input of each of torch's layers when it comes without a batch.
_SINGLE = {
    **dict.fromkeys(("LSTM", "GRU", "RNN", "Conv1d", "ConvTranspose1d"), 2),
    **dict.fromkeys(("Conv2d", "ConvTranspose2d"), 3),
    **dict.fromkeys(("Conv3d", "ConvTranspose3d"), 4),
    **dict.fromkeys(("LSTMCell", "GRUCell", "RNNCell"), 1),
}


def _torch_class(callee: Kind) -> str:
    """Return the one class of torch.nn that a layer is of, else nothing."""
    names = set(candidates(callee))
    space, _, name = names.pop().rpartition(".") if len(names) == 1 else ("", "", "")
    return name if space == "torch.nn" else ""


def _first(updated: cst.Call, func: cst.BaseExpression) -> cst.Call:
    """Return a call of ``func`` with what was called as its first argument."""
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    return cst.Call(func, [cst.Arg(updated.func, comma=comma), *updated.args])


def _with_batch(updated: cst.Call, tree: ast.Call, callee: Kind, ctx: Context) -> cst.Call:
    """Return the call of a layer that is handed a single sample: MindSpore's layers want a batch around it."""
    single = _SINGLE.get(_torch_class(callee) if callee.of != "torch.nn.Sequential" else _first_layer(tree, ctx))
    if single is None or not updated.args or any(arg.keyword is not None for arg in updated.args):
        return updated
    first = tree.args[0] if tree.args else next(word.value for word in tree.keywords)
    if single not in ranks(first, ctx) and not (_is_given(first, ctx) and single in ctx.once(_handed_ranks)):
        return updated
    return _first(updated, ctx.reference("torch2ms.runtime.unbatched.run"))


def _first_layer(tree: ast.Call, ctx: Context) -> str:
    """Return the class of the first layer of a sequence that the file builds under the name that is called."""
    name = ast.unparse(tree.func)
    bound = [node.value for node in ctx.analysis.all(ast.Assign) if any(ast.unparse(t) == name for t in node.targets)]
    made = [tree.func] if isinstance(tree.func, ast.Call) else bound
    starts = [value.args[0] if isinstance(value, ast.Call) and value.args else None for value in made]
    classes = {_torch_class(ctx.kind(start)) if isinstance(start, ast.Call) else "" for start in starts}
    return classes.pop() if len(classes) == 1 else ""


def _handed_ranks(ctx: Context) -> frozenset[int]:
    """Return the ranks of what the file hands to its own networks."""
    calls = [call for call in ctx.analysis.all(ast.Call) if ctx.kind(call.func).name == "Module" and call.args]
    return frozenset[int]().union(*(ranks(call.args[0], ctx) for call in calls))


def _with_tuple(updated: cst.Call, tree: ast.Call, callee: Kind, ctx: Context) -> cst.Call:
    """Return the call of an LSTM whose states may be a list, which MindSpore's refuse, with a tuple of them."""
    states = next((word.value for word in tree.keywords if word.arg == "hx"), tree.args[1] if tree.args[1:] else None)
    if _torch_class(callee) not in ("LSTM", "LSTMCell") or states is None or len(updated.args) < 2:
        return updated
    if _is_list(states, ctx):
        made = as_tuple(updated.args[1].value)
    elif _is_given(states, ctx) and ctx.once(_hands_lists):
        made = build("{x} if {x} is None else tuple({x})", x=updated.args[1].value)
    else:
        return updated
    return updated.with_changes(args=[updated.args[0], updated.args[1].with_changes(value=made), *updated.args[2:]])


def _is_given(tree: ast.expr, ctx: Context) -> bool:
    """Whether a value is a parameter of the function around it."""
    function = ctx.functions[-1]
    if function is None or not isinstance(tree, ast.Name):
        return False
    arguments = function.node.args
    return tree.id in {arg.arg for arg in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}


def _is_list(tree: ast.expr, ctx: Context) -> bool:
    kind = ctx.kind(tree)
    return kind.name == "list" and kind.evidence != TUPLE


def _hands_lists(ctx: Context) -> bool:
    """Whether a network of the file is called with a list behind its first input."""
    return any(
        isinstance(node, ast.Call)
        and ctx.kind(node.func).name == "Module"
        and any(_is_list(given, ctx) for given in [*node.args[1:], *(word.value for word in node.keywords)])
        for node in ctx.analysis.nodes
    )


def _with_size(updated: cst.Call, callee: Kind, ctx: Context) -> cst.Call:
    """Return the call of a transposed convolution that is told the size of its output, which MindSpore's are not."""
    if not _torch_class(callee).startswith("ConvTranspose") or len(updated.args) < 2:
        return updated
    return _first(updated, ctx.reference("torch2ms.runtime.functional.transposed_to"))


def _may_be_recurrent(layer: Kind, ctx: Context) -> bool:
    """Whether a layer is one of torch's that take packed sequences, or one of which nothing is known."""
    names: set[str] = set()
    for key in candidates(layer):
        if ":" not in key:
            names.add(key)
        elif ctx.world.method(key, "forward") is None:
            names.update(base for base in ctx.world.torch_bases(key) if base != "torch.nn.Module")
    is_unknown = not layer.of or names == {"torch.nn.Module"}
    return is_unknown or any(name.rpartition(".")[2] in ("RNN", "LSTM", "GRU") for name in names)


def _is_packed(tree: ast.Call, callee: Kind, ctx: Context) -> bool:
    """Whether a layer is called with a packed sequence; in a project that packs, a recurrent one with what may be."""
    first = tree.args[0] if tree.args else next((word.value for word in tree.keywords if word.arg == "input"), None)
    kind = ctx.kind(first)
    if first is None or (kind.known and kind.evidence != PRESUMED) or not callee.of:
        return kind.name == "PackedSequence"
    return ctx.world.symbols.packs and ast.unparse(first) not in ctx.once(_to_be_packed)


def _to_be_packed(ctx: Context) -> frozenset[str]:
    """Return the expressions that the file hands to a function that packs: they are padded."""
    calls = (call for call in ctx.analysis.all(ast.Call) if ctx.kind(call).name == "PackedSequence" and call.args)
    return frozenset(ast.unparse(call.args[0]) for call in calls)


def is_chosen_recurrent(tree: ast.Call, ctx: Context) -> bool:
    """Whether a packed sequence goes to a layer of a class that was handed in: ``self.rnn = kind(8, 8, num_layers=2)``.

    No other layer of torch takes one.
    """
    callee = ctx.kind(tree.func)
    if callee.known or not isinstance(tree.func, (ast.Name, ast.Attribute)) or not _is_packed(tree, callee, ctx):
        return False
    name = ast.unparse(tree.func)
    made = (n.value for n in ctx.analysis.all(ast.Assign) if any(ast.unparse(t) == name for t in n.targets))
    return any(isinstance(call, ast.Call) and _RECURRENT & {word.arg for word in call.keywords} for call in made)


def _order(key: str) -> tuple[str, ...] | None:
    """Return the names of a torch layer's inputs in order; None for other classes."""
    namespace, _, name = key.rpartition(".")
    if namespace != "torch.nn" or name in _KEPT or name.startswith("Transformer"):
        return None
    return _INPUTS.get(name, ("input",))


# Classes of torch whose MindSpore counterparts have other names, as programs ask for them (also by a part of the name).
_RENAMED = ("Linear", "Sequential", "ModuleList", "ModuleDict", "ConvTranspose", "MultiheadAttention", "Identity")


def class_name(updated: cst.Attribute, tree: ast.Attribute, ctx: Context) -> cst.BaseExpression | None:
    """Return ``class_name(layer)`` for ``type(layer).__name__`` and ``layer.__class__.__name__``."""
    if tree.attr != "__name__" or not isinstance(tree.ctx, ast.Load):
        return None
    owner = _owner(tree.value)
    if owner is None:
        return None
    kind = ctx.kind(owner)
    if kind.name == "Module":
        keys = candidates(kind)
        if kind.evidence in ("self", "super") or (keys and all(":" in key for key in keys)):
            return None
    elif kind.known or not (_asks_for_names(ctx) or _is_named_layer(owner) or _goes_over_layers(owner, ctx)):
        return None
    value = updated.value
    code = value.args[0].value if isinstance(value, cst.Call) else cst.ensure_type(value, cst.Attribute).value
    return cst.Call(ctx.reference("torch2ms.runtime.modules.class_name"), [cst.Arg(code)])


_LAYERS = frozenset({"module", "layer", "m", "mod", "block", "net", "network", "model", "child", "submodule", "blk"})


def _is_named_layer(tree: ast.expr) -> bool:
    """Whether a value nothing is known of is called like a layer, as the argument of a hook is."""
    return isinstance(tree, ast.Name) and tree.id in _LAYERS


def _goes_over_layers(tree: ast.expr, ctx: Context) -> bool:
    """Whether a value nothing is known of is what a loop over the parts of a network gives."""
    if not isinstance(tree, ast.Name):
        return False
    loops = (node for node in ctx.analysis.nodes if isinstance(node, (ast.For, ast.comprehension)))
    return any(_binds(loop.target, tree.id) and _holds_layer(loop.iter, ctx) for loop in loops)


def _binds(target: ast.expr, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in walk(target))


def _holds_layer(tree: ast.expr, ctx: Context) -> bool:
    return any(isinstance(node, ast.expr) and ctx.kind(node).name == "Module" for node in walk(tree))


def _owner(tree: ast.expr) -> ast.expr | None:
    """Return ``x`` of ``type(x)`` and ``x.__class__``."""
    if isinstance(tree, ast.Attribute) and tree.attr == "__class__":
        return tree.value
    if (
        isinstance(tree, ast.Call)
        and isinstance(tree.func, ast.Name)
        and tree.func.id == "type"
        and len(tree.args) == 1
    ):
        return tree.args[0]
    return None


def _asks_for_names(ctx: Context) -> bool:
    """Whether the file holds the name of a layer as text, to compare others with."""
    texts = (node.value for node in ctx.analysis.nodes if isinstance(node, ast.Constant))
    return any(isinstance(text, str) and len(text) < 40 and text in _RENAMED for text in texts)
