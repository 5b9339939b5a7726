# A function goes over a list of networks and resets them; its loop variable is nobody else's.
import torch
import torch.nn as nn

first = nn.Linear(2, 3)
second = nn.Linear(3, 1)
for net in (first, second):
    nn.init.constant_(net.weight, 0.2)
    nn.init.zeros_(net.bias)
net = nn.Linear(1, 1)
nets = [first, second]


def reset():
    for net in nets:
        net.zero_grad()


lower = torch.optim.SGD(first.parameters(), lr=0.1)
upper = torch.optim.SGD(second.parameters(), lr=0.05)
x = torch.tensor([[0.5, -1.0], [1.5, 2.0]])

for step in range(4):
    hidden = first(x)
    loss = (second(hidden) - 1).pow(2).mean()
    loss.backward(retain_graph=True)
    lower.step()
    reset()

    penalty = (second(first(x)) + 0.1 * step).pow(2).mean() + second(hidden.detach()).abs().mean()
    penalty.backward()
    upper.step()
    reset()
    print(step, f"{loss.item():.4f} {penalty.item():.4f}")
