"""Layers made of settings that another file holds, where whole numbers stand for floats."""
import torch
from torch import nn
from layers_of_settings_parts import SETTINGS, setting


def make(alpha=1, slope=0):
    return nn.Sequential(nn.CELU(alpha), nn.PReLU(init=slope), nn.ELU(alpha))


x = torch.linspace(-2, 2, 16).view(2, 4, 2)
print(make()(x).sum().item(), make(alpha=3)(x).sum().item(), make(setting("alpha"), setting("slope"))(x).sum().item())
norms = [nn.GroupNorm(SETTINGS["groups"], 4, eps=SETTINGS["eps"]), nn.LayerNorm(2, eps=setting("eps")),
         nn.LayerNorm([4, 2], SETTINGS["eps"], elementwise_affine=False), nn.Dropout1d(setting("drop")), nn.Dropout(SETTINGS["drop"])]
for norm in norms:
    print(type(norm).__name__, norm(x).abs().sum().item())
print(torch.nn.functional.layer_norm(x, (2,), eps=setting("eps")).abs().sum().item())
