"""ResNet-50, written for MindSpore (He, Zhang, Ren, Sun 2015)."""

from mindspore import nn, ops


def conv(inputs, outputs, size, stride=1):
    """Return a convolution without bias that keeps the size of the image when ``stride`` is 1."""
    return nn.Conv2d(inputs, outputs, size, stride, pad_mode="pad", padding=size // 2, has_bias=False)


class Bottleneck(nn.Cell):
    """1x1, 3x3 and 1x1 convolutions beside a shortcut."""

    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1, self.bn1 = conv(inputs, width, 1), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = conv(width, width, 3, stride), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = conv(width, 4 * width, 1), nn.BatchNorm2d(4 * width)
        self.relu = nn.ReLU()
        self.shortcut = None
        if stride != 1 or inputs != 4 * width:
            self.shortcut = nn.SequentialCell(conv(inputs, 4 * width, 1, stride), nn.BatchNorm2d(4 * width))

    def construct(self, x):
        """Return the block's output."""
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + (x if self.shortcut is None else self.shortcut(x)))


class ResNet50(nn.Cell):
    """Stem, four stages and a classifier."""

    def __init__(self, num_classes=10):
        super().__init__()
        self.stem = nn.SequentialCell(
            conv(3, 64, 7, 2), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)
        )
        blocks, inputs = [], 64
        for stage, depth in enumerate((3, 4, 6, 3)):
            for number in range(depth):
                blocks.append(Bottleneck(inputs, 64 * 2**stage, 2 if stage and not number else 1))
                inputs = 256 * 2**stage
        self.blocks = nn.SequentialCell(*blocks)
        self.head = nn.Dense(2048, num_classes)

    def construct(self, x):
        """Return the logits."""
        x = self.blocks(self.stem(x))
        return self.head(ops.mean(x, (2, 3)))


def resnet50(num_classes=10):
    """Build the network."""
    return ResNet50(num_classes)
