"""The training program, read statically: network, data, loss, optimizer, schedule and their hyperparameters.

What is found becomes the report's checklist, and, when it is complete enough, the facts of the generated train.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from keyword import iskeyword
from pathlib import PurePosixPath
from typing import TypeVar

from torch2ms.reports.model import ChecklistItem, Place
from torch2ms.translator.syntax.ast_walk import bound_pairs
from torch2ms.translator.values.constants import NOT_CONSTANT, Constants
from torch2ms.translator.values.kinds import Kind, candidates
from torch2ms.translator.values.world import FileAnalysis, World

_Node = TypeVar("_Node", ast.Return, ast.Attribute, ast.Name, ast.Call)

__all__ = ["Finding", "Network", "NetworkClass", "ProgramFindings", "is_importable", "module_name", "read_program"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One torch object the program makes: canonical name, literal keyword arguments, place."""

    topic: str
    name: str
    kwargs: Mapping[str, object]
    place: Place
    text: str
    children: tuple[Finding, ...] = ()
    role: str = ""  # train | eval | "" for data
    unread: tuple[str, ...] = ()  # arguments that are given, but are no constants


@dataclass(frozen=True, slots=True)
class Network:
    """The network that the optimizer updates: project file, callable, literal keyword arguments."""

    path: str
    callable: str
    kwargs: Mapping[str, object]
    place: Place
    builds: str = ""  # key of the class of the network, where the callable is a function


@dataclass(frozen=True, slots=True)
class NetworkClass:
    """A Module class of the project: what it is made of, and whether it can be built as it stands."""

    key: str
    has_weights: bool  # it makes layers of torch that have some
    makes: tuple[str, ...]  # keys of the project's classes that it makes, or descends from
    needs_arguments: bool


@dataclass(frozen=True, slots=True)
class ProgramFindings:
    """What one file tells of a training program."""

    findings: tuple[Finding, ...] = ()
    network: Network | None = None
    epochs: object = NOT_CONSTANT
    trains: bool = False
    classes: tuple[NetworkClass, ...] = ()  # the Module classes that the file defines
    made: tuple[Network, ...] = ()  # the networks that it makes outside of them
    inputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # callable -> inputs that it is shown to take
    builders: tuple[Network, ...] = ()  # the functions of the file that need no argument and return a network
    given: tuple[tuple[str, str], ...] = ()  # (class of a network, class that is handed to what makes it)

    @property
    def checklist(self) -> tuple[ChecklistItem, ...]:
        """The report's items."""
        items = [ChecklistItem(f.topic, f.text, f.place) for f in self.findings]
        if self.network is not None:
            text = f"{self.network.callable}({', '.join(f'{k}={v!r}' for k, v in self.network.kwargs.items())})"
            items.insert(0, ChecklistItem("network", text, self.network.place))
        return tuple(items)


_TOPICS: tuple[tuple[str, str], ...] = (
    ("torch.optim.lr_scheduler.", "schedule"),
    ("torch.optim.", "optimizer"),
    ("torchvision.datasets.", "data"),
    ("torch.utils.data.DataLoader", "data"),
    ("torchvision.transforms.Compose", "transforms"),
    ("torch.nn.init.", "initialization"),
    ("torch.manual_seed", "seed"),
    ("torch.cuda.manual_seed", "seed"),
    ("torch.save", "checkpoint"),
    ("torch.load", "checkpoint"),
    ("torch.amp.", "precision"),
    ("torch.cuda.amp.", "precision"),
    ("torch.distributed.", "distribution"),
    ("torch.nn.parallel.", "distribution"),
    ("torch.nn.DataParallel", "distribution"),
    ("accelerate.Accelerator", "distribution"),
    ("torch.nn.utils.clip_grad", "optimizer"),
)


def _topic(name: str) -> str:
    for prefix, topic in _TOPICS:
        if name.startswith(prefix):
            return topic
    last = name.rpartition(".")[2]
    if name.startswith("torch.nn.") and last.endswith("Loss"):
        return "loss"
    if name.startswith("torch.nn.functional.") and (last.endswith("_loss") or "cross_entropy" in last):
        return "loss"
    return ""


def read_program(analysis: FileAnalysis, world: World) -> ProgramFindings:
    """Return what a file tells of its training program."""
    reader = _Reader(analysis, world)
    calls = analysis.all(ast.Call)
    found = sorted(reader.findings(calls), key=lambda f: (f.place.line, f.place.column))
    trains = any(isinstance(c.func, ast.Attribute) and c.func.attr == "backward" for c in calls)
    made = tuple(reader.made(calls))
    return ProgramFindings(
        tuple(found),
        reader.network(calls) if trains or any(f.topic == "optimizer" for f in found) else None,
        reader.epochs() if trains else NOT_CONSTANT,
        trains,
        tuple(reader.classes()),
        made,
        reader.inputs(calls) if made else {},
        tuple(reader.builders()),
        tuple(reader.given(calls)),
    )


class _Reader:
    def __init__(self, analysis: FileAnalysis, world: World) -> None:
        self.analysis = analysis
        self.world = world

    @cached_property
    def constants(self) -> Constants:
        """The constants of the file; most files have nothing that asks for them."""
        return Constants(self.analysis.tree, self.analysis.nodes)

    @cached_property
    def _targets(self) -> dict[ast.AST, str]:
        return {
            node.value: node.targets[0].id.lower()
            for node in self.analysis.all(ast.Assign)
            if isinstance(node.targets[0], ast.Name)
        }

    def place(self, node: ast.AST) -> Place:
        """Return where a node stands."""
        return Place(self.analysis.path, getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)

    def findings(self, calls: list[ast.Call]) -> Iterator[Finding]:
        """Yield the torch objects of interest that the file makes."""
        for call in calls:
            name = self._name(call)
            topic = _topic(name)
            if topic:
                yield self._finding(call, name, topic)

    def _name(self, call: ast.Call) -> str:
        kind = self.analysis.kind(call.func)
        names = candidates(kind) if kind.name == "api" else ()
        return names[0] if len(names) == 1 else ""

    def _finding(self, call: ast.Call, name: str, topic: str) -> Finding:
        children: tuple[Finding, ...] = ()
        if name.endswith(".Compose") and call.args and isinstance(call.args[0], (ast.List, ast.Tuple)):
            children = tuple(
                self._finding(c, n, "transforms")
                for c in call.args[0].elts
                if isinstance(c, ast.Call) and (n := self._name(c))
            )
        text = " ".join(ast.unparse(call).split())
        kwargs, unread = self._kwargs(call, name)
        return Finding(topic, name, kwargs, self.place(call), text, children, self._role(call), unread)

    def _kwargs(self, call: ast.Call, name: str) -> tuple[dict[str, object], tuple[str, ...]]:
        """Return the arguments that are constants, by the names of torch's parameters, and the names of the others."""
        signature = self.world.tables.signature(name)
        names = [p.name for p in signature.parameters if p.kind.startswith("positional")] if signature else []
        pairs = [*zip(names, call.args, strict=False), *((k.arg, k.value) for k in call.keywords if k.arg)]
        values = {name: self.constants.value(node) for name, node in pairs}
        found = {name: value for name, value in values.items() if value is not NOT_CONSTANT}
        if name.endswith(".DataLoader") and any(k.arg is None for k in call.keywords):
            # DataLoader(data, **train_kwargs): the option of this name is what the dictionary is filled from
            size = self.constants.options.get("batch_size")
            if isinstance(size, int):
                found.setdefault("batch_size", size)
        return found, tuple(name for name in values if name not in found)

    def _role(self, call: ast.Call) -> str:
        parent_name = self._targets.get(call, "")
        train = next((k.value for k in call.keywords if k.arg == "train"), None)
        if isinstance(train, ast.Constant):
            return "train" if train.value else "eval"
        if any(word in parent_name for word in ("test", "val", "eval")):
            return "eval"
        return "train" if "train" in parent_name else ""

    # ---- the networks and the number of epochs

    def classes(self) -> Iterator[NetworkClass]:
        """Yield the Module classes of the file."""
        for info in self.analysis.classes.values():
            if self.world.family(info.key).name != "Module":
                continue
            kinds = [self.analysis.kind(c.func) for c in ast.walk(info.node) if isinstance(c, ast.Call)]
            made = {key for kind in (*kinds, *info.bases) if kind.name == "class" for key in kind.of.split("|")}
            names = [name for kind in kinds if kind.name == "api" for name in candidates(kind)]
            init = self.world.function(f"{info.key}.__init__")
            arguments = init.node.args if init is not None else None
            required = arguments is not None and _needs_arguments(arguments, 1)
            yield NetworkClass(info.key, any(map(self._has_weights, names)), tuple(sorted(made)), required)

    def _has_weights(self, name: str) -> bool:
        """Whether a name is a parameter, or a layer with weights: it keeps a state, and must be told its size."""
        if name == "torch.nn.Parameter":
            return True
        row = self.world.tables.row(name) if name.startswith("torch.nn.") else None
        if row is None or not any(option.state for option in row.to):
            return False
        signature = self.world.tables.signature(name)
        return signature is not None and any(
            p.default is None and p.kind.startswith("positional") for p in signature.parameters
        )

    def made(self, calls: list[ast.Call]) -> Iterator[Network]:
        """Yield the networks that are made outside of classes, with constant arguments."""
        within = {id(c) for info in self.analysis.classes.values() for c in ast.walk(info.node)}
        for call in calls:
            kind = self.analysis.kind(call.func)
            if id(call) in within or kind.name != "class" or "|" in kind.of:
                continue
            found = self._made(call) if self.world.family(kind.of).name == "Module" else None
            if found is not None:
                yield found

    def builders(self) -> Iterator[Network]:
        """Yield the functions of the file that need no argument and return one network of the project: ``resnet18``."""
        for node in self.analysis.tree.body:
            if not isinstance(node, ast.FunctionDef) or _needs_arguments(node.args, 0):
                continue
            returned = [n.value for n in self._within(ast.Return, node) if n.value is not None]
            keys = {self._network_class(value) for value in returned}
            if len(keys) == 1 and "" not in keys:
                yield Network(self.analysis.path, node.name, {}, self.place(node), keys.pop())

    def given(self, calls: list[ast.Call]) -> Iterator[tuple[str, str]]:
        """Yield which classes are handed to what makes a network: ``ResNet(Block, 8)``."""
        for call in calls:
            values = (*call.args, *(keyword.value for keyword in call.keywords))
            kinds = [self.analysis.kind(n) for n in values if isinstance(n, (ast.Name, ast.Attribute))]
            parts = [kind.of for kind in kinds if kind.name == "class" and self.world.family(kind.of).name == "Module"]
            key = self._network_class(call) if parts else ""
            yield from ((key, part) for part in parts if key)

    def _network_class(self, node: ast.expr) -> str:
        """Return the key of the project's class whose network an expression is; "" where it is none, or one of many."""
        kind = self.analysis.kind(node)
        return kind.of if kind.name == "Module" and kind.of and "|" not in kind.of else ""

    def inputs(self, calls: list[ast.Call]) -> dict[str, tuple[str, ...]]:
        """Return the inputs of each network that is called with tensors of a shown shape, as ``verify`` takes them."""
        found: dict[str, tuple[str, ...]] = {}
        for call in calls:
            if isinstance(call.func, ast.Name) and call.args and not call.keywords:
                texts = tuple(self._input(argument) for argument in call.args)
                network = self._made(call.func) if all(texts) else None
                if network is not None:
                    found.setdefault(network.callable, texts)
        return found

    def _input(self, node: ast.expr) -> str:
        """Return ``4x3x32`` for ``torch.randn(4, 3, 32)``, ``2x8:int64<17`` for ``torch.randint(17, (2, 8))``."""
        node = self.constants.resolve(node)
        last = self._name(node).removeprefix("torch.") if isinstance(node, ast.Call) else ""
        if not isinstance(node, ast.Call) or last not in ("randn", "rand", "zeros", "ones", "empty", "randint"):
            return ""
        if any(keyword.arg == "dtype" for keyword in node.keywords):
            return ""
        values = [self.constants.value(argument) for argument in node.args]
        high, sizes = (values[-2] if len(values) > 1 else None, values[-1:]) if last == "randint" else (0, values)
        shape = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
        if not shape or not all(isinstance(size, int) for size in shape) or not isinstance(high, int):
            return ""
        return "x".join(map(str, shape)) + (f":int64<{high}" if last == "randint" else "")

    def network(self, calls: list[ast.Call]) -> Network | None:
        """Return the network whose parameters go to an optimizer.

        Of several, the first that is not called with what another one returns: a discriminator judges what a generator
        makes, a loss with weights of its own what a classifier says.
        """
        trained: dict[str, Network] = {}
        for call in calls:
            if not self._name(call).startswith("torch.optim.") or "lr_scheduler" in self._name(call):
                continue
            source = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "params"), None)
            for node in self._within(ast.Attribute, self.constants.resolve(source)) if source is not None else ():
                if node.attr in ("parameters", "named_parameters"):
                    found = self._made(node.value)
                    if found is not None:
                        trained.setdefault(ast.unparse(node.value), found)
        first = [name for name in trained if not any(self._takes(name, o, calls) for o in trained if o != name)]
        return trained[(first or list(trained))[0]] if trained else None

    def _within(self, kind: type[_Node], node: ast.stmt | ast.expr) -> Iterator[_Node]:
        """Yield the nodes of one kind that stand in the text of ``node``, itself included."""
        begin, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
        for found in self.analysis.all(kind):
            if begin <= (found.lineno, found.col_offset) and (found.end_lineno or 0, found.end_col_offset or 0) <= end:
                yield found

    def _takes(self, name: str, other: str, calls: list[ast.Call]) -> bool:
        """Whether the network ``name`` is called with what ``other`` returns, or what is computed from it."""
        pairs = [pair for statement in self.analysis.all(ast.Assign) for pair in bound_pairs(statement)]
        assigned = [(t, value) for target, value in pairs for t in self._within(ast.Name, target)]
        derived: set[str] = set()

        def is_derived(value: ast.expr) -> bool:
            return any(ast.unparse(call.func) == other for call in self._within(ast.Call, value)) or any(
                used.id in derived for used in self._within(ast.Name, value)
            )

        before = -1
        while len(derived) > before:
            before = len(derived)
            derived |= {target.id for target, value in assigned if is_derived(value)}
        return any(ast.unparse(c.func) == name and any(map(is_derived, c.args)) for c in calls)

    def _made(self, node: ast.expr) -> Network | None:
        """Follow a network back to the call that makes it, through ``.to(device)`` and DataParallel."""
        node = self._origin(node)
        for _ in range(6):
            method = node.func if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
            if method is not None and method.attr in ("to", "cuda", "cpu", "float", "train"):
                node = self._origin(method.value)
                continue
            if isinstance(node, ast.Call) and self._name(node).endswith(("DataParallel",)) and node.args:
                node = self._origin(node.args[0])
                continue
            break
        if not isinstance(node, ast.Call):
            return None
        callee: Kind = self.analysis.kind(node.func)
        if callee.name not in ("function", "class") or "|" in callee.of:
            return None
        path, _, name = callee.of.rpartition(":")
        if "." in name or any(isinstance(a, ast.Starred) for a in node.args):
            return None
        kwargs = self._literal_arguments(node, callee)
        return Network(path, name, kwargs, self.place(node)) if kwargs is not None else None

    def _origin(self, node: ast.expr) -> ast.expr:
        """Return what a name is bound to first: ``net = net.to(device)`` binds it anew to the same network."""
        found = self.constants.resolve(node)
        if found is not node or not isinstance(node, ast.Name):
            return found
        values = [
            statement.value
            for statement in self.analysis.nodes
            if isinstance(statement, ast.Assign)
            and any(isinstance(target, ast.Name) and target.id == node.id for target in statement.targets)
        ]
        first = [value for value in values if not _wraps(value, node.id)]
        return first[0] if len(first) == 1 else node

    def _literal_arguments(self, call: ast.Call, callee: Kind) -> dict[str, object] | None:
        """Return the arguments by name; None when one of them is not a constant."""
        key = f"{callee.of}.__init__" if callee.name == "class" else callee.of
        info = self.world.function(key)
        names = [a.arg for a in info.node.args.args] if info is not None else []
        if callee.name == "class":
            names = names[1:]
        if len(call.args) > len(names):
            return None
        pairs = [*zip(names, call.args, strict=False), *((k.arg or "", k.value) for k in call.keywords)]
        values = {name: self.constants.value(node) for name, node in pairs}
        return values if all(v is not NOT_CONSTANT and k for k, v in values.items()) else None

    def epochs(self) -> object:
        """Return the number of epochs: the length of the outermost loop over a range that an epoch counts."""
        for node in self.analysis.nodes:
            if not isinstance(node, ast.For) or not isinstance(node.iter, ast.Call):
                continue
            if getattr(node.iter.func, "id", "") != "range" or "epoch" not in ast.unparse(node.target).lower():
                continue
            bounds = [self.constants.value(argument) for argument in node.iter.args]
            if all(isinstance(bound, int) for bound in bounds):
                numbers = [int(b) for b in bounds if isinstance(b, int)]
                return len(range(*numbers)) if numbers else NOT_CONSTANT
        return NOT_CONSTANT


def _needs_arguments(arguments: ast.arguments, given: int) -> bool:
    """Whether a function, the first ``given`` of whose parameters are bound, cannot be called without arguments."""
    return len(arguments.args) - given > len(arguments.defaults) or None in arguments.kw_defaults


def _wraps(value: ast.expr, name: str) -> bool:
    """Whether an expression is the network of a name, moved or parallelised: ``nn.DataParallel(net).cuda()``."""
    while isinstance(value, ast.Call):
        function = value.func
        if isinstance(function, ast.Attribute) and function.attr in ("to", "cuda", "cpu", "float", "train"):
            value = function.value
        elif ast.unparse(function).endswith("DataParallel") and value.args:
            value = value.args[0]
        else:
            break
    return isinstance(value, ast.Name) and value.id == name


def module_name(path: str) -> str:
    """Return the dotted name under which a project file is imported from the project's root."""
    parts = list(PurePosixPath(path).with_suffix("").parts)
    if parts and parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)


def is_importable(path: str) -> bool:
    """Whether an import statement can name a project file: ``01-basics/main.py`` has no name that Python accepts."""
    return all(part.isidentifier() and not iskeyword(part) for part in module_name(path).split("."))
