# A name that was imported holds a list later: what is put into it counts in the forward pass.
import torch
import torch.nn as nn
from memory_parts import memory

memory = memory()
net = nn.Linear(2, 1)
nn.init.constant_(net.weight, 0.2)
nn.init.zeros_(net.bias)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

for step in range(4):
    x = torch.ones(1, 2) * (step + 1)
    optimizer.zero_grad()
    first = net(x) + len(memory)
    memory.append(first.item())
    loss = (first * len(memory) - sum(memory[-2:])).pow(2).mean()
    memory.append(0.5)
    loss = loss + len(memory)
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.4f}", len(memory), f"{sum(memory):.4f}")
