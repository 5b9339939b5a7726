"""Diagnostics: what torch2ms says about a place in the user's code.

Codes are stable. ``explain CODE`` prints the entry; docs/diagnostics.md is generated from it.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

__all__ = ["CODES", "Code", "Diagnostic", "Severity", "code_named"]


class Severity(enum.IntEnum):
    """How bad it is: an *error* does not do what the source did, a *warning* may differ, a *note* is harmless."""

    NOTE = 0
    WARNING = 1
    ERROR = 2

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Code:
    """One kind of diagnostic: its stable code, default severity and what a user should know."""

    code: str
    name: str
    severity: Severity
    meaning: str
    advice: str


@dataclass(frozen=True, slots=True, order=True)
class Diagnostic:
    """One diagnostic at one place; ``line`` counts from 1, ``column`` from 1, paths are relative to SRC, with ``/``."""

    file: str
    line: int
    column: int
    code: str
    severity: Severity
    symbol: str
    message: str
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.code} {self.severity}: {self.message}"


_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

_ALL = (
    Code("T2M101", "syntax-error", _E, "The file is no Python 3 this tool can parse; it was copied as it is.",
         "Repair the line that is named, or convert Python 2 code with 2to3 first."),
    Code("T2M102", "encoding-error", _E, "The file cannot be decoded with the encoding it declares; it was copied as it is.",
         "Save it as UTF-8, or declare the right encoding in its first line."),
    Code("T2M103", "unreadable", _E, "The file cannot be read.", "Check its permissions."),
    Code("T2M104", "link-outside", _W, "A symbolic link points outside SRC, or in a circle; it was not followed.",
         "Copy the files it points to into SRC if the program needs them."),
    Code("T2M105", "too-slow", _E, "Translating the file takes more work than the limit; it was copied as it is.",
         "Split the file."),
    Code("T2M106", "repaired-syntax", _N, "A legacy spelling that Python 3.7 forbids (async=) was repaired before parsing.", ""),
    Code("T2M107", "left-on-request", _N, "A file that uses torch was left as it is, because a comment or --exclude says so. "
         "A warning where the translated program imports it.", "Translate it by hand, or let it be translated."),
    Code("T2M201", "unsupported-api", _E, "The API is known and has no MindSpore equivalent.",
         "Follow the advice of the entry, or write the operation with the pieces MindSpore has."),
    Code("T2M202", "unknown-api", _E, "The API is not in the mapping tables.",
         "Translate it by hand, and add a row with `torch2ms tables new NAME` so that it is done the next time."),
    Code("T2M203", "unsupported-argument", _E, "MindSpore's API cannot express an argument of the call.",
         "Change the call so that it does not need the argument, or write the operation with other pieces."),
    Code("T2M204", "not-on-device", _E, "The API has no implementation on the chosen device.",
         "Choose another --device, or replace the operation."),
    Code("T2M205", "not-in-version", _E, "The API has no equivalent in the chosen MindSpore release.",
         "Choose a newer --mindspore, or replace the operation."),
    Code("T2M206", "ambiguous-name", _E, "The name can mean several things, which translate differently.",
         "Bind the name once, or write the qualified name at the place of use."),
    Code("T2M207", "untyped-receiver", _W,
         "The receiver of a method or attribute could not be typed. Where the message says that both forms were written, "
         "the code asks at run time; elsewhere it was left as it is.",
         "Annotate the variable (x: torch.Tensor) and translate again."),
    Code("T2M208", "value-signature", _W, "An API passed on as a value takes other arguments in MindSpore.",
         "Check the calls that go through the value."),
    Code("T2M301", "device-dropped", _N, "MindSpore places tensors by its global device target; the device move was dropped.", ""),
    Code("T2M302", "argument-dropped", _N, "An argument without a counterpart that does not change the result was dropped.", ""),
    Code("T2M303", "approximate", _W, "The translation is close but not equal; the message says when it differs.", ""),
    Code("T2M304", "statement-dropped", _N, "A statement that has no effect in MindSpore was dropped.", ""),
    Code("T2M305", "inplace-alias", _W, "An in-place operation may be seen through another name; MindSpore computes a new tensor.",
         "Make sure that no other name refers to the same tensor, or assign with x[...] = value."),
    Code("T2M306", "random-stream", _N, "The random numbers come from MindSpore's generator: same distribution, other values.", ""),
    Code("T2M307", "third-party", _W, "A third-party package that works on torch objects is left as it is. "
         "An error where a program of the project reaches the import and cannot do without it.",
         "Take it along (--with PACKAGE) where it is pure Python, or replace it; the message says what installs beside the release."),
    Code("T2M308", "compiled-part", _W, "A compiled part of a package that is taken along stays behind: it computes with PyTorch's own objects. "
         "An error where a program of the project reaches the import and cannot do without it.",
         "Write what is used of it in Python, or choose a path of the package that does without."),
    Code("T2M401", "training-step", _N, "A training step was rewritten with value_and_grad.", ""),
    Code("T2M402", "training-step-left", _E, "A backward call could not be rewritten; the loop is left as it is.",
         "Rewrite the step with mindspore.value_and_grad; the message names the obstacle."),
    Code("T2M403", "optimizer-left", _E, "This use of an optimizer or its state has no rewriting yet.",
         "Rewrite it by hand; see the message."),
    Code("T2M404", "gradient-read", _E, "The code reads or writes .grad, which MindSpore tensors do not have.",
         "Use the tuple of gradients that value_and_grad returns."),
    Code("T2M405", "training-step-recorded", _W,
         "The operations of a training step are recorded as they run: PyNative mode only, and slower than a function.",
         "Put the forward pass and the loss into one function, and differentiate it with mindspore.value_and_grad."),
    Code("T2M501", "dynamic-name", _E, "A torch name is looked up at run time from a value that is not known here.",
         "Replace the look-up by a dictionary of the names it can take."),
    Code("T2M502", "dynamic-code", _W, "eval/exec on a string that may hold torch code.", "Translate the string by hand."),
    Code("T2M503", "torch-in-string", _W, "A string names something of torch.", "Check where the string goes."),
    Code("T2M504", "name-tested", _N, "Whether torch has a name (hasattr) was answered from the mapping tables.", ""),
    Code("T2M505", "patched-class", _E, "Something of torch is replaced for the whole program; its counterpart is not.",
         "Patch what the program uses in MindSpore, or derive a class of your own."),
    Code("T2M601", "graph-mode", _N,
         "Graph mode does not compile this construct, or runs it only once; PyNative mode runs it as Python does. "
         "A note; a warning with `--mode graph`.", "Stay in PyNative mode, or move it out of construct."),
    Code("T2M701", "dynamic-shape", _N,
         "The shape of a result depends on data; graph mode compiles it with a dynamic shape, anew, or not at all. "
         "A note; a warning with `--mode graph`.", "Pad to a fixed size or mask the result, or stay in PyNative mode."),
    Code("T2M801", "weights", _W, "A parameter has no counterpart by rule in the translated network.", ""),
    Code("T2M802", "other-file", _N, "A file that is not Python mentions torch; it was copied as it is.", "Read it and adapt it."),
    Code("T2M900", "internal", _E, "torch2ms broke one of its promises here; please report it.",
         "Report the file that triggers it."),
)  # fmt: skip

CODES: dict[str, Code] = {entry.code: entry for entry in _ALL}


def code_named(text: str) -> str | None:
    """Return the code that a user writes, in any case or by its name: ``t2m201``, ``unsupported-api``."""
    return next((code for code, entry in CODES.items() if text.upper() == code or text.lower() == entry.name), None)
