# The class of the network stands in the settings; save and load are the project's own.
import os
import tempfile

import torch
import torch.nn as nn


class Kept(nn.Module):
    def save(self, filename):
        torch.save(self.state_dict(), filename)
        return os.path.basename(filename)

    def load(self, filename):
        self.load_state_dict(torch.load(filename, map_location=lambda storage, place: storage))


class Narrow(Kept):
    def __init__(self, config):
        super().__init__()
        self.layer = nn.Linear(config["inputs"], 1)

    def forward(self, x):
        return self.layer(x)


class Wide(Kept):
    def __init__(self, config):
        super().__init__()
        self.layer = nn.Linear(config["inputs"], 4)

    def forward(self, x):
        return self.layer(x).sum(1, keepdim=True)


def find(name):
    return Wide if name.startswith("wide") else Narrow


def train(config):
    model = config["model_class"](config)
    nn.init.constant_(model.layer.weight, 0.5)
    nn.init.zeros_(model.layer.bias)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    best = 1e9
    for step in range(3):
        x = torch.ones(2, config["inputs"]) * step
        loss = (model(x) - 1).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loss.item() < best:
            best = loss.item()
            print(model.save(config["output"]))
    return best


with tempfile.TemporaryDirectory() as folder:
    for name in ("narrow", "wide"):
        config = {"inputs": 3, "output": os.path.join(folder, name + ".pt"), "model_class": find(name)}
        print(f"{train(config):.4f}")
        again = config["model_class"](config)
        again.load(config["output"])
        print([round(v, 4) for v in again(torch.ones(1, 3)).flatten().tolist()])
