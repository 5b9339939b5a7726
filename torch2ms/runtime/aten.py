"""Losses and layers under ``torch``'s own name, whose arguments are those of PyTorch's core.

``torch.kl_div`` is not ``torch.nn.functional.kl_div``: a reduction is a number, switches stand in fixed places, weights
come before the input. The core declares the mean as the default of reductions, but called from Python it is none.
"""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence, Tuple

import mindspore as ms
from mindspore import Tensor, ops

from . import functional as F
from .functional import nans

__all__ = """affine_grid_generator binary_cross_entropy_with_logits constant_pad_nd conv_tbc convolution
cosine_embedding_loss ctc_loss embedding feature_dropout frobenius_norm grid_sampler gru gru_cell hinge_embedding_loss
kl_div lstm lstm_cell margin_ranking_loss norm_except_dim nuclear_norm poisson_nll_loss rnn_relu rnn_relu_cell rnn_tanh
rnn_tanh_cell triplet_margin_loss""".split()

_REDUCTIONS = ("none", "mean", "sum")  # by the numbers of PyTorch's core
_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")
State = Any  # a tensor; of an LSTM two


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Optional[Tensor] = None,
    pos_weight: Optional[Tensor] = None,
    reduction: int = 0,
) -> Tensor:
    """Return the cross entropy of logits and probabilities."""
    return F.binary_cross_entropy_with_logits(
        input, target, weight, reduction=_REDUCTIONS[reduction], pos_weight=pos_weight
    )


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Tensor:
    """Return how far cosines are from 1 where ``target`` is 1, and above ``margin`` where it is -1."""
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=_REDUCTIONS[reduction])


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = 0,
    zero_infinity: bool = False,
) -> Tensor:
    """Return the loss of connectionist temporal classification."""
    return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, _REDUCTIONS[reduction], zero_infinity)


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0) -> Tensor:
    """Return distances where ``target`` is 1, and what they lack to ``margin`` where it is -1."""
    return F.hinge_embedding_loss(input, target, margin, reduction=_REDUCTIONS[reduction])


def kl_div(input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False) -> Tensor:
    """Return the divergence of probabilities from those whose logarithms are ``input``."""
    return F.kl_div(input, target, reduction=_REDUCTIONS[reduction], log_target=log_target)


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Tensor:
    """Return what the larger of two lacks to be so by ``margin``."""
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=_REDUCTIONS[reduction])


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """Return the negative logarithm of Poisson's likelihood."""
    return F.poisson_nll_loss(input, target, log_input, full, None, eps, reduction=_REDUCTIONS[reduction])


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 0,
) -> Tensor:
    """Return what the distance to ``negative`` lacks to be ``margin`` larger than that to ``positive``."""
    return F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=_REDUCTIONS[reduction])


def embedding(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Tensor:
    """Return the rows of ``weight`` at ``indices``; that of ``padding_idx`` gets no gradient, unless it is negative."""
    padding = None if padding_idx < 0 else padding_idx
    return F.embedding(indices, weight, padding, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)


def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Return (batch, channels, ...) with whole channels left out at random."""
    if not train or p == 0:
        return input
    if p == 1:
        return input * 0.0
    kept = ops.rand(*input.shape[:2], dtype=ms.float32) >= p
    return input * (kept.astype(input.dtype) / (1 - p)).reshape((*input.shape[:2], *(1,) * (input.ndim - 2)))


def constant_pad_nd(input: Tensor, pad: Sequence[int], value: float = 0) -> Tensor:
    """Return ``input`` with ``value`` around it."""
    return F.pad(input, pad, "constant", value)


def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    """Return the convolution over one, two or three axes, or the transposed one."""
    count = weight.ndim - 2
    stride, padding, dilation, output_padding = (
        tuple(sizes) * (count if len(sizes) == 1 else 1) for sizes in (stride, padding, dilation, output_padding)
    )
    if transposed:
        back: Callable[..., Tensor] = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[count - 1]
        return back(input, weight, bias, stride, padding, output_padding, groups, dilation)
    forth: Callable[..., Tensor] = (F.conv1d, F.conv2d, F.conv3d)[count - 1]
    return forth(input, weight, bias, stride, padding, dilation, groups)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """Return the convolution of (time, batch, channels) with (width, channels, new channels)."""
    length, width = input.shape[0], weight.shape[0]
    count = length + 2 * pad - width + 1
    found = ops.broadcast_to(bias.astype(input.dtype), (count, input.shape[1], weight.shape[2])).copy()
    parts = []
    for tap in range(width):  # what is added around the input is not multiplied: 0 * infinity would be NaN
        first, last = max(0, pad - tap), min(count, length + pad - tap)
        if first < last and 0 not in input.shape and 0 not in weight.shape:
            product = ops.matmul(input[first + tap - pad : last + tap - pad], weight[tap].astype(input.dtype))
            parts.append(ops.pad(product, (0, 0, 0, 0, first, count - last)))
    return sum(parts, found)


def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """Return ``input`` sampled at ``grid``; the modes are numbers."""
    return F.grid_sample(input, grid, _MODES[interpolation_mode], _PADDINGS[padding_mode], align_corners)


def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """Return the places at which an affine map samples a picture."""
    return F.affine_grid(theta, size, align_corners)


def frobenius_norm(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """Return the root of the sum of squares over some axes, over all where none is named."""
    axes = (dim,) if isinstance(dim, int) else tuple(dim)
    return F.vector_norm(input, 2, axes or None, keepdim)


def nuclear_norm(input: Tensor, dim: Any = (-2, -1), keepdim: bool = False) -> Tensor:
    """Return the sum of singular values."""
    from .linalg import matrix_norm

    if isinstance(dim, bool):  # of a matrix: nuclear_norm(input, keepdim)
        dim, keepdim = (-2, -1), dim
    return matrix_norm(input, "nuc", dim, keepdim)


def norm_except_dim(v: Tensor, pow: float = 2, dim: int = 0) -> Tensor:
    """Return the norm over all axes but one, which keep their places; over all of them for -1."""
    if dim == -1:
        return F.vector_norm(v, pow)
    if v.ndim == 1:
        return F.abs(v)  # no axis is left, which would mean all of them
    return F.vector_norm(v, pow, tuple(axis for axis in range(v.ndim) if axis != dim % v.ndim), True)


def lstm_cell(
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Optional[Tensor] = None,
    b_hh: Optional[Tensor] = None,
) -> Tuple[Tensor, Tensor]:
    """Return the next hidden state and cell state."""
    gates = F.linear(input, w_ih, b_ih) + F.linear(hx[0], w_hh, b_hh)
    into, forget, new, out = ops.chunk(gates, 4, -1)
    cell = ops.sigmoid(forget) * hx[1] + ops.sigmoid(into) * F.tanh(new)
    return ops.sigmoid(out) * F.tanh(cell), cell


def gru_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Optional[Tensor] = None,
    b_hh: Optional[Tensor] = None,
) -> Tensor:
    """Return the next hidden state."""
    ours, theirs = ops.chunk(F.linear(input, w_ih, b_ih), 3, -1), ops.chunk(F.linear(hx, w_hh, b_hh), 3, -1)
    reset, update = ops.sigmoid(ours[0] + theirs[0]), ops.sigmoid(ours[1] + theirs[1])
    new = F.tanh(ours[2] + reset * theirs[2])
    return new + update * (hx - new)


def rnn_tanh_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Optional[Tensor] = None,
    b_hh: Optional[Tensor] = None,
) -> Tensor:
    """Return the next hidden state."""
    return F.tanh(F.linear(input, w_ih, b_ih) + F.linear(hx, w_hh, b_hh))


def rnn_relu_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Optional[Tensor] = None,
    b_hh: Optional[Tensor] = None,
) -> Tensor:
    """Return the next hidden state."""
    return nans.relu(F.linear(input, w_ih, b_ih) + F.linear(hx, w_hh, b_hh))


def _direction(
    cell: Callable[..., State], input: Tensor, state: State, weights: Sequence[Tensor], backward: bool
) -> Tuple[Tensor, State]:
    """Return what one direction of a layer gives for (time, batch, channels), and its last state."""
    steps: List[Tensor] = []
    for place in range(input.shape[0])[:: -1 if backward else 1]:
        state = cell(input[place], state, *weights)
        steps.append(state[0] if isinstance(state, tuple) else state)
    return ops.stack(steps[::-1] if backward else steps), state


def _recurrent(
    cell: Callable[..., State],
    input: Tensor,
    hx: State,
    params: Sequence[Tensor],
    settings: Tuple[bool, int, float, bool, bool, bool],
) -> Tuple[Tensor, List[State]]:
    """Return the outputs of the last layer and the last state of each direction of each layer."""
    has_biases, num_layers, dropout, train, bidirectional, batch_first = settings
    if not isinstance(has_biases, bool):
        raise NotImplementedError("packed sequences: hand torch2ms_runtime.packing's to a layer instead")
    if any(weight.ndim > 2 for weight in params):
        raise ValueError("weights are matrices and biases vectors; PyTorch computes something else of others")
    output = ops.swapaxes(input, 0, 1) if batch_first else input
    directions, count = 2 if bidirectional else 1, 4 if has_biases else 2
    last: List[State] = []
    for layer in range(num_layers):
        found = []
        for direction in range(directions):
            place = layer * directions + direction
            state = tuple(part[place] for part in hx) if isinstance(hx, (tuple, list)) else hx[place]
            part, state = _direction(cell, output, state, params[place * count : (place + 1) * count], direction == 1)
            found.append(part)
            last.append(state)
        output = ops.concat(found, -1) if directions > 1 else found[0]
        if layer < num_layers - 1:
            output = F.dropout(output, dropout, train)
    return ops.swapaxes(output, 0, 1) if batch_first else output, last


def lstm(
    input: Tensor,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> Tuple[Tensor, Tensor, Tensor]:
    """Return the outputs of an LSTM of these weights, its last hidden states and cell states."""
    settings = (has_biases, num_layers, dropout, train, bidirectional, batch_first)
    output, last = _recurrent(lstm_cell, input, tuple(hx), params, settings)
    return output, ops.stack([state[0] for state in last]), ops.stack([state[1] for state in last])


def _layers(cell: Callable[..., Tensor]) -> Callable[..., Tuple[Tensor, Tensor]]:
    def layers(
        input: Tensor,
        hx: Tensor,
        params: Sequence[Tensor],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> Tuple[Tensor, Tensor]:
        settings = (has_biases, num_layers, dropout, train, bidirectional, batch_first)
        output, last = _recurrent(cell, input, hx, params, settings)
        return output, ops.stack(last)

    return layers


gru = _layers(gru_cell)
rnn_tanh = _layers(rnn_tanh_cell)
rnn_relu = _layers(rnn_relu_cell)
