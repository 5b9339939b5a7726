"""What translated programs import besides MindSpore: one small module a concern, each usable alone.

``data``, ``datasets``, ``transforms``, ``train``, ``optim``, ``schedules``, ``amp``, ``checkpoint``, ``metrics``,
``monitor``, ``distributed``, ``device``, ``seed``, ``config``. They need mindspore, numpy and Pillow, and
import one another only relatively, so that this folder can be copied and renamed.

Importing the package sets one environment variable, ``ONEDNN_MAX_CPU_ISA=AVX2``, unless it is already set.
MindSpore 2.9 and 2.10 ship a oneDNN that answers plain float32 convolutions with its reference kernel on CPUs with
AVX-512. With the variable a 3x3 convolution (64 to 64 channels, 8x64x16x16) takes 4 ms instead of 220 ms, and
a ResNet-50 training step is 5.6 times faster. The price is large matrix products, which lose AVX-512: 1024 x 1024
takes 20 ms instead of 12 ms. Programs without convolutions may set ``ONEDNN_MAX_CPU_ISA=DEFAULT`` themselves.
oneDNN reads the variable at its first kernel, hence it may be set after ``import mindspore``, but not after the first
operation. (Measured on two cores of an AVX-512 CPU; other CPUs and devices do not care.)

It also makes PyNative compute each operation at once where the CPU is the only device (``wait_for_kernels``). By
default MindSpore hands kernels to threads of its own and goes on; on a CPU these threads take the cores that the
kernels need, and a training step takes 1.4 to 7.5 times as long (docs/speed.md). Nor can an array be read or changed
while a kernel is still at work on it. Ascend and GPU compute beside Python, and are left alone.

And it lets ``copy.deepcopy`` copy MindSpore's optimizers (``make_maps_copyable``), which agents keep beside their
networks: the copied optimizer then holds the parameters of the copied network, as in PyTorch.

Cells can be pickled (``make_cells_picklable``): the operators that they hold, which cannot be, are made again from
their arguments. ``__reduce__`` of a Cell answers as PyTorch's does; by default the process dies of it.

MindSpore's layers draw their first weights from a stream of their own (``draw_weights_apart``). By default they draw
them from the global ``np.random``: what a program draws next, to split or shuffle its data, would be other numbers
than with PyTorch.

Finally, a NumPy number on the left of a tensor leaves the operation to the tensor (``let_tensors_decide``), as it does
in PyTorch. Otherwise NumPy computes ``np.float64(2) * loss``: an array, of which no gradient is known.
"""

from __future__ import annotations

import copyreg
import os
from importlib import import_module, metadata
from typing import Any, Dict, Optional, Tuple

__all__ = [
    "MADE_BY",
    "WeightStream",
    "draw_weights_apart",
    "let_tensors_decide",
    "limit_onednn_isa",
    "make_cells_picklable",
    "make_maps_copyable",
    "wait_for_kernels",
    "weight_stream",
]

MADE_BY = "_torch2ms_made_by"
"""The attribute of a class that has no name to be found by, with the function and the arguments that make it again."""


def limit_onednn_isa() -> bool:
    """Set ``ONEDNN_MAX_CPU_ISA=AVX2`` where MindSpore needs it; return whether it was set here."""
    if "ONEDNN_MAX_CPU_ISA" in os.environ:
        return False
    try:
        release = tuple(int(part) for part in metadata.version("mindspore").split(".")[:2])
    except (metadata.PackageNotFoundError, ValueError):
        return False  # a build under another name (mindspore-ascend, a nightly): its CPU kernels were not measured
    if release < (2, 9):
        return False
    os.environ["ONEDNN_MAX_CPU_ISA"] = "AVX2"
    return True


def wait_for_kernels() -> bool:
    """Compute each operation at once where MindSpore has no device but the CPU; return whether it was set.

    Releases that have no ``mindspore.runtime.launch_blocking`` stay as they are.
    """
    try:
        import mindspore
    except ImportError:
        return False  # a configuration can be read without it
    devices, launch_blocking = (
        getattr(mindspore, "device_context", None),
        getattr(getattr(mindspore, "runtime", None), "launch_blocking", None),
    )
    if devices is None or launch_blocking is None:
        return False
    if devices.ascend.is_available() or devices.gpu.is_available():
        return False
    launch_blocking()
    return True


def _remade(mapped: Any) -> Tuple[Any, Tuple[Any]]:
    """Return how to make ``mapped`` anew: it holds nothing besides the operation that it was made with."""
    return type(mapped), (mapped.ops,)


def make_maps_copyable() -> bool:
    """Say how ``ops.Map`` and ``ops.HyperMap``, which each optimizer holds, are copied; return whether it was said.

    They are C++ objects without a copy of their own: ``copy.deepcopy`` of an optimizer, or of a network that holds one,
    ended with "cannot pickle 'Map' object".
    """
    try:
        from mindspore import ops
    except ImportError:
        return False
    for kind in (ops.Map, ops.HyperMap):
        copyreg.pickle(kind, _remade)
    return True


def _made_operator(kind: Any, arguments: Dict[str, Any]) -> Any:
    return kind(**arguments)


def _new_cell(make: Any, arguments: Tuple[Any, ...]) -> Any:
    """Return a new Cell, without its attributes, of a class that a function makes."""
    kind = make(*arguments)
    return kind.__new__(kind)


def make_cells_picklable() -> bool:
    """Say how Cells, and the operators in them, are pickled; return whether it was said."""
    try:
        from mindspore.nn import Cell
        from mindspore.ops.primitive import Primitive
    except ImportError:
        return False

    def reduce_operator(operator: Any) -> Tuple[Any, ...]:
        if not hasattr(operator, "init_attrs"):
            raise TypeError(f"cannot pickle {type(operator).__name__!r} object")
        return _made_operator, (type(operator), dict(operator.init_attrs))

    def reduce_cell(cell: Any) -> Tuple[Any, ...]:
        kind = type(cell)
        made_by = vars(kind).get(MADE_BY)
        how = (copyreg.__newobj__, (kind,)) if made_by is None else (_new_cell, made_by)  # type: ignore[attr-defined]
        return (*how, cell.__getstate__())

    Primitive.__reduce__ = reduce_operator
    Cell.__reduce__ = reduce_cell
    return True


def let_tensors_decide() -> bool:
    """Give MindSpore's tensors the priority over NumPy's that PyTorch's have; return whether it was given.

    An array on the left of a tensor then raises, as it does in PyTorch.
    """
    try:
        from mindspore import Tensor
    except ImportError:
        return False
    Tensor.__array_priority__ = 1000
    return True


class WeightStream:
    """NumPy with a ``random`` of its own: it restarts with each new ``ms.set_seed``, or by :meth:`restart`."""

    def __init__(self) -> None:
        self._stream: Any = None
        self._seed: Optional[int] = None

    def __getattr__(self, name: str) -> Any:
        """Return what is not random from NumPy itself."""
        import numpy

        return getattr(numpy, name)

    @property
    def random(self) -> Any:
        """The stream, a ``numpy.random.RandomState``."""
        import mindspore

        seed = mindspore.get_seed()
        if self._stream is None or seed != self._seed:
            self.restart(seed)
        return self._stream

    def restart(self, seed: Optional[int]) -> None:
        """Begin anew from a seed that MindSpore has been given; from a random one without."""
        import numpy

        self._seed, self._stream = seed, numpy.random.RandomState(seed)


weight_stream = WeightStream()


def draw_weights_apart() -> bool:
    """Have first weights drawn from ``weight_stream``, not from the global ``np.random``; return whether they are."""
    try:
        modules = [import_module(f"mindspore.{name}") for name in ("common.initializer", "nn.layer.rnns")]
        modules.append(import_module("mindspore.nn.layer.rnn_cells"))
    except ImportError:
        return False
    for module in modules:
        module.np = weight_stream  # type: ignore[attr-defined]
    return True


limit_onednn_isa()
wait_for_kernels()
make_maps_copyable()
make_cells_picklable()
let_tensors_decide()
draw_weights_apart()
