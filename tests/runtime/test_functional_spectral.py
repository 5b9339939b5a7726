"""Fourier transforms of integers and booleans, which PyTorch takes for float32."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest

from torch2ms.runtime import functional

NAMES = ("fft", "ifft", "rfft", "fft2", "ifft2", "rfft2", "fftn", "ifftn", "rfftn")


@pytest.mark.parametrize("dtype", ["bool_", "uint8", "int64"])
@pytest.mark.parametrize("name", NAMES)
def test_transform_of_whole_numbers(name: str, dtype: str) -> None:
    values = ms.Tensor(np.arange(48).reshape(2, 4, 6) % 5).astype(getattr(ms, dtype))
    found = getattr(functional, name)(values)
    assert found.dtype == ms.complex64
    np.testing.assert_allclose(found.asnumpy(), getattr(np.fft, name)(values.asnumpy()), atol=1e-4)
