"""An adversarial example is made, and the network learns from it, in one loop."""

import torch
from torch import nn

net = nn.Linear(3, 2)
nn.init.constant_(net.weight, 0.5)
nn.init.zeros_(net.bias)
opt = torch.optim.SGD(net.parameters(), lr=0.2)
lossf = nn.CrossEntropyLoss()
data = [(torch.tensor([[0.1, 0.2, 0.3]]), torch.tensor([0])), (torch.tensor([[0.5, -0.2, 0.1]]), torch.tensor([1]))]
for x, y in data:
    x.requires_grad = True
    loss = lossf(net(x), y)
    opt.zero_grad()
    loss.backward()
    x_adv = (x + 0.1 * x.grad.sign()).detach()
    opt.zero_grad()
    adv = lossf(net(x_adv), y)
    adv.backward()
    opt.step()
    print(round(loss.item(), 4), round(adv.item(), 4), [round(v, 3) for v in x_adv.flatten().tolist()])
print([round(v, 4) for v in net.weight.flatten().tolist()])
