import torch
from torch import nn

from fixed import fill, points


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.heads = nn.ModuleDict({"cls": nn.Linear(8, 3), "box": nn.Linear(8, 2)})

    def forward(self, x, targets=None):
        h = torch.relu(self.body(x))
        out = {name: head(h) for name, head in self.heads.items()}
        if targets is None:
            return out
        return {
            "loss_cls": nn.functional.cross_entropy(out["cls"], targets["cls"]),
            "loss_box": nn.functional.smooth_l1_loss(out["box"], targets["box"]),
        }


x, y = points()
targets = {"cls": y, "box": x[:, :2]}
model = fill(TwoHeads())
params = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.SGD(params, lr=0.1, momentum=0.9)
for step in range(6):
    loss_dict = model(x, targets)
    losses = sum(loss for loss in loss_dict.values())
    optimizer.zero_grad()
    losses.backward()
    optimizer.step()
    print(step, losses.item(), {k: round(v.item(), 4) for k, v in loss_dict.items()})
