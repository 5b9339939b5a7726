"""einops' functions on MindSpore's tensors, against NumPy."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest

from torch2ms.runtime.einops import (
    EinopsError,
    Rearrange,
    Reduce,
    einsum,
    pack,
    parse_shape,
    rearrange,
    reduce,
    repeat,
    unpack,
)

ARRAY = np.arange(2 * 4 * 6 * 3, dtype=np.float32).reshape(2, 4, 6, 3)
X = ms.Tensor(ARRAY)


@pytest.mark.parametrize(
    ("pattern", "lengths", "expected"),
    [
        ("b h w c -> b c h w", {}, ARRAY.transpose(0, 3, 1, 2)),
        ("b h w c -> b (h w) c", {}, ARRAY.reshape(2, 24, 3)),
        ("b h w c -> (b h) (c w)", {}, ARRAY.transpose(0, 1, 3, 2).reshape(8, 18)),
        (
            "b (h p) (w q) c -> b (h w) (p q c)",
            {"p": 2, "q": 3},
            ARRAY.reshape(2, 2, 2, 2, 3, 3).transpose(0, 1, 3, 2, 4, 5).reshape(2, 4, 18),
        ),
        ("b ... c -> c b ...", {}, ARRAY.transpose(3, 0, 1, 2)),
        ("b ... c -> b (...) c", {}, ARRAY.reshape(2, 24, 3)),
        ("b h w c -> b 1 h w c ()", {}, ARRAY[:, None, ..., None]),
        ("... -> ...", {}, ARRAY),
    ],
)
def test_rearrange(pattern: str, lengths: dict[str, int], expected: np.ndarray) -> None:
    np.testing.assert_array_equal(rearrange(X, pattern, **lengths).asnumpy(), expected)
    np.testing.assert_array_equal(Rearrange(pattern, **lengths)(X).asnumpy(), expected)


def test_a_list_of_tensors_is_stacked_first() -> None:
    found = rearrange([X, X + 1], "n b h w c -> b n (h w c)")
    np.testing.assert_array_equal(found.asnumpy(), np.stack([ARRAY, ARRAY + 1], 1).reshape(2, 2, 72))


@pytest.mark.parametrize("name", ["mean", "sum", "max", "min", "prod"])
def test_reduce(name: str) -> None:
    array = ARRAY / 100 + 0.5
    expected = getattr(array, name)(axis=(1, 2))
    tensor = ms.Tensor(array)
    np.testing.assert_allclose(reduce(tensor, "b h w c -> b c", name).asnumpy(), expected, rtol=1e-5)
    np.testing.assert_allclose(Reduce("b ... c -> b c", name)(tensor).asnumpy(), expected, rtol=1e-5)


def test_pooling_by_reduce() -> None:
    found = reduce(X, "b (h p) (w q) c -> b h w c", "max", p=2, q=2)
    np.testing.assert_array_equal(found.asnumpy(), ARRAY.reshape(2, 2, 2, 3, 2, 3).max((2, 4)))


@pytest.mark.parametrize(
    ("shape", "pattern", "lengths", "expected"),
    [
        ((2, 3), "b c -> b n c", {"n": 2}, lambda a: np.repeat(a[:, None], 2, 1)),
        ((1, 3), "1 c -> b c", {"b": 4}, lambda a: np.repeat(a, 4, 0)),
        ((2, 3), "b c -> b (c r)", {"r": 2}, lambda a: np.repeat(a, 2, 1)),
        ((2, 3), "b c -> b (r c)", {"r": 2}, lambda a: np.tile(a, (1, 2))),
        ((3,), "c -> () c b", {"b": 2}, lambda a: np.repeat(a[None, :, None], 2, 2)),
    ],
)
def test_repeat(shape, pattern, lengths, expected) -> None:
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    np.testing.assert_array_equal(repeat(ms.Tensor(array), pattern, **lengths).asnumpy(), expected(array))


def test_einsum_takes_names_of_any_length() -> None:
    found = einsum(X, X, "batch h w c, batch h w d -> batch c d")
    np.testing.assert_allclose(found.asnumpy(), np.einsum("bhwc,bhwd->bcd", ARRAY, ARRAY), rtol=1e-5)


def test_what_was_packed_is_unpacked() -> None:
    token = ms.Tensor(np.ones((2, 3), np.float32))
    packed, shapes = pack([token, X], "b * c")
    assert packed.shape == (2, 25, 3)
    first, second = unpack(packed, shapes, "b * c")
    np.testing.assert_array_equal(first.asnumpy(), token.asnumpy())
    np.testing.assert_array_equal(second.asnumpy(), ARRAY)
    assert [part.shape for part in unpack(packed, [[1], [-1]], "b * c")] == [(2, 1, 3), (2, 24, 3)]


def test_shapes_are_read_by_name() -> None:
    assert parse_shape(X, "b h _ c") == {"b": 2, "h": 4, "c": 3}
    assert parse_shape(X, "b ... c") == {"b": 2, "c": 3}


@pytest.mark.parametrize(
    ("pattern", "lengths"),
    [("b c -> c b", {}), ("b h w c -> b h w", {}), ("b h w c -> b h w c d", {}), ("b (h p) w c -> b h p w c", {}),
     ("b (h p) w c -> b h p w c", {"p": 3}), ("b h w c", {}), ("b ((h) w) c -> b", {})],
)  # fmt: skip
def test_what_does_not_fit_is_an_error(pattern: str, lengths: dict[str, int]) -> None:
    with pytest.raises(EinopsError):
        rearrange(X, pattern, **lengths)


def test_gradients_flow_through() -> None:
    def loss(x: ms.Tensor) -> ms.Tensor:
        return (rearrange(x, "b h w c -> b (h c) w") ** 2).sum() + repeat(x, "... -> r ...", r=3).sum()

    np.testing.assert_allclose(ms.grad(loss)(X).asnumpy(), 2 * ARRAY + 3, rtol=1e-5)
