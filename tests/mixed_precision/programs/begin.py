"""Weights and numbers that are the same everywhere."""

import numpy as np
import torch


def numbers(*shape, seed=0, scale=1.0):
    values = np.random.RandomState(seed).standard_normal(shape).astype(np.float32) * scale
    return torch.from_numpy(values.astype(np.float32))


def fill(net, shift=0.0, scale=0.3):
    """Set all weights; ``shift`` is how far a twin begins from them."""
    with torch.no_grad():
        for number, p in enumerate(net.parameters()):
            values = np.sin(np.arange(p.numel()) * (1.3 + 0.1 * number)) * scale
            twin = np.cos(np.arange(p.numel()) * 0.7) * shift
            p.copy_(torch.from_numpy((values + twin).astype(np.float32).reshape(tuple(p.shape))))
    return net


def weights_of(*nets):
    return [p.detach().numpy().copy() for net in nets for p in net.parameters()]
