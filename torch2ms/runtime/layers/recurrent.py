"""Recurrent layers with PyTorch's signatures; parameters carry torch's names."""

from __future__ import annotations

from typing import Any

import mindspore as ms
from mindspore import Parameter, nn, ops
from mindspore.common.initializer import Uniform, initializer

from ..functional import nans
from ..kinds import Kind
from .arguments import draw_own

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


# Two and a half times as fast, forward and backward, as a product with `weight.T`, which is copied at every step
_times_transposed = ops.MatMul(transpose_b=True)


def _affine(x: Any, weight: Any, bias: Any) -> Any:
    """MindSpore's cells refuse float64, which the operations they consist of know: there they are written out."""
    total = _times_transposed(x, weight)
    return total if bias is None else total + bias


class LSTM(nn.LSTM, metaclass=Kind):
    """Long short-term memory over (length, batch, features), or (batch, length, features) with ``batch_first``."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if proj_size:
            raise ValueError("proj_size asks for layers.ProjectedLSTM")
        super().__init__(input_size, hidden_size, num_layers, bool(bias), batch_first, float(dropout), bidirectional)
        draw_own(self)


class GRU(nn.GRU, metaclass=Kind):
    """Gated recurrent unit over (length, batch, features), or (batch, length, features) with ``batch_first``."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, num_layers, bool(bias), batch_first, float(dropout), bidirectional)
        draw_own(self)


class RNN(nn.RNN, metaclass=Kind):
    """Elman network over (length, batch, features), or (batch, length, features) with ``batch_first``."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            bool(bias),
            batch_first,
            float(dropout),
            bidirectional,
            nonlinearity=nonlinearity,  # MindSpore takes it by name alone
        )
        draw_own(self)


class RNNCellBase(nn.Cell, metaclass=Kind):
    """The weights of one step, drawn as PyTorch draws them: what cells of one's own are derived from."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        kind, rows = ms.float32 if dtype is None else dtype, num_chunks * hidden_size
        scale = Uniform(hidden_size**-0.5 if hidden_size > 0 else 0.0)
        self.weight_ih = Parameter(initializer(scale, (rows, input_size), kind))
        self.weight_hh = Parameter(initializer(scale, (rows, hidden_size), kind))
        self.bias_ih = Parameter(initializer(scale, (rows,), kind)) if bias else None
        self.bias_hh = Parameter(initializer(scale, (rows,), kind)) if bias else None
        draw_own(self)


class LSTMCell(nn.LSTMCell, metaclass=Kind):
    """One step of an LSTM."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bool(bias))
        draw_own(self)

    def construct(self, x: Any, hx: Any = None) -> Any:
        """Return the next hidden and cell states; the first ones are zero."""
        if x.ndim == 1:  # of one sample, which MindSpore's does not take
            states = None if hx is None else (hx[0].expand_dims(0), hx[1].expand_dims(0))
            after, cell = self.construct(x.expand_dims(0), states)
            return after.squeeze(0), cell.squeeze(0)
        if hx is None:
            zeros = ops.zeros((x.shape[0], self.hidden_size), x.dtype)
            hx = (zeros, zeros)
        if x.dtype != ms.float64:
            return super(LSTMCell, self).construct(x, hx)
        before, cell = hx
        gates = _affine(x, self.weight_ih, self.bias_ih) + _affine(before, self.weight_hh, self.bias_hh)
        keep, forget, new, out = ops.split(gates, self.hidden_size, axis=1)
        cell = ops.sigmoid(forget) * cell + ops.sigmoid(keep) * ops.tanh(new)
        return ops.sigmoid(out) * ops.tanh(cell), cell


class GRUCell(nn.GRUCell, metaclass=Kind):
    """One step of a GRU."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bool(bias))
        draw_own(self)

    def construct(self, x: Any, hx: Any = None) -> Any:
        """Return the next hidden state; the first one is zero."""
        if x.ndim == 1:  # of one sample, which MindSpore's does not take
            return self.construct(x.expand_dims(0), None if hx is None else hx.expand_dims(0)).squeeze(0)
        before = ops.zeros((x.shape[0], self.hidden_size), x.dtype) if hx is None else hx
        if x.dtype != ms.float64:
            return super(GRUCell, self).construct(x, before)
        reset, update, new = ops.split(_affine(x, self.weight_ih, self.bias_ih), self.hidden_size, axis=1)
        own = ops.split(_affine(before, self.weight_hh, self.bias_hh), self.hidden_size, axis=1)
        update = ops.sigmoid(update + own[1])
        new = ops.tanh(new + ops.sigmoid(reset + own[0]) * own[2])
        return new + update * (before - new)


class RNNCell(nn.RNNCell, metaclass=Kind):
    """One step of an Elman network."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bool(bias), nonlinearity)
        draw_own(self)

    def construct(self, x: Any, hx: Any = None) -> Any:
        """Return the next hidden state; the first one is zero."""
        if x.ndim == 1:  # of one sample, which MindSpore's does not take
            return self.construct(x.expand_dims(0), None if hx is None else hx.expand_dims(0)).squeeze(0)
        before = ops.zeros((x.shape[0], self.hidden_size), x.dtype) if hx is None else hx
        if x.dtype != ms.float64 and self.nonlinearity == "tanh":
            return super(RNNCell, self).construct(x, before)
        total = _affine(x, self.weight_ih, self.bias_ih) + _affine(before, self.weight_hh, self.bias_hh)
        return ops.tanh(total) if self.nonlinearity == "tanh" else nans.relu(total)
