import torch
from torch import nn

from fixed import fill, points

x, y = points()
net = fill(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)))
criterion = nn.CrossEntropyLoss()
opt = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)
norms, total = [], 0.0
for step in range(5):
    loss = criterion(net(x), y)
    opt.zero_grad()
    loss.backward()
    norms.append(nn.utils.clip_grad_norm_(parameters=net.parameters(), max_norm=0.2, norm_type=2).item())
    opt.step()
    print(step, loss.item(), norms[-1])


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.5)
        self.norms = []
        self.limit = 1.0

    def fit(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(x), y)
        loss.backward()
        if len(self.norms) > 2:
            self.limit = 0.5 * max(self.norms)
        self.norms.append(float(torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.limit)))
        self.optimizer.step()
        return loss.item()


trainer = Trainer(net)
for step in range(6):
    print(step, trainer.fit(x, y), trainer.norms[-1], trainer.limit)
for step in range(3):
    opt.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    total += nn.utils.clip_grad_norm_(net.parameters(), 0.3)
    opt.step()
    print(step, loss.item(), float(total))
