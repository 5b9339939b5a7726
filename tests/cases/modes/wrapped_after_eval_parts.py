import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.features = features
        self.head = nn.Sequential(nn.Dropout(0.1), nn.Linear(4, classes))

    def forward(self, x):
        return self.head(self.features(x))


def load_backbone():
    net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.9))
    with torch.no_grad():
        net[0].weight.copy_(torch.eye(4))
        net[0].bias.fill_(0.5)
    return net.eval()


def attach_head(features, classes):
    return Classifier(features, classes)
