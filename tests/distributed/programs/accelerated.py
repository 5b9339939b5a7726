"""Training with accelerate, whose loaders give each process its own batches."""

import argparse

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=8, help="of one process")
    args = parser.parse_args()

    accelerator = Accelerator(cpu=True)
    set_seed(7)
    data = TensorDataset(torch.arange(480).reshape(40, 12).float().div(100).sin(), torch.arange(40) % 4)
    model = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    loader = DataLoader(data, batch_size=args.batch_size)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    criterion = nn.CrossEntropyLoss()
    for _ in range(2):
        for inputs, targets in loader:
            loss = criterion(model(inputs), targets)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            accelerator.print(f"loss {accelerator.gather(loss.detach()).mean().item():.6f}", flush=True)
    accelerator.wait_for_everyone()
    if accelerator.is_main_process:
        accelerator.save(accelerator.unwrap_model(model).state_dict(), "accelerated.pth")


if __name__ == "__main__":
    main()
