"""Time of one training step: the example in PyTorch beside its translation in MindSpore.

    python benchmarks/step_time.py OUT --batch 8 --image-size 64 --steps 10

OUT is what ``torch2ms translate examples/resnet50_cifar10 OUT`` wrote. Each framework runs in a process of its own,
with equal threads, ResNet-50, random images and Adam; printed is the median wall time of a step after ``--warm-up``
steps, with the first one apart, because it may compile. The MindSpore step is written like the one that torch2ms emits
(``value_and_grad`` over the optimizer's parameters), in PyNative mode; ``--jit`` wraps it in ``ms.jit``.

What the numbers say holds for the CPU they were taken on. On AVX-512 machines MindSpore 2.9 and 2.10 need
``ONEDNN_MAX_CPU_ISA=AVX2``, which is set here: without, their convolutions run on a reference kernel.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

_COMMON = """
import json, statistics, sys, time
folder, batch, size, warm_up, steps, jit = sys.argv[1], *map(int, sys.argv[2:7])
sys.path.insert(0, folder)
import numpy as np
random = np.random.default_rng(0)
images = random.standard_normal((batch, 3, size, size)).astype("float32")
labels = random.integers(0, 10, batch)
def run(step):
    times = []
    for _ in range(warm_up + steps):
        start = time.perf_counter()
        loss = step()
        times.append(time.perf_counter() - start)
    print(json.dumps({"first": times[0], "step": statistics.median(times[warm_up:]), "loss": loss}))
"""
_TORCH = """
import torch
from resnet import resnet50
net = resnet50(num_classes=10).train()
optimizer = torch.optim.Adam(net.parameters(), lr=0.001, weight_decay=1e-5)
criterion = torch.nn.CrossEntropyLoss()
x, y = torch.from_numpy(images), torch.from_numpy(labels)
def step():
    optimizer.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()
run(step)
"""
_MINDSPORE = """
import mindspore as ms
from mindspore import nn
from mindspore.experimental import optim
from resnet import resnet50
ms.set_device("CPU")
net = resnet50(num_classes=10)
net.set_train()
optimizer = optim.Adam(net.trainable_params(), lr=0.001, weight_decay=1e-5)
criterion = nn.CrossEntropyLoss()
x, y = ms.Tensor(images), ms.Tensor(labels, ms.int32)
def forward_fn(data, target):
    return criterion(net(data), target)
grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)
def train_step(data, target):
    loss, grads = grad_fn(data, target)
    optimizer(grads)
    return loss
if jit:
    train_step = ms.jit(train_step)
run(lambda: float(train_step(x, y).asnumpy()))
"""


def measure(program: str, folder: Path, arguments: argparse.Namespace) -> dict[str, float]:
    """Run one framework in a process of its own; return seconds of the first and of the median step."""
    numbers = (arguments.batch, arguments.image_size, arguments.warm_up, arguments.steps, int(arguments.jit))
    environment = {**os.environ}
    environment.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")
    environment.setdefault("OMP_NUM_THREADS", "2")
    done = subprocess.run(
        [sys.executable, "-c", _COMMON + program, str(folder), *map(str, numbers)],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"the measurement in {folder} failed:\n{done.stderr[-3000:]}")
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out", type=Path, help="the translated example")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--image-size", type=int, default=64)
    parser.add_argument("--warm-up", type=int, default=2)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--jit", action="store_true", help="the MindSpore step under ms.jit")
    arguments = parser.parse_args()
    torch = measure(_TORCH, ROOT / "examples" / "resnet50_cifar10", arguments)
    mindspore = measure(_MINDSPORE, arguments.out.resolve(), arguments)
    print(f"{'':12}{'first s':>10}{'step s':>10}{'last loss':>12}")
    for name, found in (("PyTorch", torch), ("MindSpore", mindspore)):
        print(f"{name:12}{found['first']:>10.2f}{found['step']:>10.3f}{found['loss']:>12.4f}")
    print(f"MindSpore's step takes {mindspore['step'] / torch['step']:.2f} times PyTorch's")
    return 0


if __name__ == "__main__":
    sys.exit(main())
