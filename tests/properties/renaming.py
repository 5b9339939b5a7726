"""Consistent renaming of a project's own names, and comparison of two outputs up to that renaming.

``renamings(files, random)`` gives new names for what the files define themselves; names that may be an API's as well
(arguments of unknown functions, attributes of unknown objects, words in strings) keep theirs.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import io
import keyword
import random
import re
import tokenize
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from tests.golden.snapshots import translate_files
from torch2ms.mapping_tables.catalogue import torch_catalogue

__all__ = [
    "MISLEADING",
    "api_members",
    "changes_by_renaming",
    "differences",
    "imported",
    "own_names",
    "renamed",
    "renamings",
]

# What a guess by spelling could take for a kind of value; no names of layers' own members, such as ``weight``
MISLEADING = (
    "env mask scaler loader model net optimizer opt criterion loss labels targets norm cuda_device scheduler flag size "
    "dataset is_valid width param grad sparse_adj nan accelerator epoch idx keep features hidden_size loss_fn index "
    "logger image_np my_dict iterator backbone optim amp_scaler trainer done tensor module gpu backward_loss action"
).split()
_DYNAMIC = frozenset({"getattr", "setattr", "hasattr", "delattr", "vars", "add_module", "__dict__", "register_module"})
_BY_NAME = frozenset({"locals", "globals", "exec", "eval"})
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass
class _Uses:
    """What a project does with each identifier."""

    bound: set[str] = field(default_factory=set)
    fixed: set[str] = field(default_factory=set)  # names that mean something outside of the project
    members: set[str] = field(default_factory=set)  # what its classes define
    on_self: set[str] = field(default_factory=set)
    elsewhere: set[str] = field(default_factory=set)  # attributes of anything else
    keywords: list[tuple[str, str]] = field(default_factory=list)  # called name, keyword
    parameters: dict[str, set[str]] = field(default_factory=dict)  # of functions and classes
    is_dynamic: bool = False


@lru_cache(maxsize=1)
def api_members() -> frozenset[str]:
    """Return the names of members that objects of PyTorch and of builtins have."""
    attributes = {name.rpartition(".")[2] for name in torch_catalogue().names}
    return frozenset(attributes | {member for value in vars(builtins).values() for member in dir(value)})


def _of_module() -> frozenset[str]:
    names = (name.rpartition(".")[2] for name in torch_catalogue().names if name.startswith("torch.nn.Module."))
    return frozenset({*names, "training"})


def _strings(tree: ast.Module) -> Iterator[str]:
    """Yield the literal strings of a file, without its docstrings."""
    nodes = [n for n in ast.walk(tree) if isinstance(n, (ast.Module, ast.ClassDef, ast.FunctionDef))]
    docs = {id(node.body[0].value) for node in nodes if node.body and isinstance(node.body[0], ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[str]:
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
    return [arg.arg for arg in every]


def _collect(tree: ast.Module, uses: _Uses) -> None:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name):
                if isinstance(node.ctx, ast.Store):
                    uses.bound.add(name)
                if name in _DYNAMIC | _BY_NAME:
                    uses.is_dynamic = True
                    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
                    uses.fixed |= names if name in _BY_NAME else set()
            case ast.arg(arg=name):
                uses.bound.add(name)
            case ast.alias(name=name, asname=other):
                uses.fixed.update(_WORD.findall(name), [other] if other else [])
            case ast.ImportFrom(module=name):
                uses.fixed.update(_WORD.findall(name or ""))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                uses.bound.add(node.name)
                uses.parameters.setdefault(node.name, set()).update(_parameters(node))
            case ast.ClassDef():
                uses.bound.add(node.name)
                _collect_class(node, uses)
            case ast.Attribute(attr=name):
                uses.is_dynamic = uses.is_dynamic or name in _DYNAMIC
                (uses.on_self if getattr(node.value, "id", "") == "self" else uses.elsewhere).add(name)
            case ast.Call():
                called = getattr(node.func, "attr", getattr(node.func, "id", ""))
                uses.keywords += [(called, word.arg) for word in node.keywords if word.arg]
            case ast.MatchClass():
                uses.fixed.update(node.kwd_attrs)
    for text in _strings(tree):
        uses.fixed.update(_WORD.findall(text))


def _collect_class(node: ast.ClassDef, uses: _Uses) -> None:
    bases = [ast.unparse(base) for base in node.bases]
    is_own = all(b in ("object", "nn.Module", "torch.nn.Module", "Module") or b in uses.parameters for b in bases)
    members = {n.name for n in node.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}
    members |= {
        n.id for s in node.body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(s, ast.AnnAssign)
    }
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store) and _is_self(inner.value):
            members.add(inner.attr)
    uses.parameters.setdefault(node.name, set())
    (uses.members if is_own else uses.fixed).update(members)
    for inner in node.body:
        if isinstance(inner, ast.FunctionDef) and inner.name == "__init__":
            uses.parameters[node.name].update(_parameters(inner))
    uses.parameters[node.name] |= {s.target.id for s in node.body if isinstance(s, ast.AnnAssign)
                                   and isinstance(s.target, ast.Name)}  # fmt: skip


def imported(text: str) -> set[str]:
    """Return every word of the import statements of a file."""
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    return {word for node in nodes for word in _WORD.findall(ast.unparse(node))}


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def own_names(files: Mapping[str, str]) -> list[str]:
    """Return the identifiers that can be renamed everywhere in the files without a change of meaning."""
    uses = _Uses()
    for text in files.values():
        _collect(ast.parse(text), uses)
    attributes, of_module = api_members(), _of_module()
    fixed = set(uses.fixed) | set(dir(builtins)) | set(keyword.kwlist) | {"self", "cls", "_"}
    fixed |= {word for called, word in uses.keywords if word not in uses.parameters.get(called, ())}
    fixed |= {name for name in uses.elsewhere if name in attributes or name not in uses.members}
    fixed |= {name for name in uses.on_self if name not in uses.members or name in of_module}
    methods = {name for name in uses.members & set(uses.parameters) if name in attributes}
    fixed |= methods
    if uses.is_dynamic:
        fixed |= uses.members | uses.elsewhere | uses.on_self
    found = (uses.bound | (uses.members & uses.on_self)) - fixed
    return sorted(name for name in found if not (name.startswith("__") and name.endswith("__")))


def renamings(
    files: Mapping[str, str], outputs: Collection[str], chance: random.Random, *, misleading: bool
) -> dict[str, str]:
    """Return new names: ``v1``, or words that suggest a kind of value. What ``outputs`` import is let alone."""
    modules = {word for output in outputs for word in imported(output)}
    taken = {word for text in files.values() for word in _WORD.findall(text)} | modules | {"layers"}
    new: dict[str, str] = {}
    words = [*MISLEADING]
    chance.shuffle(words)
    names = [name for name in own_names(files) if name not in modules]
    for number, name in enumerate(names, 1):
        candidates = [f"v{number}"]
        if misleading:
            word = words[number % len(words)]
            candidates = [word, f"{word}_{number}", f"my_{word}_{number}"]
            candidates = candidates if number <= len(words) else candidates[1:]
        start = name[: len(name) - len(name.lstrip("_"))]
        chosen = next(c for c in (start + c for c in (*candidates, f"w_{number}")) if c not in taken)
        taken.add(chosen)
        new[name] = chosen
    return new


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return a file with every occurrence of the names exchanged, those in f-strings too."""
    lines = text.splitlines(keepends=True)
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for token in reversed(tokens):
        new = _exchanged(token.type, token.string, names)
        if new != token.string:
            (row, start), (last, end) = token.start, token.end
            lines[row - 1 : last] = [lines[row - 1][:start] + new + lines[last - 1][end:]]
            lines[row - 1 : row] = lines[row - 1].splitlines(keepends=True)
    return "".join(lines)


def _exchanged(kind: int, text: str, names: Mapping[str, str], *, quoted: bool = False) -> str:
    if kind == tokenize.NAME:
        return names.get(text, text)
    if kind == tokenize.STRING and quoted and text[1:-1] in names:  # object.__setattr__(self, 'member', value)
        return text[0] + names[text[1:-1]] + text[-1]
    prefix = text[: len(text) - len(text.lstrip("rRbBfFuU"))] if kind == tokenize.STRING else ""
    if "f" in prefix.lower():
        return prefix + _WORD.sub(lambda found: names.get(found[0], found[0]), text[len(prefix) :])
    return text


def _bound(text: str) -> list[str]:
    """Return the names that a file binds, but for its imports."""
    found: dict[str, None] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = None
        elif isinstance(node, ast.arg):
            found[node.arg] = None
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = None
    return list(found)


_SKIPPED = (tokenize.NL, tokenize.ENCODING)


def _tokens(output: str, source: str, names: Mapping[str, str]) -> list[str]:
    """Return the tokens of an output under the new names; names that the translation made up are all one."""
    known = {t.string for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.type == tokenize.NAME}
    made = {name: "made" for name in _bound(output) if name not in known}
    every = {**names, **made}
    found: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(output).readline):
        text = token.string
        if token.type == tokenize.COMMENT:
            if "TORCH2MS" not in text:
                continue
            text = text.partition(":")[0]  # what it says in words may have the names as words of English
        elif token.type in _SKIPPED:
            continue
        elif token.type in (tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE):
            text = tokenize.tok_name[token.type]
        else:
            text = _exchanged(token.type, text, every, quoted=True)
        if text in (")", "]", "}") and found[-1:] == [","] and found[-2:-1] != ["("]:
            found.pop()
        found.append(text)
    return found


def differences(before: tuple[str, str], after: tuple[str, str], names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return where the output of renamed sources is not the renamed output; both are (source, output)."""
    old = _tokens(before[1], before[0], names)
    same = set(names.values())
    back = {new: name for name, new in names.items()}
    new = _tokens(after[1], after[0], {})
    found = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False) if old != new else None
    for tag, i, j, k, m in matcher.get_opcodes() if matcher else ():
        if tag == "equal":
            continue
        pairs = list(zip(old[i:j], new[k:m], strict=False))
        if j - i == m - k and all(b == back.get(a) for a, b in pairs) and all(a in same for a, _ in pairs):
            continue  # a name that the output has in another role as well
        found.append((" ".join(old[max(i - 4, 0) : j + 4]), " ".join(new[max(k - 4, 0) : m + 4])))
    return found


def changes_by_renaming(files: Mapping[str, str], seed: str, *, misleading: bool) -> list[tuple[str, str, str]]:
    """Return where the output of a renamed project is not its renamed output: file, expected, found."""
    before = {file.path: file.output for file in translate_files(files).files}
    outputs = [before[path] or "" for path in files]
    names = renamings(files, outputs, random.Random(seed), misleading=misleading)
    new = {path: renamed(text, names) for path, text in files.items()}
    after = {file.path: file.output for file in translate_files(new).files}
    return [
        (path, expected, found)
        for path, output in zip(files, outputs, strict=True)
        for expected, found in differences((files[path], output), (new[path], after[path] or ""), names)
    ]
