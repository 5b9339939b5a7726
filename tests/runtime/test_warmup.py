"""Schedules with a warm-up against the values of transformers 4.57.1, which were printed once with ten steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("mindspore")

import mindspore as ms
from mindspore import nn
from mindspore.experimental import optim

from torch2ms.runtime import encoded, warmup


def rates(make: Callable[[Any], Any], steps: int = 10) -> list[float]:
    """Return the learning rates of a schedule on an optimizer of rate 1."""
    optimizer = optim.SGD(nn.Dense(1, 1).trainable_params(), lr=1.0)
    scheduler = make(optimizer)
    found = []
    for _ in range(steps):
        found.append(float(scheduler.get_last_lr()[0]))
        scheduler.step()
    return found


LINEAR = [0.0, 0.25, 0.5, 0.75, 1.0, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda o: warmup.get_linear_schedule_with_warmup(o, 4, 10), LINEAR),
        (lambda o: warmup.get_scheduler("linear", o, 4, 10), LINEAR),
        (lambda o: warmup.get_constant_schedule(o), [1.0] * 10),
        (lambda o: warmup.get_constant_schedule_with_warmup(o, 2), [0.0, 0.5, *[1.0] * 8]),
        (
            lambda o: warmup.get_cosine_schedule_with_warmup(o, 0, 10),
            [0.5 * (1 + math.cos(math.pi * step / 10)) for step in range(10)],
        ),
        (
            lambda o: warmup.get_cosine_with_hard_restarts_schedule_with_warmup(o, 0, 10, num_cycles=2),
            [0.5 * (1 + math.cos(math.pi * (2 * step / 10 % 1))) for step in range(10)],
        ),
        (
            lambda o: warmup.get_polynomial_decay_schedule_with_warmup(o, 0, 10, lr_end=0.1, power=2.0),
            [0.9 * (1 - step / 10) ** 2 + 0.1 for step in range(10)],
        ),
        (
            lambda o: warmup.get_inverse_sqrt_schedule(o, 4),
            [0.0, 0.25, 0.5, 0.75, *[2 / math.sqrt(step) for step in range(4, 10)]],
        ),
    ],
)
def test_rates(make: Callable[[Any], Any], expected: list[float]) -> None:
    assert rates(make) == pytest.approx(expected, abs=1e-6)


def test_a_name_needs_its_steps() -> None:
    with pytest.raises(ValueError, match="num_warmup_steps"):
        rates(lambda o: warmup.get_scheduler("linear", o))
    with pytest.raises(ValueError, match="nothing"):
        rates(lambda o: warmup.get_scheduler("nothing", o, 1, 2))


def test_batches_become_tensors_and_keep_their_type() -> None:
    import numpy as np

    class Batch(dict[str, Any]):
        pass

    batch = Batch(input_ids=np.ones((2, 3), np.int64), texts=["a", "b"])
    made = encoded.as_tensors(batch)
    assert type(made) is Batch
    assert made["texts"] == ["a", "b"]
    assert made["input_ids"].dtype == ms.int64
    assert encoded.as_tensors(np.ones(2)).shape == (2,)
    labelled = encoded.with_labels({"labels": made["input_ids"], "input_ids": made["input_ids"]})
    assert labelled["labels"].dtype == ms.int32
    assert labelled["input_ids"].dtype == ms.int64
    assert encoded.as_labels(None) is None


def test_the_translator_knows_the_labels_that_the_runtime_knows() -> None:
    """Labels given by name are cast in the text, those of a batch when it runs."""
    from torch2ms.translator.rules.calls import counterpart_calls

    assert frozenset(encoded._LABELS) == counterpart_calls._LABELS
