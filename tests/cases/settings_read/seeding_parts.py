"""Reproducible runs, as many projects set them up."""

import random

import numpy as np
import torch
from torch.backends import cudnn


def seed_everything(seed, fast=False):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    cudnn.deterministic = not fast
    cudnn.benchmark = fast
    torch.use_deterministic_algorithms(not fast, warn_only=True)
