"""Parameters: the kinds a function starts with - annotations, defaults, its callers, and what it does with them."""

from __future__ import annotations

import ast
from typing import Any

from torch2ms.translator.values.annotations import annotated
from torch2ms.translator.values.declarations import FunctionInfo
from torch2ms.translator.values.expressions import Expressions
from torch2ms.translator.values.families import FUNCTION
from torch2ms.translator.values.kinds import PRESUMED, UNKNOWN, Kind, KindName, join
from torch2ms.translator.values.leaf_tensors import BY_HAND
from torch2ms.translator.values.scopes import Uses
from torch2ms.translator.values.use_evidence import is_device, only_moves
from torch2ms.translator.values.use_evidence import uses as file_uses

__all__ = ["Parameters"]

_THEMSELVES = ("cuda", "eval", "train")  # methods that give the network they belong to


class Parameters(Expressions):
    """Binds the parameters of a function; Flow adds the statements."""

    info: FunctionInfo | None
    outer: Any  # the flow of the function around this one, or None
    locals: frozenset[str]
    given: frozenset[str] = frozenset()  # the parameters

    def _remake(self, statement: ast.stmt) -> None:
        """Learn from ``x.requires_grad = True`` that the variable holds a parameter from there on."""
        name = self.analysis.remade[statement]
        if self.lookup(name).name in ("Tensor", "unknown"):
            self.bind(name, Kind("Parameter", evidence=BY_HAND))

    def _bind_parameters(self, arguments: ast.arguments) -> None:
        assert self.info is not None
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults: dict[str, ast.expr] = {}
        for arg, value in zip(reversed(positional), reversed(arguments.defaults), strict=False):
            defaults[arg.arg] = value
        for arg, kw_default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if kw_default is not None:
                defaults[arg.arg] = kw_default
        self.given = frozenset(arg.arg for arg in [*positional, *arguments.kwonlyargs])
        is_method = self.owner is not None and not self.info.is_static
        evidence: dict[str, Kind] | None = None
        for index, arg in enumerate([*positional, *arguments.kwonlyargs]):
            if index == 0 and is_method and positional:
                self.bind(arg.arg, self._self_kind())
                continue
            kind = annotated(arg.annotation, self.expr, self.world.family)
            if arg.annotation is not None:
                self.expr(arg.annotation)
            default = defaults.get(arg.arg)
            if not kind.known or kind.name == "none":
                kind = join(kind, self._from_default(default))
            if not kind.known or kind.name == "none" or (kind.name == "list" and not kind.items):
                if evidence is None:
                    evidence = self.world.parameters(self.info)
                called = evidence.get(arg.arg, UNKNOWN)
                if called.known and called.name not in ("api", "class", "function"):
                    kind = called.because(f"called with {called.evidence or called.name}")
                elif not kind.known and called.seen:
                    kind = called
            if kind.name == "Tensor" and not kind.of and arg.annotation is not None:
                if evidence is None:
                    evidence = self.world.parameters(self.info)
                called = evidence.get(arg.arg, UNKNOWN)
                kind = called if called.name == "Tensor" and called.of else kind  # its dtype, no annotation tells
            if not kind.known or kind.name == "none":
                kind = kind if self._is_forward() and _is_plain(default) else self._from_role(arg.arg, kind)
            self.bind(arg.arg, kind)
        if arguments.vararg is not None:
            rest = self._rest(arguments.vararg, "list")
            is_told = bool(rest.items) or not self._is_forward()
            self.bind(arguments.vararg.arg, rest if is_told else Kind("list", items=(Kind("Tensor"),)))
        if arguments.kwarg is not None:
            self.bind(arguments.kwarg.arg, self._rest(arguments.kwarg, "dict"))

    def _rest(self, arg: ast.arg, name: KindName) -> Kind:
        """Return the kind of ``*args`` or ``**kwargs``: annotated, or as the project calls the function."""
        assert self.info is not None
        if arg.annotation is not None:
            held = annotated(arg.annotation, self.expr, self.world.family)
            return Kind(name, items=(held,)) if held.known else Kind(name)
        called = self.world.parameters(self.info).get(arg.arg, UNKNOWN)
        return called if called.name == name else Kind(name)

    def _self_kind(self) -> Kind:
        assert self.owner is not None
        decorators = getattr(self.info.node, "decorator_list", ()) if self.info is not None else ()
        if any(getattr(d, "id", "") == "classmethod" for d in decorators):
            return Kind("class", self.owner.key)
        return self.world.family(self.owner.key).because("self")

    def _from_default(self, default: ast.expr | None) -> Kind:
        if default is None:
            return UNKNOWN
        if self.outer is not None:
            kind: Kind = self.outer.expr(default)
        else:  # read where the function is defined: ``def f(x, F=F)``
            inside = self.env, self.locals
            self.env, self.locals = {}, frozenset()
            kind = self.expr(default)
            self.env, self.locals = inside
        # A class or function as default is one of many that may be passed: its name is no fact about the parameter.
        if kind.name in ("api", "class", "function"):
            return join(UNKNOWN, kind) if kind.name != "function" else UNKNOWN
        return kind

    def _is_forward(self) -> bool:
        return (
            self.info is not None
            and self.owner is not None
            and self.info.name in ("forward", "forward_features", "forward_head", "_forward_impl")
            and self.world.family(self.owner.key).name == "Module"
        )

    def _is_differentiated(self, name: str) -> bool:
        """Whether a parameter is the first input, or an output's gradient, of an ``autograd.Function``."""
        if self.info is None or self.owner is None or self.info.name not in ("forward", "backward"):
            return False
        if FUNCTION not in self.world.torch_bases(self.owner.key):
            return False
        names = [arg.arg for arg in self.info.node.args.args]
        return name in (names[1:2] if self.info.name == "forward" else names[1:])

    def _from_role(self, name: str, kind: Kind) -> Kind:
        """Guess a parameter's kind from its role: inputs of a network are tensors; some methods tell the receiver."""
        if self._is_forward():
            assert self.info is not None
            found = file_uses(self.analysis.tree).of_parameter(self.info.node, name)
            if is_device(found) or only_moves(found):
                return Kind("device", evidence="is used as a device") if is_device(found) else UNKNOWN
            if self._is_mapping(name):
                return Kind("dict", items=(Kind("Tensor"),), evidence="features that a network is given by name")
            return Kind("Tensor", evidence=PRESUMED)
        if self.info is not None and self.world.applied(self.info):
            return Kind("Module", evidence="is applied to the layers of a network")
        told = self._told(name)
        if not told.known and self._is_differentiated(name):
            return Kind("Tensor", evidence="input of a function with a gradient of its own")
        if not told.known and not kind.known and self._is_loader(name):
            return Kind("DataLoader", "torch.utils.data.DataLoader", evidence="is asked for its data set")
        return told if told.known else kind

    def _is_loader(self, name: str) -> bool:
        uses = self.info.uses.get(name) if self.info is not None else None
        return uses is not None and any(node.attr in ("dataset", "batch_sampler", "collate_fn") for node in uses.read)

    def _is_mapping(self, name: str) -> bool:
        """Whether a parameter is asked for its values, or for what else only dictionaries have, without arguments."""
        uses = self.info.uses.get(name) if self.info is not None else None
        asked = [call for call in uses.calls if not call.args and not call.keywords] if uses is not None else []
        return any(getattr(call.func, "attr", "") in ("values", "keys", "items") for call in asked)

    def _told(self, name: str) -> Kind:
        """Return what the uses of a parameter tell of its kind, as long as it is not bound anew."""
        assert self.info is not None
        uses = self.info.uses.get(name)
        if uses is None:
            return UNKNOWN
        told = self.world.evidence.of_uses(uses.before(min(uses.bound)) if uses.bound else uses)
        read = {node.attr for node in uses.read}
        is_other = not all(map(self.world.evidence.is_of_torch, read))  # ``cfg.clone()`` beside ``cfg.root``
        return UNKNOWN if is_other and told.name == "Tensor" else told

    def told_of_variable(self, name: str) -> Kind:
        """Return what the uses of a name tell that one statement binds."""
        if name in self.given:
            return UNKNOWN
        found: dict[str, Uses] = self.info.uses if self.info is not None else self.analysis.uses
        uses = found.get(name)
        if uses is None:
            return UNKNOWN
        same = {call.lineno for call in uses.calls if getattr(call.func, "attr", "") in _THEMSELVES}  # n = n.eval()
        once = len([line for line in uses.bound if line not in same]) == 1
        return self.world.evidence.of_uses(uses) if once else UNKNOWN


def _is_plain(default: ast.expr | None) -> bool:
    """Whether a default is a number or a text: ``smoothing=0.1`` of a network's forward is no input of it."""
    value = default.operand if isinstance(default, ast.UnaryOp) else default
    return isinstance(value, ast.Constant) and value.value is not None
