"""Saving and resuming as libraries of training code have it."""

import os

import torch


def set_lr(state, lr):
    for group in state["param_groups"]:
        group["lr"] = lr
        if "initial_lr" in group:
            group["initial_lr"] = lr
    return state


def save_state(path, model, optimizer, scheduler=None, **extra):
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), **extra}
    if scheduler is not None:
        state["scheduler"] = scheduler.state_dict()
    torch.save(state, path)


def resume(path, model, optimizer, scheduler=None, lr=None):
    if not os.path.isfile(path):
        return 0
    state = torch.load(path, map_location="cpu")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(set_lr(state["optimizer"], lr) if lr is not None else state["optimizer"])
    if scheduler is not None:
        scheduler.load_state_dict(state["scheduler"])
    return state["epoch"] + 1
