import torch
from torch import nn

from fixed import fill, points


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU())
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.backbone(x))


x, y = points()
net = fill(Net())
for param in net.backbone[0].parameters():
    param.requires_grad = False
decay, no_decay = [], []
for name, param in net.named_parameters():
    if not param.requires_grad:
        continue
    if param.ndim <= 1 or name.endswith(".bias"):
        no_decay.append(param)
    else:
        decay.append(param)
optimizer = torch.optim.AdamW(
    [{"params": decay, "weight_decay": 0.1}, {"params": no_decay, "weight_decay": 0.0}], lr=0.02
)
print(sum(p.numel() for p in net.parameters() if p.requires_grad), "trainable")
for step in range(6):
    net.train()
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    net.eval()
    with torch.no_grad():
        print(step, loss.item(), nn.functional.cross_entropy(net(x), y).item())
