"""Attention where a mask hides every key from a query: NaN or 0 there, as in PyTorch, and nowhere else."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from mindspore import ops

from torch2ms.runtime import functional, layers


def normal(*shape):
    return ms.Tensor(np.random.RandomState(sum(shape)).randn(*shape).astype(np.float32))


def weights_of(scores):
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


MASK = np.array([[True, True, True], [False, False, False], [True, False, True], [False, True, True]])  # what is seen


@pytest.mark.parametrize("is_bool", [True, False])
def test_a_product_of_weights_is_zero_where_nothing_is_seen(is_bool):
    query, key = normal(2, 4, 8), normal(2, 3, 8)
    numbers = np.where(MASK, 0, -np.inf).astype(np.float32)
    mask = ms.Tensor(MASK) if is_bool else ms.Tensor(numbers)
    found = functional.scaled_dot_product_attention(query, key, key, attn_mask=mask).asnumpy()
    scores = query.asnumpy() @ key.asnumpy().swapaxes(-1, -2) / np.sqrt(8)
    seen = [0, 2, 3]
    expected = weights_of((scores + numbers)[:, seen]) @ key.asnumpy()
    np.testing.assert_allclose(found[:, seen], expected, atol=1e-5)
    assert not found[:, 1].any()


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("form", ["2d", "3d", "bools", "padding"])
def test_heads_see_what_they_see_without_the_hidden_rows(form, need_weights):
    layer = layers.MultiheadAttention(8, 2)
    query, key = normal(4, 5, 8), normal(3, 5, 8)
    numbers = np.where(MASK, 0, -np.inf).astype(np.float32)
    padding = np.zeros((5, 3), bool)
    padding[1] = True
    masks = {
        "2d": {"attn_mask": ms.Tensor(numbers)},
        "3d": {"attn_mask": ms.Tensor(np.repeat(numbers[None], 10, 0))},
        "bools": {"attn_mask": ms.Tensor(~MASK)},
        "padding": {"key_padding_mask": ms.Tensor(padding)},
    }
    found = layer(query, key, key, need_weights=need_weights, **masks[form])[0].asnumpy()
    hidden = np.zeros((4, 5), bool)
    hidden[(slice(None), 1) if form == "padding" else 1] = True
    if need_weights:
        assert np.isnan(found[hidden]).all()
    else:
        np.testing.assert_allclose(found[hidden], np.broadcast_to(layer.out_proj.bias.asnumpy(), found[hidden].shape))
    if form == "padding":
        alone = layer(query, key, key)[0].asnumpy()
    else:
        few = ms.Tensor(numbers[[0, 2, 3]])
        alone = np.zeros_like(found)
        alone[[0, 2, 3]] = layer(query[[0, 2, 3]], key, key, attn_mask=few)[0].asnumpy()
    np.testing.assert_allclose(found[~hidden], alone[~hidden], atol=1e-5)


def test_a_learnt_mask_has_a_gradient():
    scores, mask = normal(4, 3), normal(4, 3)
    weigh = ms.Tensor(np.arange(12, dtype=np.float32).reshape(4, 3))
    slopes = ms.grad(lambda m: (functional.masked_softmax(scores, m, 0.0) * weigh).sum())(mask)
    expected = ms.grad(lambda m: (ops.softmax(scores + m, -1) * weigh).sum())(mask)
    np.testing.assert_allclose(slopes.asnumpy(), expected.asnumpy(), atol=1e-5)
