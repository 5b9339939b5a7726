"""Derivatives of functions of tensors, as ``torch.autograd.functional`` and ``torch.func`` give them.

All rest on ``mindspore.grad``: a Jacobian is computed row by row, a Hessian as the Jacobian of the gradient. They are
meant for few values; memory and time grow with the number of outputs.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from .autograd import enable_grad, is_grad_enabled
from .modules import named_buffers, named_parameters
from .names import torch_names
from .trees import distinct, is_tree, leaves, rebuilt

__all__ = [
    "by_input",
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "hessian_of",
    "hvp",
    "jacobian",
    "jacobian_of",
    "jvp",
    "jvp_of",
    "linearize",
    "stack_module_state",
    "vhp",
    "vjp",
    "vjp_of",
    "vmap",
]

Function = Callable[..., Any]
Positions = Union[int, Sequence[int]]


def _positions(count: int) -> Union[int, Tuple[int, ...]]:
    return 0 if count == 1 else tuple(range(count))


def _as_tuple(value: Any) -> Tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _pullback(func: Function, inputs: Tuple[Any, ...], place: int, weights: Any) -> Tuple[Any, ...]:
    """Return the gradients by all inputs of output number ``place``, summed with ``weights``."""

    def weighted(*values: Any) -> Any:
        output = _as_tuple(func(*values))[place]
        return (output * weights).sum()

    return _as_tuple(ms.grad(weighted, _positions(len(inputs)))(*inputs))


def _rows(func: Function, inputs: Tuple[Any, ...], place: int, output: Any) -> Tuple[Any, ...]:
    """Return the Jacobian of one output by each input: shape (*output, *input)."""
    size = int(np.prod(output.shape))
    columns: List[List[Any]] = [[] for _ in inputs]
    for index in range(size):
        unit = np.zeros(size, np.float32)
        unit[index] = 1
        weights = ms.Tensor(unit.reshape(output.shape)).astype(output.dtype)
        for column, value in zip(columns, _pullback(func, inputs, place, weights)):
            column.append(value)
    return tuple(ops.stack(column).reshape((*output.shape, *value.shape)) for column, value in zip(columns, inputs))


def jacobian(func: Function, inputs: Any, create_graph: bool = False, strict: bool = False, **_: Any) -> Any:
    """Return the Jacobian of ``func`` at ``inputs``: shape (*output, *input).

    With a tuple of inputs, or of outputs, a tuple of it (of both: a tuple of tuples, outputs first).
    """
    values = _as_tuple(inputs)
    outputs = func(*values)
    found = [_rows(func, values, place, output) for place, output in enumerate(_as_tuple(outputs))]
    rows = [row if isinstance(inputs, (tuple, list)) else row[0] for row in found]
    return tuple(rows) if isinstance(outputs, (tuple, list)) else rows[0]


def hessian(func: Function, inputs: Any, create_graph: bool = False, strict: bool = False, **_: Any) -> Any:
    """Return the second derivatives of a ``func`` with one number as its value; of a tuple a tuple of tuples."""
    count = len(_as_tuple(inputs))
    return jacobian(ms.grad(func, _positions(count)), inputs)


def vjp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """Return the value of ``func`` at ``inputs``, and the sum of its Jacobian's rows with the weights ``v``."""
    values = _as_tuple(inputs)
    outputs = func(*values)
    total: Any = None
    for place, output in enumerate(_as_tuple(outputs)):
        weights = ops.ones_like(output) if v is None else _as_tuple(v)[place]
        part = _pullback(func, values, place, weights)
        total = part if total is None else tuple(a + b for a, b in zip(total, part))
    return outputs, total if isinstance(inputs, (tuple, list)) else total[0]


def jvp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """Return the value of ``func`` at ``inputs``, and its derivative in the direction ``v``."""
    values = _as_tuple(inputs)
    directions = tuple(ops.ones_like(x) for x in values) if v is None else _as_tuple(v)
    outputs = func(*values)
    slopes = []
    for place, output in enumerate(_as_tuple(outputs)):
        rows = _rows(func, values, place, output)
        parts = [
            ops.matmul(row.reshape((-1, int(np.prod(x.shape)))), x.reshape((-1, 1))).reshape(output.shape)
            for row, x in zip(rows, directions)
        ]
        slopes.append(sum(parts[1:], parts[0]))
    return outputs, tuple(slopes) if isinstance(outputs, (tuple, list)) else slopes[0]


def jvp_of(func: Function, primals: Any, tangents: Any, strict: bool = False, has_aux: bool = False) -> Any:
    """Return the value of ``func`` at ``primals``, and its derivative in the direction ``tangents``.

    All three are tensors or containers of them, the derivative one like the value. With ``has_aux`` what ``func`` gives
    beside the value follows.
    """
    made: List[Any] = []

    def flat(*values: Any) -> Any:
        made[:] = [func(*rebuilt(primals, iter(values)))]
        return tuple(leaves(made[0][0] if has_aux else made[0]))

    outputs, slopes = jvp(flat, tuple(distinct(leaves(primals), leaves(primals))), tuple(leaves(tangents)))
    held = made[0][0] if has_aux else made[0]
    found = (rebuilt(held, iter(outputs)), rebuilt(held, iter(slopes)))
    return (*found, made[0][1]) if has_aux else found


def linearize(func: Function, *primals: Any) -> Tuple[Any, Callable[..., Any]]:
    """Return the value of ``func`` at ``primals``, and the function of a direction that is its derivative there."""

    def along(*tangents: Any) -> Any:
        return jvp_of(func, primals, tangents)[1]

    return func(*primals), along


def hvp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """Return the value of ``func``, one number, and its Hessian (it is symmetric) times ``v``."""
    values = _as_tuple(inputs)
    directions = (ops.ones_like(values[0]),) if v is None else _as_tuple(v)
    slopes = ms.grad(func, _positions(len(values)))

    def along(*points: Any) -> Any:
        parts = [(slope * x).sum() for slope, x in zip(_as_tuple(slopes(*points)), directions)]
        return sum(parts[1:], parts[0])

    product = _as_tuple(ms.grad(along, _positions(len(values)))(*values))
    return func(*values), product if isinstance(inputs, (tuple, list)) else product[0]


vhp = hvp


def _constant(tree: Any) -> Any:
    """Return containers with their tensors cut off from what they were computed from; whatever else they hold stays."""
    cut = (ops.stop_gradient(leaf) if isinstance(leaf, ms.Tensor) else leaf for leaf in leaves(tree))
    return rebuilt(tree, iter(list(cut)))


def _in_any_mode(run: Function, args: Tuple[Any, ...]) -> Any:
    """Return what a gradient function gives, also inside of ``no_grad``: there it is a constant of what is around it.

    MindSpore refuses gradient functions there, or gives zeros.
    """
    if is_grad_enabled():
        return run(*args)
    with enable_grad():
        return _constant(run(*_constant(args)))


def _counted(argnums: Positions, args: Tuple[Any, ...]) -> Any:
    """Return the places of arguments, those from the end counted from the start."""
    return argnums % len(args) if isinstance(argnums, int) else tuple(place % len(args) for place in argnums)


def grad(func: Function, argnums: Positions = 0, has_aux: bool = False) -> Function:
    """Return the function that gives the gradient of ``func``, one number, by its arguments ``argnums``.

    The gradient by a dictionary or list of tensors is one as well.
    """

    def derivative(*args: Any, **kwargs: Any) -> Any:
        if has_aux or kwargs or not _are_plain(argnums, args):
            value, slopes = _value_and_slopes(func, argnums, has_aux, args, kwargs)
            return (slopes, value[1]) if has_aux else slopes
        found = _in_any_mode(lambda *given: ms.grad(func, _counted(argnums, args))(*given), args)
        return found if isinstance(argnums, int) else _as_tuple(found)

    return derivative


def grad_and_value(func: Function, argnums: Positions = 0, has_aux: bool = False) -> Function:
    """Return the function that gives gradient and value of ``func``."""

    def both(*args: Any, **kwargs: Any) -> Any:
        return _value_and_slopes(func, argnums, has_aux, args, kwargs)[::-1]

    return both


def _are_plain(argnums: Positions, args: Tuple[Any, ...]) -> bool:
    """Whether the arguments to derive by are tensors, each given once."""
    held = [args[place] for place in ((argnums,) if isinstance(argnums, int) else argnums)]
    tensors = all(isinstance(value, ms.Tensor) and not isinstance(value, ms.Parameter) for value in held)
    given = [id(value) for value in leaves(args)]
    return tensors and all(given.count(id(value)) == 1 for value in held)


def _value_and_slopes(
    func: Function, argnums: Positions, has_aux: bool, args: Tuple[Any, ...], kwargs: Dict[str, Any]
) -> Tuple[Any, Any]:
    """Return what ``func`` gives, and the gradients in the containers that the arguments are."""
    places = _counted(argnums, args)
    held = args[places] if isinstance(places, int) else tuple(args[place] for place in places)

    def flat(*values: Any) -> Any:
        given = rebuilt(held, iter(values))
        filled = dict(zip((places,), (given,)) if isinstance(places, int) else zip(places, given))
        return func(*(filled.get(place, value) for place, value in enumerate(args)), **kwargs)

    values = distinct(leaves(held), leaves(args))
    positions = tuple(range(len(values)))
    value, slopes = _in_any_mode(
        lambda *given: ms.value_and_grad(flat, positions, has_aux=has_aux)(*given), tuple(values)
    )
    return value, rebuilt(held, iter(_as_tuple(slopes)))


def vjp_of(func: Function, *primals: Any, has_aux: bool = False) -> Tuple[Any, ...]:
    """Return the value of ``func``, and the function that gives the sum of its Jacobian's rows with some weights.

    With ``has_aux`` what ``func`` gives beside the value follows. Arguments may be containers of tensors.
    """

    made: List[Any] = []

    def flat(*values: Any) -> Any:
        value = func(*rebuilt(primals, iter(values)))
        if has_aux or not is_tree(value):
            return value
        made[:] = [value]
        return tuple(leaves(value))

    def run(*values: Any) -> Any:
        return ms.vjp(flat, *values, has_aux=has_aux)

    found = _in_any_mode(run, tuple(distinct(leaves(primals), leaves(primals))))

    def pull(*weights: Any) -> Any:
        return rebuilt(primals, iter(_as_tuple(_in_any_mode(found[1], tuple(leaves(weights))))))

    value = rebuilt(made[0], iter(_as_tuple(found[0]))) if made else found[0]
    return (value, pull, *found[2:])


def _of_some(func: Function, argnums: Positions, args: Tuple[Any, ...]) -> Tuple[Function, Any]:
    """Return ``func`` as a function of its arguments ``argnums`` alone, and these: one, or a tuple."""
    places = _counted(argnums, args)
    chosen = (places,) if isinstance(places, int) else places

    def some(*values: Any) -> Any:
        filled = dict(zip(chosen, values))
        return func(*(filled.get(place, value) for place, value in enumerate(args)))

    return some, args[places] if isinstance(places, int) else tuple(args[place] for place in places)


def jacobian_of(func: Function, argnums: Positions = 0, **_: Any) -> Function:
    """Return the function that gives the Jacobian of ``func`` by its arguments ``argnums``, of several a tuple."""

    def derivative(*args: Any) -> Any:
        return jacobian(*_of_some(func, argnums, args))

    return derivative


def hessian_of(func: Function, argnums: Positions = 0) -> Function:
    """Return the function that gives the second derivatives of ``func`` by its arguments ``argnums``."""

    def derivative(*args: Any) -> Any:
        found = hessian(*_of_some(func, argnums, args))
        return (found,) if isinstance(argnums, (tuple, list)) and len(argnums) == 1 else found

    return derivative


def vmap(func: Function, in_dims: Any = 0, out_dims: Any = 0, **_: Any) -> Function:
    """Return ``func`` applied to each slice of its arguments along ``in_dims`` (None: the whole argument), stacked.

    Arguments and results may be dictionaries, lists and tuples of tensors.
    """

    def mapped(*args: Any) -> Any:
        axes = _each_axis(args, in_dims if isinstance(in_dims, (tuple, list)) else (in_dims,) * len(args))
        given = leaves(args)
        count = next(leaf.shape[axis] for leaf, axis in zip(given, axes) if axis is not None)
        moved = [leaf if axis is None else ops.movedim(leaf, axis, 0) for leaf, axis in zip(given, axes)]
        results = []
        for index in range(count):
            slices = (leaf if axis is None else leaf[index] for leaf, axis in zip(moved, axes))
            results.append(func(*rebuilt(args, slices)))
        parts = zip(zip(*map(leaves, results)), _each_axis(results[0], out_dims))
        return rebuilt(results[0], iter([ops.stack(list(part), axis) for part, axis in parts]))

    return mapped


def _each_axis(tree: Any, axes: Any) -> List[Any]:
    """Return the axis of each leaf of a tree: one for all, or those of a tree of the same, or of fewer, levels."""
    if not is_tree(axes):
        return [axes] * len(leaves(tree))
    keys = tree.keys() if isinstance(tree, dict) else range(len(tree))
    return [axis for key in keys for axis in _each_axis(tree[key], axes[key])]


def _settings(network: Any) -> Tuple[Any, ...]:
    """Return what a compiled network takes for constant: the modes of its layers, and their numbers and words."""
    found: List[Any] = []
    for name, layer in network.cells_and_names() if isinstance(network, nn.Cell) else ():
        values = {key: value for key, value in vars(layer).items() if isinstance(value, (bool, int, float, str))}
        found.append((name, layer.training, tuple(item for item in values.items() if not item[0].startswith("_"))))
    return tuple(found)


def functional_call(module: nn.Cell, parameters: Any, args: Any = None, kwargs: Any = None, **_: Any) -> Any:
    """Return what a network computes with other weights and buffers: a dictionary by PyTorch's paths, or several.

    What they do not name stays the network's own. Gradients flow to the values given.
    """
    given = parameters if isinstance(parameters, dict) else {k: v for part in parameters for k, v in part.items()}
    names: Dict[str, str] = {torch: own for own, torch in torch_names(module).items()}
    shapes = {path: parameter.shape for path, parameter in module.parameters_and_names()}
    held: List[Tuple[Any, str]] = []
    try:
        for path, value in given.items():
            own = str(names.get(path, path))
            *steps, last = own.split(".")
            owner = module
            for step in steps:
                owner = owner._cells[step]
            # An entry of its own comes before the parameter of that name, which Cell.__getattr__ would find.
            owner.__dict__[last] = value.reshape(shapes[own]) if own in shapes else value
            held.append((owner, last))
        return module(*(args if isinstance(args, tuple) else () if args is None else (args,)), **(kwargs or {}))
    finally:
        for owner, last in held:
            del owner.__dict__[last]


def stack_module_state(models: Sequence[nn.Cell]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Return the weights and the buffers of networks of one structure, those of one name stacked."""
    found = []
    for named in (named_parameters, named_buffers):
        states = [dict(named(model)) for model in models]
        found.append({path: ops.stack([ops.stop_gradient(state[path]) for state in states]) for path in states[0]})
    return found[0], found[1]


def by_input(network: Any, *inputs: Any, place: int = 0, seed: Any = None, output: Optional[int] = None) -> Any:
    """Return the gradient of ``network(*inputs)``, summed with the weights ``seed``, by the input at ``place``.

    ``output``: which of several results of the network is meant.

    The gradient can be differentiated again, by the weights and the inputs: what a gradient penalty does. PyNative
    since MindSpore 2.7 forgets parts of such second derivatives, without a word, where the network changes a shape;
    the network's gradient is therefore compiled, once for the settings of its layers (train mode, numbers, words) and
    anew when one of them changes, or a weight was frozen or replaced: a compiled function goes on with the settings,
    and with the memory that ``set_data`` took from the weight. Raises RuntimeError where MindSpore cannot compile it.
    """
    count = len(inputs)

    def total(*values: Any) -> Any:
        made = network(*values[:count])
        made = made if output is None else made[output]
        return made.sum() if seed is None else (made * values[count]).sum()

    given = inputs if seed is None else (*inputs, seed)
    if not hasattr(ms.Tensor, "data_ptr"):  # 2.0, whose PyNative forgets nothing
        return ms.grad(total, place)(*given)
    # beside the network, and not in a table of its own, so that it goes with it
    made: Any = {}
    memory: Any = []
    if isinstance(network, nn.Cell):
        made = network.__dict__.setdefault("_torch2ms_gradients", {})
        memory = [(weight.data_ptr(), weight.requires_grad) for weight in network.get_parameters()]
    key = (place, seed is None, count, output, _settings(network))
    if key not in made or made[key][0] != memory:
        made[key] = (memory, ms.jit(ms.grad(total, place)))
    try:
        return made[key][1](*given)
    except Exception as error:
        name, reason = type(network).__name__, str(error).strip().partition("\n")[0]
        raise RuntimeError(
            f"the gradient of {name} by its input is differentiated again, which only graph mode does rightly, and "
            f"MindSpore cannot compile it: {reason}"
        ) from error
