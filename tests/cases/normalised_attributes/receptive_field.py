"""The receptive field and the output length of a stack of layers, from their settings."""

import torch.nn as nn


def out_length(layer, n):
    if isinstance(layer, nn.Conv1d):
        k, s, p, d = layer.kernel_size[0], layer.stride[0], layer.padding[0], layer.dilation[0]
        return (n + 2 * p - d * (k - 1) - 1) // s + 1
    if isinstance(layer, nn.AvgPool1d):
        return (n + 2 * layer.padding[0] - layer.kernel_size[0]) // layer.stride[0] + 1
    if isinstance(layer, nn.ReflectionPad1d):
        left, right = layer.padding
        return n + left + right
    if isinstance(layer, nn.MaxPool1d):
        return (n - layer.kernel_size) // layer.stride + 1
    return n


net = nn.Sequential(
    nn.ReflectionPad1d((3, 1)),
    nn.Conv1d(1, 2, 5, stride=2, padding=1, dilation=2),
    nn.AvgPool1d(2),
    nn.ReLU(),
    nn.MaxPool1d(3, 1),
)
n = 40
for layer in net:
    n = out_length(layer, n)
    print(type(layer).__name__, n)
pool = nn.AvgPool1d(4, 2, 1)
print(pool.kernel_size, pool.stride, pool.padding)
