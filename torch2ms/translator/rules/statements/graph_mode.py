"""Advice on graph mode and dynamic shape: constructs of ``forward`` that compile differently, or not at all.

MindSpore runs a network in PyNative mode as Python does; graph mode compiles ``construct``. What the compiler refuses,
what it runs only once while it compiles, and where the shape of a result depends on data, is said here, on the source.
Each construct was run under ``ms.jit`` (MindSpore 2.10, CPU). Nothing is rewritten.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torch2ms.diagnostics import CODES, Severity
from torch2ms.translator.context import Context
from torch2ms.translator.syntax.ast_walk import children, walk
from torch2ms.translator.values.containers import CHANGING
from torch2ms.translator.values.families import PARTS, WEIGHTS
from torch2ms.translator.values.kinds import Kind
from torch2ms.translator.values.world import FunctionInfo

__all__ = ["advise"]

_ENTRIES = ("forward", "__call__")

# What the compiler refuses, by the class of its node.
_REFUSED: dict[str, str] = {
    "Try": "try", "TryStar": "try", "With": "with", "Match": "match", "Delete": "del", "NamedExpr": ":=",
    "Import": "an import", "ImportFrom": "an import", "Yield": "yield", "YieldFrom": "yield", "Nonlocal": "nonlocal",
    "Await": "await", "AsyncFor": "async", "AsyncWith": "async", "Set": "a set", "SetComp": "a set comprehension",
}  # fmt: skip
_LOST = {("list", "sort"), ("dict", "pop")}  # methods that do nothing there, and say nothing
_PYTHON_STATE = ("random", "numpy.random", "time")  # modules whose functions answer anew at each call

_DYNAMIC = {
    "masked_select": "the number of elements selected",
    "nonzero": "the number of nonzero elements",
    "argwhere": "the number of nonzero elements",
    "unique": "the number of different elements",
    "unique_consecutive": "the number of different elements",
    "bincount": "the largest element",
}
_SIZED = frozenset(
    {"zeros", "ones", "full", "empty", "rand", "randn", "arange", "new_zeros", "new_ones", "topk", "narrow"}
)
_READS = frozenset({"item", "tolist"})


def advise(ctx: Context) -> None:
    """Give T2M601 and T2M701 for all that the networks of a file run in their forward pass.

    They are notes; with ``mode = "graph"`` they are warnings, which also mark the emitted code.
    """
    starts = [
        info.methods[name]
        for info in ctx.analysis.classes.values()
        if ctx.world.family(info.key).name == "Module"
        for name in _ENTRIES
        if name in info.methods
    ]
    for function in _run_by(ctx, starts):
        _Advice(ctx, function).read()


def _run_by(ctx: Context, starts: list[FunctionInfo]) -> Iterator[FunctionInfo]:
    """Yield the functions and methods of the file that calls of its networks run."""
    seen: set[str] = set()
    queue = starts[::-1]
    while queue:
        function = queue.pop()
        if function.key in seen:
            continue
        seen.add(function.key)
        yield function
        for node in walk(function.node):
            kind = ctx.kind(node.func) if isinstance(node, ast.Call) else None
            called = ctx.world.function(kind.of) if kind is not None and kind.name == "function" else None
            if called is not None and called.node in ctx.analysis.function_of:
                queue.append(called)


class _Advice:
    def __init__(self, ctx: Context, function: FunctionInfo) -> None:
        self.ctx = ctx
        self.function = function
        arguments = function.node.args
        self.parameters = {arg.arg for arg in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]} - {
            "self"
        }
        self.from_data: set[str] = set()  # names that hold Python numbers read from tensors
        self.statement: ast.stmt | None = None

    def read(self) -> None:
        if not isinstance(self.function.node, ast.Lambda):
            for statement in self.function.node.body:
                self._visit(statement)

    def _visit(self, node: ast.AST) -> None:
        outer = self.statement
        if isinstance(node, ast.stmt):
            self.statement = node
        for check in (self._refused, self._frozen, self._dynamic):
            check(node)
        if isinstance(node, ast.Assign) and any(self._is_read(part) for part in walk(node.value)):
            self.from_data.update(target.id for target in node.targets if isinstance(target, ast.Name))
        for child in children(node):
            self._visit(child)
        self.statement = outer

    # ---- graph mode

    def _refused(self, node: ast.AST) -> None:
        name = _REFUSED.get(type(node).__name__, "")
        if isinstance(node, (ast.For, ast.While)) and node.orelse:
            name = "the else of a loop"
        elif isinstance(node, (ast.For, ast.comprehension)) and self._kind(node.iter).of == "torch.nn.ModuleDict":
            name = "a loop over a ModuleDict without keys()"
        if isinstance(node, ast.Call):
            called = node.func
            if (
                isinstance(called, ast.Attribute)
                and (called.attr in WEIGHTS | PARTS or called.attr in ("buffers", "named_buffers"))
                and self._kind(called.value).name in ("Module", "self")
            ):
                name = f"{called.attr}()"
            elif isinstance(called, ast.Name) and self._are_layers(called.id, node.args):
                name = f"{called.id}() of layers"
            elif self._is_class_method(called):
                name = "a call of a class method"
        if name:
            self._say("T2M601", node, f"graph mode does not compile {name}; PyNative mode runs it")

    def _frozen(self, node: ast.AST) -> None:
        if not isinstance(node, ast.Call):
            return
        if self._makes_object(node.func):
            made = ast.unparse(node.func)
            self._say("T2M601", node, f"graph mode takes no gradient through an object of {made}, and says nothing")
        if not isinstance(node.func, ast.Attribute):
            return
        dotted = self._python_module(node.func)
        if any(f"{dotted}.".startswith(f"{module}.") for module in _PYTHON_STATE):
            message = f"graph mode calls {dotted}() once, while it compiles, and keeps the result"
            self._say("T2M601", node, message)
        owner = node.func.value
        if (
            node.func.attr in CHANGING
            and isinstance(owner, ast.Attribute)
            and _is_self(owner.value)
            and self._kind(owner).name in ("list", "dict", "python", "unknown")
        ):
            text = ast.unparse(node.func)
            self._say("T2M601", node, f"graph mode does not keep what {text}() changes from call to call")
        elif (self._kind(owner).name, node.func.attr) in _LOST:
            self._say("T2M601", node, f"graph mode does not do what {ast.unparse(node.func)}() does, and says nothing")

    def _python_module(self, node: ast.expr) -> str:
        """Return the dotted name of a function of an imported module, or ""."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        kind = self._kind(node)
        return ".".join([kind.of, *reversed(parts)]) if kind.name == "module" else ""

    def _are_layers(self, function: str, arguments: list[ast.expr]) -> bool:
        """Whether layers are given to a function that graph mode has for other lists alone."""
        count = {"reversed": 1, "zip": 2}.get(function, 0)
        return bool(count) and sum(self._kind(part).name == "Module" for part in arguments) >= count

    def _makes_object(self, called: ast.expr) -> bool:
        """Whether a plain class, a dataclass or a named tuple of the project is called."""
        kind = self._kind(called)
        info = self.ctx.world.class_info(kind.of) if kind.name == "class" else None
        if info is not None:
            return all(base.of == "typing.NamedTuple" for base in info.bases)
        return isinstance(called, ast.Name) and called.id in self.ctx.once(_named_tuples)

    def _is_class_method(self, called: ast.expr) -> bool:
        kind = self._kind(called)
        info = self.ctx.world.function(kind.of) if kind.name == "function" else None
        return info is not None and info.is_of_class

    # ---- dynamic shape

    def _dynamic(self, node: ast.AST) -> None:
        if isinstance(node, ast.Call):
            self._dynamic_call(node)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and self._kind(node.value).is_tensor:
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            for part in parts:
                if isinstance(part, ast.Slice):
                    if any(
                        bound is not None and self._reads_data(bound) for bound in (part.lower, part.upper, part.step)
                    ):
                        self._say("T2M701", node, "the bounds of this slice are read from a tensor")
                elif self._is_mask(part):
                    self._say("T2M701", node, "the size of what a mask selects depends on data")
        elif isinstance(node, (ast.If, ast.While)) and self._reads_data(node.test):
            message = "this branch depends on the values of a tensor; the shapes must be equal on all its ways"
            self._say("T2M701", node, message)

    def _dynamic_call(self, node: ast.Call) -> None:
        name = self._tensor_call(node)
        if name in _DYNAMIC:
            self._say("T2M701", node, f"the shape of what {name} returns depends on data: {_DYNAMIC[name]}")
        elif name == "where" and len(node.args) + len(node.keywords) == 1:
            self._say("T2M701", node, "the shape of what where returns depends on data: the number of true elements")
        elif name in _SIZED:
            sizes = [*node.args, *(keyword.value for keyword in node.keywords)]
            if any(self._reads_data(size) for size in sizes if not self._kind(size).is_tensor):
                self._say("T2M701", node, f"a size given to {name} is read from a tensor")
            elif name == "topk" and any(
                isinstance(size, ast.Name) and size.id in self.parameters and not self._kind(size).is_tensor
                for size in sizes
            ):
                self._say("T2M701", node, "graph mode compiles anew for each k that is given")

    def _tensor_call(self, node: ast.Call) -> str:
        """Return the last name of a torch function or tensor method that is called, or ""."""
        if not isinstance(node.func, ast.Attribute):
            kind = self._kind(node.func)
            return kind.of.rpartition(".")[2] if kind.name == "api" else ""
        if self._kind(node.func.value).is_tensor or self._kind(node.func).name == "api":
            return node.func.attr
        return ""

    def _is_mask(self, node: ast.expr) -> bool:
        kind = self._kind(node)
        return kind.is_tensor and (kind.of == "torch.bool" or isinstance(node, ast.Compare))

    def _reads_data(self, node: ast.expr) -> bool:
        """Whether a Python value is made of the values of a tensor (not of its shape)."""
        if self._kind(node).is_tensor:  # a test or a size: a tensor where Python wants a number
            return True
        return any(self._is_read(part) for part in walk(node))

    def _is_read(self, node: ast.AST) -> bool:
        """Whether a node takes a Python number out of a tensor, or names one that was taken before."""
        if isinstance(node, ast.Name):
            return node.id in self.from_data
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Attribute):
            return node.func.attr in _READS and self._kind(node.func.value).is_tensor
        numbers = isinstance(node.func, ast.Name) and node.func.id in ("int", "float", "bool")
        return numbers and bool(node.args) and self._kind(node.args[0]).is_tensor

    def _kind(self, node: ast.AST) -> Kind:
        return self.ctx.kind(node)

    def _say(self, code: str, node: ast.AST, message: str) -> None:
        if self.ctx.options.mode == "graph" and self.statement is not None:
            self.ctx.leave(code, self.statement, message, Severity.WARNING)
        else:
            self.ctx.report(code, node, message, severity=CODES[code].severity)


def _is_self(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _named_tuples(ctx: Context) -> frozenset[str]:
    """Return the names of a file that ``namedtuple(...)`` is bound to."""
    return frozenset(
        target.id
        for node in ctx.analysis.all(ast.Assign)
        if isinstance(node.value, ast.Call) and ctx.kind(node.value.func).of == "collections.namedtuple"
        for target in node.targets
        if isinstance(target, ast.Name)
    )
