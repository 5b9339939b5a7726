"""The best weights, kept in memory and on disk, and looked into."""

import copy

import torch
from torch import nn, optim

net = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
for i, p in enumerate(net.parameters()):
    nn.init.constant_(p, 0.1 * (i + 1))
optimizer = optim.SGD(net.parameters(), lr=0.05)
x, y = torch.tensor([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]]), torch.tensor([[1.0], [0.0], [2.0]])
best, best_loss = copy.deepcopy(net.state_dict()), float("inf")
for epoch in range(3):
    optimizer.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    optimizer.step()
    if loss.item() < best_loss:
        best_loss, best = loss.item(), copy.deepcopy(net.state_dict())
net.load_state_dict(best)
print(round(best_loss, 4), tuple(best["1.weight"].shape), [round(v, 4) for v in best["1.running_mean"].tolist()])
torch.save(best, "best.pt")
torch.save({"net": net.state_dict(), "loss": best_loss}, "all.pt")
for path, key in (("best.pt", None), ("all.pt", "net")):
    state = torch.load(path)
    state = state if key is None else state[key]
    print(path, sorted(state), "1.bias" in state, int(state["1.num_batches_tracked"]))
    print(round(sum(v.double().pow(2).sum().item() for k, v in state.items() if k.endswith("weight")), 4))
