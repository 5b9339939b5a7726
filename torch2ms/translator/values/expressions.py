"""Expressions: the kind of a value from the kinds of its parts."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torch2ms.translator.syntax.ast_walk import children
from torch2ms.translator.syntax.names import PROJECT, is_torch_name
from torch2ms.translator.values import foreign
from torch2ms.translator.values.builtin_calls import asks_for_collection, builtin_result, literal_name
from torch2ms.translator.values.call_arguments import handed_back
from torch2ms.translator.values.callables import Callables
from torch2ms.translator.values.containers import (
    CONTAINERS,
    NOTHING,
    TENSOR_MAKERS,
    common,
    container_method,
    either,
    element_of,
    is_module_dict,
    makes_tensor,
    moves,
    nothing_in,
    of_arguments,
    of_joined,
    value_of,
)
from torch2ms.translator.values.dtypes import COMPLEX, dtype_of_operator, with_dtype
from torch2ms.translator.values.families import (
    BASE_ROWS,
    FUNCTION,
    OF_LAYERS,
    api_attribute,
    call_result,
    instance_of,
    is_addition,
)
from torch2ms.translator.values.kinds import UNKNOWN, Kind, candidates, computed_of, join, parse_kind
from torch2ms.translator.values.leaf_tensors import as_weight
from torch2ms.translator.values.outputs import encoded_result, makes_own, part_of
from torch2ms.translator.values.overloads import field_of, overloaded

if TYPE_CHECKING:
    from torch2ms.translator.values.world import ClassInfo, FileAnalysis, World

__all__ = ["Expressions"]

_PYTHON = Kind("python")
_METHODS: dict[type[ast.AST], str] = {kind: f"_{kind.__name__}" for kind in ast.expr.__subclasses__()}
_CONSTANTS: dict[type, Kind] = {
    type(None): Kind("none"), int: Kind("int"), float: Kind("float"), bool: Kind("bool"), str: Kind("str"),
    complex: COMPLEX,
}  # fmt: skip


class Expressions(Callables):
    """Computes and records the kind of expressions; Flow adds names and statements."""

    world: World
    analysis: FileAnalysis
    owner: ClassInfo | None
    kinds: dict[ast.AST, Kind]
    env: dict[str, Kind]
    seen: dict[str, Kind]
    stored: dict[str, Kind]

    def lookup(self, name: str) -> Kind:
        """Return the kind of a name (Flow)."""
        raise NotImplementedError

    def bind(self, name: str, kind: Kind) -> None:
        """Bind a name (Flow)."""
        raise NotImplementedError

    def assign(self, target: ast.expr, kind: Kind) -> None:
        """Give a target a kind (Flow)."""
        raise NotImplementedError

    def placed_at(self, node: ast.Attribute) -> Kind:
        """Return the kind of an attribute that a statement set (Flow)."""
        raise NotImplementedError

    def narrow(self, test: ast.expr, holds: bool) -> None:
        """Learn from a condition (Flow)."""
        raise NotImplementedError

    def expr(self, node: ast.expr) -> Kind:
        """Return and record the kind of an expression."""
        if node.__class__ is ast.Name:  # two of three expressions
            kind = self.kinds[node] = self.lookup(node.id)
            return kind
        found: Kind
        if type(node) is ast.Constant:
            found = self.kinds[node] = _CONSTANTS.get(node.value.__class__, _PYTHON)
            return found
        method = getattr(self, _METHODS.get(node.__class__, ""), None)
        if method is None:
            for child in children(node):
                if isinstance(child, ast.expr):
                    self.expr(child)
            return UNKNOWN
        found = self.kinds[node] = method(node)
        return found

    # ---- leaves

    def _Name(self, node: ast.Name) -> Kind:
        return self.lookup(node.id)

    def _JoinedStr(self, node: ast.JoinedStr) -> Kind:
        for value in node.values:
            if isinstance(value, ast.FormattedValue):
                self._FormattedValue(value)
        return Kind("str")

    def _FormattedValue(self, node: ast.FormattedValue) -> Kind:
        self.expr(node.value)
        if node.format_spec is not None:
            self.expr(node.format_spec)
        return Kind("str")

    # ---- displays

    def _Tuple(self, node: ast.Tuple) -> Kind:
        kinds = tuple(self.expr(element) for element in node.elts)
        return Kind("list") if any(isinstance(e, ast.Starred) for e in node.elts) else Kind("tuple", items=kinds)

    def _List(self, node: ast.List | ast.Set) -> Kind:
        kinds = [self.expr(element) for element in node.elts]
        return Kind("list", items=(common(kinds) if kinds else NOTHING,))

    _Set = _List

    def _Starred(self, node: ast.Starred) -> Kind:
        return element_of(self.expr(node.value))

    def _Dict(self, node: ast.Dict) -> Kind:
        for key in filter(None, node.keys):
            self.expr(key)
        kinds = [self.expr(value) for value in node.values]
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        if kinds and len(set(keys)) == len(keys) and all(_is_plain_key(key) for key in keys):
            return Kind("dict", "|".join(map(str, keys)), tuple(kinds))
        pairs = zip(node.keys, kinds, strict=True)
        kinds = [element_of(kind) if key is None else kind for key, kind in pairs]
        return Kind("dict", items=(common(kinds) if kinds else NOTHING,))

    def _comprehension(self, generators: list[ast.comprehension], elements: list[ast.expr]) -> Kind:
        saved = self.scope()
        for generator in generators:
            self.assign(generator.target, self.iterated(self.expr(generator.iter)))
            for test in generator.ifs:
                self.expr(test)
                self.narrow(test, True)
        kinds = [self.expr(element) for element in elements]
        self.restore(saved)
        return kinds[-1]

    def scope(self) -> tuple[dict[str, Kind], dict[str, Kind]]:
        """Open a scope of its own, and return the one around it."""
        before = self.env, self.seen
        self.env, self.seen = dict(self.env), dict(self.seen)
        return before

    def restore(self, saved: tuple[dict[str, Kind], dict[str, Kind]]) -> None:
        """Go back to the scope around."""
        self.env, self.seen = saved

    def _ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Kind:
        return Kind("list", items=(self._comprehension(node.generators, [node.elt]),))

    _SetComp = _GeneratorExp = _ListComp

    def _DictComp(self, node: ast.DictComp) -> Kind:
        return Kind("dict", items=(self._comprehension(node.generators, [node.key, node.value]),))

    def _Lambda(self, node: ast.Lambda) -> Kind:
        for default in [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]:
            self.expr(default)
        self.run_lambda(node, [])
        return Kind("python")

    def _NamedExpr(self, node: ast.NamedExpr) -> Kind:
        kind = self.expr(node.value)
        self.assign(node.target, kind)
        return kind

    # ---- operators

    def _BinOp(self, node: ast.BinOp) -> Kind:
        return as_weight(self._arithmetic(self.expr(node.left), self.expr(node.right), node.op), node, self.analysis)

    def _arithmetic(self, left: Kind, right: Kind, op: ast.operator) -> Kind:
        if left.is_tensor or right.is_tensor:
            other = right if left.is_tensor else left
            dtype = dtype_of_operator(left, right, op)
            return Kind("Tensor", dtype, evidence="arithmetic") if other.name != "str" else UNKNOWN
        made = of_joined(left, right, op) if "Module" in (left.name, right.name) else foreign.of_arithmetic(left, right)
        if made.known:
            return made
        if left.is_number and right.is_number:
            floats = "float" in (left.name, right.name) or isinstance(op, ast.Div)
            return Kind("float" if floats else "int")
        if left.name == "str":
            return Kind("str")
        if left.name in ("list", "tuple"):
            return Kind("list", items=(join(element_of(left), element_of(right)),)) if right.name == left.name else left
        return right if right.name == "list" and isinstance(op, ast.Mult) else computed_of(left, right)  # 3 * [None]

    def _UnaryOp(self, node: ast.UnaryOp) -> Kind:
        kind = self.expr(node.operand)
        made = Kind("Tensor", kind.of) if kind.name == "Parameter" else kind  # -weight is no weight
        return Kind("bool") if isinstance(node.op, ast.Not) else made

    def _BoolOp(self, node: ast.BoolOp) -> Kind:
        kinds: list[Kind] = []
        before = dict(self.env)
        for value in node.values:
            kinds.append(self.expr(value))
            self.narrow(value, isinstance(node.op, ast.And))
        self.env = {**self.env, **before}
        return common(kinds)

    def _Compare(self, node: ast.Compare) -> Kind:
        kinds = [self.expr(node.left), *(self.expr(value) for value in node.comparators)]
        identity = all(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops)
        if not identity and any(kind.is_tensor for kind in kinds):
            return Kind("Tensor", "torch.bool", evidence="comparison")
        if not identity and any(kind.name == "ndarray" for kind in kinds) and all(kind.known for kind in kinds):
            return Kind("ndarray")
        return Kind("bool") if identity or not any(kind.name in ("unknown", "ndarray") for kind in kinds) else UNKNOWN

    def _IfExp(self, node: ast.IfExp) -> Kind:
        self.expr(node.test)
        before = dict(self.env)
        self.narrow(node.test, True)
        body = self.expr(node.body)
        self.env = dict(before)
        self.narrow(node.test, False)
        orelse = self.expr(node.orelse)
        self.env = before
        return orelse if asks_for_collection(node.test, self.kinds) else either(body, orelse)

    def _Await(self, node: ast.Await) -> Kind:
        return self.expr(node.value)

    def _Yield(self, node: ast.Yield) -> Kind:
        return self.expr(node.value) if node.value is not None else Kind("none")

    def _Subscript(self, node: ast.Subscript) -> Kind:
        kind = self.expr(node.value)
        index = self.expr(node.slice)
        if kind.is_tensor:
            return Kind("Tensor", kind.of if kind.name == "Tensor" else "", evidence="indexing a tensor")
        if kind.name == "Outputs":
            return part_of(kind, getattr(node.slice, "value", None), self.attribute)
        if kind.name == "ndarray":
            return kind
        if kind.name == "Size":
            return kind if isinstance(node.slice, ast.Slice) else Kind("int")
        if isinstance(node.slice, ast.Slice):
            return Kind("list", items=(element_of(kind),)) if kind.name == "tuple" else kind
        if kind.name == "dict" and isinstance(node.slice, ast.Constant):
            return value_of(kind, node.slice.value)
        if kind.name == "tuple" and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
            position = node.slice.value
            return kind.items[position] if -len(kind.items) <= position < len(kind.items) else element_of(kind)
        if kind.name == "module" or (kind.name == "Module" and index.name == "none"):
            return UNKNOWN
        if is_module_dict(kind):
            return value_of(kind.items[0], getattr(node.slice, "value", None))
        holds = kind.name in ("list", "tuple", "dict", "iterator", "Module", "Dataset", "api")
        return element_of(kind) if holds else foreign.of_item(kind, index)

    def _Slice(self, node: ast.Slice) -> Kind:
        for part in filter(None, (node.lower, node.upper, node.step)):
            self.expr(part)
        return Kind("python")

    # ---- attributes

    def _Attribute(self, node: ast.Attribute) -> Kind:
        base = self.expr(node.value)
        if base.name == "none" and isinstance(node.value, ast.Attribute):  # None has no parts: set from elsewhere
            base = self.kinds[node.value] = UNKNOWN
        found = self.attribute(base, node.attr)
        placed = self.placed_at(node) if not found.known or base.name == "api" else UNKNOWN
        added = placed.known and (not found.known or is_addition(self.world.tables, base, node.attr))
        return placed if added else found

    def attribute(self, base: Kind, name: str) -> Kind:
        """Return the kind of ``base.name``."""
        if base.name == "api":
            return api_attribute(self.world.tables, base, name) or self.attribute(Kind("str"), name)
        if base.name == "module":
            if base.of.startswith(PROJECT):
                return self.world.export(base.of[len(PROJECT) :], name)
            return Kind("module", f"{base.of}.{name}")
        if base.name == "class":
            return self._class_attribute(base, name)
        position = field_of(base, name)
        if position is not None:
            return base.items[position]
        if base.evidence == "self" and name in self.stored:
            return self.stored[name]
        members = [self.world.attribute(key, name) for key in candidates(base) if ":" in key]
        members = [member for member in members if member.known]
        if members:
            return common(members) if all(member.name == "function" for member in members) else members[0]
        if base.name == "Module" and name == "training":
            return Kind("bool")
        if is_module_dict(base) and name in base.items[0].of.split("|"):
            return value_of(base.items[0], name)
        if not base.known and name == "saved_tensors":
            return Kind("list", items=(Kind("Tensor", evidence="kept for the gradient"),))
        if not base.known:
            base = self.world.evidence.of_attribute(name)
        return self._member(base, name, "attribute")

    def _class_attribute(self, base: Kind, name: str) -> Kind:
        for key in candidates(base):
            method = self.world.method(key, name)
            if method is not None:
                return Kind("function", method)
            if name == "apply" and FUNCTION in self.world.torch_bases(key):
                forward = self.world.method(key, "forward")
                return Kind("function", forward) if forward is not None else UNKNOWN
            held = self.world.constant(key, name)
            if held.known or makes_own(name, self.world.torch_bases(key)):
                return held if held.known else base
        return UNKNOWN

    def _member(self, base: Kind, name: str, wanted: str) -> Kind:
        """Return what the tables say of an attribute (its value) or a method (its result) of a torch object."""
        for owner in self.owners(base):
            row = self.world.tables.row(f"{owner}.{name}")
            if row is not None:
                is_method = row.kind in ("method", "function")
                if is_method == (wanted == "method"):
                    kind = parse_kind(row.returns, f"{owner}.{name}")
                    return base if kind.name == "self" else kind
                return UNKNOWN
        if base.name == "Module" and wanted == "attribute" and name in OF_LAYERS:
            return Kind(OF_LAYERS[name], evidence=f"{name} of a layer")
        return foreign.of_attribute(base, name)

    def owners(self, base: Kind) -> list[str]:
        """Return the torch classes whose rows answer for members of ``base``, nearest first."""
        found: list[str] = []
        for key in candidates(base) if base.name not in ("Tensor", "dtype") else ():
            found += self.world.torch_bases(key) if ":" in key else [key] * is_torch_name(key)
        if base.name in BASE_ROWS:
            found.append(BASE_ROWS[base.name])
        return found

    # ---- calls

    def _Call(self, node: ast.Call) -> Kind:
        callee = self.expr(node.func)
        arguments = [self.expr(arg) for arg in node.args]
        keywords = {keyword.arg: self.expr(keyword.value) for keyword in node.keywords}
        if (made := self.called_lambda(node, arguments)) is not None:
            return made
        result = self._result(node, callee, arguments)
        if literal_name(node.func) == "dict" and keywords and not node.args and None not in keywords:
            return Kind("dict", "|".join(map(str, keywords)), tuple(keywords.values()))
        if result.name == "DataLoader" and not result.items:
            dataset = arguments[0] if arguments else keywords.get("dataset", UNKNOWN)
            collate = keywords.get("collate_fn", UNKNOWN)
            return Kind("DataLoader", result.of, (collate if collate.known else dataset,), result.evidence)
        if result.name == "Transform" and result.of.endswith(".Compose") and makes_tensor(node):
            return Kind("Transform", result.of, (Kind("Tensor", evidence="ToTensor"),), result.evidence)
        if result.name == "Module" and result.of.endswith(CONTAINERS):
            return Kind("Module", result.of, tuple(arguments[:1]) or nothing_in(result, node), result.evidence)
        base = self.kinds.get(node.func.value, UNKNOWN) if isinstance(node.func, ast.Attribute) else UNKNOWN
        return as_weight(with_dtype(result, node, callee, base, arguments, keywords), node, self.analysis)

    def _result(self, node: ast.Call, callee: Kind, arguments: list[Kind]) -> Kind:
        decided = encoded_result(node, callee) or self._overloaded(node, callee, arguments)
        if decided is not None:
            return decided
        if callee.name == "api":
            return self._api_result(callee, arguments)
        if callee.name == "factory":
            made = self.world.family(callee.of) if ":" in callee.of else instance_of(callee.of)
            return made.because("likely class")
        if callee.name == "class":
            kinds = [self.world.family(key) for key in candidates(callee)]
            return common(kinds)
        if callee.name == "function":
            made = common([self.world.returns(key) for key in candidates(callee)])
            return handed_back(self.world.function(callee.of), arguments, made)
        if callee.name == "Module":
            return self._network_result(callee, arguments)
        if callee.name == "Transform" and (callee.items or callee.of.endswith(TENSOR_MAKERS)):
            return Kind("Tensor", evidence="result of a transform")
        if isinstance(node.func, ast.Attribute):
            base = self.kinds.get(node.func.value, UNKNOWN)
            if base.name == "module" and foreign.gives_array(node):
                return foreign.of_function(f"{base.of}.{node.func.attr}(size)", arguments)
            return self._method_result(base, node.func.attr, arguments)
        if isinstance(node.func, ast.Name) and not callee.known:
            if node.func.id == "super":
                return self._super()
            return builtin_result(node.func.id, node, arguments, self.attribute)
        if callee.name == "module":
            return foreign.of_function(callee.of, arguments)
        return UNKNOWN

    def _overloaded(self, node: ast.Call, callee: Kind, arguments: list[Kind]) -> Kind | None:
        """Return the result of a torch call where the arguments decide what it is."""
        if callee.name == "api":
            module, _, name = callee.of.rpartition(".")
            return overloaded(name, node, arguments, method=False) if module == "torch" else None
        if isinstance(node.func, ast.Attribute) and self.kinds.get(node.func.value, UNKNOWN).is_tensor:
            return overloaded(node.func.attr, node, arguments, method=True)
        return None

    def _api_result(self, callee: Kind, arguments: list[Kind]) -> Kind:
        kinds: list[Kind] = []
        for name in candidates(callee):
            made = instance_of(name)
            row = self.world.tables.row(name)
            if made.known and made.name != "python":
                kinds.append(made)
            elif row is not None and row.returns:
                kinds.append(parse_kind(row.returns, name))
            else:
                kinds.append(UNKNOWN)
        result = common(kinds)
        return of_arguments(result, arguments)

    def _network_result(self, callee: Kind, arguments: list[Kind]) -> Kind:
        kinds: list[Kind] = []
        for key in candidates(callee):
            if ":" in key:
                if (forward := self.world.method(key, "forward")) is not None:
                    kinds.append(self.world.returns(forward))
                    continue
                key = next(iter(self.world.torch_bases(key)), "")
            kinds.append(call_result(key, arguments, self.world.symbols.packs))
        result = common(kinds) if kinds else UNKNOWN
        stays = [kind.name for kind in arguments[:1]] == ["PackedSequence"]  # or is padded
        return result if result.known or stays else Kind("Tensor", evidence="result of a network")

    def _method_result(self, base: Kind, name: str, arguments: list[Kind]) -> Kind:
        if base.name in ("list", "tuple", "dict", "iterator", "ndarray"):
            return container_method(base, name)
        if self.world.evidence.makes_network(base, name):
            return Kind("Module", evidence=f"the project's classes called {name}")
        if base.name == "module":
            return foreign.of_function(f"{base.of}.{name}", arguments)
        if base.name == "str":
            return Kind("list", items=(Kind("str"),)) if name == "split" else Kind("str")
        if base.is_number or base.name in ("str", "none", "python", "image"):  # no method of theirs gives a tensor
            return foreign.of_method(base, name, arguments)
        if base.name == "Module" and name == "apply":
            return base
        if base.known:
            return of_arguments(self._member(base, name, "method"), arguments)
        told = self.world.evidence.of_call(name)
        if told.known:
            return self._member(told, name, "method")
        if (name == "size" and arguments) or (name == "to" and arguments and moves(arguments[0])):
            return self._member(Kind("Tensor"), name, "method")
        return Kind("dict") if name == "state_dict" and not arguments else UNKNOWN  # whatever has a state

    def _super(self) -> Kind:
        if self.owner is None:
            return UNKNOWN
        for base in self.owner.bases:
            if base.name == "class":
                family = self.world.family(base.of.split("|")[0])
                return Kind(family.name, base.of, evidence="super")
            if base.name == "api":
                made = instance_of(base.of)
                return Kind(made.name, base.of, evidence="super")
        return UNKNOWN

    def instance(self, classes: ast.expr) -> Kind:
        """Return the kind that ``isinstance(x, classes)`` proves."""
        if isinstance(classes, ast.Tuple):
            return common([self.instance(element) for element in classes.elts])
        kind = self.expr(classes)
        if kind.name == "api":
            return common([instance_of(name) for name in candidates(kind)])
        if kind.name == "class":
            return common([self.world.family(key) for key in candidates(kind)])
        plain = Kind("ndarray" if kind.of == "numpy.ndarray" else literal_name(classes))  # type: ignore[arg-type]
        is_told = plain.is_number or plain.name in ("str", "none", "ndarray", "list", "tuple", "dict")
        return plain if is_told else UNKNOWN


def _is_plain_key(key: object) -> bool:
    """Whether a key of a dictionary may stand in the ``of`` of its kind."""
    return isinstance(key, str) and key != "" and not key.startswith("torch") and not set(key) & set("|:")
