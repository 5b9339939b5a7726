# needs: safetensors
"""Pretrained weights, renamed and filtered on the way in."""

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 2, 3, padding=1)
        self.norm = nn.BatchNorm1d(2)

    def forward(self, x):
        return self.norm(self.conv(x))


weights = {
    "encoder.conv.weight": torch.arange(12.0).view(2, 2, 3) / 12,
    "encoder.conv.bias": torch.ones(2),
    "encoder.norm.weight": torch.full((2,), 2.0),
    "encoder.norm.bias": torch.zeros(2),
    "head.weight": torch.ones(3, 2),
}
save_file(weights, "pretrained.safetensors", metadata={"format": "pt", "epoch": "3"})
state = {k.replace("encoder.", ""): v for k, v in load_file("pretrained.safetensors").items() if "head" not in k}
net = Block()
print(net.load_state_dict(state, strict=False).unexpected_keys, sorted(state))
net.eval()
x = torch.arange(8.0).view(1, 2, 4)
print([round(v, 4) for v in net(x).flatten().tolist()])
with safe_open("pretrained.safetensors", framework="pt") as f:
    print(f.metadata()["epoch"], sorted(f.keys()))
    part = f.get_slice("head.weight")
    print(part.get_shape(), part[:2, 0].tolist(), f.get_tensor("encoder.norm.weight").dtype == torch.float32)
