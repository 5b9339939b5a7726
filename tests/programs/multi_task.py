import torch
import torch.nn as nn
import torch.nn.functional as F
from collections import defaultdict, OrderedDict
from torch.utils.data import DataLoader, Dataset, random_split
from fixed import fill, points


class MultiTask(Dataset):
    def __init__(self, n=48):
        self.x, self.y = points(n)
        self.r = self.x.sum(1) * 0.5

    def __len__(self):
        return self.x.size(0)

    def __getitem__(self, i):
        return self.x[i], {"cls": self.y[i], "reg": self.r[i]}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(OrderedDict([("fc1", nn.Linear(4, 12)), ("act", nn.Tanh())]))
        self.heads = nn.ModuleDict({"cls": nn.Linear(12, 3), "reg": nn.Linear(12, 1)})

    def forward(self, x):
        z = self.encoder(x)
        return {name: head(z) for name, head in self.heads.items()}


class UncertaintyLoss(nn.Module):
    """Kendall et al.: learned log variances."""
    def __init__(self, tasks):
        super().__init__()
        self.tasks = tasks
        self.log_vars = nn.Parameter(torch.zeros(len(tasks)))

    def forward(self, losses):
        total = 0
        for i, t in enumerate(self.tasks):
            total = total + torch.exp(-self.log_vars[i]) * losses[t] + self.log_vars[i]
        return total


def compute_losses(out, target):
    losses = {}
    losses["cls"] = F.cross_entropy(out["cls"], target["cls"])
    losses["reg"] = F.smooth_l1_loss(out["reg"].squeeze(-1), target["reg"])
    return losses


class Logger:
    def __init__(self):
        self.store = defaultdict(list)

    def log(self, **kw):
        for k, v in kw.items():
            self.store[k].append(v.item() if torch.is_tensor(v) else v)

    def mean(self, k):
        return sum(self.store[k]) / len(self.store[k])


torch.manual_seed(0)
net = fill(Net())
weighting = UncertaintyLoss(["cls", "reg"])
params = [
    {"params": net.encoder.parameters(), "lr": 0.01},
    {"params": [p for h in net.heads.values() for p in h.parameters()], "lr": 0.05},
    {"params": weighting.parameters(), "weight_decay": 0.0},
]
optimizer = torch.optim.Adam(params, lr=0.02, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda=[lambda e: 0.9 ** e, lambda e: 0.8 ** e, lambda e: 1.0])
train_set, val_set = random_split(MultiTask(), [40, 8])
loader = DataLoader(MultiTask(), batch_size=16, shuffle=False)
print(len(train_set), len(val_set), len(loader))
for epoch in range(3):
    logger = Logger()
    net.train()
    for x, target in loader:
        out = net(x)
        losses = compute_losses(out, target)
        total = weighting(losses)
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        logger.log(total=total, **losses)
    scheduler.step()
    print(epoch, " ".join("%s=%.4f" % (k, logger.mean(k)) for k in ("total", "cls", "reg")), ["%.4f" % lr for lr in scheduler.get_last_lr()])
    print("sigma", [round(v, 4) for v in torch.exp(weighting.log_vars).detach().tolist()])
