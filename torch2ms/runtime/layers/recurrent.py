"""Recurrent layers with PyTorch's signatures; parameters carry torch's names."""

from __future__ import annotations

from typing import Any

from mindspore import nn

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell"]


def _check(proj_size: int) -> None:
    """Projections are not implemented in MindSpore."""
    if proj_size:
        raise ValueError("proj_size has no equivalent in MindSpore's recurrent layers")


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
        _check(proj_size)
        super().__init__(input_size, hidden_size, num_layers, bool(bias), batch_first, float(dropout), bidirectional)


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
            input_size, hidden_size, num_layers, nonlinearity, bool(bias), batch_first, float(dropout), bidirectional
        )


class LSTMCell(nn.LSTMCell):
    """One step of an LSTM."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bool(bias))


class GRUCell(nn.GRUCell):
    """One step of a GRU."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bool(bias))


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
