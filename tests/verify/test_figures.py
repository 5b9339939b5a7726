from __future__ import annotations

import math

import numpy as np
import pytest

from torch2ms.verify import figures


def test_largest_error_is_relative_to_the_largest_magnitude() -> None:
    assert figures.largest_error(np.array([1.0, 10.5]), np.array([1.0, -10.0])) == pytest.approx(2.05)
    assert figures.largest_error(np.zeros(3), np.zeros(3)) == 0.0
    assert figures.largest_error(np.zeros((0, 2)), np.zeros((0, 2))) == 0.0


@pytest.mark.parametrize(
    ("found", "reference"),
    [
        (np.zeros((2, 1)), np.zeros((1, 2))),
        (np.array([math.nan, 1.0]), np.array([0.0, 1.0])),
        (np.array([1.0, 1.0]), np.array([math.nan, 1.0])),
        (np.array([1e-9]), np.zeros(1)),
    ],
    ids=["shape", "nan in ours", "nan in theirs", "zero reference"],
)
def test_what_cannot_be_an_error_of_rounding_is_infinite(found: np.ndarray, reference: np.ndarray) -> None:
    assert figures.largest_error(found, reference) == math.inf


def test_equal_special_values_are_no_error() -> None:
    values = np.array([math.nan, math.inf, -math.inf, 2.0])
    assert figures.largest_error(values, values.copy()) == 0.0


def test_norm_error_takes_all_arrays_together() -> None:
    reference = {"a": np.array([3.0]), "b": np.array([4.0])}
    assert figures.norm_error({"a": np.array([3.0]), "b": np.array([4.5])}, reference) == pytest.approx(0.1)
    assert figures.norm_error({"a": np.array([3.0])}, reference) == math.inf
    assert figures.norm_error({**reference, "c": np.zeros(1)}, reference) == math.inf


def test_a_gradient_that_is_only_rounding_is_held_against_the_whole() -> None:
    reference = {"weight": np.array([1.0]), "bias": np.array([1e-17])}
    errors = figures.norm_errors({"weight": np.array([1.0]), "bias": np.array([3e-8])}, reference)
    assert errors["weight"] == 0.0
    assert errors["bias"] == pytest.approx(0.5, rel=0.01)


def test_judge_takes_medians_and_the_larger_of_both_limits() -> None:
    figure = figures.judge("outputs", "output", [9e-6, 3e-6, 2e-6], [1e-6, 1e-6, 9.0])
    assert (figure.ours, figure.floor, figure.limit, figure.passed) == (3e-6, 1e-6, 4e-6, True)
    assert not figures.judge("outputs", "output", [5e-6] * 3, [1e-6] * 3).passed
    assert figures.judge("outputs", "output", [9e-7], [0.0]).passed
    assert not figures.judge("outputs", "output", [2e-6], [0.0]).passed


def test_an_error_that_is_no_number_never_passes() -> None:
    assert not figures.judge("outputs", "output", [math.nan], [1e-6]).passed
    assert not figures.judge("outputs", "output", [math.inf], [math.inf]).passed
    assert not figures.judge("outputs", "output", [1.0], [math.nan]).passed


def test_a_single_parameter_may_have_ten_floors() -> None:
    assert figures.judge_single("gradients", "w", [9e-6] * 3, [1e-6] * 3).passed
    assert not figures.judge_single("gradients", "w", [11e-6] * 3, [1e-6] * 3).passed
    assert figures.judge_single("gradients", "w", [1e-3, 1e-3, 1e-6], [1e-6, 1e-6, 1e-3]).passed
    assert not figures.judge_single("gradients", "w", [1e-3], [math.inf]).passed


QUIET, FLIPPED, WRONG = 8e-5, 1e-2, 1e-2  # as in MNASNet's train mode: PyTorch has a flip in three seeds of nine


def test_flips_in_as_many_seeds_as_pytorch_has_are_no_error() -> None:
    floors = [QUIET] * 3 + [2e-3, QUIET, QUIET, 3e-3, 4e-2, QUIET]
    ours = [FLIPPED, QUIET, FLIPPED] + [QUIET] * 3 + [FLIPPED, QUIET, QUIET]
    assert not figures.judge_single("gradients", "b", ours[:3], floors[:3]).passed
    figure = figures.judge_many("gradients", "b", ours, floors, factor=10)
    assert (figure.passed, figure.ours, figure.limit) == (True, QUIET, 10 * QUIET)
    more = figures.judge_many("gradients", "b", [FLIPPED] * 6 + [QUIET] * 3, floors, factor=10, note="layer.bias")
    assert (more.passed, more.note) == (True, "layer.bias: 6 of 9 seeds beyond it, PyTorch 3")


@pytest.mark.parametrize("flips", range(5))
def test_what_is_wrong_by_one_percent_in_every_seed_is_found_whatever_flips(flips: int) -> None:
    floors = [FLIPPED] * flips + [QUIET] * (9 - flips)
    assert not figures.judge_many("gradients", "b", [WRONG] * 9, floors, factor=10).passed
    assert not figures.judge_many("gradients", "b", [WRONG] * 10, [*floors, QUIET], factor=10).passed


def test_more_flips_than_pytorch_has_are_an_error() -> None:
    assert not figures.judge_many("gradients", "b", [FLIPPED] * 5 + [QUIET] * 4, [QUIET] * 9, factor=10).passed
    assert not figures.judge_many("gradients", "b", [FLIPPED] * 8 + [QUIET], [FLIPPED] * 3 + [QUIET] * 6).passed
    assert figures.judge_many("gradients", "b", [FLIPPED] * 4 + [QUIET] * 5, [QUIET] * 9, factor=10).passed


def test_many_seeds_without_numbers_never_pass() -> None:
    assert not figures.judge_many("gradients", "b", [math.nan] * 9, [QUIET] * 9).passed
    assert not figures.judge_many("gradients", "b", [QUIET] * 9, [math.inf] * 9).passed
