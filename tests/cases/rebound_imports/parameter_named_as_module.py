# A parameter of a function has the name of a module; what is called on it changes it.
import json as history

import torch
import torch.nn as nn


def run(net, history, batches):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    for x in batches:
        out = net(x) * len(history)
        history.append(1)
        loss = (out - len(history)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{loss.item():.4f}", len(history))


print(history.dumps([1]))
net = nn.Linear(1, 1)
nn.init.ones_(net.weight)
nn.init.zeros_(net.bias)
run(net, [0], [torch.ones(2, 1), torch.zeros(2, 1), torch.ones(2, 1) * 2])
