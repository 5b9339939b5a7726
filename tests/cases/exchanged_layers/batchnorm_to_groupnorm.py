"""BatchNorm to GroupNorm in a residual network, and back to a frozen norm."""

import torch
from torch import nn

from batchnorm_to_groupnorm_parts import ResNet, convert, freeze_norms

net = ResNet()
convert(net, groups=2)
print([type(m).__name__ for m in net.modules() if "Norm" in type(m).__name__])
print([n for n, _ in net.named_parameters()])
for n, p in net.named_parameters():
    nn.init.constant_(p, 0.1 if p.ndim > 1 else 0.5)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-3)
x = torch.arange(32.0).view(2, 1, 4, 4) / 32
for _ in range(2):
    optimizer.zero_grad()
    loss = net(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(round(loss.item(), 5))
print(freeze_norms(net), sum(p.requires_grad for p in net.parameters()))
print(round(net(x).sum().item(), 4))
