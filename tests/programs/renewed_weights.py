import copy

import torch
from torch import nn

from fixed import fill, points


class Stack(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.ModuleList([])
        self.norm = nn.BatchNorm1d(sizes[-1])
        for index in range(len(sizes) - 1):
            self.layers.append(nn.Linear(sizes[index], sizes[index + 1], bias=index > 0))
            self.layers[index].weight = nn.Parameter(torch.ones(sizes[index + 1], sizes[index]))
            self.layers[index].bias = nn.Parameter(torch.zeros(sizes[index + 1]))
        self.norm.weight = nn.Parameter(torch.ones(sizes[-1]) * 2)
        self.head = nn.Linear(sizes[-1], 3)
        self.head.weight = nn.Parameter(
            torch.ones(3, sizes[-1])
            * 0.1)

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.head(self.norm(x))


def average(source, target, decay):
    source_state, target_state = source.state_dict(), target.state_dict()
    for key in source_state.keys():
        target_state[key].data.copy_(
            target_state[key].data * decay +
            source_state[key].data * (1 - decay))


x, y = points()
net = fill(Stack([4, 6, 5]))
kept = copy.deepcopy(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.3, momentum=0.9)
for step in range(5):
    loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average(net, kept, 0.6)
    print(step, loss.item(), nn.functional.cross_entropy(kept(x), y).item())
print(len(list(net.parameters())), sum(1 for name, _ in net.named_parameters() if name.endswith("bias")))
