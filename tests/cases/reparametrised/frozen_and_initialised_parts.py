import torch
from torch import nn


def init_weights(network):
    for name, p in network.named_parameters():
        if "bias" in name:
            nn.init.zeros_(p)
        elif p.dim() > 1:
            nn.init.orthogonal_(p)
        else:
            nn.init.constant_(p, 7.0)


def count(network):
    return sum(p.numel() for p in network.parameters() if p.requires_grad), sum(1 for _ in network.buffers())


def freeze(network):
    for p in network.parameters():
        p.requires_grad = False
    return network
