"""Einstein summation through matrix products: MindSpore's own ``einsum`` runs on GPU only."""

from __future__ import annotations

import math
import string
from typing import Any, Dict, List, Sequence, Tuple

from mindspore import Tensor, ops

from .dtypes import promoted

__all__ = ["einsum"]

Shape = Tuple[int, ...]


def einsum(equation: Any, *operands: Any) -> Tensor:
    """Return the sum of products that ``equation`` writes, such as ``"bij,bjk->bik"``.

    Ellipses and implicit output work. Operands of several dtypes are promoted, then contracted from left to right,
    each pair as one batched matrix product. Operands and the numbers of their axes may be given in turn instead:
    ``einsum(a, [0, 1], b, [1, 2], [0, 2])``.
    """
    if not isinstance(equation, str):
        equation, operands = _written(equation, *operands)
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    operands = tuple(promoted(operands))
    diagonals, steps, last, empty = _plan(equation, tuple(operand.shape for operand in operands))
    if empty is not None:
        return ops.zeros(empty, operands[0].dtype)
    current = _diagonal(operands[0], diagonals[0])
    for position in range(1, len(operands)):
        left, right, shape = steps[position - 1]
        other = _diagonal(operands[position], diagonals[position])
        current = ops.matmul(_arranged(current, left), _arranged(other, right)).reshape(shape)
    return _arranged(current, last)


def _written(*given: Any) -> Tuple[str, Tuple[Any, ...]]:
    """Return equation and operands for operands that each stand in front of the numbers of their axes."""
    pairs, has_output = divmod(len(given), 2)
    axes = [*given[1::2], *([given[-1]] if has_output else [])]
    terms = ["".join("..." if axis is ... else string.ascii_letters[axis] for axis in term) for term in axes]
    return "->".join([",".join(terms[:pairs]), *terms[pairs:]]), given[: 2 * pairs : 2]


@ops.constexpr  # letters are no matter of graphs
def _plan(equation: str, shapes: Tuple[Shape, ...]) -> Tuple[Any, Any, Any, Any]:
    """Return what is done to shapes like these: (diagonals of each operand, products, the last arrangement, empty).

    An arrangement is (axes to sum, order of axes, shape to spread to, shape); what is not needed is empty. A product is
    (arrangement of the left side, of the right side, shape of the product). ``empty`` is the result's shape where an
    operand has no elements, else None.
    """
    inputs, output = _parse(equation, shapes)
    if any(0 in shape for shape in shapes):
        sizes = {letter: size for term, shape in zip(inputs, shapes) for letter, size in zip(term, shape)}
        return (), (), (), tuple(sizes[letter] for letter in output)
    found = [_diagonals(term, shape) for term, shape in zip(inputs, shapes)]
    _, terms, shape = found[0]
    steps = []
    for position in range(1, len(shapes)):
        needed = set(output).union(*inputs[position + 1 :])
        step, terms, shape = _product_of(terms, shape, *found[position][1:], needed)
        steps.append(step)
    kept = "".join(letter for letter in terms if letter in output)
    sizes = dict(zip(terms, shape))
    last = _arrangement(terms, shape, kept, output, sizes, tuple(sizes[letter] for letter in output))
    return tuple(pairs for pairs, _, _ in found), tuple(steps), last, None


def _parse(equation: str, shapes: Tuple[Shape, ...]) -> Tuple[List[str], str]:
    """Return the letters of each operand and of the output; an ellipsis becomes unused letters."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    inputs = left.split(",")
    if len(inputs) != len(shapes):
        raise ValueError(f"einsum: the equation has {len(inputs)} operands, {len(shapes)} were given")
    free = [letter for letter in string.ascii_letters if letter not in equation]
    widest = 0
    for index, term in enumerate(inputs):
        if "..." in term:
            rank = len(shapes[index]) - len(term) + 3
            widest = max(widest, rank)
    names = "".join(free[:widest])
    expanded = []
    for index, term in enumerate(inputs):
        if "..." in term:
            rank = len(shapes[index]) - len(term) + 3
            term = term.replace("...", names[widest - rank :])
        expanded.append(term)
    if arrow:
        return expanded, right.replace("...", names)
    joined = "".join(expanded)
    once = sorted(letter for letter in set(joined) if joined.count(letter) == 1 and letter not in names)
    return expanded, names + "".join(once)


def _diagonals(terms: str, shape: Shape) -> Tuple[Any, str, Shape]:
    """Return pairs of axes whose diagonals leave each letter once, the letters that are left, and the shape."""
    pairs = []
    for letter in sorted(set(terms)):
        while terms.count(letter) > 1:
            first = terms.index(letter)
            second = terms.index(letter, first + 1)
            pairs.append((first, second))
            size = min(shape[first], shape[second])
            terms = terms[:first] + terms[first + 1 : second] + terms[second + 1 :] + letter
            shape = (*shape[:first], *shape[first + 1 : second], *shape[second + 1 :], size)
    return tuple(pairs), terms, shape


def _product_of(a_terms: str, a_shape: Shape, b_terms: str, b_shape: Shape, needed: Any) -> Tuple[Any, str, Shape]:
    """Return the product of two operands, summed over the letters that nothing after them needs; letters and shape."""
    a = [letter for letter in a_terms if letter in b_terms or letter in needed]
    b = [letter for letter in b_terms if letter in a_terms or letter in needed]
    shared = [letter for letter in a if letter in b]
    batch = [letter for letter in shared if letter in needed]
    inner = [letter for letter in shared if letter not in needed]
    a_free = [letter for letter in a if letter not in shared]
    b_free = [letter for letter in b if letter not in shared]
    sizes: Dict[str, int] = {}
    for letter, size in [*zip(a_terms, a_shape), *zip(b_terms, b_shape)]:
        sizes[letter] = max(size, sizes.get(letter, 1))
    lead = tuple(sizes[letter] for letter in batch)
    rows, columns, depth = (math.prod(sizes[letter] for letter in part) for part in (a_free, b_free, inner))
    result = [*batch, *a_free, *b_free]
    shape = tuple(sizes[letter] for letter in result)
    left = _arrangement(a_terms, a_shape, a, batch + a_free + inner, sizes, (*lead, rows, depth))
    right = _arrangement(b_terms, b_shape, b, batch + inner + b_free, sizes, (*lead, depth, columns))
    return (left, right, shape), "".join(result), shape


def _arrangement(
    terms: str, shape: Shape, kept: Sequence[str], order: Sequence[str], sizes: Dict[str, int], final: Shape
) -> Tuple[Shape, Shape, Shape, Shape]:
    """Return how an operand is summed to the letters in ``kept``, put in ``order``, and spread to ``sizes``."""
    summed = tuple(axis for axis, letter in enumerate(terms) if letter not in kept)
    axes = tuple(kept.index(letter) for letter in order)
    own = dict(zip(terms, shape))
    spread = tuple(sizes[letter] for letter in order)
    return (
        summed,
        () if axes == tuple(range(len(axes))) else axes,
        () if spread == tuple(own[letter] for letter in order) else spread,
        final,
    )


def _diagonal(operand: Tensor, pairs: Any) -> Tensor:
    """Return the operand with its diagonals taken."""
    for first, second in pairs:
        operand = ops.diagonal(operand, 0, first, second)
    return operand


def _arranged(operand: Tensor, arrangement: Any) -> Tensor:
    """Return the operand summed, transposed, spread and reshaped."""
    summed, axes, spread, shape = arrangement
    if summed:
        operand = operand.sum(summed)
    if axes:
        operand = ops.transpose(operand, axes)
    if spread:
        operand = ops.broadcast_to(operand, spread)
    return operand if shape == operand.shape else operand.reshape(shape)
