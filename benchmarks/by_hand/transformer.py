"""A transformer, written for MindSpore."""

import math

import mindspore as ms
from mindspore import Parameter, nn, ops


class Attention(nn.Cell):
    """Multi-head self-attention."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.scale = heads, 1 / math.sqrt(width // heads)
        self.qkv = nn.Dense(width, 3 * width)
        self.out = nn.Dense(width, width)

    def construct(self, x):
        """Return the attended values."""
        n, length, width = x.shape
        qkv = self.qkv(x).reshape(n, length, 3, self.heads, width // self.heads).transpose(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        weights = ops.softmax(ops.matmul(q, k.swapaxes(-2, -1)) * self.scale, axis=-1)
        return self.out(ops.matmul(weights, v).swapaxes(1, 2).reshape(n, length, width))


class Block(nn.Cell):
    """Attention and two dense layers, each normalized before and added to its input."""

    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm((width,), epsilon=1e-5), nn.LayerNorm((width,), epsilon=1e-5)
        self.attention = Attention(width, heads)
        self.mlp = nn.SequentialCell(nn.Dense(width, 4 * width), nn.GELU(approximate=False), nn.Dense(4 * width, width))

    def construct(self, x):
        """Return the block's output."""
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Cell):
    """Embeddings, blocks and a classifier over (N, length) indices."""

    def __init__(self, words=2000, length=64, width=128, heads=4, depth=4, num_classes=10):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.positions = Parameter(ops.zeros((1, length, width), ms.float32))
        self.blocks = nn.SequentialCell(*[Block(width, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm((width,), epsilon=1e-5)
        self.head = nn.Dense(width, num_classes)

    def construct(self, x):
        """Return the logits."""
        x = self.blocks(self.words(x) + self.positions)
        return self.head(self.norm(x).mean(axis=1))
