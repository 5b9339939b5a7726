"""Each optimizer goes on from a checkpoint with the settings that it was saved with."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

BATCHES = [
    (torch.from_numpy(r.randn(5, 3).astype("float32")), torch.from_numpy(r.randn(5, 2).astype("float32")))
    for r in map(np.random.RandomState, range(8))
]


def build():
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    rng = np.random.RandomState(7)
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(torch.from_numpy(rng.randn(*p.shape).astype("float32") * 0.5))
    return net


def groups_of(net):
    return [{"params": net[0].parameters()}, {"params": net[2].parameters(), "lr": 0.02}]


MADE = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.8, dampening=0.1, weight_decay=0.02),
    "nesterov": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.8, nesterov=True),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.05, betas=(0.7, 0.9), eps=1e-3, weight_decay=0.1),
    "amsgrad": lambda p: torch.optim.Adam(p, lr=0.05, amsgrad=True),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.05, betas=(0.8, 0.95), weight_decay=0.3, amsgrad=True),
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=0.02, alpha=0.8, momentum=0.5, centered=True, weight_decay=0.1),
    "Adagrad": lambda p: torch.optim.Adagrad(p, lr=0.05, lr_decay=0.1, weight_decay=0.1, eps=1e-3),
    "Adadelta": lambda p: torch.optim.Adadelta(p, lr=0.5, rho=0.7, eps=1e-4, weight_decay=0.1),
    "Adamax": lambda p: torch.optim.Adamax(p, lr=0.05, betas=(0.7, 0.9), weight_decay=0.1),
    "NAdam": lambda p: torch.optim.NAdam(p, lr=0.05, betas=(0.7, 0.9), weight_decay=0.1, momentum_decay=0.01),
    "RAdam": lambda p: torch.optim.RAdam(p, lr=0.05, betas=(0.7, 0.9), weight_decay=0.1),
    "ASGD": lambda p: torch.optim.ASGD(p, lr=0.05, lambd=0.01, alpha=0.6, t0=2.0, weight_decay=0.1),
    "Rprop": lambda p: torch.optim.Rprop(p, lr=0.01, etas=(0.4, 1.3), step_sizes=(1e-4, 0.5)),
}
PLAIN = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.5),
    "nesterov": lambda p: torch.optim.SGD(p, lr=0.5),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.5),
    "amsgrad": lambda p: torch.optim.Adam(p, lr=0.5),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.5),
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=0.5),
    "Adagrad": lambda p: torch.optim.Adagrad(p, lr=0.5),
    "Adadelta": lambda p: torch.optim.Adadelta(p, lr=0.1),
    "Adamax": lambda p: torch.optim.Adamax(p, lr=0.5),
    "NAdam": lambda p: torch.optim.NAdam(p, lr=0.5),
    "RAdam": lambda p: torch.optim.RAdam(p, lr=0.5),
    "ASGD": lambda p: torch.optim.ASGD(p, lr=0.5),
    "Rprop": lambda p: torch.optim.Rprop(p, lr=0.5),
}


def train(net, optimizer, batches):
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
    return loss.item()


for name in MADE:
    net = build()
    optimizer = MADE[name](groups_of(net))
    train(net, optimizer, BATCHES[:4])
    torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, f"{name}.pt")
    whole = train(net, optimizer, BATCHES[4:])

    again = build()
    other = PLAIN[name](groups_of(again))
    saved = torch.load(f"{name}.pt", weights_only=True)
    again.load_state_dict(saved["net"])
    other.load_state_dict(saved["optimizer"])
    group = other.param_groups[1]
    shown = {k: v for k, v in group.items() if k not in ("params", "foreach", "fused", "capturable", "differentiable")}
    print(name, shown)
    print(f"{whole:.5f} {train(again, other, BATCHES[4:]):.5f}")
    print([f"{p.sum().item():.4f}" for p in again.parameters()])
