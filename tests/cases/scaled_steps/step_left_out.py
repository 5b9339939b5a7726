"""A batch that overflows: the step is left out, the scale falls, and the schedule waits."""

import torch
from torch import nn

net = nn.Linear(2, 1)
nn.init.constant_(net.weight, 0.5)
nn.init.zeros_(net.bias)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.5)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=2)
batches = [torch.tensor([[1.0, 2.0]]), torch.tensor([[float("inf"), 1.0]]), torch.tensor([[0.5, -1.0]])] * 2
for x in batches:
    opt.zero_grad()
    loss = (net(x) - 1.0).pow(2).mean()
    scaler.scale(loss).backward()
    before = scaler.get_scale()
    scaler.step(opt)
    scaler.update()
    skipped = scaler.get_scale() < before
    if not skipped:
        sched.step()
    print(skipped, scaler.get_scale(), round(opt.param_groups[0]["lr"], 5), [round(v, 5) for v in net.weight[0].tolist()])
print(scaler.state_dict())
