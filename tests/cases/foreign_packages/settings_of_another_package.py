# needs: yaml
# Packages that take no tensors are as they were: settings, tables, bars.
import io

import torch
import yaml

text = "layers: [4, 3, 1]\nscale: 0.5\n"
settings = yaml.safe_load(io.StringIO(text))
layers = []
for before, after in zip(settings["layers"], settings["layers"][1:]):
    layer = torch.nn.Linear(before, after)
    torch.nn.init.constant_(layer.weight, settings["scale"])
    torch.nn.init.zeros_(layer.bias)
    layers += [layer, torch.nn.ReLU()]
net = torch.nn.Sequential(*layers)
print(net(torch.arange(4.0)[None]).item())
