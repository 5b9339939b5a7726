"""Gradients of several passes that are exchanged in the last of them alone: ``DistributedDataParallel.no_sync``."""

from contextlib import nullcontext

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

PASSES = 3


def batch(rank, number):
    return torch.linspace(-1, 1, 12).view(3, 4) * (1 + rank + number)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    net = nn.Linear(4, 1)
    nn.init.constant_(net.weight, 0.5)
    nn.init.constant_(net.bias, 0.0)
    model = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for number in range(2 * PASSES):
        is_last = (number + 1) % PASSES == 0
        with nullcontext() if is_last else model.no_sync():
            loss = (model(batch(rank, number)) - 1).pow(2).mean() / PASSES
            loss.backward()
        if is_last:
            optimizer.step()
            optimizer.zero_grad()
    print(f"rank {rank} weights {net.weight.sum().item():.5f} bias {net.bias.item():.5f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
