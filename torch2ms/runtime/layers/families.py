"""PyTorch's private base classes, for programs that ask what a layer is: ``isinstance(m, _BatchNorm)``.

MindSpore's layers share no base class where PyTorch's do (its BatchNorm3d is no ``_BatchNorm``), so each class here
answers for the layers of one family, MindSpore's and this package's.
"""

from __future__ import annotations

from typing import Any, Optional, Tuple

from mindspore import nn

from . import normalization

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


class BatchNorms(metaclass=_Family):
    """``torch.nn.modules.batchnorm._BatchNorm``."""

    members = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)


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


class Recurrents(metaclass=_Family):
    """``torch.nn.modules.rnn.RNNBase``."""

    members = (nn.RNN, nn.GRU, nn.LSTM)


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
