"""L-BFGS: a quasi-Newton method that evaluates the loss several times in one step.

MindSpore has none. The numbers are PyTorch's: same direction, first step, tolerances and line search (J. Nocedal and
S. Wright, Numerical Optimization, 2006, algorithms 7.4, 3.5 and 3.6; the minimum of a cubic is their equation 3.59).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

import mindspore as ms
import numpy as np
from mindspore import ops
from mindspore.experimental.optim import Optimizer

__all__ = ["LBFGS", "Closure"]

Closure = Callable[[], Tuple[Any, Sequence[ms.Tensor]]]  # returns the loss and the gradients of all parameters

_ARMIJO, _CURVATURE = 1e-4, 0.9  # the constants c1 and c2 of the strong Wolfe conditions


@dataclass
class _Trial:
    """A point on the line that is searched: step size, loss, gradient and slope along the line."""

    size: float
    loss: float
    gradient: ms.Tensor
    slope: float


@dataclass
class _Memory:
    """What one step hands on to the next."""

    evaluations: int = 0  # of the loss, in all steps
    iterations: int = 0
    direction: Optional[ms.Tensor] = None
    size: float = 0.0
    loss: float = 0.0  # where the last direction was chosen
    gradient: Optional[ms.Tensor] = None  # where the last direction was chosen
    scale: float = 1.0  # of the first guess of the inverse Hessian
    changes: List[ms.Tensor] = field(default_factory=list)  # of the gradient, oldest first
    moves: List[ms.Tensor] = field(default_factory=list)  # of the parameters
    weights: List[float] = field(default_factory=list)  # 1 / (change . move)
    shares: List[ms.Tensor] = field(default_factory=list)  # of the moves in the last direction


class LBFGS(Optimizer):
    """``torch.optim.LBFGS``: same arguments and numbers; one group of parameters.

    The gradients are not kept in the parameters, so the closure returns them::

        grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)

        def closure():
            loss, grads = grad_fn(data, target)
            return loss, grads

        loss = optimizer.step(closure)

    ``max_eval`` is a quarter more than ``max_iter`` unless given; ``line_search_fn`` is None or ``"strong_wolfe"``.
    Raises ValueError for several parameter groups or another line search.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1.0,
        max_iter: int = 20,
        max_eval: Optional[int] = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: Optional[str] = None,
    ) -> None:
        if line_search_fn not in (None, "strong_wolfe"):
            raise ValueError("only 'strong_wolfe' is supported")
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS takes one group of parameters, with the same options for all")
        self.memory = _Memory()

    def construct(self, *_: Any) -> None:
        """Refuse gradients: this optimizer needs the loss at several points."""
        raise TypeError("LBFGS evaluates the loss several times: call optimizer.step(closure)")

    def step(self, closure: Closure) -> Any:
        """Make up to ``max_iter`` iterations and return the loss before the first.

        ``closure`` returns the loss (a scalar) and the gradients in the order of ``parameters``.
        """
        options, memory = self.param_groups[0], self.memory
        first, grads = closure()
        loss, gradient = _number(first), _flat(grads)
        memory.evaluations += 1
        if _largest(gradient) <= options["tolerance_grad"]:
            return first
        evaluations, lr = 1, _number(self.lrs[0])
        for iteration in range(1, options["max_iter"] + 1):
            self._choose_direction(gradient)
            direction, before = memory.direction, loss
            memory.gradient, memory.loss = gradient, loss
            shortened = memory.iterations == 1
            memory.size = min(1.0, 1.0 / _number(gradient.abs().sum())) * lr if shortened else lr
            slope = _dot(gradient, direction)
            if slope > -options["tolerance_change"]:
                break
            start = _flat(self.parameters)
            if options["line_search_fn"] is not None:
                search = _LineSearch(partial(self._evaluate, closure, start), direction, options)
                origin = _Trial(0.0, loss, gradient, slope)
                found, used = search.find(origin, memory.size, options["max_eval"] - evaluations)
                memory.size, loss, gradient = found.size, found.loss, found.gradient
                self._move(start, memory.size)
                evaluations += used
                memory.evaluations += used
            elif iteration < options["max_iter"]:
                loss, gradient = self._evaluate(closure, start, memory.size)
                evaluations += 1
                memory.evaluations += 1
            else:
                self._move(start, memory.size)  # nobody asks for the loss there
            done = evaluations >= options["max_eval"] or _largest(gradient) <= options["tolerance_grad"]
            stuck = _largest(_scaled(direction, memory.size)) <= options["tolerance_change"]
            if done or stuck or abs(loss - before) < options["tolerance_change"]:
                break
        return first

    def _choose_direction(self, gradient: ms.Tensor) -> None:
        """Add what the last move has shown to the history, and put the next direction into the memory."""
        memory = self.memory
        memory.iterations += 1
        if memory.iterations == 1:
            memory.direction = -gradient
            return
        change, move = gradient - memory.gradient, _scaled(memory.direction, memory.size)
        curvature = _dot(change, move)
        if curvature > 1e-10:
            if len(memory.moves) == self.param_groups[0]["history_size"]:
                for oldest in (memory.changes, memory.moves, memory.weights):
                    oldest.pop(0)
            memory.changes.append(change)
            memory.moves.append(move)
            memory.weights.append(1.0 / curvature)
            memory.scale = curvature / _dot(change, change)
        direction = -gradient
        history = list(zip(memory.changes, memory.moves, memory.weights))
        shares = []
        for change, move, weight in reversed(history):
            shares.append(_dot(move, direction) * weight)
            direction = direction - _scaled(change, shares[-1])
        memory.shares = [ms.Tensor(share, gradient.dtype) for share in reversed(shares)]
        direction = _scaled(direction, memory.scale)
        for (change, move, weight), share in zip(history, reversed(shares)):
            direction = direction + _scaled(move, share - _dot(change, direction) * weight)
        memory.direction = direction

    def _move(self, start: ms.Tensor, size: float) -> None:
        """Set all parameters to the point ``size`` along the direction from ``start``."""
        point, offset = start + _scaled(self.memory.direction, size), 0
        for parameter in self.parameters:
            ops.assign(parameter, point[offset : offset + parameter.size].reshape(parameter.shape))
            offset += parameter.size

    def _evaluate(self, closure: Closure, start: ms.Tensor, size: float) -> Tuple[float, ms.Tensor]:
        """Return loss and gradient at a point of the line; the parameters stay there."""
        self._move(start, size)
        loss, grads = closure()
        return _number(loss), _flat(grads)

    def numbered(self) -> Dict[Any, Dict[str, Any]]:
        """Return what one step hands on to the next under PyTorch's names, which are kept with the first parameter."""
        memory = self.memory
        if not memory.evaluations:
            return {}
        state: Dict[str, Any] = {"func_evals": memory.evaluations, "n_iter": memory.iterations}
        if memory.direction is not None and memory.gradient is not None:
            state.update(d=memory.direction.copy(), t=memory.size)
            state.update(old_dirs=_copies(memory.changes), old_stps=_copies(memory.moves))
            state.update(ro=[ms.Tensor(weight, memory.direction.dtype) for weight in memory.weights])
            state.update(H_diag=ms.Tensor(memory.scale, memory.direction.dtype) if memory.changes else 1)
            if memory.iterations > 1:
                unused = self.param_groups[0]["history_size"] - len(memory.shares)
                state.update(al=[*_copies(memory.shares), *[None] * unused])
            state.update(prev_flat_grad=memory.gradient.copy(), prev_loss=memory.loss)
        return {0: state}

    def load_numbered(self, numbered: Mapping[Any, Mapping[str, Any]]) -> None:
        """Go back to what :meth:`numbered` told, or to a state of PyTorch's."""
        state = numbered.get(0, {})
        names = {"direction": "d", "gradient": "prev_flat_grad"}
        vectors = {name: state[key].copy() for name, key in names.items() if key in state}
        self.memory = _Memory(
            evaluations=int(state.get("func_evals", 0)),
            iterations=int(state.get("n_iter", 0)),
            loss=float(state.get("prev_loss", 0.0)),
            size=_number(state.get("t", 0.0)),
            scale=_number(state.get("H_diag", 1.0)),
            changes=_copies(state.get("old_dirs", [])),
            moves=_copies(state.get("old_stps", [])),
            weights=[_number(weight) for weight in state.get("ro", [])],
            shares=_copies([share for share in state.get("al", []) if share is not None]),
            **vectors,
        )


def _copies(vectors: Iterable[ms.Tensor]) -> List[ms.Tensor]:
    return [vector.copy() for vector in vectors]


class _LineSearch:
    """Looks for a step size that meets the strong Wolfe conditions: first a bracket of it, then inside the bracket."""

    def __init__(
        self, evaluate: Callable[[float], Tuple[float, ms.Tensor]], direction: ms.Tensor, options: Dict[str, Any]
    ) -> None:
        self.evaluate, self.direction = evaluate, direction
        self.shortest = options["tolerance_change"] / _largest(direction)
        self.evaluations = 0

    def find(self, origin: _Trial, size: float, limit: int) -> Tuple[_Trial, int]:
        """Return the best trial and the number of evaluations; ``limit`` bounds those behind the first."""
        self.origin, self.limit = origin, limit
        bracket = self._bracket(size)
        with np.errstate(all="ignore"):
            best = bracket[0] if len(bracket) == 1 else self._zoom(bracket)
        return best, self.evaluations

    def _try(self, size: float) -> _Trial:
        loss, gradient = self.evaluate(size)
        self.evaluations += 1
        return _Trial(size, loss, gradient, _dot(gradient, self.direction))

    def _is_too_high(self, trial: _Trial) -> bool:
        return trial.loss > self.origin.loss + _ARMIJO * trial.size * self.origin.slope

    def _is_flat(self, trial: _Trial) -> bool:
        return abs(trial.slope) <= -_CURVATURE * self.origin.slope

    def _bracket(self, size: float) -> List[_Trial]:
        """Return one trial that meets the conditions, or two with one between them."""
        last, trial = self.origin, self._try(size)
        for index in range(self.limit):
            if self._is_too_high(trial) or (index > 1 and trial.loss >= last.loss):
                return [last, trial]
            if self._is_flat(trial):
                return [trial]
            if trial.slope >= 0:
                return [last, trial]
            bounds = (trial.size + 0.01 * (trial.size - last.size), trial.size * 10)
            with np.errstate(all="ignore"):
                last, trial = trial, self._try(_minimum_of_cubic(last, trial, bounds))
        return [self.origin, trial]

    def _zoom(self, bracket: List[_Trial]) -> _Trial:
        """Return the best point of a bracket, which is narrowed until the point meets the conditions."""
        low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
        slow = False
        while self.evaluations <= self.limit:
            left, right = sorted((bracket[0].size, bracket[1].size))
            if right - left < self.shortest:
                break
            size = _minimum_of_cubic(bracket[0], bracket[1], (left, right))
            margin = 0.1 * (right - left)
            near = min(right - size, size - left) < margin
            if near and (slow or size >= right or size <= left):
                size = right - margin if abs(size - right) < abs(size - left) else left + margin
                near = False
            slow = near
            trial = self._try(size)
            if self._is_too_high(trial) or trial.loss >= bracket[low].loss:
                bracket[high] = trial
                low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
                continue
            done = self._is_flat(trial)
            if not done and trial.slope * (bracket[high].size - bracket[low].size) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = trial
            if done:
                break
        return bracket[low]


def _minimum_of_cubic(a: _Trial, b: _Trial, bounds: Tuple[float, float]) -> float:
    """Return where the cubic through two trials and their slopes is least, held between the bounds."""
    left, right = (a, b) if a.size <= b.size else (b, a)
    mean = a.slope + b.slope - 3 * np.float64(a.loss - b.loss) / (a.size - b.size)
    square = mean**2 - a.slope * b.slope
    if not square >= 0:
        return (bounds[0] + bounds[1]) / 2.0
    root = np.sqrt(square)
    share = (right.slope + root - mean) / (right.slope - left.slope + 2 * root)
    return float(min(max(right.size - (right.size - left.size) * share, bounds[0]), bounds[1]))


def _flat(tensors: Sequence[ms.Tensor]) -> ms.Tensor:
    """Return all elements as one vector."""
    return ops.concat([tensor.reshape(-1) for tensor in tensors])


def _scaled(vector: Any, factor: float) -> ms.Tensor:
    """Return a multiple; MindSpore rounds plain numbers to float32 even beside float64."""
    return vector * ms.Tensor(factor, vector.dtype)


def _dot(a: Any, b: Any) -> float:
    return _number((a * b).sum())


def _largest(vector: ms.Tensor) -> float:
    return _number(vector.abs().max())


def _number(value: Any) -> float:
    return float(value.asnumpy() if isinstance(value, ms.Tensor) else value)
