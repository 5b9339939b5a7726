# Weights that belong to no network: the last optimizer trains those of the first one as well.
import torch
import torch.nn.functional as F


def made(rows, columns):
    return (torch.sin(torch.arange(float(rows * columns))).reshape(rows, columns) / 3).requires_grad_()


w1 = made(4, 3)
b1 = torch.zeros(3, requires_grad=True)
w2 = made(3, 1)
b2 = torch.zeros(1, requires_grad=True)
w3 = made(3, 2)
b3 = torch.zeros(2, requires_grad=True)
shared = [w1, b1]
judge = [w2, b2]
naming = [w3, b3]
first = torch.optim.Adam(shared, lr=0.01)
second = torch.optim.Adam(judge, lr=0.01)
third = torch.optim.Adam(shared + naming, lr=0.02)
x = torch.cos(torch.arange(20.0)).reshape(5, 4)

for step in range(4):
    hidden = torch.tanh(x @ w1 + b1)
    score = torch.sigmoid(hidden @ w2 + b2)
    loss = F.binary_cross_entropy(score, torch.ones(5, 1))
    first.zero_grad()
    second.zero_grad()
    third.zero_grad()
    loss.backward()
    first.step()
    second.step()
    hidden = torch.tanh(x @ w1 + b1)
    named = F.cross_entropy(hidden @ w3 + b3, torch.tensor([0, 1, 1, 0, 1]))
    third.zero_grad()
    named.backward()
    third.step()
    print(f"{loss.item():.4f} {named.item():.4f}")
