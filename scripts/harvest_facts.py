"""Harvest what operations do: the alias annotations of PyTorch's schemas, and what calls are seen to do.

    python scripts/harvest_facts.py                  # add the missing lines to torch2ms/mapping_tables/data/facts/
    python scripts/harvest_facts.py --check          # exit code 1 when a line contradicts a schema or a call

A schema says ``Tensor(a)`` of a view and ``Tensor(a!)`` of what is written, but nothing of functions that are composed
of others: ``x.reshape(2, 3)`` and ``x.to(torch.float32)`` are a view, the tensor itself or a copy. For those, calls
decide: the examples of the tables, and ``PROBES``, where nothing need be done. A line that stands is never changed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import os
import pickle
import sys
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "torch2ms" / "mapping_tables")]

import torch  # noqa: E402
from proving.framework import run_source, scope_of  # noqa: E402
from proving.torch_side import FRAMEWORK, unusual  # noqa: E402

from torch2ms.mapping_tables.facts import FACTS, Fact, Facts, load_facts  # noqa: E402
from torch2ms.mapping_tables.loader import load  # noqa: E402
from torch2ms.mapping_tables.lookup import Tables  # noqa: E402
from torch2ms.mapping_tables.prove import case_of  # noqa: E402
from torch2ms.mapping_tables.schema import Row  # noqa: E402

# The files of the facts: each holds the mapped names of one namespace.
FILES = {
    "torch.Tensor": "tensor.toml",
    "torch": "torch.toml",
    "torch.nn": "layers.toml",
    "torch.nn.functional": "functional.toml",
    "torch.nn.init": "init.toml",
    "torch.linalg": "linalg.toml",
    "torch.special": "special.toml",
    "torch.fft": "fft.toml",
    "torch.masked": "masked.toml",
}
# Arguments behind the tensor, under which an operation has often nothing to do.
PROBES = (
    "", "x", "x.dtype", "x.shape", "*x.shape", "0", "1", "0, 0", "0, 1", "-1", "1, 0", "x.dim()", "()", "'cpu'",
    "torch.float32", "torch.int64", "0, 0, 1", "0, 0, 3", "p=0.0", "0.5, False", "training=False", "1, 1, 1",
    "0, (1, 3)", "torch.strided", "[0]", "[0, 0]", "x.device", "1.0", "x, x", "x > 0, 1.0",
)  # fmt: skip
INPUTS = {
    "float": lambda: torch.arange(3.0),
    "matrix": lambda: torch.arange(6.0).reshape(2, 3),
    "square": lambda: torch.eye(3),
    "int": lambda: torch.arange(3),
    "bool": lambda: torch.tensor([True, False, True]),
    "complex": lambda: torch.tensor([1 + 2j, 3 - 1j, 0.5j]),
    "scalar": lambda: torch.tensor(2.0),
    "turned": lambda: torch.arange(6.0).reshape(2, 3).t(),
    "cube": lambda: torch.arange(3.0).reshape(1, 1, 3),
    "image": lambda: torch.arange(9.0).reshape(1, 1, 3, 3),
    "half": lambda: torch.ones(3, dtype=torch.float16),
    "double": lambda: torch.arange(3, dtype=torch.float64),
    "wanted": lambda: torch.rand(2, 3).requires_grad_(),
}


class Seen(NamedTuple):
    """What one call was seen to do: what its result is of the first argument, and what it wrote into."""

    text: str
    memory: str  # fresh, view, self, none
    writes: tuple[str, ...]
    first: str  # the name of the first argument
    given: str = ""  # its dtype
    gives: tuple[str, ...] = ()  # dtypes of the tensors that came back
    is_same: bool = False  # whether the first of these has the argument's shape
    grad: bool | None = None  # whether one requires a gradient; None where the argument required none


def schema_names(name: str) -> Iterator[str]:
    """Yield the names that a function or method of torch may have as an operator."""
    for prefix, operator in (
        ("torch.Tensor.", "aten::"), ("torch.nn.functional.", "aten::"), ("torch.linalg.", "aten::linalg_"),
        ("torch.special.", "aten::special_"), ("torch.fft.", "aten::fft_"), ("torch.", "aten::"),
    ):  # fmt: skip
        if name.startswith(prefix) and "." not in (rest := name.removeprefix(prefix)):
            yield operator + rest


def annotated(name: str, schemas: dict[str, list[Any]]) -> Fact | None:
    """Return what the schemas of an operation say; None where there are none."""
    found = [schema for operator in schema_names(name) for schema in schemas.get(operator, ())]
    found = [s for s in found if not any(a.name == "out" or a.is_out for a in s.arguments)]
    found = [s for s in found if s.arguments and "Tensor" in str(s.arguments[0].type)]
    if not found:
        return None
    gives = {_annotation(schema) for schema in found}
    writes = {a.name for s in found for a in s.arguments if a.alias_info is not None and a.alias_info.is_write}
    memory = gives.pop() if len(gives) == 1 else "maybe"
    return Fact(memory, tuple("self" if one == "self" else one for one in sorted(writes)))


def _annotation(schema: Any) -> str:
    infos = [result.alias_info for result in schema.returns]
    if not schema.returns or not any("Tensor" in str(result.type) for result in schema.returns):
        return "none"
    if any(info is not None and info.is_write for info in infos):
        return "self"
    return "view" if any(info is not None for info in infos) else "fresh"


def tensors_of(value: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors of a result."""
    if isinstance(value, torch.Tensor):
        yield value
    elif type(value).__name__ == "ndarray":
        yield torch.from_numpy(value)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from tensors_of(part)


def watch(text: str, scope: dict[str, Any], first: str, call: Any = None) -> Seen | None:
    """Run a call and say what it did; None where it raises, or where its first argument is no tensor with elements."""
    held = {name: value for name, value in scope.items() if isinstance(value, torch.Tensor)}
    given = scope.get(first)
    if not isinstance(given, torch.Tensor) or given.numel() == 0 or given.layout is not torch.strided:
        return None
    storages = {name: tensor.untyped_storage().data_ptr() for name, tensor in held.items()}
    versions = {name: tensor._version for name, tensor in held.items()}
    try:
        result = call() if call is not None else run_source(text, scope)
        made = [t for t in tensors_of(result) if t.layout is torch.strided]
        writes = tuple(name for name, tensor in held.items() if tensor._version != versions[name])
        memory = {_memory(one, given, storages, first) for one in made if one.numel()}
    except Exception:
        return None
    gave = memory.pop() if len(memory) == 1 else "maybe" if memory else "none"
    dtypes = tuple(str(one.dtype) for one in made)
    grad = any(one.requires_grad for one in made) if given.requires_grad and not isinstance(result, tuple) else None
    is_same = bool(made) and made[0].shape == given.shape
    return Seen(text, gave, writes, first, str(given.dtype), dtypes, is_same, grad)


def _memory(result: torch.Tensor, given: torch.Tensor, storages: dict[str, int], first: str) -> str:
    if result is given:
        return "self"
    shared = {name for name, storage in storages.items() if result.untyped_storage().data_ptr() == storage}
    return "view" if first in shared else "other" if shared else "fresh"


def examples_seen(row: Row) -> Iterator[Seen]:
    """Yield what the examples of a row do that are one call, on tensors that the example names."""
    for index, example in enumerate(row.examples):
        if set(example.run) & {"reference", "objects", "raises"} or "run" in example.run:
            continue
        try:
            tree = ast.parse(example.before)
            case = case_of(row.name, index, example, {})
            scope, inputs = scope_of(case, FRAMEWORK)
        except Exception:
            continue
        last = tree.body[-1]
        if len(tree.body) != 1 or not isinstance(last, ast.Expr):
            continue
        if row.kind == "class":
            if case["check"] == "layer" and len(inputs) == 1:
                yield from _layer_seen(example.before, scope, inputs[0], case)
            continue
        first = _first(last.value, row)
        if first:
            seen = watch(example.before, scope, first)
            if seen is not None:
                yield seen


def _layer_seen(text: str, scope: dict[str, Any], given: Any, case: Any) -> Iterator[Seen]:
    for train in (False, True):
        try:
            layer = run_source(text, scope)
            unusual(layer, 0)
            layer.train(train)
        except Exception:
            return
        given = given.clone() if isinstance(given, torch.Tensor) else given
        with torch.no_grad():
            seen = watch(text, {"input": given}, "input", lambda layer=layer, given=given: layer(given))
        if seen is not None:
            yield seen


def _first(tree: ast.expr, row: Row) -> str:
    """Return the name of the tensor that an example's one call is of; empty where it is something else."""
    if row.kind == "attribute":
        return tree.value.id if isinstance(tree, ast.Attribute) and isinstance(tree.value, ast.Name) else ""
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Attribute):
        return ""
    inner = (node for arg in [*tree.args, *(word.value for word in tree.keywords)] for node in ast.walk(arg))
    if any(isinstance(node, (ast.Call, ast.Subscript)) for node in inner):
        return ""
    if row.kind == "method":
        plain = isinstance(tree.func.value, ast.Name) and tree.func.attr == row.name.rpartition(".")[2]
        return tree.func.value.id if plain and isinstance(tree.func.value, ast.Name) else ""
    given = tree.args[0] if tree.args else None
    return given.id if ast.unparse(tree.func) == row.name and isinstance(given, ast.Name) else ""


def probes_seen(row: Row) -> Iterator[Seen]:
    """Yield what calls do under which there may be nothing to do."""
    function = row.kind == "function"
    for kind, make in INPUTS.items():
        if row.kind == "attribute":
            calls = [f"x.{row.name.rpartition('.')[2]}"]
        elif function:
            calls = [f"{row.name}({', '.join(part for part in ('x', probe) if part)})" for probe in PROBES]
        else:
            calls = [f"x.{row.name.rpartition('.')[2]}({probe})" for probe in PROBES]
        for text in calls:
            seen = watch(text, {"x": make(), "torch": torch}, "x")
            if seen is not None:
                yield seen._replace(text=f"{text}  # {kind}")


def is_probed(row: Row) -> bool:
    """Whether a row is of an operation on tensors that changes nothing but its arguments."""
    short = row.name.rpartition(".")[2]
    gives_tensors = "Tensor" in row.returns or (row.kind == "method" and short.endswith("_"))
    return gives_tensors and row.kind in ("function", "method", "attribute") and not short.startswith("set_")


def seen_of(row: Row) -> list[Seen]:
    """Return what all calls of a row's operation were seen to do: in a process of its own, which a call may end."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "wb") as stream:
            for seen in (*examples_seen(row), *(probes_seen(row) if is_probed(row) else ())):
                pickle.dump(tuple(seen), stream)
                stream.flush()
        os._exit(0)
    os.close(writing)
    found = []
    with os.fdopen(reading, "rb") as stream, contextlib.suppress(EOFError, pickle.UnpicklingError):
        while True:
            found.append(Seen(*pickle.load(stream)))
    os.waitpid(child, 0)
    return found


def contradiction(fact: Fact, seen: Seen) -> str:
    """Say how a fact contradicts what a call did; empty where it does not."""
    allowed = {
        "fresh": {"fresh", "none"},
        "view": {"view", "none"},
        "self": {"self", "none"},
        "maybe": {"fresh", "view", "self", "none", "maybe", "other"},
        "held": {"fresh", "none", "view", "self"},
        "none": {"none"},
        "any": {"fresh", "view", "self", "none", "maybe", "other"},
    }[fact.memory]
    # A flag such as ``inplace`` may be given by its place: then the call gives its input
    switched = fact.when and (f"{fact.when}=True" in seen.text or seen.memory == "self")
    if seen.memory not in allowed and not switched:
        return f"{seen.text} gives {seen.memory}, not {fact.memory}"
    if seen.writes and not (fact.writes or switched or "out=" in seen.text):
        return f"{seen.text} writes into {', '.join(seen.writes)}"
    return misjudged(fact, seen)


def misjudged(fact: Fact, seen: Seen) -> str:
    """Say how a result is another than a fact says, of a call with one tensor and no dtype; empty where it is not."""
    arguments = seen.text.partition("(")[2].partition("#")[0].removeprefix("x")
    if len(seen.gives) != 1 or any(word in arguments for word in ("x", "dtype", "torch.", "input")):
        return ""
    wanted = dtype_of(fact, seen.given)
    if wanted and wanted != seen.gives[0]:
        return f"{seen.text} of {seen.given} gives {seen.gives[0]}, not {wanted}"
    if fact.form == "same" and not seen.is_same:
        return f"{seen.text} gives another shape"
    if seen.grad is not None and not fact.of and seen.grad is (fact.grad == "none"):  # of: it is the argument's
        return f"{seen.text} {'has' if seen.grad else 'lacks'} a gradient"
    return ""


def dtype_of(fact: Fact, given: str) -> str:
    """Return the dtype that a fact says an operation gives for an argument's; empty where it depends on others."""
    is_whole = given in ("torch.bool", "torch.int64")
    parts = {"torch.complex64": "torch.float32"}
    return {
        "same": given,
        "float": "torch.float32" if is_whole else given,
        "sum": "torch.int64" if is_whole else given,
        "real": parts.get(given, given),
        "real float": "torch.float32" if is_whole else parts.get(given, given),
        "complex": "torch.complex128" if given == "torch.float64" else "torch.complex64",
    }.get(fact.dtype, fact.fixed_dtype)


def rows_of(tables: Tables, facts: Facts | None = None) -> Iterator[Row]:
    """Yield the mapped rows of operations, whose names want facts."""
    for row in tables.rows():
        namespace = row.name.rpartition(".")[0]
        kinds = ("class",) if namespace == "torch.nn" else ("function", "method", "attribute")
        if namespace in FILES and row.kind in kinds and (row.to or row.keep):
            yield row


def drafted(row: Row, schema: Fact | None) -> tuple[Fact, str]:
    """Return the fact that schema and calls agree on, and why it is to be judged by a person, if so."""
    seen = seen_of(row)
    gives = {one.memory for one in seen} - {"none"}
    writes: set[str] = {"self" for one in seen if one.first in one.writes}
    if schema is not None and schema.memory == "self":
        return Fact("self", schema.writes), ""
    if not gives:
        if schema is not None:
            return Fact(schema.memory, schema.writes), ""
        return Fact("fresh" if "Tensor" in row.returns else "none", ()), "nothing seen"
    memory = gives.pop() if len(gives) == 1 else "maybe"
    if schema is not None and {memory, schema.memory} == {"view", "fresh"}:
        memory = "maybe"
    fact = Fact(memory, tuple(writes) or (schema.writes if schema else ()))
    return fact, "written" if writes and memory != "self" else ""


def line_of(name: str, fact: Fact) -> str:
    """Return the line of an operation."""
    parts = [f'memory = "{fact.memory}"']
    if fact.writes:
        parts.append(f"writes = [{', '.join(repr(one) for one in fact.writes)}]".replace("'", '"'))
    return f"{name} = {{ {', '.join(parts)} }}"


def main(arguments: list[str] | None = None) -> int:
    """Add missing lines, or check those that stand."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; 1 when something is contradicted")
    parser.add_argument("--part", type=int, default=1, metavar="N", help="call one of N operations, by a hash")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    torch.set_num_threads(1)  # what forks has no threads
    schemas: dict[str, list[Any]] = {}
    for schema in torch._C._jit_get_all_schemas():
        schemas.setdefault(schema.name, []).append(schema)
    facts, wrong = load_facts(), 0
    missing: dict[str, list[str]] = {}
    for row in rows_of(load()):
        fact = facts.of(row.name)
        schema = annotated(row.name, schemas)
        if fact is None:
            made, why = drafted(row, schema)
            missing.setdefault(row.name.rpartition(".")[0], []).append(line_of(row.name.rpartition(".")[2], made))
            if why or options.check:
                print(f"judge {row.name}: {made.memory} {why}")
                wrong += options.check
            continue
        is_called = zlib.crc32(row.name.encode()) % options.part == 0
        for told in {contradiction(fact, seen) for seen in (seen_of(row) if is_called else ())} - {""}:
            print(f"{row.name}: {told}")
            wrong += 1
        if schema is not None and (schema.memory == "self" and fact.memory != "self"):
            print(f"{row.name}: the schema says that it is written")
            wrong += 1
    for namespace, lines in missing.items() if not options.check else ():
        path = FACTS / FILES[namespace]
        if not path.exists():
            path.write_text(f'namespace = "{namespace}"\n\n', encoding="utf-8")
        with path.open("a", encoding="utf-8") as stream:
            stream.write("".join(f"{line}\n" for line in sorted(lines)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
