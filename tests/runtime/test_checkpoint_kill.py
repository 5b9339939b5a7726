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

# The frameworks are imported once; each line of the input has a fork of its own write, until it is killed
WRITER = """
import os
import sys
import numpy as np
import mindspore as ms
from mindspore import nn
from torch2ms.runtime.checkpoint import CheckpointStore
from torch2ms.runtime.optim import create_optimizer, state_dict
from torch2ms.runtime.train import TrainState, build_train_step


def write():
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


for _ in sys.stdin:
    writer = os.fork()
    if writer == 0:
        try:
            write()
        finally:
            os._exit(1)
    print("writer", writer, flush=True)
    os.waitpid(writer, 0)
    print("ended", flush=True)
"""


@pytest.mark.slow
def test_killed_twenty_times_and_resumed_each_time(tmp_path, repository):
    draw, reached = random.Random(20), 0
    environment = {**os.environ, "PYTHONPATH": str(repository)}
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, bufsize=1, env=environment) as parent:
        for _ in range(20):
            reached = killed_once(parent, draw, tmp_path, reached)
        parent.stdin.close()
    assert reached >= 40


def killed_once(parent, draw, folder, reached):
    """Let one more process write, kill it, and return the step that is reached."""
    parent.stdin.write("\n")
    lines, is_killed = [], False
    while not lines or lines[-1] != ["ended"]:
        lines.append(parent.stdout.readline().split())
        assert lines[-1], "the writers did not come up"
        if lines[-1][0] == "saved" and int(lines[-1][1]) >= reached + 2 and not is_killed:
            time.sleep(draw.uniform(0, 0.06))  # somewhere in the next few writes, of some ten milliseconds each
            os.kill(next(int(line[1]) for line in lines if line[0] == "writer"), signal.SIGKILL)
            is_killed = True
    started = [int(line[1]) for line in lines if line[0] == "start"]
    saved = [int(line[1]) for line in lines if line[0] == "saved"]
    assert started, "the writer did not come up"
    assert started[0] >= reached, "resumed from an older checkpoint than the newest that was reported as written"
    found = CheckpointStore(folder).load_latest()
    assert found is not None
    assert found[1]["total_steps"] >= saved[-1]
    assert set(found[1]["optimizer"]) == {"state", "param_groups"}
    return found[1]["total_steps"]
