"""A small convolutional network."""

import torch.nn as nn
import torch.nn.functional as F


class DigitNet(nn.Module):
    """Two convolutions and two linear layers over (N, 1, 28, 28)."""

    def __init__(self, num_classes=10):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.dropout = nn.Dropout(0.25)
        self.fc1 = nn.Linear(64 * 7 * 7, 128)
        self.fc2 = nn.Linear(128, num_classes)

    def forward(self, x):
        """Return the logits."""
        x = self.dropout(self.features(x).flatten(1))
        return self.fc2(F.relu(self.fc1(x)))
