"""What calls hand over: the kinds of the arguments, kept for good where the trees they come from are not."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from torch2ms.mapping_tables.facts import load_facts
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.annotations import annotated
from torch2ms.translator.values.declarations import FileAnalysis, FunctionInfo, is_map
from torch2ms.translator.values.kinds import UNKNOWN, Kind, join

__all__ = ["Handed", "completed", "handed_back", "handed_by", "joined", "lacks_results"]


@dataclass(frozen=True, slots=True)
class Handed:
    """One call of a function or class of the project: whose, and the kinds of its arguments."""

    target: Kind
    positional: tuple[Kind, ...]  # up to the first ``*``, behind which no position is certain
    keywords: tuple[tuple[str, Kind], ...]
    views: tuple[int | str, ...] = ()  # the arguments that share the memory of another tensor, as the call is written

    def reaches(self, info: FunctionInfo) -> bool:
        """Whether the call is one of this function."""
        keys = self.target.of.split("|")
        if self.target.name == "class" and info.name == "__init__":
            return info.key in [f"{key}.__init__" for key in keys]
        return info.key in keys

    def parameters(self, info: FunctionInfo) -> Iterator[tuple[str, Kind]]:
        """Yield (parameter, kind of the argument) for the arguments whose parameter is certain."""
        arguments = info.node.args
        names = info.filled
        rest = arguments.vararg.arg if arguments.vararg is not None else None
        for position, kind in enumerate(self.positional):
            if position < len(names):
                yield names[position], kind
            elif rest is not None:
                yield rest, Kind("list", items=(kind,))
        named = {*names, *(arg.arg for arg in arguments.kwonlyargs)}
        for name, kind in self.keywords:
            if name in named:
                yield name, kind
            elif arguments.kwarg is not None:
                yield arguments.kwarg.arg, Kind("dict", items=(kind,))

    def views_of(self, info: FunctionInfo) -> Iterator[str]:
        """Yield the parameters that get a view: ``fill(weight.data)``."""
        for place in self.views:
            if isinstance(place, str):
                yield place
            elif place < len(info.filled):
                yield info.filled[place]


def joined(calls: Iterable[Handed], info: FunctionInfo) -> dict[str, Kind]:
    """Return what calls of a function say of its parameters."""
    found: dict[str, Kind] = {}
    untyped: set[str] = set()
    for handed in calls:
        for name, kind in handed.parameters(info):
            if not kind.known:
                untyped.add(name)
            else:
                found[name] = join(found[name], kind) if name in found else kind
    # One caller that hands over a tensor or a network is enough: for that one the function has to change.
    for name in untyped:
        if name in found and found[name].name == "Module":
            found[name] = Kind("Module", evidence="handed over by a caller")  # another's may be of another class
        elif name not in found or found[name].name != "Tensor":
            found[name] = join(found.get(name, UNKNOWN), UNKNOWN)
    return found


def handed_by(
    calls: Mapping[str, Sequence[ast.Call]], kinds: Mapping[ast.AST, Kind], scope: ast.AST
) -> dict[str, list[Handed | None]]:
    """Return what the calls of a function hand over, by the last identifier of the callee; None: not to the project.

    ``scope`` is the function, or the module of calls at its level.
    """
    views = _Views(scope, kinds)
    return {name: [_handed(call, kinds, views) for call in found] for name, found in calls.items()}


def _handed(call: ast.Call, kinds: Mapping[ast.AST, Kind], views: _Views) -> Handed | None:
    if is_map(call):
        return _mapped(call, kinds)
    target = kinds.get(call.func, UNKNOWN)
    if target.name not in ("function", "class"):
        return None
    positional: list[Kind] = []
    for value in call.args:
        if isinstance(value, ast.Starred):
            break
        positional.append(kinds.get(value, UNKNOWN))
    keywords = ((keyword.arg, kinds.get(keyword.value, UNKNOWN)) for keyword in call.keywords if keyword.arg)
    given: list[tuple[int | str, ast.expr]] = [*enumerate(call.args[: len(positional)])]
    given += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
    shared = tuple(place for place, value in given if views.has(value)) if target.name == "function" else ()
    return Handed(target, tuple(positional), tuple(keywords), shared)


class _Views:
    """The expressions of a function that share the memory of another tensor: ``w.data``, ``w[0]``, and their names."""

    def __init__(self, scope: ast.AST, kinds: Mapping[ast.AST, Kind]) -> None:
        self._scope, self._kinds = scope, kinds
        self._names: frozenset[str] | None = None

    def has(self, tree: ast.expr) -> bool:
        if not isinstance(tree, ast.Name):
            return self._is_written(tree)
        kind = self._kinds.get(tree, UNKNOWN)
        if kind.known and not kind.is_tensor:
            return False
        if self._names is None:
            bound = (node for node in walk(self._scope) if isinstance(node, ast.Assign))
            viewed = (target for node in bound if self._is_written(node.value) for target in node.targets)
            self._names = frozenset(target.id for target in viewed if isinstance(target, ast.Name))
        return tree.id in self._names

    def _is_written(self, tree: ast.expr) -> bool:
        if isinstance(tree, ast.Subscript):
            return self._kinds.get(tree.value, UNKNOWN).is_tensor
        member = tree.func if isinstance(tree, ast.Call) else tree
        if not isinstance(member, ast.Attribute) or not load_facts().may_share(member.attr):
            return False
        owner = self._kinds.get(member.value, UNKNOWN)  # of parameters of a network that has no type, it is not known
        return owner.is_tensor or not owner.known


def _mapped(call: ast.Call, kinds: Mapping[ast.AST, Kind]) -> Handed | None:
    """Return what ``map(f, tensors)`` hands to ``f``: the elements of the lists."""
    target = kinds.get(call.args[0], UNKNOWN)
    if target.name not in ("function", "class"):
        return None
    given: list[Kind] = []
    for value in call.args[1:]:
        source = kinds.get(value, UNKNOWN)
        items = source.items if source.name in ("list", "tuple") else ()
        alike = bool(items) and all(item == items[0] for item in items)
        given.append(items[0] if alike else source if source.is_tensor else UNKNOWN)
    return Handed(target, tuple(given), ())


def handed_back(info: FunctionInfo | None, arguments: Sequence[Kind], made: Kind) -> Kind:
    """Return the kind of what a function gives back as it was handed over, ``made`` where it makes its result.

    Another call of ``def filled(net): ...; return net`` may hand over something else, a tensor here and a network
    there: each gets back its own.
    """
    if info is None or not isinstance(info.node, ast.FunctionDef):
        return made
    if info.passed is None:
        info.passed = _passed(info.node, info.filled)
    passed = arguments[info.passed] if 0 <= info.passed < len(arguments) else UNKNOWN
    return passed if passed.known and passed.name != made.name else made


def _passed(function: ast.FunctionDef, filled: list[str]) -> int:
    """Return the position of the parameter that every ``return`` gives back as it came; -1 for none."""
    nodes = list(walk(function))
    given = {ast.unparse(node.value) for node in nodes if isinstance(node, ast.Return) and node.value is not None}
    name = next(iter(given), "")
    if len(given) != 1 or name not in filled:
        return -1
    bound = sum(isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store) for node in nodes)
    moved = sum(isinstance(node, ast.Assign) and _moves(node, name) for node in nodes)
    return filled.index(name) if bound == moved else -1


def _moves(node: ast.Assign, name: str) -> bool:
    """Whether a statement is ``x = x.cuda()`` or the like: tensors and networks stay what they are, dtypes too."""
    names = [target.id for target in node.targets if isinstance(target, ast.Name)]
    call = node.value
    if names != [name] or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    func = call.func
    if func.attr == "to" and not (len(call.args) == 1 and not call.keywords and _is_place(call.args[0])):
        return False
    return func.attr in ("cuda", "cpu", "to") and isinstance(func.value, ast.Name) and func.value.id == name


def _is_place(tree: ast.expr) -> bool:
    """Whether the text of an argument of ``to`` names a device, not a dtype."""
    text = ast.unparse(tree)
    return any(word in text for word in ("device", "cuda", "cpu")) and "dtype" not in text


def lacks_results(analysis: FileAnalysis) -> bool:
    """Whether the module level keeps what a function of the file gives, and nothing tells yet what that is.

    Once all calls are known, what they hand over may tell.
    """
    for found in analysis.calls.get("", {}).values():
        for call in found:
            callee = analysis.kinds.get(call.func, UNKNOWN)
            if not callee.of.startswith(f"{analysis.path}:"):
                continue
            given = (analysis.kinds.get(arg, UNKNOWN) for arg in call.args)
            if callee.name == "class" and any(kind.is_tensor for kind in given):
                return True  # what its attributes are
            if callee.name == "function" and not _is_told(analysis.kinds.get(call, UNKNOWN)):
                return True
    return False


def _is_told(kind: Kind) -> bool:
    """Whether a value is known, and all that it holds."""
    return kind.known and all(map(_is_told, kind.items))


def completed(result: Kind, info: FunctionInfo, analysis: FileAnalysis, family: Callable[[str], Kind]) -> Kind:
    """Return the kind of a function's result: what its text does not show is what the return annotation promises."""
    if result.known and (result.name != "tuple" or all(item.known for item in result.items)):
        return result
    told = _promised(info, analysis, family)
    if not result.known:
        return told
    if told.name != "tuple" or len(told.items) != len(result.items):
        return result
    parts = zip(result.items, told.items, strict=True)
    return replace(result, items=tuple(own if own.known else other for own, other in parts))


def _promised(info: FunctionInfo, analysis: FileAnalysis, family: Callable[[str], Kind]) -> Kind:
    """Return the kind that the return annotation alone promises."""
    returns = getattr(info.node, "returns", None)

    def kind_of(node: ast.expr) -> Kind:
        found = analysis.kind(node)
        if not found.known and isinstance(node, ast.Name):
            found = analysis.names.get(node.id, UNKNOWN)
        return found

    return annotated(returns, kind_of, family)
