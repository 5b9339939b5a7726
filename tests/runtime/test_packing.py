"""Packed sequences and recurrent layers that take them, against the same steps without padding."""

from __future__ import annotations

import numpy as np
import pytest

ms = pytest.importorskip("mindspore")

from mindspore import nn  # noqa: E402

from torch2ms.runtime import packing, unbatched  # noqa: E402


def batch() -> ms.Tensor:
    return ms.Tensor(np.sin(np.arange(30)).astype(np.float32).reshape(2, 5, 3))


@pytest.mark.parametrize("lengths", [[5, 3], [2, 4]])
def test_a_layer_runs_each_sequence_to_its_end(lengths: list[int]) -> None:
    layer = nn.LSTM(3, 4, batch_first=True, bidirectional=True)
    packed = packing.pack_padded_sequence(batch(), lengths, batch_first=True, enforce_sorted=False)
    outputs, (hidden, _) = packing.run(layer, packed)
    padded, counts = packing.pad_packed_sequence(outputs, batch_first=True)
    assert counts.asnumpy().tolist() == lengths
    for index, length in enumerate(lengths):
        wanted, (last, _) = layer(batch()[index : index + 1, :length])
        assert np.allclose(padded[index, :length].asnumpy(), wanted[0].asnumpy(), atol=1e-5)
        assert np.allclose(hidden[:, index].asnumpy(), last[:, 0].asnumpy(), atol=1e-5)
        assert not padded[index, length:].asnumpy().any()


def test_other_inputs_go_through() -> None:
    layer = nn.GRU(3, 4, batch_first=True)
    assert np.array_equal(packing.run(layer, batch())[0].asnumpy(), layer(batch())[0].asnumpy())


def test_lengths_out_of_order_are_refused() -> None:
    with pytest.raises(RuntimeError, match="decreasing"):
        packing.pack_padded_sequence(batch(), [2, 4], batch_first=True)


def test_what_is_packed_needs_no_batch_around_it() -> None:
    layer = nn.LSTM(3, 4, batch_first=True)
    packed = packing.pack_padded_sequence(batch(), [5, 3], batch_first=True)
    outputs, _ = unbatched.run(layer, packed)
    assert np.allclose(outputs.data.asnumpy(), packing.run(layer, packed)[0].data.asnumpy())
