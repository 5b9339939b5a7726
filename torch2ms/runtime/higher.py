"""What lets PyNative differentiate a gradient again: operations whose gradients are made of recorded ones.

MindSpore's own gradients are computed by functions that keep no record of what they do to a shape in between: what is
differentiated again through a sum, a mean, a product of matrices, a concatenation or an index gets no gradient, without
a word (2.8 to 2.10). With this module imported, such operations on tensors that need a gradient are functions with a
gradient of their own, written in operations that are recorded; everything else stays MindSpore's. Graph mode sees none
of this, and where nothing needs a gradient MindSpore's operations run as they did.

:func:`grad` asks for such gradients. It looks through the record first, and refuses an operation of which it is not
known that all of its second derivative is kept.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops
from mindspore.common._grad_function import _Function
from mindspore.ops.auto_generate import gen_ops_prim, pyboost_inner_prim
from mindspore.ops.operations import array_ops
from mindspore.ops.operations.manually_defined import ops_def

from . import recorded_ops, recording

__all__ = ["grad"]

_BASIC = (int, slice, type(None), type(Ellipsis), np.integer)


def _replaced(owner: Any, name: str, change: Callable[..., Any], first: int) -> None:
    """Let ``owner.name`` be ``change`` where its arguments need a gradient; ``first`` is the place of the tensors."""
    own = getattr(owner, name, None)
    if own is None:
        return

    @functools.wraps(own)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = args[first] if len(args) > first else None
        values = given if isinstance(given, (tuple, list)) else args[first:]
        if recorded_ops.is_needed(*values):
            found = change(*args, **kwargs)
            if found is not NotImplemented:
                return found
        return own(*args, **kwargs)

    setattr(owner, name, call)


def _broadcast(owner: Any, name: str, first: int) -> None:
    """Let ``owner.name``, of two or three tensors, get them in one shape; what repeats them is recorded."""
    own = getattr(owner, name, None)
    if own is None:
        return

    @functools.wraps(own)
    def call(*args: Any, **kwargs: Any) -> Any:
        shapes = {tuple(x.shape) for x in args[first:] if isinstance(x, Tensor)}
        if len(shapes) > 1 and recorded_ops.is_needed(*args[first:]):
            shape = np.broadcast_shapes(*shapes)
            args = args[:first] + tuple(
                recorded_ops.expanded(x, shape) if recorded_ops.is_needed(x) else x for x in args[first:]
            )
        return own(*args, **kwargs)

    setattr(owner, name, call)


def _bias_add(self: Any, x: Tensor, bias: Tensor) -> Any:
    after = x.ndim - 2 if self.data_format != 3 and x.ndim > 2 else 0
    return x + bias.reshape((-1,) + (1,) * after)


def _asked_tile(x: Any, *reps: Any) -> Any:
    return recorded_ops.tile(x, reps[0] if len(reps) == 1 else reps)


def _asked_sum(change: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of tensors for a sum or mean, whose arguments have MindSpore's names or NumPy's."""

    def method(x: Tensor, *args: Any, **kwargs: Any) -> Any:
        words = {_WORDS.get(name, name): value for name, value in kwargs.items()}
        for place, value in enumerate(args):
            name = "dim" if place == 0 else "keepdim" if isinstance(value, bool) else "dtype"
            words[name] = value
        if words.pop("initial", None) is not None or set(words) - {"dim", "keepdim", "dtype"}:
            return NotImplemented
        return change(x, **words)

    return method


_WORDS = {"axis": "dim", "keepdims": "keepdim", "keep_dims": "keepdim"}


def _asked_power(x: Any, number: Any) -> Any:
    return (
        recorded_ops.power(x, number) if isinstance(number, (int, float)) and isinstance(x, Tensor) else NotImplemented
    )


def _asked_item(x: Tensor, index: Any) -> Any:
    parts = index if isinstance(index, tuple) else (index,)
    if any(isinstance(part, bool) or not isinstance(part, _BASIC) for part in parts):
        return NotImplemented
    return recorded_ops.take(x, index)


def _asked_shape(x: Tensor, *shape: Any) -> Any:
    shape = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    sizes = (1,) * (len(shape) - x.ndim) + tuple(x.shape)
    return recorded_ops.expanded(x, tuple(own if size == -1 else int(size) for own, size in zip(sizes, shape)))


def _asked_matmul(a: Any, b: Any) -> Any:
    return recorded_ops.matmul(a, b) if isinstance(a, Tensor) and isinstance(b, Tensor) else NotImplemented


def _layer_norm_of(self: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Any:
    begin = self.begin_norm_axis % x.ndim
    found, mean, scale = recorded_ops.normalised(x, tuple(range(begin, x.ndim)), self.epsilon)
    return found * weight + bias, mean, ops.reciprocal(scale * scale) - self.epsilon


_METHODS: Dict[str, Callable[..., Any]] = {
    "__getitem__": _asked_item,
    "__matmul__": _asked_matmul,
    "__pow__": _asked_power,
    "__rmatmul__": lambda a, b: _asked_matmul(b, a),
    "broadcast_to": _asked_shape,
    "expand": _asked_shape,
    "expand_as": lambda x, other: recorded_ops.expanded(x, tuple(other.shape)),
    "matmul": _asked_matmul,
    "mean": _asked_sum(recorded_ops.mean),
    "pow": _asked_power,
    "square": lambda x: x * x,
    "sum": _asked_sum(recorded_ops.sum),
    "repeat": _asked_tile,
    "tile": _asked_tile,
}
# What is called in Python is an object of one of these classes, if it is no method of tensors.
_PRIMITIVES: Dict[str, Callable[..., Any]] = {
    "BroadcastTo": lambda self, x, *shape: _asked_shape(x, *(shape or (self.shape,))),
    "BiasAdd": _bias_add,
    "Concat": lambda self, tensors: recorded_ops.concat(tensors, self.axis),
    "Dense": lambda self, *args: recorded_ops.dense(*args),
    "GatherD": lambda self, x, dim, index: recorded_ops.gather(x, dim, index),
    "LayerNorm": _layer_norm_of,
    "LayerNormExt": lambda self, *args: recorded_ops.layer_norm(*args),
    "LogSoftmax": lambda self, x: recorded_ops.log_softmax(x, self.axis),
    "MatMulExt": lambda self, a, b: recorded_ops.matmul(a, b),
    "MeanExt": lambda self, *args: recorded_ops.mean(*args),
    "Pow": lambda self, x, number: _asked_power(x, number),
    "PowTensorScalar": lambda self, x, number: _asked_power(x, number),
    "ReLU6": lambda self, x: ops.clamp(x, 0, 6),
    "ReduceMax": lambda self, x, axis=(): recorded_ops.extreme(ops.amax, x, axis, self.keep_dims),
    "ReduceMean": lambda self, x, axis=(): recorded_ops.mean(x, axis, self.keep_dims),
    "ReduceMin": lambda self, x, axis=(): recorded_ops.extreme(ops.amin, x, axis, self.keep_dims),
    "ReduceSum": lambda self, x, axis=(): recorded_ops.sum(x, axis, self.keep_dims),
    "Softmax": lambda self, x: recorded_ops.softmax(x, self.axis),
    "Square": lambda self, x: x * x,
    "Stack": lambda self, tensors: recorded_ops.stack(tensors, self.axis),
    "StackExt": lambda self, tensors: recorded_ops.stack(tensors, self.dim),
    "SumExt": lambda self, *args: recorded_ops.sum(*args),
    "Tile": lambda self, x, reps: recorded_ops.tile(x, reps),
    "Unstack": lambda self, x: recorded_ops.unstack(x, self.axis),
    "_PyboostBroadcastToPrim": lambda self, x, shape: _asked_shape(x, shape),
    "_PyboostConcatPrim": lambda self, tensors, axis=0: recorded_ops.concat(tensors, axis),
    "_PyboostLogSoftmaxPrim": lambda self, x, axis=-1: recorded_ops.log_softmax(x, axis),
    "_PyboostReduceMaxPrim": lambda self, x, axis=(), keep=False: recorded_ops.extreme(ops.amax, x, axis, keep),
    "_PyboostReduceMinPrim": lambda self, x, axis=(), keep=False: recorded_ops.extreme(ops.amin, x, axis, keep),
    "_PyboostSoftmaxPrim": lambda self, x, axis=-1: recorded_ops.softmax(x, axis),
}
_OPERATORS = "add sub mul truediv".split()
_BROADCAST = "Add AddExt Atan2 Div Maximum Minimum Mul Pow RealDiv Select Sub SubExt".split()
# Operations whose gradient MindSpore records as a whole: second and third derivatives agree with PyTorch's.
_KNOWN = frozenset(
    """
    Abs Add AddExt AddScalar ArgMaxWithValue ArgMinWithValue Asin AsinGrad Asinh AsinhGrad Atan Atan2 AtanGrad
    BatchMatMul Cast ClampScalar Concat Contiguous Conv2D Conv2DBackpropFilter Conv2DBackpropInput Cos Cosh CumProd
    CumSum Div Divs EqScalar Equal Erf Exp ExpandDims Expm1 Floor Gather GatherNd Greater GreaterEqual
    InplaceMaskedFillTensor InplaceScatterSrc Less LessEqual Log Log1p LogicalAnd MaskedFill MatMul
    MatrixDeterminant MatrixInverse Max MaxDim Maximum Minimum Mul Muls Neg OnesLike Pow PowTensorScalar ReLU
    RealDiv Reciprocal ReluGrad Reshape ReverseV2 Rsqrt RsqrtGrad ScatterNd Select SiLU SiLUGrad Sigmoid SigmoidGrad
    Sign Sin Sinh Softsign Split Sqrt SqrtGrad Square Squeeze StridedSlice StridedSliceGrad Sub SubExt SubScalar Tan
    Tanh TanhGrad TopK Transpose Tril Triu UnsortedSegmentSum View ZerosLike ZerosLikeExt
    """.split()
)


def _install() -> None:
    for name in _OPERATORS:
        for method in dict.fromkeys((f"__{name}__", f"__r{name}__", "div" if name == "truediv" else name)):
            _broadcast(Tensor, method, 0)
    for name, change in _METHODS.items():
        _replaced(Tensor, name, change, 0)
    for module in (gen_ops_prim, pyboost_inner_prim, array_ops, ops_def):
        for name, owner in list(vars(module).items()):
            if isinstance(owner, type) and owner.__module__ == module.__name__:
                if name in _BROADCAST:
                    _broadcast(owner, "__call__", 1)
                if name in _PRIMITIVES:
                    _replaced(owner, "__call__", _PRIMITIVES[name], 1)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: Optional[bool] = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: Optional[bool] = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Tuple[Optional[Tensor], ...]:
    """Return what :func:`.recording.grad` does; with ``create_graph=True`` gradients that can be differentiated again.

    By the weights as well, and as often as one likes. Raises NotImplementedError where an operation between inputs and
    outputs is none of which MindSpore keeps all of the second derivative; RuntimeError before MindSpore 2.9.
    """
    if not create_graph:
        return recording.grad(
            outputs,
            inputs,
            grad_outputs,
            allow_unused=allow_unused,
            is_grads_batched=is_grads_batched,
            materialize_grads=materialize_grads,
        )
    if is_grads_batched:
        raise NotImplementedError("several gradients at once are not recorded")
    given, asked = recording.listed(outputs), recording.listed(inputs)
    nodes = [node for node in _nodes(given) if not node.is_leaf()]
    lost = sorted({node.name() for node in nodes if not isinstance(node, _Function) and node.name() not in _KNOWN})
    if lost:
        raise NotImplementedError(f"a gradient through {', '.join(lost)} is differentiated again, and would lose parts")
    hooks = [node.register_hook(_handed_on) for node in nodes]
    try:
        found = recording.asked_of(given, asked, grad_outputs, is_kept=True)
    finally:
        for hook in hooks:
            hook.remove()
    own = [value if value is None else value * 1 for value in found]
    return recording.checked(asked, own, allow_unused=allow_unused, materialize_grads=materialize_grads)


def _nodes(tensors: Iterable[Tensor]) -> List[Any]:
    """Return what was recorded for tensors, down to where the record begins."""
    seen: Set[int] = set()
    found: List[Any] = []
    pending = [x._grad_node for x in tensors]
    while pending:
        node = pending.pop()
        if node is None or node._unique_id() in seen:
            continue
        seen.add(node._unique_id())
        found.append(node)
        pending += [following for following, _ in node.next_functions or ()]
    return found


def _handed_on(grads: Sequence[Any], _: Any) -> Tuple[Any, ...]:
    """Return the gradients that an operation hands on as tensors of their own: of a view MindSpore keeps no record."""
    return tuple(grad * 1 if isinstance(grad, Tensor) else grad for grad in grads)


if not hasattr(ms.Tensor(0.0), "_grad_node") or ms.__version__.startswith("2.8."):
    raise RuntimeError("MindSpore 2.9 or newer is needed to record gradients that are differentiated again")
_install()
