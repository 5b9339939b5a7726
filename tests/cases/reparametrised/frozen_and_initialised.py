"""A function of initial weights that goes over parameters and layers that are normalised."""

import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

from frozen_and_initialised_parts import count, freeze, init_weights

net = nn.Sequential(spectral_norm(nn.Conv1d(2, 3, 3)), nn.ReLU(), nn.Flatten(), spectral_norm(nn.Linear(6, 2)))
init_weights(net)
print(count(net))
freeze(net)
print(count(net), [tuple(b.shape) for _, b in net.named_buffers()])
state = {k: v.clone() for k, v in net.state_dict().items()}
print(len(state), sum(v.numel() for v in state.values()))
y = net(torch.ones(1, 2, 4))
print(tuple(y.shape))
