"""Translate a variant of an example as a user's code would be: what is emitted, and which marks it carries."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import Any

from torch2ms import translate_source
from torch2ms.config import Options, Target, Version, parse_version
from torch2ms.diagnostics import Severity
from torch2ms.mapping_tables.emission_check import canonical_body, source_of
from torch2ms.mapping_tables.schema import Example

__all__ = ["Trial", "translated"]


@dataclass(frozen=True, slots=True)
class Trial:
    """A translated variant: code that can be executed as an example's ``after``, and its warnings and errors."""

    after: str
    marks: tuple[str, ...]


def translated(example: Example, before: str, version: Version | None = None, args: Any = None) -> Trial:
    """Translate ``before`` with an example's variables, for a release (the example's own unless one is given).

    ``args`` are the texts of other values of the variables. Raises ValueError when the function that holds the code
    does not come back.
    """
    run = example.run if args is None else {**example.run, "args": args}
    device: Any = example.device
    api: Any = "mint" if ".mint." in example.after else "auto"
    options = Options(
        target=Target(version or parse_version(example.mindspore), device, api, example.exact, example.graph)
    )
    result = translate_source(source_of(replace(example, before=before, run=run)), options=options)
    tree = ast.parse(canonical_body(result.text, run.get("objects", {})))
    last = tree.body[-1]
    if isinstance(last, ast.Return) and last.value is not None:
        tree.body[-1] = ast.Expr(last.value)
    said = [f"{item.code} {item.message}" for item in result.diagnostics if item.severity >= Severity.WARNING]
    return Trial(ast.unparse(ast.fix_missing_locations(tree)), tuple(said))
