"""Data-parallel training that adds up the gradients of several passes, in the shape that torchrun starts."""

import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 4))

    def forward(self, x):
        return self.layers(x)


def reduce_mean(tensor, world_size):
    total = tensor.clone()
    dist.all_reduce(total, op=dist.ReduceOp.SUM)
    return total / world_size


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", "--local-rank", type=int, default=int(os.environ.get("LOCAL_RANK", -1)))
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=8, help="of all processes together")
    parser.add_argument("--passes", type=int, default=2, help="whose gradients are added up")
    args = parser.parse_args()

    distributed = args.local_rank != -1
    if distributed:
        dist.init_process_group(backend="gloo", init_method="env://")
    world_size = dist.get_world_size() if distributed else 1
    rank = dist.get_rank() if distributed else 0

    torch.manual_seed(7)
    data = TensorDataset(torch.arange(480).reshape(40, 12).float().div(100).sin(), torch.arange(40) % 4)
    sampler = DistributedSampler(data, num_replicas=world_size, rank=rank, shuffle=True)
    loader = DataLoader(data, batch_size=args.batch_size // world_size, sampler=sampler)
    model = Net()
    if distributed:
        model = DDP(model, device_ids=[args.local_rank] if torch.cuda.is_available() else None)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    criterion = nn.CrossEntropyLoss()

    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        optimizer.zero_grad()
        for number, (inputs, targets) in enumerate(loader, 1):
            loss = criterion(model(inputs), targets)
            (loss / args.passes).backward()
            if number % args.passes == 0:
                optimizer.step()
                optimizer.zero_grad()
            mean = reduce_mean(loss.detach(), world_size) if distributed else loss
            if rank == 0:
                print(f"loss {mean.item():.6f}", flush=True)
    if rank == 0:
        state = model.module.state_dict() if distributed else model.state_dict()
        torch.save({"model": state, "epoch": args.epochs}, "added.pth")
    if distributed:
        dist.barrier()
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
