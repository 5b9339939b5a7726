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
    inputs: str | tuple[str, ...] | list[str] = (),
    kwargs: dict[str, Any] | None = None,
    **options: Any,
) -> VerifyReport:
    """Compare the network of ``source`` with its translation in ``output``; the report is true where they agree.

    For tests: ``assert compare("src", "out", "net:Net", inputs="2x3x32x32")`` shows the whole report where it fails.
    ``entry`` and ``inputs`` that are left out are those that ``source`` trains and shows; ``options`` are those of
    :func:`verify`. Raises as :func:`verify` does.
    """
    from pathlib import Path

    from torch2ms.verify.found_entry import find_entry
    from torch2ms.verify.verification import verify

    texts = (inputs,) if isinstance(inputs, str) else tuple(inputs)
    found = find_entry(Path(output), entry, texts, kwargs)
    return verify(Path(source), Path(output), entry=found.entry, inputs=found.inputs, kwargs=found.kwargs, **options)


def __getattr__(name: str) -> Any:
    if name in __all__:
        from torch2ms.verify import report, verification

        return verification.verify if name == "verify" else report.VerifyReport
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
