"""The average is made of a network that the script sets to train mode only afterwards."""

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel


def main():
    net = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.BatchNorm1d(4), nn.Linear(4, 1))
    for p in net.parameters():
        nn.init.constant_(p, 0.3)
    swa = AveragedModel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    x = torch.tensor([[1.0, 2.0], [0.0, -1.0], [3.0, 1.0]])
    y = torch.tensor([[1.0], [0.0], [2.0]])
    for epoch in range(3):
        net.train()
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        swa.update_parameters(net)
        print(epoch, round(loss.item(), 4), swa.training, swa.module.training)
    print([round(v, 4) for v in swa(x).flatten().tolist()])
    swa.eval()
    print([round(v, 4) for v in swa(x).flatten().tolist()])
    net.eval()
    print([round(v, 4) for v in net(x).flatten().tolist()])


if __name__ == "__main__":
    main()
