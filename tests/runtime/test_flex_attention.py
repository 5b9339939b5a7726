"""Attention whose mask and scores are functions of places."""

from __future__ import annotations

import numpy as np
import pytest

ms = pytest.importorskip("mindspore")

from torch2ms.runtime import functional  # noqa: E402


def _of(*shape: int) -> object:
    return ms.Tensor(np.random.default_rng(len(shape) + shape[-1]).normal(size=shape).astype(np.float32))


def _causal(b, h, i, j):
    return i >= j


def test_its_gradient_is_that_of_attention_with_a_mask() -> None:
    query, key, value = _of(2, 3, 6, 4), _of(2, 3, 6, 5)[..., :4], _of(2, 3, 6, 4) * 2
    mask = functional.create_block_mask(_causal, None, None, 6, 6)
    ours = ms.grad(lambda q, k, v: (functional.flex_attention(q, k, v, block_mask=mask) ** 2).sum(), (0, 1, 2))
    plain = ms.grad(
        lambda q, k, v: (functional.scaled_dot_product_attention(q, k, v, is_causal=True) ** 2).sum(), (0, 1, 2)
    )
    for found, expected in zip(ours(query, key, value), plain(query, key, value), strict=True):
        assert found.asnumpy() == pytest.approx(expected.asnumpy(), abs=1e-5)


def test_what_sees_nothing_gets_nothing_and_no_gradient() -> None:
    query = _of(1, 1, 3, 4)
    mask = functional.create_block_mask(lambda b, h, i, j: i > j, None, None, 3, 3)
    found, lse = functional.flex_attention(query, query, query, block_mask=mask, return_lse=True)
    assert found.asnumpy()[0, 0, 0].tolist() == [0, 0, 0, 0]
    assert lse.asnumpy()[0, 0, 0] == -np.inf
    slope = ms.grad(lambda q: functional.flex_attention(q, q, q, block_mask=mask).sum())(query).asnumpy()
    assert np.isfinite(slope).all()


def test_a_mask_for_other_lengths_is_refused() -> None:
    query = _of(1, 1, 3, 4)
    mask = functional.create_block_mask(_causal, None, None, 4, 4)
    with pytest.raises(ValueError, match=r"\(4, 4\) queries and keys, not \(3, 3\)"):
        functional.flex_attention(query, query, query, block_mask=mask)


def test_a_function_that_gives_no_value_for_each_place_is_refused() -> None:
    query = _of(1, 1, 3, 4)
    with pytest.raises(ValueError, match="one value for each"):
        functional.flex_attention(query, query, query, score_mod=lambda score, b, h, i, j: score[..., :2])


def test_a_function_that_adds_up_what_it_looks_up_is_refused() -> None:
    query, slopes = _of(1, 2, 3, 4), _of(2, 5)
    with pytest.raises(ValueError, match="one value for each"):
        functional.flex_attention(query, query, query, score_mod=lambda score, b, h, i, j: score + slopes[h].sum())


def test_blocks_are_counted_when_they_are_asked_for() -> None:
    mask = functional.create_block_mask(_causal, None, 2, 200, 300, BLOCK_SIZE=64)
    assert mask.to_dense().asnumpy()[0, 1].tolist() == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 1, 1, 0],
    ]
    assert (mask.shape, mask.size(-1), mask.numel()) == ((1, 2, 200, 300), 300, 120000)
    assert mask.to("cpu") is mask
