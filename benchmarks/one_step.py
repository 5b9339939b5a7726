"""One training step of a network, as a PyTorch program: ``models.py`` translates it together with each package."""

import importlib

import numpy as np
import torch


def build(module, name, settings):
    """Return the network that a function of a module makes."""
    return getattr(importlib.import_module(module), name)(**settings)


def tensors(found):
    """Return the tensors of an output, in order."""
    if isinstance(found, torch.Tensor):
        return [found]
    parts = found.values() if isinstance(found, dict) else found if isinstance(found, (list, tuple)) else []
    return [tensor for part in parts for tensor in tensors(part)]


def one_step(network, shapes):
    """Train a network for one step on random inputs; return the loss, and whether each weight is a finite number."""
    draws = np.random.RandomState(0)
    inputs = [torch.from_numpy(draws.randn(*shape).astype(np.float32)) for shape in shapes]
    optimizer = torch.optim.SGD([p for p in network.parameters() if p.requires_grad], lr=1e-3)
    network.train()
    optimizer.zero_grad()
    loss = sum(found.square().mean() for found in tensors(network(*inputs)))
    loss.backward()
    optimizer.step()
    finite = all(bool(torch.isfinite(p).all()) for p in network.parameters())
    return float(loss), finite
