"""Layers of the runtime in graph mode: outputs and gradients as in PyNative mode; classes below them compile too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor, nn, ops

from torch2ms.runtime import device, functional, layers
from torch2ms.runtime.layers import counted

IMAGES = (2, 4, 6, 6)


@pytest.fixture(autouse=True)
def _pynative_again() -> Iterator[None]:
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


def both_modes(net: nn.Cell, *inputs: Tensor) -> None:
    """Compare the sum of the squares of what a network returns, and its gradients; each mode has its own statistics."""
    weights = ms.ParameterTuple(net.trainable_params())
    values = [(parameter, parameter.asnumpy().copy()) for parameter in net.get_parameters()]

    class Loss(nn.Cell):
        def __init__(self) -> None:
            super().__init__(auto_prefix=False)
            self.net = net

        def construct(self, *inputs):  # type: ignore[no-untyped-def]
            return ops.square(self.net(*inputs)).sum()

    both = ms.value_and_grad(Loss(), 0, weights if len(weights) else None)
    found = []
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        for parameter, value in values:
            parameter.set_data(Tensor(value))
        ms.set_context(mode=mode)
        loss, gradients = both(*inputs)
        flat = [gradients] if isinstance(gradients, Tensor) else [gradients[0], *gradients[1]]
        found.append([np.array(value.asnumpy()) for value in (loss, *flat, *net.get_parameters())])
    for pynative, graph in zip(*found, strict=True):
        np.testing.assert_allclose(graph, pynative, rtol=1e-5, atol=1e-5)


def derived(cls: Any) -> Any:
    """Return a class below a layer: what it calls through ``super()`` must not be itself."""
    return type(cls)(f"Own{cls.__name__}", (cls,), {})


def numbers(*shape: int) -> Tensor:
    return Tensor(np.random.RandomState(0).randn(*shape).astype(np.float32))


@pytest.mark.parametrize("change", [lambda cls: cls, derived])
@pytest.mark.parametrize(
    ("cls", "arguments", "shape"),
    [
        (layers.Conv1d, (4, 3, 3), (2, 4, 6)),
        (layers.Conv2d, (4, 3, 3), IMAGES),
        (layers.Conv3d, (2, 3, 2), (1, 2, 4, 4, 4)),
        (layers.ConvTranspose2d, (4, 3, 3), IMAGES),
        (layers.BatchNorm1d, (4,), (3, 4)),
        (layers.BatchNorm2d, (4,), IMAGES),
        (layers.BatchNorm2d, (4, 1e-5, 0.1, False), IMAGES),
        (layers.BatchNorm2d, (4, 1e-5, 0.1, True, False), IMAGES),
        (layers.GroupNorm, (2, 4), IMAGES),
        (layers.LayerNorm, (6,), IMAGES),
        (layers.InstanceNorm2d, (4,), IMAGES),
        (layers.RMSNorm, (6,), IMAGES),
        (layers.LocalResponseNorm, (2,), IMAGES),
        (layers.GRUCell, (4, 3), (2, 4)),
        (layers.RNNCell, (4, 3), (2, 4)),
        (layers.TransformerEncoderLayer, (8, 2, 16, 0.0), (3, 2, 8)),
    ],
)
def test_layers(change: Callable[[Any], Any], cls: Any, arguments: tuple[Any, ...], shape: tuple[int, ...]) -> None:
    both_modes(change(cls)(*arguments), numbers(*shape))


def test_a_cumulative_average_is_refused() -> None:
    """The number of batches is read once, when the layer is compiled: it must not be taken for that of later ones."""
    with pytest.raises(TypeError, match="Parameter"):
        both_modes(layers.BatchNorm2d(4, 1e-5, None), numbers(*IMAGES))


def test_batches_that_are_counted_are_read_in_eval_mode() -> None:
    both_modes(counted.BatchNorm2d(4).set_train(False), numbers(*IMAGES))


class Parts(nn.Cell):
    """Layers in a dictionary, found by attribute, by key, and one after another."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = layers.ModuleDict({"first": nn.Dense(3, 3), "second": nn.Dense(3, 3)})

    def construct(self, x):  # type: ignore[no-untyped-def]
        x = self.parts["second"](self.parts.first(x))
        for name in self.parts.keys():  # noqa: SIM118 - without keys() graph mode asks for part 0
            x = self.parts[name](x)
        for name, part in self.parts.items():
            x = part(x)
            if name in self.parts:
                x = x + len(self.parts)
        return x


class Named(layers.ModuleDict):
    """A dictionary of layers that is a network itself."""

    def construct(self, x):  # type: ignore[no-untyped-def]
        for part in self.values():
            x = part(x)
        return x


def test_dictionaries_of_layers() -> None:
    both_modes(Parts(), numbers(2, 3))
    both_modes(Named({"first": nn.Dense(3, 3), "second": nn.Dense(3, 3)}), numbers(2, 3))


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
        ("bhwc,hkc->bhwk", [(2, 3, 4, 5), (3, 6, 5)]),
        ("...ij,jk", [(2, 3, 4), (4, 5)]),
        ("iij,j->i", [(3, 3, 2), (2,)]),
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
    ],
)
def test_einsum(equation: str, shapes: list[tuple[int, ...]]) -> None:
    class Net(nn.Cell):
        def construct(self, *operands):  # type: ignore[no-untyped-def]
            return functional.einsum(equation, *operands)

    both_modes(Net(), *(numbers(*shape) for shape in shapes))


def test_the_device_may_be_asked_for() -> None:
    class Net(nn.Cell):
        def construct(self, x):  # type: ignore[no-untyped-def]
            return x * 2 if device.is_accelerated() else x

    assert not device.is_accelerated()
    both_modes(Net(), numbers(2, 3))
