# The averaged copy is made for one setting alone; the program runs without its package.
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--ema", action="store_true")
args = parser.parse_args([])


def averaged(model):
    from ema_pytorch import EMA

    return EMA(model, beta=0.99)


net = nn.Linear(2, 1)
with torch.no_grad():
    net.weight.copy_(torch.tensor([[0.5, -1.0]]))
    net.bias.zero_()
shadow = averaged(net) if args.ema else net
print(shadow(torch.tensor([[1.0, 2.0], [0.0, 1.0]])).flatten().tolist())
