"""Which values a parameter, a sample or an argument may have: what transforms name as their domain and codomain."""

from __future__ import annotations

from typing import Any, Optional

from mindspore import Tensor, ops

from ..functional.algebra import open_cholesky

__all__ = [
    "Constraint",
    "boolean",
    "dependent",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
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
    "real",
    "real_vector",
    "simplex",
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
        symmetric = (ops.abs(value - ops.swapaxes(value, -1, -2)) <= 1e-6).all((-2, -1))
        factor = open_cholesky(value)
        return ops.logical_and(symmetric, (factor == factor).all((-2, -1)))


class _Dependent(Constraint):
    """What depends on other parameters, and cannot be checked alone."""

    def check(self, value: Tensor) -> Tensor:
        """Raise ValueError."""
        raise ValueError("Cannot determine validity of dependent constraint")


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
