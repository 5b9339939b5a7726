"""Recorders of a training run, called what a guess would take for the machinery of training."""

import torch
import torch.nn as nn


class Recorder:
    def __init__(self):
        self.seen = []

    def update(self, *values):
        self.seen.append(tuple(round(float(v), 4) for v in values))

    def step(self, value):
        self.seen.append(("step", round(float(value), 4)))

    def unscale(self):
        self.seen.append("unscaled")


def run(body, batches, optim, loss_scaler, lr_scheduler_log, env_state, accelerator):
    for x, y in batches:
        optim.zero_grad()
        value = ((body(x) - y) ** 2).mean()
        value.backward()
        optim.step()
        loss_scaler.update(value.item(), len(x))
        loss_scaler.unscale()
        lr_scheduler_log.step(value.item())
        env_state.update(x.sum().item())
        accelerator.update(y.mean().item())


body = nn.Linear(2, 1)
nn.init.constant_(body.weight, 0.5)
nn.init.zeros_(body.bias)
made = [{"r": Recorder}["r"]() for _ in range(4)]
tasks = {"run": run}
batches = [(torch.ones(4, 2), torch.zeros(4, 1)), (torch.full((2, 2), 2.0), torch.ones(2, 1))]
tasks["run"](body, batches, torch.optim.SGD(body.parameters(), lr=0.1), *made)
for recorder in made:
    print(recorder.seen)
