"""Einstein summation through matrix products: MindSpore's own ``einsum`` runs on GPU only."""

from __future__ import annotations

import string
from typing import Any, Dict, List, Tuple

from mindspore import Tensor, ops

from .dtypes import promoted

__all__ = ["einsum"]


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
    if len({operand.dtype for operand in operands}) > 1:
        operands = tuple(promoted(operands))
    inputs, output = _parse(equation, operands)
    if any(0 in operand.shape for operand in operands):
        sizes = {letter: size for term, each in zip(inputs, operands) for letter, size in zip(term, each.shape)}
        return ops.zeros(tuple(sizes[letter] for letter in output), operands[0].dtype)
    current, terms = operands[0], inputs[0]
    current, terms = _diagonal(current, terms)
    for position in range(1, len(operands)):
        other, other_terms = _diagonal(operands[position], inputs[position])
        needed = set(output).union(*inputs[position + 1 :])
        current, terms = _contract(current, terms, other, other_terms, needed)
    return _finish(current, terms, output)


def _written(*given: Any) -> Tuple[str, Tuple[Any, ...]]:
    """Return equation and operands for operands that each stand in front of the numbers of their axes."""
    pairs, has_output = divmod(len(given), 2)
    axes = [*given[1::2], *([given[-1]] if has_output else [])]
    terms = ["".join("..." if axis is ... else string.ascii_letters[axis] for axis in term) for term in axes]
    return "->".join([",".join(terms[:pairs]), *terms[pairs:]]), given[: 2 * pairs : 2]


def _parse(equation: str, operands: Tuple[Any, ...]) -> Tuple[List[str], str]:
    """Return the letters of each operand and of the output; an ellipsis becomes unused letters."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    inputs = left.split(",")
    if len(inputs) != len(operands):
        raise ValueError(f"einsum: the equation has {len(inputs)} operands, {len(operands)} were given")
    free = [letter for letter in string.ascii_letters if letter not in equation]
    widest = 0
    for index, term in enumerate(inputs):
        if "..." in term:
            rank = operands[index].ndim - len(term) + 3
            widest = max(widest, rank)
    names = "".join(free[:widest])
    expanded = []
    for index, term in enumerate(inputs):
        if "..." in term:
            rank = operands[index].ndim - len(term) + 3
            term = term.replace("...", names[widest - rank :])
        expanded.append(term)
    if arrow:
        return expanded, right.replace("...", names)
    joined = "".join(expanded)
    once = sorted(letter for letter in set(joined) if joined.count(letter) == 1 and letter not in names)
    return expanded, names + "".join(once)


def _diagonal(operand: Tensor, terms: str) -> Tuple[Tensor, str]:
    """Return the operand with each letter once: repeated letters take the diagonal."""
    for letter in sorted(set(terms)):
        while terms.count(letter) > 1:
            first = terms.index(letter)
            second = terms.index(letter, first + 1)
            operand = ops.diagonal(operand, 0, first, second)
            terms = terms[:first] + terms[first + 1 : second] + terms[second + 1 :] + letter
    return operand, terms


def _contract(a: Tensor, a_terms: str, b: Tensor, b_terms: str, needed: Any) -> Tuple[Tensor, str]:
    """Return the product of two operands, summed over the letters that nothing after them needs."""
    a, a_terms = _summed(a, a_terms, set(a_terms) - set(b_terms) - set(needed))
    b, b_terms = _summed(b, b_terms, set(b_terms) - set(a_terms) - set(needed))
    shared = [letter for letter in a_terms if letter in b_terms]
    batch = [letter for letter in shared if letter in needed]
    inner = [letter for letter in shared if letter not in needed]
    a_free = [letter for letter in a_terms if letter not in shared]
    b_free = [letter for letter in b_terms if letter not in shared]
    sizes: Dict[str, int] = {}
    for letter, size in [*zip(a_terms, a.shape), *zip(b_terms, b.shape)]:
        sizes[letter] = max(size, sizes.get(letter, 1))
    a = _ordered(a, a_terms, batch + a_free + inner, sizes, batch + inner)
    b = _ordered(b, b_terms, batch + inner + b_free, sizes, batch + inner)
    lead = tuple(sizes[letter] for letter in batch)
    rows, columns = _product(sizes, a_free), _product(sizes, b_free)
    depth = _product(sizes, inner)
    product = ops.matmul(a.reshape((*lead, rows, depth)), b.reshape((*lead, depth, columns)))
    result = batch + a_free + b_free
    return product.reshape(tuple(sizes[letter] for letter in result)), "".join(result)


def _product(sizes: Dict[str, int], letters: List[str]) -> int:
    """Return the product of the sizes of ``letters``."""
    total = 1
    for letter in letters:
        total *= sizes[letter]
    return total


def _summed(operand: Tensor, terms: str, gone: Any) -> Tuple[Tensor, str]:
    """Return the operand summed over the letters in ``gone``."""
    axes = tuple(axis for axis, letter in enumerate(terms) if letter in gone)
    if not axes:
        return operand, terms
    return operand.sum(axes), "".join(letter for letter in terms if letter not in gone)


def _ordered(operand: Tensor, terms: str, order: List[str], sizes: Dict[str, int], shared: List[str]) -> Tensor:
    """Return the operand with its axes in ``order``; shared axes of size 1 are spread to the size of the other."""
    axes = tuple(terms.index(letter) for letter in order)
    if axes != tuple(range(len(axes))):
        operand = ops.transpose(operand, axes)
    shape = tuple(sizes[letter] if letter in shared else size for letter, size in zip(order, operand.shape))
    return operand if shape == operand.shape else ops.broadcast_to(operand, shape)


def _finish(operand: Tensor, terms: str, output: str) -> Tensor:
    """Return the operand summed and transposed to the letters of ``output``."""
    operand, terms = _summed(operand, terms, set(terms) - set(output))
    axes = tuple(terms.index(letter) for letter in output)
    return operand if axes == tuple(range(len(axes))) else ops.transpose(operand, axes)
