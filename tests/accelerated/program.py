"""Steps of HuggingFace's accelerate: gradients of several passes that it adds up, and those a program adds itself."""

import os
import tempfile

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def fill(model):
    for index, p in enumerate(model.parameters()):
        p.data.copy_(torch.sin(torch.arange(p.numel(), dtype=torch.float32) + index).view(p.shape) * 0.3)


def run(steps, clip):
    accelerator = Accelerator(gradient_accumulation_steps=steps)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    fill(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    x = torch.sin(torch.arange(88 * 4, dtype=torch.float32)).view(88, 4)
    y = torch.arange(88) % 3
    loader = DataLoader(TensorDataset(x, y), batch_size=8)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3, gamma=0.5)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(2):
        for data, target in loader:
            with accelerator.accumulate(model):
                loss = criterion(model(data), target)
                accelerator.backward(loss)
                if clip and accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 0.05)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            accelerator.print(f"{loss.item():.5f} {accelerator.sync_gradients} {scheduler.get_last_lr()[0]:.6f}")


class Trainer:
    """Keeps the accelerator, the network and the optimizer, saves them, and goes on from there."""

    def __init__(self):
        self.accelerator = Accelerator(gradient_accumulation_steps=2)
        self.model = nn.Linear(4, 3)
        fill(self.model)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=0.05)
        self.loader = DataLoader(TensorDataset(torch.sin(torch.arange(80.0)).view(20, 4)), batch_size=4)
        self.model, self.opt, self.loader = self.accelerator.prepare(self.model, self.opt, self.loader)

    @property
    def device(self):
        return self.accelerator.device

    def epoch(self):
        self.model.train()
        for (data,) in self.loader:
            with self.accelerator.accumulate(self.model):
                loss = (self.model(data.to(self.device)) ** 2).mean()
                self.accelerator.backward(loss)
                self.opt.step()
                self.opt.zero_grad()
        return loss.item()

    def evaluate(self):
        self.model.eval()
        found = []
        for (data,) in self.loader:
            with torch.no_grad():
                found.append(self.accelerator.gather_for_metrics(self.model(data)))
        return torch.cat(found).sum().item()


def trainer():
    """A run that is taken up again from what was saved."""
    first = Trainer()
    first.accelerator.print(f"{first.epoch():.5f}")
    with tempfile.TemporaryDirectory() as folder:
        first.accelerator.save_state(folder)
        second = Trainer()
        second.accelerator.load_state(folder)
        first.accelerator.print(f"{first.epoch():.5f} {second.epoch():.5f} {second.evaluate():.5f}")
        path = os.path.join(folder, "model.pt")
        first.accelerator.wait_for_everyone()
        first.accelerator.save(first.accelerator.unwrap_model(first.model).state_dict(), path)
        third = nn.Linear(4, 3)
        third.load_state_dict(torch.load(path))
        print(f"{(third.weight - first.model.weight).abs().max().item():.5f}")


def by_hand():
    """Gradients added up by the program itself."""
    accelerator = Accelerator()
    model = nn.Linear(4, 3)
    fill(model)
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model, opt = accelerator.prepare(model, opt)
    x = torch.cos(torch.arange(32 * 4, dtype=torch.float32)).view(4, 8, 4)
    for step in range(6):
        total = 0.0
        for part in x:
            with accelerator.autocast():
                loss = (model(part) ** 2).mean() / 4
                total += loss.item()
            accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        opt.zero_grad()
        accelerator.wait_for_everyone()
        accelerator.print(f"{total:.5f}")


if __name__ == "__main__":
    run(3, True)
    run(4, False)
    by_hand()
    trainer()
