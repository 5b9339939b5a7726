"""Arithmetic of int64 beyond 2**53, against Python's."""

from __future__ import annotations

import random

import mindspore as ms
import numpy as np

from torch2ms.runtime import functional
from torch2ms.runtime.functional import whole
from torch2ms.runtime.functional.whole import divided


def _numbers(count: int) -> list[int]:
    dice = random.Random(3)
    return [
        dice.choice((1, -1)) * (dice.getrandbits(dice.choice((1, 20, 31, 52, 53, 54, 61))) or 3) for _ in range(count)
    ]


def test_quotients_and_rests_are_exact() -> None:
    divisors, factors = _numbers(4000), _numbers(4000)
    bound = 2**62
    near = [max(-bound, min(bound, a * b + i % 3 - 1)) for i, (a, b) in enumerate(zip(divisors, factors, strict=True))]
    for numbers in (factors, near):  # any, and those beside a multiple
        quotients, rests = divided(ms.Tensor(np.array(numbers)), ms.Tensor(np.array(divisors)))
        assert quotients.asnumpy().tolist() == [a // b for a, b in zip(numbers, divisors, strict=True)]
        assert rests.asnumpy().tolist() == [a % b for a, b in zip(numbers, divisors, strict=True)]


def test_functions_take_numbers_and_other_dtypes() -> None:
    long = ms.Tensor([2**60 + 7, -(2**60 + 7)], ms.int64)
    assert functional.remainder(long, 1000).asnumpy().tolist() == [983, 17]
    assert functional.floor_divide(long, 3).asnumpy().tolist() == [384307168202282327, -384307168202282328]
    assert functional.fmod(long, 1000).asnumpy().tolist() == [983, -983]
    assert functional.div(long, 1000, rounding_mode="trunc").asnumpy().tolist() == [1152921504606846, -1152921504606846]
    assert functional.remainder(7, 3) == 1
    assert functional.remainder(2**60 + 7, ms.Tensor([11])).asnumpy().tolist() == [8]
    assert functional.remainder(ms.Tensor([5, -7], ms.int32), 3).dtype == ms.int32
    assert functional.remainder(ms.Tensor([5.5, -7.0]), 3).asnumpy().tolist() == [2.5, 2.0]


def test_powers_of_long_numbers_are_products() -> None:
    assert functional.power(ms.Tensor([3, -7]), 35).asnumpy().tolist() == [3**35, 6870017497503494569]  # as torch wraps
    assert functional.power(ms.Tensor([3, -7]), 2).asnumpy().tolist() == [9, 49]
    assert functional.power(ms.Tensor([1.5, 2.0]), 2).asnumpy().tolist() == [2.25, 4.0]


def test_sums_of_long_numbers_are_exact() -> None:
    numbers = [2**53 + 1, 1, -(2**53), 2**62 + 3]
    assert int(whole.sum(ms.Tensor(numbers))) == sum(numbers)
    found = whole.sum(ms.Tensor([numbers, numbers[::-1]]), 1, True)
    assert found.asnumpy().tolist() == [[sum(numbers)]] * 2
    assert whole.sum(ms.Tensor([1.5, 2.0])).asnumpy() == 3.5
    assert whole.sum(ms.Tensor([1, 2], ms.int32)).dtype == ms.int64
