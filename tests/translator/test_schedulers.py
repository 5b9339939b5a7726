"""Schedulers that a program derives from PyTorch's: what they read of themselves that MindSpore's do not have."""

from __future__ import annotations

from torch2ms import translate_source

SOURCE = """
from torch.optim.lr_scheduler import LRScheduler


class Warm(LRScheduler):
    def get_lr(self):
        if self._step_count < 3:
            return [b * self._step_count / 3 for b in self.base_lrs]
        return [b / (1 + self.last_epoch) for b in self.base_lrs]
"""


def test_a_scheduler_of_the_program_counts_its_steps() -> None:
    text = translate_source(SOURCE).text
    assert "if schedulers.step_count(self) < 3:" in text
    assert "self.last_epoch" in text  # MindSpore's have it under this name


def test_a_count_of_the_programs_own_is_left() -> None:
    text = translate_source(SOURCE.replace("    def get_lr", "    _step_count = 7\n\n    def get_lr")).text
    assert "if self._step_count < 3:" in text
