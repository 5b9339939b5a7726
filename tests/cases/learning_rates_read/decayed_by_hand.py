"""The rate is lowered by hand and written into a log, by helpers of another file (decayed_by_hand_parts)."""

import decayed_by_hand_parts as helpers
import torch

tools = {name: getattr(helpers, name) for name in ("rate_of", "decay", "table")}
w = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
opt = torch.optim.SGD([{"params": [w], "weight_decay": 0.01}], lr=0.2)
log = []
for epoch in range(3):
    opt.zero_grad()
    (w**2).sum().backward()
    opt.step()
    log.append({"epoch": epoch, "lr": tools["rate_of"](opt)})
    tools["decay"](opt, 0.5)
print(log)
print(tools["table"](opt), max(entry["lr"] for entry in log), w.tolist())
