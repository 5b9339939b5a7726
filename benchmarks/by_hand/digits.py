"""A small convolutional network, written for MindSpore."""

from mindspore import nn


class DigitNet(nn.Cell):
    """Two convolutions and two dense layers over (N, 1, 28, 28)."""

    def __init__(self, num_classes=10):
        super().__init__()
        self.features = nn.SequentialCell(
            nn.Conv2d(1, 32, 3, pad_mode="same", has_bias=True),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Conv2d(32, 64, 3, pad_mode="same", has_bias=True),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Flatten(),
        )
        self.dropout = nn.Dropout(p=0.25)
        self.fc1 = nn.Dense(64 * 7 * 7, 128, activation="relu")
        self.fc2 = nn.Dense(128, num_classes)

    def construct(self, x):
        """Return the logits."""
        return self.fc2(self.fc1(self.dropout(self.features(x))))
