"""One file: from its text to the translated text, its diagnostics and the APIs it uses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from symtable import symtable

import libcst as cst

from torch2ms.config import Options
from torch2ms.diagnostics import CODES, Diagnostic, Severity
from torch2ms.translator.context import Context
from torch2ms.translator.import_plan import GUARD
from torch2ms.translator.output.file_result import FileResult
from torch2ms.translator.output.program import ProgramFindings, read_program
from torch2ms.translator.project.directives import silence
from torch2ms.translator.project.notebooks import NotebookText
from torch2ms.translator.rewriter import rewrite_module
from torch2ms.translator.syntax.alignment import align
from torch2ms.translator.syntax.code_generation import generate
from torch2ms.translator.syntax.comments import with_lost_comments
from torch2ms.translator.syntax.cst_parsing import parse_concrete
from torch2ms.translator.syntax.names import is_torch_name
from torch2ms.translator.syntax.nesting import deepest
from torch2ms.translator.values.leaf_tensors import hand_trained, marked_anew
from torch2ms.translator.values.world import FileAnalysis, World

__all__ = ["in_cells", "translate_file"]


def translate_file(path: str, text: str, world: World, options: Options) -> FileResult:
    """Translate one file of the project that ``world`` knows; a fault of ours becomes T2M900, never an exception."""
    try:
        return _translate(path, text, world, options)
    except TimeoutError:
        raise  # the worker's time limit
    except cst.ParserSyntaxError as error:  # of a file that Python can read: tabs in blocks of spaces
        message = f"libcst, which torch2ms reads files with, refuses the file: {error.message}"
        return _fault(path, message, error.raw_line, "T2M101", "Indent the whole file by spaces, or by tabs.")
    except RecursionError:
        line, depth = deepest(ast.parse(text))
        message = f"line {line} is nested {depth} deep, too deep to translate; the file was copied as it is"
        return _fault(path, message, line, "T2M101", "Give parts of it names of their own.")
    except Exception as error:
        return _fault(path, f"the file could not be translated: {type(error).__name__}: {error}")


def _fault(path: str, message: str, line: int = 1, code: str = "T2M900", advice: str = "") -> FileResult:
    entry = CODES[code]
    found = Diagnostic(path, line, 1, code, entry.severity, "", message, advice or entry.advice)
    return FileResult(path, None, (found,), failed=True)


def _translate(path: str, text: str, world: World, options: Options) -> FileResult:
    if _is_translated(path, text, world):
        kept, silenced = silence(path, text, options.ignores).split(_marked(path, text))
        return FileResult(path, None, kept, silenced=silenced)
    analysis = world.analyse(path)
    if analysis is None:
        return FileResult(path, None)
    try:
        found = _rewritten(path, text, analysis, world, options)
    finally:
        world.release(analysis)
    # MindSpore calls the hooks of a layer where what it computes with needs a gradient: a parameter does.
    is_hooked = "backward_hook(" in text and found.text is not None and "recording.backward(" in found.text
    if not is_hooked and not any(d.code == "T2M404" for d in (*found.diagnostics, *found.silenced)):
        return found
    if not hand_trained(analysis.tree, is_whole=True) and not marked_anew(analysis.tree):
        return found
    recorded = _recorded(path, text, world, options)
    return min((recorded, found) if is_hooked else (found, recorded), key=_marks_left)


def _recorded(path: str, text: str, world: World, options: Options) -> FileResult:
    """Translate a file whose gradients are used by hand with all its tensors that have one as parameters.

    Their steps are recorded then. Where a gradient is that of a function, this is what one would write instead.
    """
    other = World(world.parse, world.symbols, world.tables)
    other.trains_all = path
    analysis = other.analyse(path)
    assert analysis is not None
    return _rewritten(path, text, analysis, other, options)


def _marks_left(result: FileResult) -> int:
    told = (*result.diagnostics, *result.silenced)
    return sum(d.severity >= Severity.ERROR for d in told) + 1000 * result.failed


def _rewritten(path: str, text: str, analysis: FileAnalysis, world: World, options: Options) -> FileResult:
    module = parse_concrete(text, analysis.tree)
    alignment = align(module, analysis.tree)
    ctx = Context(analysis, alignment, world, options)
    ctx.silence = silence(path, text, options.ignores)
    ctx.commented = frozenset(number for number, line in enumerate(text.split("\n"), 1) if "#" in line)
    ctx.quote = '"' if text.count('"') - 6 * text.count('"""') / 2 > text.count("'") else "'"
    output, anew = generate(rewrite_module(module, ctx), alignment, text)
    _check_accounting(ctx)
    diagnostics, silenced = ctx.silence.split(sorted(set(ctx.diagnostics)))
    uses = tuple(ctx.uses)
    program = read_program(analysis, world)
    ctx.close()
    del ctx, module, alignment  # the trees of a large file are larger than all that is kept of others
    problem = _parses(anew, output) if output != text else None
    if problem is not None:
        return _fault(path, f"the translated file would not parse: {problem}")
    output = with_lost_comments(text, output) if output != text else output
    return FileResult(path, output if output != text else None, diagnostics, uses, silenced=silenced, program=program)


def in_cells(result: FileResult, source: NotebookText) -> FileResult:
    """Return the translation of a notebook with its places in the file; no module can import a network from there."""
    if result.text is not None and source.split(result.text) is None:
        return _fault(result.path, "the border of a cell was lost; the notebook was copied as it is")
    return replace(
        result,
        diagnostics=tuple(source.diagnostic(found) for found in result.diagnostics),
        silenced=tuple(source.diagnostic(found) for found in result.silenced),
        uses=tuple(replace(use, place=source.place(use.place)) for use in result.uses),
        program=ProgramFindings(),
    )


def _is_translated(path: str, text: str, world: World) -> bool:
    """Whether a file is MindSpore's already: it imports MindSpore (or the runtime), and torch for what is marked."""
    if GUARD in text:
        return True
    index = world.symbols.files.get(path)
    modules = [module for level, module in index.imports if level == 0] if index is not None else []
    if not any(module.partition(".")[0] in ("mindspore", "torch2ms_runtime") for module in modules):
        return False
    return not any(world.symbols.is_torch(path, module) for module in modules)


_MARK = re.compile(r"^\s*# TORCH2MS (T2M\d{3}): (.*)$")


def _marked(path: str, text: str) -> Iterator[Diagnostic]:
    """Yield what the marks of an earlier translation say is left to do, at the statements they stand before."""
    waiting: list[tuple[str, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        found = _MARK.match(line)
        if found is not None:
            waiting.append((found[1], found[2]))
            continue
        for code, message in waiting if line.strip() else ():
            entry = CODES.get(code)
            if entry is not None:
                column = len(line) - len(line.lstrip()) + 1
                yield Diagnostic(path, number, column, code, entry.severity, "", message, entry.advice)
        if line.strip():
            waiting = []


def _parses(anew: str, text: str) -> str | None:
    """Return what keeps a text from being Python, or None; ``anew`` is what of it was not so in the source."""
    try:
        symtable(anew, "<translated>", "exec")  # parses without making a tree, in half the time
    except SyntaxError:
        try:
            ast.parse(text)  # what only the compiler refuses was so before
        except SyntaxError as error:
            return f"{error.msg} (line {error.lineno})"
    return None


def _check_accounting(ctx: Context) -> None:
    """Report every torch reference that no pass has rewritten, kept or diagnosed: the accounting invariant."""
    for node in _references(ctx):
        if node not in ctx.accounted:
            name = ctx.kind(node).of or ast.unparse(node)
            place = ctx.place(node)
            message = f"{name} was neither rewritten nor reported"
            ctx.diagnostics.append(
                Diagnostic(
                    ctx.path, place.line, place.column, "T2M900", Severity.ERROR, name, message, CODES["T2M900"].advice
                )
            )


def _references(ctx: Context) -> Iterator[ast.AST]:
    """Yield the outermost node of every reference to a torch name through an import."""
    inner: set[ast.AST] = set()
    for node in ctx.analysis.nodes:
        if not isinstance(node, (ast.Name, ast.Attribute)) or not isinstance(node.ctx, ast.Load) or node in inner:
            continue
        kind = ctx.kind(node)
        if kind.name == "api" and is_torch_name(kind.of) and ctx.is_import_root(node):
            current: ast.AST = node
            while isinstance(current, ast.Attribute):
                current = current.value
                inner.add(current)
            yield node
