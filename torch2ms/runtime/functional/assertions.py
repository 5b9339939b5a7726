"""Checks that PyTorch offers as functions."""

from __future__ import annotations

from typing import Any, Callable, Optional, Tuple

import mindspore as ms
import numpy as np
from mindspore import Tensor

__all__ = ["assert_allclose", "assert_close", "assert_nonzero", "assert_true", "check"]

# Relative and absolute tolerances of torch.testing.assert_close by dtype; everything else must be equal.
_TOLERANCES = {
    ms.float16: (1e-3, 1e-5),
    ms.float32: (1.3e-6, 1e-5),
    ms.float64: (1e-7, 1e-7),
    ms.complex64: (1.3e-6, 1e-5),
    ms.complex128: (1e-7, 1e-7),
}
if hasattr(ms, "bfloat16"):  # not in MindSpore 2.0
    _TOLERANCES[ms.bfloat16] = (1.6e-2, 1e-5)
_OLDER_TOLERANCES = {ms.float16: (1e-3, 1e-3), ms.float32: (1e-4, 1e-5), ms.float64: (1e-5, 1e-8)}  # assert_allclose


def assert_true(condition: Any, message: str) -> None:
    """Raise AssertionError with ``message`` unless the condition holds."""
    if not condition:
        raise AssertionError(message)


def assert_nonzero(input: Tensor, assert_msg: str = "") -> None:
    """Raise RuntimeError unless the one value of a tensor is not 0."""
    if not bool(input):
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")


def check(cond: Any, message: Optional[Callable[[], object]] = None) -> None:
    """Raise RuntimeError unless the condition holds; ``message`` is a function that makes the text."""
    if not cond:
        raise RuntimeError("Expected cond to be True, but got False." if message is None else str(message()))


def assert_close(
    actual: Any,
    expected: Any,
    *,
    rtol: Optional[float] = None,
    atol: Optional[float] = None,
    equal_nan: bool = False,
    check_dtype: bool = True,
    msg: Any = None,
) -> None:
    """Raise AssertionError unless tensors, numbers, sequences or dictionaries of them are close.

    Without ``rtol`` and ``atol`` the tolerances are those of PyTorch for the dtypes, the larger ones of two.
    """
    options = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan, "check_dtype": check_dtype, "msg": msg}
    if isinstance(actual, dict):
        assert_true(
            isinstance(expected, dict) and set(actual) == set(expected), "The keys of the mappings do not match"
        )
        for key in actual:
            assert_close(actual[key], expected[key], **options)
        return
    if isinstance(actual, (list, tuple)):
        assert_true(isinstance(expected, (list, tuple)) and len(actual) == len(expected), "The lengths do not match")
        for left, right in zip(actual, expected):
            assert_close(left, right, **options)
        return
    found = _mismatch(actual, expected, (rtol, atol), equal_nan, check_dtype)
    if found:
        raise AssertionError(found if msg is None else msg(found) if callable(msg) else msg)


def _mismatch(actual: Any, expected: Any, tolerances: Tuple[Any, Any], equal_nan: bool, check_dtype: bool) -> str:
    """Return what is wrong, empty when nothing is."""
    if isinstance(actual, Tensor) != isinstance(expected, Tensor):
        return f"{type(actual)} and {type(expected)} cannot be compared"
    if isinstance(actual, Tensor) and check_dtype and actual.dtype != expected.dtype:
        return f"The values for attribute 'dtype' do not match: {actual.dtype} != {expected.dtype}."
    left, right = (x.asnumpy() if isinstance(x, Tensor) else np.asarray(x) for x in (actual, expected))
    if left.shape != right.shape:
        return f"The values for attribute 'shape' do not match: {left.shape} != {right.shape}."
    rtol, atol = tolerances
    if rtol is None or atol is None:
        if isinstance(actual, Tensor):
            pairs = [_TOLERANCES.get(x.dtype, (0.0, 0.0)) for x in (actual, expected)]
        else:
            pairs = [(1e-7, 1e-7) if isinstance(x, (float, complex)) else (0.0, 0.0) for x in (actual, expected)]
        rtol, atol = max(pair[0] for pair in pairs), max(pair[1] for pair in pairs)
    wide = np.complex128 if "c" in (left.dtype.kind, right.dtype.kind) else np.float64
    exact = left.dtype.kind in "biu" and right.dtype.kind in "biu" and not rtol and not atol
    near = left == right if exact else np.isclose(left.astype(wide), right.astype(wide), rtol, atol, equal_nan)
    return "" if near.all() else f"Tensor-likes are not close! Mismatched elements: {(~near).sum()} / {near.size}"


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: Optional[float] = None,
    atol: Optional[float] = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """Raise AssertionError unless two tensors, or what becomes such, are close; their dtypes may differ."""
    left, right = (x if isinstance(x, Tensor) else Tensor(np.asarray(x)) for x in (actual, expected))
    if rtol is None and atol is None:
        pairs = [_OLDER_TOLERANCES.get(x.dtype, (0.0, 0.0)) for x in (left, right)]
        rtol, atol = max(pair[0] for pair in pairs), max(pair[1] for pair in pairs)
    assert_close(left, right, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)
