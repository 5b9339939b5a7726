"""A trainer with a gradient scaler, as many repositories have it."""

import torch


class Trainer:
    def __init__(self, model, optimizer, accumulate=1, amp=True, max_norm=None):
        self.model, self.optimizer = model, optimizer
        self.accumulate, self.max_norm = accumulate, max_norm
        self.scaler = torch.amp.GradScaler("cpu", init_scale=256.0, growth_interval=3, enabled=amp)

    def epoch(self, batches, criterion):
        self.optimizer.zero_grad()
        total = 0.0
        for i, (x, y) in enumerate(batches):
            loss = criterion(self.model(x), y) / self.accumulate
            self.scaler.scale(loss).backward()
            if (i + 1) % self.accumulate == 0:
                if self.max_norm is not None:
                    self.scaler.unscale_(self.optimizer)
                    torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
                self.scaler.step(self.optimizer)
                self.scaler.update()
                self.optimizer.zero_grad()
            if torch.isfinite(loss):
                total += loss.item()
        return total

    def save(self, path):
        torch.save({"model": self.model.state_dict(), "opt": self.optimizer.state_dict(), "scaler": self.scaler.state_dict()}, path)

    def load(self, path):
        state = torch.load(path)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["opt"])
        self.scaler.load_state_dict(state["scaler"])
