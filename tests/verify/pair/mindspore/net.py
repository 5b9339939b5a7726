"""A small network with a residual block, the MindSpore side of the hand-written pair."""

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops


class Block(nn.Cell):
    def __init__(self, channels, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, stride, pad_mode="pad", padding=1, has_bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, pad_mode="pad", padding=1, has_bias=True)
        self.bn2 = nn.BatchNorm2d(channels, momentum=0.8)
        self.down = nn.SequentialCell(nn.AvgPool2d(2, stride), nn.BatchNorm2d(channels)) if stride > 1 else None

    def construct(self, x):
        y = ops.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return ops.relu(y + (x if self.down is None else self.down(x)))


class Net(nn.Cell):
    def __init__(self, num_classes=10):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, (5, 3), (2, 1), pad_mode="pad", padding=(2, 2, 1, 1), has_bias=True)
        self.pool = nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)
        self.blocks = nn.SequentialCell(Block(8), Block(8, 2))
        self.drop = nn.Dropout(p=0.3)
        self.hidden = nn.Dense(8, 8)
        self.fc = nn.Dense(8, num_classes)

    def construct(self, x):
        x = self.blocks(self.pool(ops.relu(self.stem(x))))
        x = ops.flatten(ops.adaptive_avg_pool2d(x, 1), start_dim=1)
        x = ops.gelu(self.hidden(self.drop(x)))
        return self.fc(x)


class Parts(nn.Cell):
    """Every kind of state that is not a plain convolution, and nested results."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 6)
        self.conv = nn.Conv1d(6, 8, 3, pad_mode="pad", padding=1, has_bias=True)
        self.norm = nn.BatchNorm1d(8)
        self.plain = nn.BatchNorm1d(8, affine=False)
        self.layer_norm = nn.LayerNorm((8,), epsilon=1e-5)
        self.out = nn.Dense(8, 8, has_bias=False)
        self.tied = nn.Dense(8, 8, has_bias=False)
        self.tied.weight = self.out.weight
        self.scale = Parameter(Tensor(0.5, ms.float32))
        self.offset = Parameter(ops.arange(8).astype(ms.float32), requires_grad=False)

    def construct(self, tokens, mask):
        x = self.embedding(tokens).permute(0, 2, 1)
        x = self.plain(self.norm(self.conv(x))).permute(0, 2, 1)
        x = self.layer_norm(x) * self.scale + self.offset
        x = x * mask.unsqueeze(-1).astype(x.dtype)
        return {"hidden": x, "logits": (self.tied(self.out(x.mean(1))), x.sum())}


class Single(nn.Cell):
    """A network that insists on float32."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 4)

    def construct(self, x):
        return self.fc(x.float())


class Noisy(nn.Cell):
    """A network that drops whole samples by itself in training."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 4)

    def construct(self, x):
        if self.training:
            x = x * (ops.rand(x.shape[0], 1) > 0.5)
        return self.fc(x)


class Tokens(nn.Cell):
    """A network whose normalized pictures become sequences."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 1, pad_mode="pad", has_bias=True)
        self.bn1 = nn.BatchNorm2d(8)

    def construct(self, x):
        return ops.flatten(self.bn1(self.conv(x)), start_dim=2).swapaxes(1, 2)


class Waves(nn.Cell):
    """A network whose weight is complex."""

    def __init__(self):
        super().__init__()
        self.weight = Parameter(ops.ones((6, 4), ms.complex64))

    def construct(self, x):
        result = ops.matmul(ops.Complex()(x, x.flip((1,))), self.weight)
        return ops.stack([ops.real(result), ops.imag(result)], -1)


ACTIVATION = nn.PReLU()


class Shared(nn.Cell):
    """A network with a layer that is a default: any two of its kind share it."""

    def __init__(self, act=ACTIVATION):
        super().__init__()
        self.fc = nn.Dense(6, 4)
        self.act = act

    def construct(self, x):
        return self.act(self.fc(x))
