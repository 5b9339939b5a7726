"""Members of layers: what MindSpore calls a parameter or a setting of a layer, by the rows of its classes."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from torch2ms.mapping_tables.schema import Row
from torch2ms.translator.project.packages import free_packages
from torch2ms.translator.values.families import LAYERS_OF
from torch2ms.translator.values.file_facts import FileFacts
from torch2ms.translator.values.kinds import UNKNOWN, Kind, candidates, join
from torch2ms.translator.values.use_evidence import uses

if TYPE_CHECKING:
    from torch2ms.translator.values.world import World

__all__ = [
    "LAYER_MEMBERS",
    "LAYER_SETTINGS",
    "UNTYPED_SETTINGS",
    "is_forward",
    "is_mixed_in",
    "is_network",
    "is_settings",
    "layer_by_name",
    "new_names",
    "of_foreign_class",
]

# What layers call otherwise, and the runtime finds under either name.
LAYER_MEMBERS = frozenset({"weight", "bias", "running_mean", "running_var"})
# And settings that only layers have.
UNTYPED_SETTINGS = frozenset({"in_features", "out_features", "num_parameters", "groups"})
LAYER_SETTINGS = UNTYPED_SETTINGS | {"num_embeddings", "embedding_dim"}


def is_forward(member: ast.Attribute, ctx: FileFacts) -> bool:
    """Whether ``value.forward`` is the method of a network of the project: ``super().forward``, ``Base.forward``."""
    return member.attr == "forward" and is_network(ctx.kind(member.value), ctx)


def is_network(kind: Kind, ctx: FileFacts) -> bool:
    """Whether a value is a network, or a class of the project's of them."""
    if kind.name != "class":
        return kind.name == "Module"
    return {ctx.world.family(key).name for key in candidates(kind) if ":" in key} == {"Module"}


def is_settings(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether a value holds a program's settings: it is read for members that torch's objects lack, and never called.

    ``args.weight`` beside ``args.epochs`` is no layer's.
    """
    found = uses(ctx.analysis.tree).of(tree)
    return not found.called and any(not ctx.world.evidence.is_of_torch(name) for name in found.read)


_FILES_READ = 8


def layer_by_name(tree: ast.expr, ctx: FileFacts) -> Kind:
    """Return what ``model.pos_emb`` is where each class of the project that makes a ``pos_emb`` makes a layer.

    Of ``model`` nothing is known then: a function's parameter, of which no caller is in the project.
    """
    if not isinstance(tree, ast.Attribute):
        return UNKNOWN
    known = ctx.world.layers_by_name
    if tree.attr not in known:
        known[tree.attr] = _layer_called(tree.attr, ctx.world)
    return known[tree.attr]


def _layer_called(name: str, world: World) -> Kind:
    files = [path for path, file in world.symbols.files.items() if name in file.stored]
    if not 0 < len(files) <= _FILES_READ:
        return UNKNOWN
    kinds = [kind for path in files for kind in _made_in(path, name, world)]
    if not kinds or any(kind.name != "Module" or not kind.of for kind in kinds):
        return UNKNOWN
    return replace(functools.reduce(join, kinds), evidence=f"every class that makes a .{name} makes a layer")


def _made_in(path: str, name: str, world: World) -> Iterator[Kind]:
    analysis = world.file(path)
    for info in analysis.classes.values() if analysis is not None else ():
        kind = world.attributes(info.key).get(name)
        if kind is not None and kind.name != "none":
            yield kind


def new_names(base: Kind, attribute: str, ctx: FileFacts) -> tuple[set[str], list[str]] | None:
    """Return the names that a member has in MindSpore, and the torch classes the layer may be of.

    None when classes of the project define the member themselves; no name when nothing is known of the class.
    """
    new: set[str] = set()
    names: list[str] = []
    for key in candidates(base):
        if ":" in key and ctx.world.sets(key, attribute):
            new.add(attribute)
        elif ":" in key:
            names.extend(ctx.world.torch_bases(key))
        else:
            names.append(key)
    if new and not names:
        return None
    instances = [LAYERS_OF[name] for name in names if name in LAYERS_OF and name in set(candidates(base))]
    for name in names + instances:
        row = ctx.tables.row(name)
        options = ctx.tables.select(row, ctx.target) if row is not None else ()
        if not options:
            continue
        state = options[0].state
        mapped = options[0].attributes.get(attribute)
        if mapped is None and state is not None and state != "same":
            mapped = state.get(attribute)
        new.add(mapped or attribute)
    return new, names


def is_mixed_in(base: Kind, tree: ast.Attribute, ctx: FileFacts) -> bool:
    """Whether ``self.weight`` is read in a class that is no layer, but that the file makes layers with.

    ``class SNEmbedding(nn.Embedding, Normed)``: in ``Normed``, it is the weight of the embedding, or of another layer.
    """
    if base.name != "instance" or tree.attr not in LAYER_MEMBERS or not isinstance(tree.ctx, ast.Load):
        return False
    if getattr(tree.value, "id", "") != "self" or ctx.world.sets(base.of, tree.attr):
        return False
    for info in ctx.analysis.classes.values():
        ancestry = ctx.world.ancestry(info.key)
        if info.key == base.of or base.of not in ancestry or ctx.world.sets(info.key, tree.attr):
            continue
        found = new_names(Kind("Module", info.key), tree.attr, ctx)
        if found is not None and found[0] - {tree.attr}:
            return True
    return False


# Functions of the runtime that ask what is no Cell for its own method
_OF_ANY_OBJECT = frozenset({"torch2ms.runtime.modules.parameters", "torch2ms.runtime.modules.named_parameters"})


def of_foreign_class(ctx: FileFacts, func: ast.Attribute, base: Kind) -> Row | None:
    """Return the row of a method of networks, for an object whose class derives from what no table resolves.

    That may be a Cell or not: the row must go to functions that do with either.
    """
    keys = candidates(base) if base.name == "instance" else ()
    row = ctx.tables.row(f"torch.nn.Module.{func.attr}") if keys else None
    if row is None or not row.to or any(target.target not in _OF_ANY_OBJECT for target in row.to):
        return None
    if ctx.world.evidence.of_call(func.attr).name != "Module" or not all(_is_foreign(key, ctx) for key in keys):
        return None
    return None if any(ctx.world.sets(key, func.attr) for key in keys) else row


def _is_foreign(key: str, ctx: FileFacts) -> bool:
    """Whether a class of the project derives from a class of a package that is not known to be free of PyTorch."""
    infos = (ctx.world.class_info(base) for base in ctx.world.ancestry(key) if ":" in base)
    bases = (base for info in infos if info is not None for base in info.bases)
    return any(base.name == "module" and base.of.partition(".")[0] not in free_packages() for base in bases)
