# needs: safetensors
import os
import torch
from torch import nn
from safetensors import safe_open
from safetensors.torch import save_file

net = nn.Linear(2, 2)
if not os.path.exists("w.safetensors"):
    save_file({"weight": torch.arange(4.0).view(2, 2), "bias": torch.ones(2)}, "w.safetensors")
sd = {}
with safe_open("w.safetensors", framework="pt", device="cpu") as f:
    for k in f.keys():
        sd[k] = f.get_tensor(k)
net.load_state_dict(sd)
print(net(torch.ones(1, 2)).tolist(), sorted(sd))
