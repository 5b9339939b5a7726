"""Recurrent layers with PyTorch's signatures; parameters carry torch's names."""

from __future__ import annotations

from typing import Any

from mindspore import nn, ops

from .arguments import draw_own

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell"]


class LSTM(nn.LSTM):
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


class GRU(nn.GRU):
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


class RNN(nn.RNN):
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


class LSTMCell(nn.LSTMCell):
    """One step of an LSTM."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bool(bias))
        draw_own(self)

    def construct(self, x: Any, hx: Any = None) -> Any:
        """Return the next hidden and cell states; the first ones are zero."""
        if hx is None:
            zeros = ops.zeros((x.shape[0], self.hidden_size), x.dtype)
            hx = (zeros, zeros)
        return super().construct(x, hx)


class GRUCell(nn.GRUCell):
    """One step of a GRU."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bool(bias))
        draw_own(self)

    def construct(self, x: Any, hx: Any = None) -> Any:
        """Return the next hidden state; the first one is zero."""
        return super().construct(x, ops.zeros((x.shape[0], self.hidden_size), x.dtype) if hx is None else hx)


class RNNCell(nn.RNNCell):
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
        return super().construct(x, ops.zeros((x.shape[0], self.hidden_size), x.dtype) if hx is None else hx)
