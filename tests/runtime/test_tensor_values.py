"""Arrays of files in parts: the same elements, types and shapes as in one, wherever they are cut."""

from __future__ import annotations

import numpy as np
import pytest

from torch2ms.runtime.tensor_values import Value, is_equal

WHOLE = np.arange(12, dtype=np.float32)


def cut(*places: int) -> Value:
    return Value(np.split(WHOLE, places), "float32", shape=(3, 4))


@pytest.mark.parametrize("places", [(4,), (1, 2, 11)])
def test_parts_are_the_array(places: tuple[int, ...]) -> None:
    value, one = cut(*places), Value(WHOLE.reshape(3, 4), "float32")
    assert value.shape == (3, 4)
    assert value.nbytes == 48
    assert np.array_equal(value.array, one.array)
    assert np.array_equal(value.cast("float16").array, one.array.astype(np.float16))
    assert value.reshaped(lambda array: np.expand_dims(array, 1)).array.shape == (3, 1, 4)
    assert b"".join(piece.tobytes() for piece in value.raw_pieces()) == WHOLE.tobytes()


def test_arrays_that_are_cut_elsewhere_are_equal_or_not() -> None:
    assert is_equal(cut(4), cut(5))
    assert is_equal(cut(4), Value(WHOLE.reshape(3, 4), "float32"))
    other = Value([WHOLE[:5], WHOLE[5:] + 1], "float32", shape=(3, 4))
    assert not is_equal(cut(4), other)
    assert not is_equal(cut(5), other)
    assert not is_equal(cut(5), Value(WHOLE, "float32"))


def test_bfloat16_in_parts_is_that_of_float32() -> None:
    bits = (WHOLE.view(np.uint32) >> 16).astype(np.uint16)
    value = Value([bits[:3], bits[3:]], "bfloat16", shape=(12,))
    assert np.array_equal(value.array, WHOLE)
    assert value.nbytes == 24
    assert b"".join(piece.tobytes() for piece in value.raw_pieces()) == bits.tobytes()
