"""A header of the log says how the run is set up; the settings are made in another file (seeding_parts)."""

import torch
from seeding_parts import seed_everything

for fast in (False, True):
    seed_everything(3, fast)
    header = {
        "deterministic": torch.backends.cudnn.deterministic,
        "benchmark": torch.backends.cudnn.benchmark,
        "algorithms": torch.are_deterministic_algorithms_enabled(),
    }
    print(header)
