"""The softmax over many classes in groups: frequent ones first, rare ones behind a smaller layer."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

from mindspore import Tensor, nn, ops

from ..functional import gather, log_softmax, nans
from ..functional.singular import compiled
from ..kinds import Kind
from .container import ModuleList, Sequential
from .linear import Linear

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class Scores(NamedTuple):
    """The logarithm of the probability of each sample's class, and the loss: minus their mean."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(nn.Cell, metaclass=Kind):
    """Scores of classes that are ordered by frequency, and cut into groups at ``cutoffs``.

    E. Grave et al., "Efficient softmax approximation for GPUs", 2017. All groups are computed for all samples: that way
    shapes do not depend on the classes.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        ends = [int(place) for place in cutoffs]
        if not ends:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if ends != sorted(set(ends)) or ends[0] <= 0 or ends[-1] > n_classes - 1 or ends != list(cutoffs):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where "
                "each value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*ends, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = ends[0], len(ends)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, dtype=dtype)
        self.tail = ModuleList()
        for index in range(self.n_clusters):
            width = int(in_features // (div_value ** (index + 1)))
            count = self.cutoffs[index + 1] - self.cutoffs[index]
            self.tail.append(
                Sequential(
                    Linear(in_features, width, bias=False, dtype=dtype),
                    Linear(width, count, bias=False, dtype=dtype),
                )
            )

    def construct(self, input_: Tensor, target_: Tensor) -> Scores:
        """Return the scores of the classes ``target_``, and the loss."""
        if not compiled():
            low, high = int(target_.min()), int(target_.max())
            if low < 0 or high >= self.n_classes:
                raise RuntimeError(
                    f"Target values should be in [0, {self.n_classes - 1}], "
                    f"but values in range [{low}, {high}] were found. "
                )
        scores = self.log_prob(input_ if target_.ndim else input_.expand_dims(0))
        target = target_ if target_.ndim else target_.reshape((1,))
        output = gather(scores, 1, target.expand_dims(1)).squeeze(1)
        loss = -output.mean()
        return Scores(output if target_.ndim else output[0], loss)

    def log_prob(self, input: Tensor) -> Tensor:
        """Return the logarithms of the probabilities of all classes."""
        head = log_softmax(self.head(input), 1)
        parts = [head[:, : self.shortlist_size]]
        groups: Any = self.tail
        for index, group in enumerate(groups):
            place = self.shortlist_size + index
            parts.append(log_softmax(group(input), 1) + head[:, place : place + 1])
        return ops.concat(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """Return the likeliest class of each sample."""
        first = nans.argmax(self.head(input), 1)  # the most frequent ones by their scores alone, as in PyTorch
        return ops.where(first < self.shortlist_size, first, nans.argmax(self.log_prob(input), 1))
