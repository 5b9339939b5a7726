"""Programs with random changes of their text: each translation keeps the promises that hold for every file.

A change need not leave a program that makes sense, only one that Python compiles::

    python -m tests.properties.broken_programs --programs 2000 --seed 7 [FOLDER ...]
"""

from __future__ import annotations

import argparse
import io
import random
import sys
import tokenize
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path

from tests.properties.promises import lost_comments
from torch2ms import translate_source

__all__ = ["broken", "faults", "main", "sources"]

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "tests" / "golden", ROOT / "tests" / "programs", ROOT / "tests" / "cases", ROOT / "examples")
_LARGEST = 30_000  # characters of a source
_NOTES = ("  # a remark", "  # TODO: check", "  #: typed", "  # noqa")


def sources(folders: Sequence[Path] = FOLDERS) -> list[Path]:
    """Return the programs that are changed: those of the folders that name torch and are not too long."""
    found = sorted(path for folder in folders for path in folder.rglob("*.py") if path.stat().st_size < _LARGEST)
    return [path for path in found if "torch" in path.read_text(encoding="utf-8", errors="replace")]


def broken(text: str, rng: random.Random) -> str | None:
    """Return the program with a few changes; None where Python does not compile any of a few attempts."""
    for _ in range(8):
        changed = text
        for _ in range(rng.choice((1, 1, 2, 4))):
            changed = rng.choice(_CHANGES)(changed, rng)
        if changed != text and _compiles(changed):
            return changed
    return None


def _compiles(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<broken>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    try:
        return list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return []


def _splice(text: str, token: tokenize.TokenInfo, new: str) -> str:
    lines = text.split("\n")
    (line, start), (last, end) = token.start, token.end
    before, after = lines[line - 1][:start], lines[last - 1][end:]
    return "\n".join([*lines[: line - 1], before + new + after, *lines[last:]])


def _token(text: str, rng: random.Random, *kinds: int) -> tokenize.TokenInfo | None:
    found = [token for token in _tokens(text) if token.type in kinds and token.string]
    return rng.choice(found) if found else None


def _another_name(text: str, rng: random.Random) -> str:
    one, other = _token(text, rng, tokenize.NAME), _token(text, rng, tokenize.NAME)
    return _splice(text, one, other.string) if one is not None and other is not None else text


def _another_operator(text: str, rng: random.Random) -> str:
    one, other = _token(text, rng, tokenize.OP), _token(text, rng, tokenize.OP)
    return _splice(text, one, other.string) if one is not None and other is not None else text


def _another_value(text: str, rng: random.Random) -> str:
    one = _token(text, rng, tokenize.NUMBER, tokenize.STRING, tokenize.NAME)
    values = ("None", "0", "-1", "'x'", "()", "[]", "{}", "x", "lambda: 0", "1.5", "...", "*x", "f'{x}'", "(yield)")
    return _splice(text, one, rng.choice(values)) if one is not None else text


def _dropped_token(text: str, rng: random.Random) -> str:
    one = _token(text, rng, tokenize.NAME, tokenize.OP, tokenize.NUMBER)
    return _splice(text, one, "") if one is not None else text


def _remark(text: str, rng: random.Random) -> str:
    """Put a comment behind a line."""
    lines = text.split("\n")
    index = rng.randrange(len(lines))
    lines[index] += rng.choice(_NOTES)
    return "\n".join(lines)


def _remark_line(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    index = rng.randrange(len(lines))
    indent = lines[index][: len(lines[index]) - len(lines[index].lstrip())]
    lines.insert(index, f"{indent}# {rng.randrange(1000)}: a remark")
    return "\n".join(lines)


def _moved_line(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    line = lines.pop(rng.randrange(len(lines)))
    lines.insert(rng.randrange(len(lines) + 1), line)
    return "\n".join(lines)


def _repeated_lines(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    start = rng.randrange(len(lines))
    lines[start:start] = lines[start : start + rng.choice((1, 2, 5))]
    return "\n".join(lines)


def _dropped_lines(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    start = rng.randrange(len(lines))
    del lines[start : start + rng.choice((1, 1, 3))]
    return "\n".join(lines)


def _wrapped_line(text: str, rng: random.Random) -> str:
    """Break a line in brackets, with a comment."""
    one = _token(text, rng, tokenize.OP)
    return _splice(text, one, f"{one.string}  # here\n        ") if one is not None and one.string in "([{," else text


_CHANGES = (
    _another_name, _another_operator, _another_value, _dropped_token, _remark, _remark_line, _moved_line,
    _repeated_lines, _dropped_lines, _wrapped_line,
)  # fmt: skip


def faults(text: str) -> list[str]:
    """Translate a program, and its translation again, and return the promises that do not hold."""
    try:
        made = translate_source(text)
    except Exception as error:
        return [f"{type(error).__name__}: {error} {traceback.format_exc(limit=-2)}"]
    found = [f"{x.line}: {x.code} {x.message}" for x in made.diagnostics if x.code in ("T2M900", "T2M105")]
    if not _compiles(made.text):
        return [*found, "the translation does not compile"]
    lost = lost_comments(text, made.text)
    if lost and not any(x.code == "T2M304" for x in made.diagnostics):
        found.append(f"comments lost: {sorted(lost)}")
    again = translate_source(made.text)
    if again.text != made.text:
        found.append("a second translation changes it")
    return found


def main() -> int:
    """Run a campaign; 1 when something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for the programs that fail")
    parser.add_argument("folders", nargs="*", type=Path)
    given = parser.parse_args()
    paths = sources(given.folders or FOLDERS)
    tried = failures = 0
    number = 0
    while tried < given.programs:
        rng = random.Random(f"{given.seed} {number}")
        number += 1
        path = rng.choice(paths)
        text = broken(path.read_text(encoding="utf-8", errors="replace"), rng)
        if text is None:
            continue
        tried += 1
        found = faults(text)
        if found:
            failures += 1
            print(f"{given.seed} {number - 1} {path.name}: {'; '.join(found)[:600]}", flush=True)
            if given.keep is not None:
                (given.keep / f"{given.seed}-{number - 1}.py").write_text(text, encoding="utf-8")
    print(f"{tried} programs: {failures} failures")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
