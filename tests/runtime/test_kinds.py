"""Classes of layers as values: MindSpore's own and the runtime's stand for one class of PyTorch's."""

from __future__ import annotations

import copy
import functools
import inspect
import pickle

import numpy as np
import pytest
import torch
from mindspore import nn

from torch2ms.runtime import layers, modules
from torch2ms.translator.rules.calls.reserved_names import METHODS, RESERVED

PAIRS = [
    (layers.BatchNorm2d, nn.BatchNorm2d),
    (layers.LayerNorm, nn.LayerNorm),
    (layers.Linear, nn.Dense),
    (layers.Conv2d, nn.Conv2d),
    (layers.ReLU, nn.ReLU),
    (layers.Sequential, nn.SequentialCell),
]


@pytest.mark.parametrize(("own", "native"), PAIRS)
def test_both_classes_are_equal_and_found_as_keys(own: type, native: type) -> None:
    assert own == native
    assert native == own
    assert {native: 1}[own] == {own: 1}[native] == 1
    assert own in [native]


def test_sizes_may_be_numbers_of_numpy() -> None:
    sizes = np.array([2, 3])
    assert layers.Conv2d(sizes[0], out_channels=sizes[1], kernel_size=1).out_channels == 3
    assert layers.Linear(*sizes).weight.shape == (3, 2)


def test_other_classes_are_not_equal() -> None:
    assert layers.BatchNorm2d != nn.BatchNorm1d
    assert layers.BatchNorm2d != layers.InstanceNorm2d
    assert layers.ReLU != functools.partial
    assert layers.ReLU != "ReLU"


def test_instances_of_mindspores_class_are_instances_of_the_runtimes() -> None:
    assert isinstance(nn.LayerNorm((3,)), layers.LayerNorm)
    assert isinstance(layers.LayerNorm(3), nn.LayerNorm)
    assert not isinstance(nn.BatchNorm2d(3), layers.LayerNorm)


def test_a_class_derived_by_a_program_is_a_class_of_its_own() -> None:
    class Own(layers.BatchNorm2d):
        pass

    assert Own != nn.BatchNorm2d
    assert isinstance(Own(3), layers.BatchNorm2d)
    assert not isinstance(nn.BatchNorm2d(3), Own)
    assert not modules.is_exactly(Own(3), nn.BatchNorm2d)
    assert modules.is_exactly(layers.BatchNorm2d(3), nn.BatchNorm2d)


def test_the_choice_of_a_bias_by_the_class_of_the_norm() -> None:
    def has_bias(norm: object) -> bool:
        return norm != nn.BatchNorm2d

    assert not has_bias(layers.BatchNorm2d)
    assert has_bias(layers.InstanceNorm2d)


def test_classes_are_copied_and_pickled_by_name() -> None:
    assert copy.deepcopy(layers.ReLU) is layers.ReLU
    assert pickle.loads(pickle.dumps(layers.LayerNorm)) is layers.LayerNorm


def test_the_number_of_slopes_of_any_prelu() -> None:
    for layer in (nn.PReLU(3), layers.PReLU(3)):
        assert modules.get(layer, "num_parameters") == 3


def test_a_program_may_ask_what_a_layer_takes() -> None:
    class Own(layers.LayerNorm):
        def __init__(self, width, scale=1):
            super().__init__(width)

    assert list(inspect.signature(layers.BatchNorm2d).parameters)[:2] == ["num_features", "eps"]
    assert list(inspect.signature(Own).parameters) == ["width", "scale"]


def test_names_that_cells_set_on_themselves_are_kept_free() -> None:
    torch_names = {*vars(torch.nn.Module()), *dir(torch.nn.Module)}
    own = set(vars(nn.Cell())) - torch_names - {"requires_grad"}  # programs say that of layers, and it is translated
    assert own
    assert own <= RESERVED | METHODS
