"""A recurrent classifier of sequences of words."""

import torch.nn as nn


class LSTMClassifier(nn.Module):
    """An embedding, a two-layer LSTM and a linear layer over (N, length) indices."""

    def __init__(self, words=2000, width=128, num_classes=10):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, width, num_layers=2, batch_first=True)
        self.head = nn.Linear(width, num_classes)

    def forward(self, x):
        """Return the logits."""
        output, _ = self.lstm(self.embedding(x))
        return self.head(output[:, -1])
