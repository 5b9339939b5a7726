"""Data-parallel training in the shape that starts its own processes."""

import argparse
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Waves(Dataset):
    def __init__(self, size):
        self.inputs = torch.arange(size * 6).reshape(size, 6).float().div(50).cos()

    def __len__(self):
        return len(self.inputs)

    def __getitem__(self, index):
        return self.inputs[index], self.inputs[index].sum().unsqueeze(0)


class Trainer:
    def __init__(self, model, loader, optimizer, rank, world_size):
        self.rank = rank
        self.world_size = world_size
        self.model = DDP(model)
        self.loader = loader
        self.optimizer = optimizer

    def run_batch(self, source, targets):
        self.optimizer.zero_grad()
        output = self.model(source)
        loss = nn.functional.mse_loss(output, targets)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def train(self, epochs):
        for epoch in range(epochs):
            self.loader.sampler.set_epoch(epoch)
            for source, targets in self.loader:
                loss = self.run_batch(source, targets)
                dist.all_reduce(loss)
                if self.rank == 0:
                    print(f"loss {loss.item() / self.world_size:.6f}", flush=True)
            if self.rank == 0:
                torch.save(self.model.module.state_dict(), "spawned.pth")


def worker(rank, world_size, epochs, batch_size):
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = "12355"
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    torch.manual_seed(3)
    data = Waves(32)
    loader = DataLoader(data, batch_size=batch_size // world_size, shuffle=False, sampler=DistributedSampler(data))
    model = nn.Linear(6, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    Trainer(model, loader, optimizer, rank, world_size).train(epochs)
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=8, help="of all processes together")
    args = parser.parse_args()
    mp.spawn(worker, args=(args.processes, args.epochs, args.batch_size), nprocs=args.processes)
    print("done")
