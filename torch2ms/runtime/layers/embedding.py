"""Embeddings with PyTorch's signatures; the table is the parameter ``embedding_table``."""

from __future__ import annotations

from typing import Any, Optional

import mindspore as ms
from mindspore import Parameter, Tensor, nn
from mindspore.common.initializer import Normal, initializer

from .. import functional as F
from ..kinds import Kind
from .arguments import draw_own

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(nn.Cell, metaclass=Kind):
    """A table of ``num_embeddings`` rows drawn from N(0, 1), as in torch; the row ``padding_idx`` is zero."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: Optional[int], weight: Any, dtype: Any
    ) -> None:
        super().__init__()
        num_embeddings, embedding_dim = int(num_embeddings), int(embedding_dim)  # numpy's integers have no place here
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.vocab_size, self.embedding_size = num_embeddings, embedding_dim  # as mindspore.nn.Embedding calls them
        if padding_idx is not None and padding_idx < 0:
            padding_idx += num_embeddings
        self.padding_idx = padding_idx
        if weight is None:
            table = initializer(Normal(1.0), (num_embeddings, embedding_dim), ms.float32).init_data()
            if padding_idx is not None:
                table = Tensor(_with_zero_row(table.asnumpy(), padding_idx))
            table = table if dtype is None else table.astype(dtype)
        else:
            table = Tensor(weight.asnumpy(), weight.dtype)
        self.embedding_table = Parameter(table, name="embedding_table")


def _with_zero_row(table: Any, row: int) -> Any:
    """Return a copy of the numpy ``table`` whose ``row`` is zero."""
    copy = table.copy()
    copy[row] = 0
    return copy


class Embedding(_Table):
    """Rows of a table at integer indices of any type; no gradient flows to the row ``padding_idx``."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: Optional[int] = None,
        max_norm: Optional[float] = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Optional[Tensor] = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_embeddings, embedding_dim, padding_idx, _weight, dtype)
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, bool(scale_grad_by_freq)
        self.sparse = sparse  # says how torch stores the gradient: nothing is done about it
        self.embedding_table.requires_grad = not _freeze
        draw_own(self)

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: Optional[int] = None, **options: Any
    ) -> Embedding:
        """Return an embedding whose table is ``embeddings`` (rows, width), not trained unless ``freeze=False``."""
        rows, width = embeddings.shape
        return cls(rows, width, padding_idx, _weight=embeddings, _freeze=freeze, **options)

    def construct(self, x: Tensor) -> Tensor:
        """Return the rows at ``x``: shape (*x.shape, embedding_dim)."""
        return F.embedding(
            x, self.embedding_table, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq
        )


class EmbeddingBag(_Table):
    """Sum, mean or maximum of the rows of each bag; bags are the rows of a 2-D input, or start at ``offsets``."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: Optional[float] = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Optional[Tensor] = None,
        include_last_offset: bool = False,
        padding_idx: Optional[int] = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if mode not in ("sum", "mean", "max"):
            raise ValueError("mode has to be one of sum, mean or max")
        super().__init__(num_embeddings, embedding_dim, padding_idx, _weight, dtype)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.mode, self.include_last_offset = mode, include_last_offset
        self.scale_grad_by_freq = scale_grad_by_freq

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, **options: Any) -> EmbeddingBag:
        """Return a bag whose table is ``embeddings`` (rows, width), not trained unless ``freeze=False``."""
        rows, width = embeddings.shape
        bag = cls(rows, width, _weight=embeddings, **options)
        bag.embedding_table.requires_grad = not freeze
        return bag

    def construct(
        self, input: Tensor, offsets: Optional[Tensor] = None, per_sample_weights: Optional[Tensor] = None
    ) -> Tensor:
        """Return one row a bag: (bags, embedding_dim)."""
        return F.embedding_bag(
            input, self.embedding_table, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode,
            False, per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip
