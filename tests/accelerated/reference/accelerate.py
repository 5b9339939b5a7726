"""accelerate as far as ``program.py`` needs it, in one process: its package is no dependency of torch2ms.

What it prints for the program was compared with accelerate 1.15: it is the same.
"""

import contextlib
import os

import torch


class _State:
    sync, is_end, steps = True, False, 1


class _Optimizer(torch.optim.Optimizer):
    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.param_groups = optimizer.param_groups

    def step(self):
        if _State.sync:
            self.optimizer.step()

    def zero_grad(self):
        if _State.sync:
            self.optimizer.zero_grad()

    def state_dict(self):
        return self.optimizer.state_dict()

    def load_state_dict(self, state):
        self.optimizer.load_state_dict(state)


class _Schedule:
    def __init__(self, scheduler):
        self.scheduler = scheduler

    def step(self):
        if _State.sync:
            self.scheduler.step()

    def get_last_lr(self):
        return self.scheduler.get_last_lr()


class _Loader:
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        _State.is_end = False
        batches = list(self.loader)
        for number, batch in enumerate(batches, 1):
            _State.is_end = number == len(batches)
            yield batch


class Accelerator:
    device = torch.device("cpu")

    def __init__(self, gradient_accumulation_steps=1):
        _State.steps, self.passes, self.members = gradient_accumulation_steps, 0, []

    @property
    def sync_gradients(self):
        return _State.sync

    def prepare(self, *objects):
        self.members = [one for one in objects if isinstance(one, (torch.nn.Module, torch.optim.Optimizer))]
        made = [
            _Optimizer(one)
            if isinstance(one, torch.optim.Optimizer)
            else one
            if isinstance(one, torch.nn.Module)
            else _Schedule(one)
            if hasattr(one, "get_last_lr")
            else _Loader(one)
            for one in objects
        ]
        return made[0] if len(made) == 1 else tuple(made)

    @contextlib.contextmanager
    def accumulate(self, model):
        self.passes = 0 if _State.is_end else self.passes + 1
        _State.sync = self.passes % _State.steps == 0
        yield

    def backward(self, loss):
        (loss / _State.steps).backward()

    def clip_grad_norm_(self, parameters, max_norm):
        return torch.nn.utils.clip_grad_norm_(parameters, max_norm)

    def autocast(self):
        return contextlib.nullcontext()

    def gather_for_metrics(self, data):
        return data

    def unwrap_model(self, model):
        return model

    def wait_for_everyone(self):
        pass

    def print(self, *values):
        print(*values)

    def save(self, value, path):
        torch.save(value, path)

    def save_state(self, folder):
        torch.save([one.state_dict() for one in self.members], os.path.join(folder, "state.pt"))

    def load_state(self, folder):
        for one, state in zip(self.members, torch.load(os.path.join(folder, "state.pt"))):
            one.load_state_dict(state)
