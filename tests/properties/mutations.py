"""Mutations: the same program written otherwise, or a slightly different one. What torch makes of it must be what
MindSpore makes of its translation, or the translation must say that it may differ."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable, Iterator

__all__ = ["MUTATIONS", "mutants"]

Mutation = Callable[[ast.Module, random.Random], "ast.Module | None"]


def _calls(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def _functions(tree: ast.Module) -> list[ast.FunctionDef]:
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name != "result"]
    return [node for node in found if node.args.args]


def _parse(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


def delete_keyword(tree: ast.Module, rng: random.Random) -> ast.Module | None:
    """Leave out one keyword argument somewhere."""
    calls = [call for call in _calls(tree) if call.keywords]
    if not calls:
        return None
    call = rng.choice(calls)
    call.keywords.remove(rng.choice(call.keywords))
    return tree


def swap_arguments(tree: ast.Module, rng: random.Random) -> ast.Module | None:
    """Exchange two positional arguments somewhere."""
    calls = [call for call in _calls(tree) if len(call.args) > 1]
    if not calls:
        return None
    call = rng.choice(calls)
    call.args[0], call.args[1] = call.args[1], call.args[0]
    return tree


def shadow_name(tree: ast.Module, rng: random.Random) -> ast.Module | None:
    """Call a local variable like something that emitted code imports."""
    functions = _functions(tree)
    if not functions:
        return None
    function = rng.choice(functions)
    stored = [node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    names = sorted({node.id for node in stored} | {arg.arg for arg in function.args.args} - {"self"})
    keywords = {keyword.arg for call in _calls(tree) for keyword in call.keywords}
    names = [name for name in names if name not in keywords]
    if not names:
        return None
    old, new = rng.choice(names), rng.choice(("ops", "ms", "functional", "data", "mindspore", "init", "layers"))
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == old:
            node.id = new
        elif isinstance(node, ast.arg) and node.arg == old:
            node.arg = new
    return tree


def wrap_in_function(tree: ast.Module, rng: random.Random) -> ast.Module | None:
    """Define everything inside a function."""
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    rest = [node for node in tree.body if node not in imports]
    wrapper = _parse("def everything():\n    pass\n\n\nresult = everything()\n")
    made = wrapper[0]
    assert isinstance(made, ast.FunctionDef)
    made.body = [*rest, *_parse("def f():\n    return result\n")[0].body]  # type: ignore[attr-defined]
    tree.body = [*imports, *wrapper]
    return tree


def rename_alias(tree: ast.Module, rng: random.Random) -> ast.Module | None:
    """Import torch's modules under other names."""
    new = {"torch": "T", "nn": "layers", "F": "functional"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name
                alias.asname = new.get(bound, alias.asname)
        elif isinstance(node, ast.Name):
            node.id = new.get(node.id, node.id)
    return tree


def conditional_import(tree: ast.Module, rng: random.Random) -> ast.Module | None:
    """Import torch where it is found."""
    body: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, ast.Import) and node.names[0].name.startswith("torch"):
            name = node.names[0].asname or "torch"
            guarded = _parse(f"try:\n    pass\nexcept ImportError:\n    {name} = None\n")[0]
            assert isinstance(guarded, ast.Try)
            guarded.body = [node]
            body.append(guarded)
        else:
            body.append(node)
    tree.body = body
    return tree


def import_members(tree: ast.Module, rng: random.Random) -> ast.Module | None:
    """Import what is used by name: ``from torch.nn.functional import softmax``."""
    used: set[tuple[str, str]] = set()
    modules = {"F": "torch.nn.functional", "nn": "torch.nn", "torch": "torch"}
    taken = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    taken |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)} | set(dir(__builtins__))

    class Bare(ast.NodeTransformer):
        def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
            self.generic_visit(node)
            if isinstance(node.value, ast.Name) and node.value.id in modules and node.attr not in taken:
                if node.attr in ("nn", "optim", "init", "float32", "int64"):
                    return node
                used.add((modules[node.value.id], node.attr))
                return ast.Name(node.attr, ast.Load())
            return node

    tree = Bare().visit(tree)
    tree.body = [*_parse("".join(f"from {module} import {name}\n" for module, name in sorted(used))), *tree.body]
    return tree if used else None


def turn_into_method(tree: ast.Module, rng: random.Random) -> ast.Module | None:
    """Make a function a method of a class nobody annotates."""
    functions = _functions(tree)
    if not functions:
        return None
    function = rng.choice(functions)
    holder = _parse(f"class Holder:\n    pass\n\n\nholder = Holder()\n{function.name} = holder.{function.name}\n")
    made = holder[0]
    assert isinstance(made, ast.ClassDef)
    position = tree.body.index(function)
    function.args.args.insert(0, ast.arg("self"))
    made.body = [function]
    tree.body[position : position + 1] = holder
    return tree


def pass_through_args(tree: ast.Module, rng: random.Random) -> ast.Module | None:
    """Hand arguments over with ``*`` and ``**``, through a function that only passes them on."""
    functions = _functions(tree)
    if not functions:
        return None
    name = rng.choice(functions).name
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "result":
            for call in _calls(node):
                if isinstance(call.func, ast.Name) and call.func.id == name:
                    call.func.id = "passed_on"
    made = _parse(f"def passed_on(*args, **kwargs):\n    return {name}(*args, **kwargs)\n")
    place = [i for i, n in enumerate(tree.body) if isinstance(n, ast.FunctionDef) and n.name == "result"]
    index = place[0] if place else len(tree.body)
    tree.body[index:index] = made
    return tree


def assign_first(tree: ast.Module, rng: random.Random) -> ast.Module | None:
    """Give a function of torch a name before it is called, or a part of an expression."""
    calls = [call for call in _calls(tree) if isinstance(call.func, ast.Attribute)
             and isinstance(call.func.value, ast.Name) and call.func.value.id in ("F", "torch")]  # fmt: skip
    if not calls:
        return None
    call = rng.choice(calls)
    name = ast.unparse(call.func)
    call.func = ast.Name("chosen", ast.Load())
    places = [i for i, node in enumerate(tree.body) if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    if not places:
        return None
    index = places[0]
    tree.body[index:index] = _parse(f"chosen = {name}\n")
    return tree


def put_in_lambda(tree: ast.Module, rng: random.Random) -> ast.Module | None:
    """Compute a method call in a lambda."""
    calls = [call for call in _calls(tree) if isinstance(call.func, ast.Attribute)
             and isinstance(call.func.value, ast.Name) and call.func.value.id in ("x", "y", "z")]  # fmt: skip
    if not calls:
        return None
    call = rng.choice(calls)
    assert isinstance(call.func, ast.Attribute)
    inner = copy.deepcopy(call)
    inner.func.value = ast.Name("held", ast.Load())  # type: ignore[attr-defined]
    made = ast.parse("(lambda held: 0)(0)", mode="eval").body
    assert isinstance(made, ast.Call)
    made.func.body = inner  # type: ignore[attr-defined]
    call.func, call.args, call.keywords = made.func, [call.func.value], []
    return tree


def put_in_comprehension(tree: ast.Module, rng: random.Random) -> ast.Module | None:
    """Compute a method call for each element of a list of one."""
    calls = [call for call in _calls(tree) if isinstance(call.func, ast.Attribute)
             and isinstance(call.func.value, ast.Name) and call.func.value.id in ("x", "y", "z")]  # fmt: skip
    if not calls:
        return None
    chosen = rng.choice(calls)

    class Each(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.AST:
            if node is not chosen:
                self.generic_visit(node)
                return node
            made = ast.parse("[0 for held in [0]][0]", mode="eval").body
            assert isinstance(made, ast.Subscript)
            assert isinstance(made.value, ast.ListComp)
            assert isinstance(node.func, ast.Attribute)
            made.value.generators[0].iter = ast.List([node.func.value], ast.Load())
            inner = copy.deepcopy(node)
            inner.func.value = ast.Name("held", ast.Load())  # type: ignore[attr-defined]
            made.value.elt = inner
            return made

    return Each().visit(tree)  # type: ignore[no-any-return]


def untype(tree: ast.Module, rng: random.Random) -> ast.Module | None:
    """Send the inputs through something whose result nothing is known of."""
    made = _parse(
        "import copy\n\n\nBOX = {}\n\n\n"
        "def through(value):\n    BOX['it'] = copy.copy(value)\n    return BOX.get('it')\n"
    )
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "result":
            for call in _calls(node):
                if ast.unparse(call.func) in ("torch.tensor", "torch.from_numpy"):
                    inner = copy.deepcopy(call)
                    call.func, call.args, call.keywords = ast.Name("through", ast.Load()), [inner], []
    tree.body[:0] = made
    return tree


MUTATIONS: dict[str, Mutation] = {
    function.__name__: function
    for function in (
        delete_keyword, swap_arguments, shadow_name, wrap_in_function, rename_alias, conditional_import,
        import_members, turn_into_method, pass_through_args, assign_first, put_in_lambda, put_in_comprehension, untype,
    )
}  # fmt: skip


def mutants(source: str, seed: int) -> Iterator[tuple[str, str]]:
    """Yield (name of the mutation, mutated program), one of each mutation that applies."""
    for name, mutation in MUTATIONS.items():
        tree = mutation(ast.parse(source), random.Random(f"{name} {seed}"))
        if tree is None:
            continue
        ast.fix_missing_locations(tree)
        try:
            text = ast.unparse(tree) + "\n"
            compile(text, "mutant", "exec")
        except (SyntaxError, ValueError):
            continue
        yield name, text
