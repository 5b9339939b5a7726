"""Differential checks of a translation: torch and mindspore in separate processes, arrays in ``.npz`` between them.

docs/parity.md says what is compared and what counts as equal: PyTorch in float64 is the reference, PyTorch in
float32 gives the noise floor, and MindSpore in float32 may be at most 4 times as far off.

The names load on first use: the translator, which has no need of NumPy, passes through here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from torch2ms.verify.report import VerifyReport
    from torch2ms.verify.verification import verify

__all__ = ["VerifyReport", "compare", "verify"]


def compare(
    source: str | Path,
    output: str | Path,
    entry: str | None = None,
    *,
    inputs: Any = (),
    kwargs: dict[str, Any] | None = None,
    **options: Any,
) -> VerifyReport:
    """Compare the network of ``source`` with its translation in ``output``; the report is true where they agree.

    For tests: ``assert compare("src", "out", "net:Net", inputs="2x3x32x32")`` shows the whole report where it fails.
    ``inputs``: texts, as those of :func:`verify`; or the arguments of the network themselves, tensors of PyTorch or
    arrays: a tuple of them, a dictionary of arguments by name, or the only one. ``entry`` and ``inputs`` that are left
    out are those that ``source`` trains and shows; ``options`` are those of :func:`verify`. Raises as :func:`verify`
    does, and UsageError for inputs that are neither.
    """
    import tempfile
    from pathlib import Path

    from torch2ms.verify.found_entry import find_entry
    from torch2ms.verify.inputs import write_values
    from torch2ms.verify.verification import verify

    texts = (inputs,) if isinstance(inputs, str) else inputs
    is_given = not isinstance(texts, (tuple, list)) or not all(isinstance(text, str) for text in texts)
    has_inputs = is_given or bool(options.get("input_from"))
    found = find_entry(Path(output), entry, () if is_given else texts, kwargs, has_inputs=has_inputs)
    settings = {"entry": found.entry, "inputs": found.inputs, "kwargs": found.kwargs, **options}
    if not is_given:
        return verify(Path(source), Path(output), **settings)
    with tempfile.TemporaryDirectory(prefix="torch2ms-") as folder:
        settings["input_from"] = write_values(Path(folder) / "values.npz", inputs)
        return verify(Path(source), Path(output), **settings)


def __getattr__(name: str) -> Any:
    if name in __all__:
        from torch2ms.verify import report, verification

        return verification.verify if name == "verify" else report.VerifyReport
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
