"""Show how training goes: a progress bar on a terminal, plain lines elsewhere; the loss and the time a step takes."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Any, List, Optional, TextIO

__all__ = ["ProgressMonitor"]


class ProgressMonitor:
    """Print the loss, its mean over the epoch, and the step time.

    On a terminal one line is drawn again and again; elsewhere (a log file, a pipe) a line is printed every ``every``
    steps. ``enabled=False`` silences it (ranks other than 0). The loss is read from the device only when it is shown.
    """

    def __init__(
        self,
        total_epochs: int,
        steps_per_epoch: int,
        every: int = 10,
        enabled: bool = True,
        stream: Optional[TextIO] = None,
    ) -> None:
        self.total_epochs, self.steps_per_epoch, self.every = total_epochs, steps_per_epoch, max(1, every)
        self.stream = stream if stream is not None else sys.stdout
        self.enabled = enabled
        self.is_terminal = bool(getattr(self.stream, "isatty", lambda: False)())
        self.losses: List[float] = []
        self.epoch = self.first_step = 0
        self._start = self._last = time.perf_counter()
        self._pending: List[Any] = []

    def begin_epoch(self, epoch: int, first_step: int = 0) -> None:
        """Start epoch ``epoch`` (from 0) at its step ``first_step``."""
        self.epoch, self.first_step, self.losses, self._pending = epoch, first_step, [], []
        self._start = self._last = time.perf_counter()

    def step(self, step: int, loss: Any, **figures: float) -> None:
        """Note step ``step`` (from 0) of the epoch; ``figures`` (such as ``lr``) are shown beside the loss."""
        self._pending.append(loss)
        last = step + 1 == self.steps_per_epoch
        if not (last or (step + 1) % self.every == 0 or (self.is_terminal and time.perf_counter() - self._last > 0.2)):
            return
        value = self._collect()
        now = time.perf_counter()
        pace = (now - self._start) / max(1, step + 1 - self.first_step)
        self._last = now
        if not self.enabled:
            return
        extra = "".join(f", {name} {number:.4g}" for name, number in figures.items())
        text = (
            f"epoch {self.epoch + 1}/{self.total_epochs} step {step + 1}/{self.steps_per_epoch}: "
            f"loss {value:.4f}{extra}, {pace * 1000:.0f} ms/step"
        )
        if self.is_terminal:
            self._draw(text, (step + 1) / max(1, self.steps_per_epoch))
        else:
            print(text, file=self.stream, flush=True)

    def end_epoch(self, **figures: float) -> None:
        """Finish the epoch with one line: the mean loss, the seconds it took, and ``figures``."""
        if self._pending:
            self._collect()
        if not self.enabled:
            return
        if self.is_terminal:
            self.stream.write("\r\x1b[K")
        extra = "".join(f", {name} {number:.4f}" for name, number in figures.items())
        seconds = time.perf_counter() - self._start
        print(
            f"epoch {self.epoch + 1}/{self.total_epochs}: mean loss {self.mean_loss:.4f}{extra}, {seconds:.1f} s",
            file=self.stream,
            flush=True,
        )

    @property
    def mean_loss(self) -> float:
        """The mean of the epoch's losses so far; nan before the first."""
        if self._pending:
            self._collect()
        return sum(self.losses) / len(self.losses) if self.losses else float("nan")

    def _collect(self) -> float:
        self.losses += [float(loss.asnumpy()) if hasattr(loss, "asnumpy") else float(loss) for loss in self._pending]
        self._pending = []
        return self.losses[-1]

    def _draw(self, text: str, part: float) -> None:
        width = max(10, min(30, shutil.get_terminal_size().columns - len(text) - 4))
        full = int(width * part)
        line = f"[{'#' * full}{'.' * (width - full)}] {text}"
        self.stream.write("\r\x1b[K" + line[: shutil.get_terminal_size().columns - 1])
        self.stream.flush()
