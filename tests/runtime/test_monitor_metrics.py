from __future__ import annotations

import io

import mindspore as ms
import numpy as np

from torch2ms.runtime import metrics
from torch2ms.runtime.monitor import ProgressMonitor


class Terminal(io.StringIO):
    def isatty(self):
        return True


def show(stream, enabled=True):
    monitor = ProgressMonitor(2, 4, every=2, enabled=enabled, stream=stream)
    monitor.begin_epoch(0)
    for step in range(4):
        monitor.step(step, ms.Tensor(float(step)), lr=0.1)
    monitor.end_epoch(accuracy=0.5)
    return stream.getvalue()


def test_plain_lines_where_there_is_no_terminal():
    lines = show(io.StringIO()).splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("epoch 1/2 step 2/4: loss 1.0000, lr 0.1, ")
    assert lines[1].startswith("epoch 1/2 step 4/4: loss 3.0000")
    assert lines[2].startswith("epoch 1/2: mean loss 1.5000, accuracy 0.5000, ")
    assert "\r" not in "".join(lines)


def test_a_bar_on_a_terminal():
    text = show(Terminal())
    assert "\r\x1b[K[####" in text
    assert text.endswith(" s\n")


def test_silence_on_other_ranks():
    assert show(io.StringIO(), enabled=False) == ""


def test_mean_loss_before_and_after():
    monitor = ProgressMonitor(1, 3, every=10, stream=io.StringIO())
    assert np.isnan(monitor.mean_loss)
    monitor.begin_epoch(0)
    monitor.step(0, 2.0)
    assert monitor.mean_loss == 2.0


def test_average_weighs_by_count():
    mean = metrics.Average()
    assert np.isnan(mean.compute())
    mean.update(ms.Tensor(1.0), 3)
    mean.update(5.0)
    assert mean.compute() == 2.0
    mean.clear()
    assert mean.count == 0


def test_top_k():
    logits = ms.Tensor(np.array([[0.1, 0.5, 0.4], [0.9, 0.05, 0.05], [0.2, 0.3, 0.5]], np.float32))
    labels = ms.Tensor(np.array([2, 0, 0]), ms.int32)
    top = metrics.Top((1, 2))
    top.update(logits, labels)
    top.update(logits[:1], labels[:1])
    assert top.compute() == {"top1": 0.25, "top2": 0.75}
    assert metrics.accuracy(logits, labels, (1, 3)) == (1 / 3, 1.0)


def test_formatted_takes_tensors_for_their_numbers() -> None:
    values = {"name": "loss", "val": ms.Tensor(0.5), "avg": 2}
    assert metrics.formatted("{name} {val:.2f} ({avg:.1f})", **values) == "loss 0.50 (2.0)"
