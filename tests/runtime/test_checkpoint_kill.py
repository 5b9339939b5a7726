"""Kill a process while it writes checkpoints: the newest readable one must always be there, whole, and resume."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from torch2ms.runtime.checkpoint import CheckpointStore

WRITER = """
import sys
import numpy as np
import mindspore as ms
from mindspore import nn
from torch2ms.runtime.checkpoint import CheckpointStore
from torch2ms.runtime.optim import create_optimizer, state_dict
from torch2ms.runtime.train import TrainState, build_train_step

network = nn.SequentialCell(nn.Dense(64, 1024), nn.ReLU(), nn.Dense(1024, 4))
optimizer = create_optimizer("SGD", network.trainable_params(), lr=0.01, momentum=0.9)
state, store = TrainState(network, optimizer), CheckpointStore(sys.argv[1])
state.resume(store)
network.set_train()
step = build_train_step(network, nn.MSELoss(), optimizer)
data = ms.Tensor(np.ones((4, 64), np.float32)), ms.Tensor(np.zeros((4, 4), np.float32))
print("start", state.total_steps, flush=True)
while True:
    step(*data)
    state.total_steps += 1
    state.save(store, is_best=True)
    print("saved", state.total_steps, flush=True)
"""


@pytest.mark.slow
def test_killed_twenty_times_and_resumed_each_time(tmp_path, repository):
    draw = random.Random(20)
    environment = {**os.environ, "PYTHONPATH": str(repository)}
    reached = 0
    for _ in range(20):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=environment
        )
        assert writer.stdout is not None
        lines = []
        for line in writer.stdout:
            lines.append(line.split())
            if line.startswith("saved") and int(line.split()[1]) >= reached + 2:
                break
        time.sleep(draw.uniform(0, 0.06))  # somewhere in the next few writes, of some ten milliseconds each
        os.kill(writer.pid, signal.SIGKILL)
        lines += [line.split() for line in writer.stdout if line.endswith("\n")]
        writer.wait()
        started = [int(line[1]) for line in lines if line[0] == "start"]
        saved = [int(line[1]) for line in lines if line[0] == "saved"]
        assert started, "the writer did not come up"
        assert started[0] >= reached, "resumed from an older checkpoint than the newest that was reported as written"
        found = CheckpointStore(tmp_path).load_latest()
        assert found is not None
        assert found[1]["total_steps"] >= saved[-1]
        assert set(found[1]["optimizer"]) == {"state", "param_groups"}
        reached = found[1]["total_steps"]
    assert reached >= 40
