"""The trainer of amp_trainer_parts: accumulated gradients, a bad batch, and a resumed run with its scale."""

import numpy as np
import torch
from amp_trainer_parts import Trainer
from torch import nn

rng = np.random.RandomState(0)
BATCHES = [
    (torch.from_numpy(rng.randn(4, 3).astype("float32")), torch.from_numpy(rng.randn(4, 1).astype("float32")))
    for _ in range(8)
]
BATCHES[3][0][0, 0] = float("nan")


def build():
    net = nn.Linear(3, 1)
    nn.init.constant_(net.weight, 0.3)
    nn.init.constant_(net.bias, 0.1)
    return net


for accumulate, max_norm in ((1, None), (2, 0.5)):
    net = build()
    trainer = Trainer(net, torch.optim.AdamW(net.parameters(), lr=0.05), accumulate, max_norm=max_norm)
    print(round(trainer.epoch(BATCHES, nn.MSELoss()), 5), trainer.scaler.get_scale())
    trainer.save("t.pt")
    print(round(trainer.epoch(BATCHES[:3], nn.MSELoss()), 5), [round(v, 5) for v in net.weight[0].tolist()])
    again = build()
    other = Trainer(again, torch.optim.AdamW(again.parameters(), lr=1.0), accumulate, max_norm=max_norm)
    other.load("t.pt")
    print(other.scaler.get_scale(), other.scaler.state_dict()["_growth_tracker"])
    print(round(other.epoch(BATCHES[:3], nn.MSELoss()), 5), [round(v, 5) for v in again.weight[0].tolist()])
plain = build()
off = Trainer(plain, torch.optim.SGD(plain.parameters(), lr=0.05), amp=False)
print(round(off.epoch(BATCHES[:3], nn.MSELoss()), 5), off.scaler.get_scale(), off.scaler.state_dict(), off.scaler.is_enabled())
