import torch
from torch import nn

from fixed import fill, points


class Trainer:
    def __init__(self, model, optimizer, criterion, scheduler=None, max_norm=None):
        self.model = model
        self.optimizer = optimizer
        self.criterion = criterion
        self.scheduler = scheduler
        self.max_norm = max_norm
        self.best = float("inf")
        self.history = {"train": [], "val": []}

    def run_epoch(self, batches, training):
        self.model.train(training)
        total, count = 0.0, 0
        for inputs, targets in batches:
            if training:
                self.optimizer.zero_grad()
            with torch.set_grad_enabled(training):
                outputs = self.model(inputs)
                loss = self.criterion(outputs, targets)
                if training:
                    loss.backward()
                    if self.max_norm:
                        nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
                    self.optimizer.step()
            total += loss.item() * inputs.size(0)
            count += inputs.size(0)
        return total / count

    def fit(self, train_batches, val_batches, epochs, patience=3):
        bad = 0
        for epoch in range(epochs):
            for phase, batches in (("train", train_batches), ("val", val_batches)):
                self.history[phase].append(self.run_epoch(batches, phase == "train"))
            if self.scheduler is not None:
                self.scheduler.step(self.history["val"][-1])
            print(epoch, self.history["train"][-1], self.history["val"][-1])
            if self.history["val"][-1] < self.best - 1e-4:
                self.best = self.history["val"][-1]
                bad = 0
                torch.save({"model": self.model.state_dict(), "epoch": epoch, "best": self.best}, "b3_best.pth")
            else:
                bad += 1
                if bad >= patience:
                    print("early stop")
                    break
        state = torch.load("b3_best.pth")
        self.model.load_state_dict(state["model"])
        print("best", state["epoch"], state["best"], self.run_epoch(val_batches, False))


x, y = points()
model = fill(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, factor=0.5)
batches = list(zip(x.split(16), y.split(16)))
Trainer(model, optimizer, nn.CrossEntropyLoss(), scheduler, max_norm=1.0).fit(batches[:3], batches[3:], epochs=6)
