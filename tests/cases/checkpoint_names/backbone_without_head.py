"""The weights of a network that was trained before, without its head: ``strict=False``, and what was missing."""

import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 4, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU())
        self.norm = nn.GroupNorm(2, 4)
        self.fc = nn.Linear(4, classes)

    def forward(self, x):
        x = self.norm(self.stem(x)).mean(dim=(2, 3))
        return self.fc(x)


def fill(net, value):
    with torch.no_grad():
        for i, (name, p) in enumerate(net.named_parameters()):
            p.fill_(value * (i + 1))
    return net


old = fill(Net(10), 0.1)
old.stem[1].running_mean.fill_(0.25)
torch.save({"epoch": 3, "state_dict": old.state_dict(), "best_acc": 0.5}, "pretrained.pth.tar")

checkpoint = torch.load("pretrained.pth.tar", map_location="cpu")
state_dict = checkpoint["state_dict"]
for key in list(state_dict.keys()):
    if key.startswith("fc."):
        del state_dict[key]
net = fill(Net(2), -0.3)
result = net.load_state_dict(state_dict, strict=False)
print(result.missing_keys, result.unexpected_keys)
print(sorted(k for k in state_dict if k.endswith(("running_mean", "running_var", "num_batches_tracked"))))
print(net.norm.bias.tolist(), net.fc.bias.tolist(), net.state_dict()["stem.1.running_mean"].tolist())

own = net.state_dict()
fitting = {k: v for k, v in checkpoint["state_dict"].items() if k in own and v.shape == own[k].shape}
own.update(fitting)
net.load_state_dict(own)
print(len(fitting), len(own), sum("weight" in k for k in own))
