"""PyTorch's private base classes, for programs that ask what a layer is: ``isinstance(m, _BatchNorm)``.

MindSpore's layers share no base class where PyTorch's do (its BatchNorm3d is no ``_BatchNorm``), so each class here
answers for the layers of one family, MindSpore's and this package's.
"""

from __future__ import annotations

from typing import Any, Optional, Tuple

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

from ..functional import batch_norm
from . import normalization
from .recurrent import GRU, LSTM, RNN

__all__ = [
    "BatchNorms",
    "Convolutions",
    "Dropouts",
    "InstanceNorms",
    "Loss",
    "Normalizations",
    "Recurrents",
    "Transposed",
    "WeightedLoss",
]


class _Family(type):
    """The class of a family: its instances are those of any of its ``members``."""

    members: Tuple[type, ...] = ()

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.members)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls.members)


class _OfBatchNorms(type(nn.Cell)):  # type: ignore[misc]
    """The class of :class:`BatchNorms`, whose instances are MindSpore's batch normalisations as well."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, vars(cls).get("members", ())) or cls in type(instance).__mro__

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, vars(cls).get("members", ())) or cls in subclass.__mro__


class BatchNorms(nn.Cell, metaclass=_OfBatchNorms):
    """``torch.nn.modules.batchnorm._BatchNorm``, from which programs derive batch normalisations of their own.

    It holds ``weight``, ``bias``, ``running_mean`` and ``running_var``, each of ``num_features`` numbers or None, and
    normalises inputs of (batch, channels, ...).
    """

    members = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = bool(affine), bool(track_running_stats)
        self.weight = self._vector(ops.ones, "weight", True) if affine else None
        self.bias = self._vector(ops.zeros, "bias", True) if affine else None
        self.running_mean = self._vector(ops.zeros, "running_mean", False) if track_running_stats else None
        self.running_var = self._vector(ops.ones, "running_var", False) if track_running_stats else None

    def _vector(self, made: Any, name: str, trained: bool) -> Parameter:
        return Parameter(made((self.num_features,), ms.float32), name=name, requires_grad=trained)

    def reset_running_stats(self) -> None:
        """Set the statistics to mean 0 and variance 1."""
        if self.running_mean is not None and self.running_var is not None:
            self.running_mean.set_data(ops.zeros_like(self.running_mean))
            self.running_var.set_data(ops.ones_like(self.running_var))

    def reset_parameters(self) -> None:
        """Set weight and bias to 1 and 0, and the statistics to mean 0 and variance 1."""
        self.reset_running_stats()
        if self.weight is not None and self.bias is not None:
            self.weight.set_data(ops.ones_like(self.weight))
            self.bias.set_data(ops.zeros_like(self.bias))

    def _check_input_dim(self, input: Tensor) -> None:
        """Accept any number of axes; subclasses refuse some."""

    def construct(self, input: Tensor) -> Tensor:
        """Return ``input`` normalised, in training by its own statistics."""
        self._check_input_dim(input)
        training = self.training or self.running_mean is None
        return batch_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias, training, self.momentum, self.eps
        )


class InstanceNorms(metaclass=_Family):
    """``torch.nn.modules.instancenorm._InstanceNorm``."""

    members = (normalization.InstanceNorm1d, normalization.InstanceNorm2d, normalization.InstanceNorm3d)


class Normalizations(metaclass=_Family):
    """``torch.nn.modules.batchnorm._NormBase``."""

    members = (*BatchNorms.members, *InstanceNorms.members)


class Transposed(metaclass=_Family):
    """``torch.nn.modules.conv._ConvTransposeNd``."""

    members = (nn.Conv1dTranspose, nn.Conv2dTranspose, nn.Conv3dTranspose)


class Convolutions(metaclass=_Family):
    """``torch.nn.modules.conv._ConvNd``."""

    members = (nn.Conv1d, nn.Conv2d, nn.Conv3d, *Transposed.members)


class Dropouts(metaclass=_Family):
    """``torch.nn.modules.dropout._DropoutNd``."""

    members = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d)


_SETTINGS = ("bias", "batch_first", "dropout", "bidirectional")


class Recurrents(metaclass=_Family):
    """``torch.nn.modules.rnn.RNNBase``."""

    members = (nn.RNN, nn.GRU, nn.LSTM)

    def __new__(cls, mode: str, *args: Any, **options: Any) -> Any:
        """Return the layer that ``mode`` names: ``LSTM``, ``GRU``, ``RNN_TANH`` or ``RNN_RELU``."""
        options.update(zip(("input_size", "hidden_size", "num_layers", *_SETTINGS), args))
        if mode.startswith("RNN_"):
            return RNN(nonlinearity=mode[len("RNN_") :].lower(), **options)
        return {"LSTM": LSTM, "GRU": GRU}[mode](**options)


class _OfLosses(type(nn.Cell)):  # type: ignore[misc]
    """The class of :class:`Loss`, whose instances are the losses of MindSpore and of this package as well."""

    def __instancecheck__(cls, instance: Any) -> bool:
        bases = type(instance).__mro__
        return any(base.__module__.endswith((".layers.loss", "nn.loss.loss")) for base in bases) or cls in bases


class Loss(nn.Cell, metaclass=_OfLosses):
    """``torch.nn.modules.loss._Loss``, from which programs derive losses of their own: it holds ``reduction``."""

    def __init__(self, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> None:
        super().__init__()
        if size_average is not None or reduce is not None:
            reduction = ("mean" if size_average in (None, True) else "sum") if reduce in (None, True) else "none"
        self.reduction = reduction


class WeightedLoss(Loss):
    """``torch.nn.modules.loss._WeightedLoss``: a loss with a ``weight``, a buffer."""

    def __init__(
        self, weight: Optional[Any] = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.weight = weight
