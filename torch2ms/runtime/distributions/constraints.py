"""Which values a parameter, a sample or an argument may have: what transforms name as their domain and codomain."""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from ..functional.algebra import open_cholesky
from ..linalg import eigvalsh

__all__ = [
    "Constraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]


class Constraint:
    """A set of allowed values, of numbers or (``event_dim`` > 0) of arrays of numbers."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Tensor) -> Tensor:
        """Return which values are allowed."""
        raise NotImplementedError


class _Real(Constraint):
    """Any number."""

    def check(self, value: Tensor) -> Tensor:
        """Return where there is a number."""
        return value == value


class _Range(Constraint):
    """Numbers between bounds, which belong to the set unless they are ``strict``; None is no bound."""

    def __init__(self, lower: Any, upper: Any, strict_lower: bool, strict_upper: bool) -> None:
        self.lower_bound, self.upper_bound = lower, upper
        self._strict = (strict_lower, strict_upper)

    def check(self, value: Tensor) -> Tensor:
        """Return which values are between the bounds."""
        above, below = None, None
        if self.lower_bound is not None:
            above = value > self.lower_bound if self._strict[0] else value >= self.lower_bound
        if self.upper_bound is not None:
            below = value < self.upper_bound if self._strict[1] else value <= self.upper_bound
        return _both(above, below)


class _Integers(_Range):
    """Whole numbers between bounds that belong to the set."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        """Return which values are whole and between the bounds."""
        return ops.logical_and(value % 1 == 0, super().check(value))


class _Boolean(Constraint):
    """0 and 1."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        """Return which values are 0 or 1."""
        return ops.logical_or(value == 0, value == 1)


class _Simplex(Constraint):
    """Vectors of numbers that are not negative and sum up to 1."""

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        """Return which vectors are probabilities."""
        return ops.logical_and((value >= 0).all(-1), ops.abs(value.sum(-1) - 1) < 1e-6)


class _OneHot(Constraint):
    """Vectors of zeros and one 1."""

    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        """Return which vectors hold a single 1."""
        return ops.logical_and(boolean.check(value).all(-1), value.sum(-1) == 1)


class _Lower(Constraint):
    """Square matrices with nothing above the diagonal, and positive numbers on it where that is asked for."""

    event_dim = 2

    def __init__(self, is_factor: bool) -> None:
        self._is_factor = is_factor

    def check(self, value: Tensor) -> Tensor:
        """Return which matrices are lower triangular."""
        found = (ops.tril(value) == value).all((-2, -1))
        return ops.logical_and(found, (ops.diagonal(value, 0, -2, -1) > 0).all(-1)) if self._is_factor else found


class _PositiveDefinite(Constraint):
    """Symmetric matrices whose eigenvalues are positive."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        """Return which matrices have a Cholesky factor, and are symmetric."""
        found = symmetric.check(value)
        if not bool(found.all()):  # beside one that is not symmetric, PyTorch stops there
            return found
        factor = open_cholesky(value)
        return (factor == factor).all((-2, -1))


class _Symmetric(Constraint):
    """Symmetric matrices, whose eigenvalues are not negative where that is asked for."""

    event_dim = 2

    def __init__(self, is_semidefinite: bool) -> None:
        self._is_semidefinite = is_semidefinite

    def check(self, value: Tensor) -> Tensor:
        """Return which matrices are symmetric."""
        mirrored = ops.swapaxes(value, -1, -2)
        found = (ops.abs(value - mirrored) <= 1e-6 + 1e-5 * ops.abs(mirrored)).all((-2, -1))
        is_asked = self._is_semidefinite and bool(found.all())  # beside one that is not symmetric, PyTorch stops there
        return (eigvalsh(value) >= 0).all(-1) if is_asked else found


class _Square(Constraint):
    """Square matrices."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        """Return which matrices have as many rows as columns: all or none."""
        return ops.full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=ms.bool_)


class _CorrelationFactor(_Lower):
    """Cholesky factors of correlations: lower triangles with rows of length 1."""

    def check(self, value: Tensor) -> Tensor:
        """Return which matrices are such factors."""
        allowed = float(np.finfo(ms.dtype_to_nptype(value.dtype)).eps) * value.shape[-1] * 10
        lengths = ops.sqrt(ops.square(value).sum(-1))
        return ops.logical_and(super().check(value), (ops.abs(lengths - 1.0) <= allowed).all(-1))


class _Dependent(Constraint):
    """What depends on other parameters, and cannot be checked alone; called, it tells what is known of it."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        """Whether the values are whole numbers; NotImplementedError where nothing tells."""
        return bool(_told(self._is_discrete, "is_discrete"))

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        """The number of axes of a value; NotImplementedError where nothing tells."""
        return int(_told(self._event_dim, "event_dim"))

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        """Return this with what is known of it."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Tensor) -> Tensor:
        """Raise ValueError."""
        raise ValueError("Cannot determine validity of dependent constraint")


def _told(value: Any, name: str) -> Any:
    """Return a fact of a dependent constraint; NotImplementedError where it is not known."""
    if value is NotImplemented:
        raise NotImplementedError(f".{name} cannot be determined statically")
    return value


class dependent_property(property, _Dependent):
    """A property that gives the constraint of an object; of its class, it is a dependent constraint."""

    def __init__(
        self,
        fn: Optional[Callable[..., Any]] = None,
        *,
        is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ) -> None:
        property.__init__(self, fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Callable[..., Any]) -> dependent_property:  # type: ignore[override]
        """Return the property of a method, with what is known of it."""
        return dependent_property(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


def is_dependent(constraint: Any) -> bool:
    """Return whether a constraint depends on other parameters."""
    return isinstance(constraint, _Dependent)


class interval(_Range):
    """Numbers from ``lower_bound`` to ``upper_bound``."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        super().__init__(lower_bound, upper_bound, False, False)


class half_open_interval(_Range):
    """Numbers from ``lower_bound`` to below ``upper_bound``."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        super().__init__(lower_bound, upper_bound, False, True)


class greater_than(_Range):
    """Numbers above ``lower_bound``."""

    def __init__(self, lower_bound: Any) -> None:
        super().__init__(lower_bound, None, True, False)


class greater_than_eq(_Range):
    """Numbers from ``lower_bound`` on."""

    def __init__(self, lower_bound: Any) -> None:
        super().__init__(lower_bound, None, False, False)


class less_than(_Range):
    """Numbers below ``upper_bound``."""

    def __init__(self, upper_bound: Any) -> None:
        super().__init__(None, upper_bound, False, True)


class integer_interval(_Integers):
    """Whole numbers from ``lower_bound`` to ``upper_bound``."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        super().__init__(lower_bound, upper_bound, False, False)


class multinomial(Constraint):
    """Vectors of counts that sum up to ``upper_bound``."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        """Return which vectors of counts have the right sum."""
        return ops.logical_and((value >= 0).all(-1), value.sum(-1) <= self.upper_bound)


class independent(Constraint):
    """Arrays of ``reinterpreted_batch_ndims`` axes, all of whose elements are allowed."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        """Return which arrays are allowed."""
        result = self.base_constraint.check(value)
        axes = tuple(range(-self.reinterpreted_batch_ndims, 0))
        return result.all(axes) if axes else result


class _Parts(Constraint):
    """Arrays whose parts along an axis have a constraint each."""

    def __init__(self, cseq: Sequence[Constraint], dim: int) -> None:
        self.cseq, self.dim = list(cseq), dim
        self.is_discrete = any(part.is_discrete for part in self.cseq)
        self.event_dim = max(part.event_dim for part in self.cseq)


class cat(_Parts):
    """Arrays whose pieces of ``lengths`` (1 each, where none are given) along ``dim`` have a constraint each."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0, lengths: Optional[Sequence[int]] = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)

    def check(self, value: Tensor) -> Tensor:
        """Return which values are allowed."""
        starts = np.cumsum([0, *self.lengths[:-1]]).tolist()
        pieces = [ops.narrow(value, self.dim, start, length) for start, length in zip(starts, self.lengths)]
        return ops.cat([part.check(piece) for part, piece in zip(self.cseq, pieces)], self.dim)


class stack(_Parts):
    """Arrays whose slices along ``dim`` have a constraint each."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        super().__init__(cseq, dim)
        self.event_dim += int(dim + self.event_dim < 0)

    def check(self, value: Tensor) -> Tensor:
        """Return which values are allowed."""
        return ops.stack([part.check(piece) for part, piece in zip(self.cseq, ops.unbind(value, self.dim))], self.dim)


def _both(first: Optional[Tensor], second: Optional[Tensor]) -> Any:
    """Return where both hold; None holds everywhere."""
    if first is None or second is None:
        return second if first is None else first
    return ops.logical_and(first, second)


real = _Real()
real_vector = independent(real, 1)
positive = greater_than(0.0)
nonnegative = greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
boolean = _Boolean()
dependent = _Dependent()
lower_cholesky = _Lower(True)
lower_triangular = _Lower(False)
one_hot = _OneHot()
positive_definite = _PositiveDefinite()
simplex = _Simplex()
nonnegative_integer = _Integers(0, None, False, False)
positive_integer = _Integers(1, None, False, False)
symmetric = _Symmetric(False)
positive_semidefinite = _Symmetric(True)
square = _Square()
corr_cholesky = _CorrelationFactor(True)
