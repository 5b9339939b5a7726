"""Print the figures by which the design of the translator is judged; exit 1 where one has grown.

    python scripts/check_design.py           # compare with scripts/design_figures.json
    python scripts/check_design.py --write   # lower what has fallen; what has grown stays refused

A figure may only fall. One that has to grow is raised in the file by hand, with the reason in the commit.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CEILINGS = ROOT / "scripts" / "design_figures.json"
WALKING = ("values", "effects", "syntax")  # folders of the translator whose work it is to walk trees
RULES = {
    "C901": "lint.mccabe.max-complexity=12",
    "PLR0912": "lint.pylint.max-branches=14",
    "PLR0913": "lint.pylint.max-args=7",
}
SPELLED = frozenset({"id", "attr", "arg", "name"})  # attributes of ast nodes that hold a name of the program


def modules(root: Path) -> dict[Path, ast.Module]:
    """Return the parsed modules of the translator."""
    found = sorted((root / "torch2ms" / "translator").rglob("*.py"))
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in found}


def words_of(value: ast.expr | None) -> list[str]:
    """Return the words of a literal collection of texts, however it is written; empty for anything else."""
    if isinstance(value, ast.Call):
        function = value.func
        if (
            isinstance(function, ast.Name)
            and function.id in ("frozenset", "set", "tuple", "dict")
            and len(value.args) == 1
        ):
            return words_of(value.args[0])
        is_split = isinstance(function, ast.Attribute) and function.attr == "split" and not value.args
        text = function.value if is_split and isinstance(function, ast.Attribute) else None
        return text.value.split() if isinstance(text, ast.Constant) and isinstance(text.value, str) else []
    if isinstance(value, ast.BinOp):
        return [*words_of(value.left), *words_of(value.right)]
    parts: list[ast.expr | None] = []
    if isinstance(value, (ast.Set, ast.Tuple, ast.List)):
        parts = [*value.elts]
    elif isinstance(value, ast.Dict):
        parts = [*value.keys]
    words = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return words if words and len(words) * 2 > len(parts) else []


def collections(tree: ast.Module) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the words of every collection of texts that a module or a class holds."""
    for node in [*tree.body, *(part for cls in tree.body if isinstance(cls, ast.ClassDef) for part in cls.body)]:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            words = words_of(node.value)
            if words and isinstance(target, ast.Name) and target.id != "__all__":
                yield target.id, words


def operations() -> frozenset[str]:
    """Return the last parts of all names of torch that the mapping tables know."""
    from torch2ms.mapping_tables.loader import load

    return frozenset(row.name.rpartition(".")[2] for row in load(()).rows())


def states_facts(words: list[str], known: frozenset[str]) -> bool:
    """Whether most words of a collection are names of torch's operations, and at least two are."""
    return sum(word.rpartition(".")[2] in known for word in words) * 2 > len(words) and len(words) > 1


def walks(tree: ast.Module) -> int:
    """Return how often a module walks a tree."""
    return sum(
        isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "walk"
        for node in ast.walk(tree)
    )


def spelling_tests(tree: ast.Module) -> int:
    """Return how often a module looks at parts of a name: ``"scaler" in node.id``, ``pattern.search(node.attr)``."""
    found = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            text = node.left
            found += isinstance(text, ast.Constant) and isinstance(text.value, str) and is_spelled(node.comparators[0])
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("search", "match", "fullmatch"):
                found += any(map(is_spelled, node.args))
            elif node.func.attr in ("startswith", "endswith"):
                found += is_spelled(node.func.value)
    return found


def is_spelled(node: ast.expr) -> bool:
    """Whether an expression is a name of the program, possibly in lower case."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("lower", "casefold"):
        node = node.func.value
    return isinstance(node, ast.Attribute) and node.attr in SPELLED


def without_tests(root: Path) -> list[str]:
    """Return the modules of the translator that no test file mirrors."""
    folder = root / "torch2ms" / "translator"
    paths = [path.relative_to(folder) for path in folder.rglob("*.py") if path.name != "__init__.py"]
    tests = root / "tests" / "translator"
    return sorted(p.as_posix() for p in paths if not (tests / p.parent / f"test_{p.name}").is_file())


def complex_functions(root: Path) -> dict[str, int]:
    """Return how many functions of the package pass the limits of ruff's rules."""
    ruff = Path(sys.executable).parent / "ruff"
    limits = [word for limit in RULES.values() for word in ("--config", limit)]
    command = [
        str(ruff),
        "check",
        "--no-cache",
        "--output-format",
        "json",
        "--select",
        ",".join(RULES),
        *limits,
        "torch2ms/translator",
    ]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    found = [entry["code"] for entry in json.loads(done.stdout)]
    return {
        f"functions over {limit.rpartition('.')[2].replace('=', ' ')} ({rule})": found.count(rule)
        for rule, limit in RULES.items()
    }


def figures(root: Path) -> dict[str, int]:
    """Return all figures by what they count."""
    parsed = modules(root)
    known = operations()
    held = [words for tree in parsed.values() for _, words in collections(tree)]
    others = [t for p, t in parsed.items() if p.relative_to(root / "torch2ms" / "translator").parts[0] not in WALKING]
    return {
        "lines of the translator": sum(path.read_text(encoding="utf-8").count("\n") for path in parsed),
        "collections of words": len(held),
        "collections of names of torch operations": sum(states_facts(words, known) for words in held),
        "walks of trees outside of syntax, values and effects": sum(map(walks, others)),
        "tests of how names of the program are spelled": sum(map(spelling_tests, parsed.values())),
        "modules without a mirrored test file": len(without_tests(root)),
        **complex_functions(root),
    }


def main() -> int:
    ceilings = json.loads(CEILINGS.read_text(encoding="utf-8")) if CEILINGS.is_file() else {}
    found = figures(ROOT)
    for what, number in found.items():
        ceiling = ceilings.get(what)
        grown = ceiling is not None and number > ceiling
        note = (
            f"  (was {ceiling}: it may only fall)"
            if grown
            else f"  (was {ceiling}: --write lowers it)"
            if ceiling not in (None, number)
            else ""
        )
        print(f"{number:6} {what}{note}")
    if "--write" in sys.argv:
        lower = {what: min(number, ceilings.get(what, number)) for what, number in found.items()}
        CEILINGS.write_text(json.dumps(lower, indent=2) + "\n", encoding="utf-8")
    return 1 if any(number > ceilings.get(what, number) for what, number in found.items()) else 0


if __name__ == "__main__":
    sys.exit(main())
