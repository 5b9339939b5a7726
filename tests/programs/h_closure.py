import torch
from torch import nn

from fixed import fill, points

x, y = points()


class Trainer:
    def __init__(self, net, search):
        self.net = net
        self.optimizer = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=4, line_search_fn=search)
        self.evaluations = 0

    def loss(self):
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.net(x), y)
        penalty = sum((p**2).sum() for p in self.net.parameters())
        loss = loss + 0.01 * penalty
        loss.backward()
        self.evaluations += 1
        return loss

    def train(self):
        for step in range(8):
            loss = self.optimizer.step(self.loss)
            print(step, self.evaluations, loss.item())


for search in (None, "strong_wolfe"):
    Trainer(fill(nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))), search).train()

# Optimizers that evaluate the closure once, after the ordinary step
net = fill(nn.Linear(4, 3))
for optimizer in (torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9), torch.optim.Adam(net.parameters(), lr=0.01)):
    for step in range(3):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        print(step, loss.item())

        def closure():
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.1)
            return loss

        print("closure", optimizer.step(closure).item())
print("after", closure().item())

# The guards that the documentation of PyTorch puts into a closure
net = fill(nn.Linear(4, 3))
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=3)


def guarded():
    if torch.is_grad_enabled():
        optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    if loss.requires_grad:
        loss.backward()
    return loss


for step in range(3):
    print("guarded", step, optimizer.step(guarded).item())
