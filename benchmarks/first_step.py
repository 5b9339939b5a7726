"""How long the first step of each optimizer takes, which MindSpore compiles for all parameters at once.

    python benchmarks/first_step.py                        # 150 parameters, as ResNet-50 has about
    python benchmarks/first_step.py --parameters 400 SGD Adam

Times are CPU seconds of the process: the first step, and the median of five later ones.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore.experimental import optim

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from torch2ms.runtime import adam, sgd

OPTIMIZERS = {
    "SGD": sgd.SGD,
    "Adam": adam.Adam,
    **{f"MindSpore's {name}": getattr(optim, name) for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad")},
}


def main() -> None:
    """Print a line for each optimizer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(OPTIMIZERS), help="optimizers; all when none is given")
    parser.add_argument("--parameters", type=int, default=150, help="arrays of 64 x 64 (default: 150)")
    options = parser.parse_args()
    for name in options.names:
        zeros = [np.zeros((64, 64), np.float32) for _ in range(options.parameters)]
        parameters = [ms.Parameter(zero, name=f"weight{number}") for number, zero in enumerate(zeros)]
        optimizer = OPTIMIZERS[name](parameters, lr=0.1)
        gradients = tuple(ms.Tensor(zero + 1) for zero in zeros)
        spent = []
        for _ in range(6):
            start = time.process_time()
            optimizer(gradients)
            parameters[-1].asnumpy()
            spent.append(time.process_time() - start)
        print(f"{name:20} first step {spent[0]:6.1f} s   later {statistics.median(spent[1:]):.3f} s", flush=True)


if __name__ == "__main__":
    main()
