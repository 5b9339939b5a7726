"""Settings that PyTorch's layers tell of themselves and let be changed, and MindSpore's do not, or keep elsewhere."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from mindspore import Tensor, nn

from .layers import convolution, normalization
from .names import torch_order

__all__ = [
    "affine",
    "all_weights",
    "change",
    "input_size",
    "momentum",
    "nonlinearity",
    "num_parameters",
    "output_padding",
    "output_size",
    "padding_mode",
    "pool_padding",
    "recurrent_mode",
    "reduction",
    "reflection_padding",
    "softmax_dim",
    "track_running_stats",
    "transposed",
    "weight_names",
]


def affine(layer: Any) -> bool:
    """Whether a normalisation has a weight and a bias; MindSpore's own are only made for those that have."""
    return bool(getattr(layer, "affine", True))


def track_running_stats(layer: Any) -> bool:
    """Whether a batch normalisation keeps statistics; MindSpore's own are only made for those that do."""
    return bool(getattr(layer, "track_running_stats", True))


def input_size(layer: Any) -> int:
    """Return the number of features that a recurrent layer takes."""
    return int(layer.weight_ih_l0.shape[1])


def momentum(layer: Any) -> Optional[float]:
    """Return the share of the new statistics in the running ones; None for a cumulative average."""
    if getattr(layer, "batches", None) is not None:
        return None
    return round(float(getattr(layer, "bn2d", layer).momentum), 12)


def padding_mode(layer: Any) -> str:
    """Return what a convolution puts around its input; MindSpore's own know zeros only."""
    return str(getattr(layer, "padding_mode", "zeros"))


def transposed(layer: Any) -> bool:
    """Whether a convolution is a transposed one."""
    return any("Transpose" in base.__name__ for base in type(layer).__mro__)


def output_padding(layer: Any) -> Tuple[int, ...]:
    """Return what a transposed convolution adds to one side of each axis; zeros of the others."""
    axes = 1 if isinstance(layer, (nn.Conv1d, nn.Conv1dTranspose)) else len(layer.kernel_size)
    value = getattr(layer, "torch_output_padding", getattr(layer, "output_padding", 0))
    return (value,) * axes if isinstance(value, int) else tuple(value)


def nonlinearity(layer: Any) -> str:
    """Return the name of the function that a plain recurrent layer applies at each step."""
    return "relu" if type(layer.rnn).__name__.endswith("Relu") else "tanh"


def recurrent_mode(layer: Any) -> str:
    """Return PyTorch's name of what a recurrent layer computes: "LSTM", "GRU", "RNN_TANH" or "RNN_RELU"."""
    if isinstance(layer, nn.RNN):
        return f"RNN_{nonlinearity(layer).upper()}"
    return "GRU" if isinstance(layer, nn.GRU) else "LSTM"


def weight_names(layer: Any) -> List[List[str]]:
    """Return the names of the parameters of a recurrent layer, a list for each layer and direction of it."""
    found: Dict[str, List[str]] = {}
    for name, _ in torch_order(list(layer.parameters_and_names(expand=False))):
        found.setdefault(name[name.index("_l") :], []).append(name)  # weight_ih_l0_reverse: "_l0_reverse"
    return list(found.values())


def all_weights(layer: Any) -> List[List[Any]]:
    """Return the parameters of a recurrent layer, a list for each layer and direction of it."""
    return [[getattr(layer, name) for name in names] for names in weight_names(layer)]


def reduction(loss: Any) -> str:
    """Return what a loss does with its values: "none", "mean" or "sum"; MindSpore keeps two flags."""
    found = getattr(loss, "reduction", None)
    return str(found) if found is not None else "none" if not loss.reduce else "mean" if loss.average else "sum"


def pool_padding(layer: Any) -> Any:
    """Return the padding of a pooling over height and width: an int, or two where they differ."""
    value = getattr(layer, "padding", 0)
    if isinstance(value, int):
        return value
    height, width = tuple(value)[-2:]
    return height if height == width else (height, width)


def reflection_padding(layer: Any) -> Tuple[int, ...]:
    """Return the padding of a reflection, two numbers an axis, the last axis first: MindSpore keeps pairs, it last."""
    pairs = layer.padding
    return tuple(pairs) if isinstance(pairs[0], int) else tuple(number for pair in pairs[::-1] for number in pair)


def output_size(layer: Any) -> Any:
    """Return the size that an adaptive pooling gives, as it was given to the layer."""
    found = getattr(layer, "output_size", None)
    return layer.adaptive_avgpool2d.init_attrs["output_size"] if found is None else found


def num_parameters(layer: Any) -> int:
    """Return the number of slopes of a PReLU."""
    return int(layer.w.shape[0])


def softmax_dim(layer: Any) -> Any:
    """Return the axis along which a softmax sums up to 1; None where it is chosen by the number of axes."""
    for operator in (getattr(layer, "softmax", None), getattr(layer, "log_softmax", None)):
        if operator is not None:
            axis = operator.axis
            return axis if isinstance(axis, int) else axis[0]
    return layer.dim


def _again(operator: Any, **changed: Any) -> Any:
    """Return an operator like another, with some of its arguments changed."""
    return type(operator)(**{**operator.init_attrs, **changed})


def _has_settings(layer: Any) -> bool:
    return type(layer).__module__.startswith(("mindspore.", f"{__package__}.layers."))


def change(layer: Any, name: str, value: Any) -> None:
    """Set what PyTorch calls ``name`` of a layer; from then on the layer computes with it.

    Of layers that are not MindSpore's the attribute is set. Raises NotImplementedError for a setting of MindSpore's
    that is fixed when the layer is made.
    """
    is_part = isinstance(value, (nn.Cell, Tensor)) and not hasattr(layer, name)
    if is_part or type(layer) is nn.Cell or not _has_settings(layer):
        setattr(layer, name, value)
    elif name == "bias" and (value is None or getattr(layer, "has_bias", True)):
        layer.bias = value
        layer.has_bias = value is not None
    elif isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)) and name in ("momentum", "eps"):
        _change_norm(layer, name, value)
    elif isinstance(layer, (normalization.LayerNorm, nn.LayerNorm)) and name == "eps":
        layer.epsilon = value
    elif isinstance(layer, nn.Dropout) and name == "p":
        layer.p = value
        if 0 < value < 1:
            layer.dropout = _again(layer.dropout, keep_prob=1.0 - value)
    elif type(layer) is nn.Conv2d and name in ("stride", "dilation", "padding"):
        _change_convolution(layer, name, value)
    else:
        raise NotImplementedError(f"{name} of {type(layer).__name__} is fixed when the layer is made")


def _change_norm(layer: Any, name: str, value: Any) -> None:
    cell = getattr(layer, "bn2d", layer)  # BatchNorm3d keeps its parameters in an inner layer
    if name == "eps":
        cell.eps = value
        cell.bn_train, cell.bn_infer = _again(cell.bn_train, epsilon=value), _again(cell.bn_infer, epsilon=value)
        return
    if value is None or getattr(layer, "batches", None) is not None:
        raise NotImplementedError("a cumulative average is chosen when the layer is made: momentum=None")
    layer.share = cell.momentum = float(value)
    cell.bn_train = _again(cell.bn_train, momentum=float(value))


def _change_convolution(layer: Any, name: str, value: Any) -> None:
    pair = (value, value) if isinstance(value, int) else tuple(value)
    if name == "padding":
        layer.padding = convolution.pair_to_tblr(pair)
        layer.conv2d = _again(layer.conv2d, pad=layer.padding)
    else:
        setattr(layer, name, pair)
        layer.conv2d = _again(layer.conv2d, **{name: pair})
