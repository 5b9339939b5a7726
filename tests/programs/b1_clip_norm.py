import torch
from torch import nn

from fixed import fill, points

x, y = points()
net = fill(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)))
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
opt = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9, weight_decay=1e-3)
for step in range(10):
    logits = net(x)
    loss = criterion(logits, y)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(net.parameters(), max_norm=0.5)
    opt.step()
    print(step, loss.item(), float(norm))
