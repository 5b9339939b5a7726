"""Shapes and dtypes that few programs have: numbers without axes, complex numbers, limits that are broadcast."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from mindspore import ops

from torch2ms.runtime import functional, linalg, optimizers


def test_numbers_alone_have_places_too() -> None:
    one, places = ms.tensor(2.0), ms.tensor([0])
    for made, wanted in (
        (functional.index_fill(one, 0, places, 5.0), 5.0),
        (functional.index_copy(one, 0, places, ms.tensor(7.0)), 7.0),
        (functional.scatter(one, 0, ms.tensor(0), ms.tensor(8.0)), 8.0),
        (functional.scatter_reduce(one, 0, ms.tensor(0), ms.tensor(8.0), "mean"), 5.0),
        (functional.index_reduce(one, 0, places, ms.tensor(8.0), "amax"), 8.0),
        (functional.gather(one, 0, ms.tensor(0)), 2.0),
    ):
        assert made.shape == ()
        assert float(made) == wanted
    assert functional.unfold_dimension(one, 0, 1, 1).asnumpy().tolist() == [2.0]
    assert functional.gather(one, 0, ms.tensor([0, 0])).asnumpy().tolist() == [2.0, 2.0]


def test_complex_numbers_are_written_part_by_part() -> None:
    zeros, places = ms.Tensor([0j, 0j], ms.complex64), ms.tensor([1, 1])
    source = ms.Tensor([1 + 2j, 3 - 1j], ms.complex64)
    assert functional.index_add(zeros, 0, places, source).asnumpy().tolist() == [0j, 4 + 1j]
    assert functional.index_copy(zeros, 0, ms.tensor([1, 0]), source).asnumpy().tolist() == [3 - 1j, 1 + 2j]
    assert functional.index_fill(zeros, 0, ms.tensor([1]), 2j).asnumpy().tolist() == [0j, 2j]


def test_limits_that_are_tensors_widen_the_values() -> None:
    column, row = ms.tensor([[1.0], [3.0]]), ms.tensor([2.0, 0.0])
    assert functional.clamp_min(column, row).asnumpy().tolist() == [[2.0, 1.0], [3.0, 3.0]]
    assert functional.clamp_max(column, row).asnumpy().tolist() == [[1.0, 0.0], [2.0, 0.0]]
    flags = functional.clamp_max(ms.tensor([True, False]), ms.tensor([False, True]))
    assert flags.asnumpy().tolist() == [False, False]


def test_complex_numbers_of_parts_of_different_shapes() -> None:
    made = functional.polar(ms.tensor([[1.0], [2.0]]), ms.tensor([0.0, np.pi]))
    assert np.allclose(made.asnumpy(), [[1, -1], [2, -2]], atol=1e-6)
    made = functional.complex(ms.tensor([[1.0], [2.0]]), ms.tensor([3.0, 4.0]))
    assert made.asnumpy().tolist() == [[1 + 3j, 1 + 4j], [2 + 3j, 2 + 4j]]


def test_an_axis_of_one_place_is_contracted_with_many() -> None:
    a, b = ops.ones((1, 2)), ms.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert functional.tensordot(a, b, dims=([0, 1], [0, 1])).asnumpy().tolist() == 10.0


def test_fill_leaves_what_it_is_given() -> None:
    tensor = ms.tensor([1.0, 2.0])
    assert functional.fill(tensor, 5).asnumpy().tolist() == [5.0, 5.0]
    assert tensor.asnumpy().tolist() == [1.0, 2.0]


def _alike(function: str, shapes: list[tuple[int, ...]], dtype: type, **options: object) -> None:
    """Hold a function of the runtime against PyTorch's of the same name, with the gradient of its first argument."""
    torch = pytest.importorskip("torch")
    draw = np.random.RandomState(0)
    arrays = [(draw.rand(*shape) * 9 - 4).astype(dtype) for shape in shapes]
    tensors = [torch.tensor(array) for array in arrays]
    if np.issubdtype(dtype, np.floating):
        tensors[0].requires_grad_()
    wanted = getattr(torch.nn.functional, function)(*tensors, **options)
    given = [ms.Tensor(array) for array in arrays]
    made = getattr(functional, function)(*given, **options)
    assert made.shape == tuple(wanted.shape)
    assert np.allclose(made.asnumpy(), wanted.detach().numpy(), rtol=1e-4, atol=1e-4)
    if tensors[0].requires_grad and wanted.numel():
        (wanted * wanted).sum().backward()
        slope = ms.grad(lambda x: ops.square(getattr(functional, function)(x, *given[1:], **options)).sum())(given[0])
        assert np.allclose(slope.asnumpy(), tensors[0].grad.numpy(), rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize(
    ("function", "shapes", "options"),
    [
        ("conv3d", [(2, 3, 4, 4), (5, 2, 2, 2, 2)], {"padding": 1}),
        ("conv_transpose1d", [(2, 5), (2, 3, 3)], {"stride": 2}),
        ("conv_transpose2d", [(2, 5, 4), (2, 3, 3, 3)], {"stride": 2, "output_padding": 1}),
        ("conv_transpose3d", [(2, 3, 3, 3), (2, 3, 2, 2, 2)], {"stride": 2}),
        ("conv_transpose3d", [(1, 1, 3, 3, 3), (1, 1, 2, 1, 2)], {"stride": 2, "padding": 1, "dilation": (2, 2, 1)}),
        ("conv_transpose2d", [(1, 2, 5, 4), (2, 3, 1, 3)], {"padding": (1, 0), "stride": 3}),
        ("avg_pool3d", [(1, 2, 4, 4, 4)], {"kernel_size": 2, "divisor_override": -2}),
        ("avg_pool2d", [(1, 2, 4, 4)], {"kernel_size": 2, "stride": ()}),
        ("avg_pool1d", [(0, 2, 4)], {"kernel_size": 2}),
        ("normalize", [(3, 4)], {"p": 0.0}),
        ("interpolate", [(1, 2, 5)], {"size": 3, "mode": "area"}),
        ("interpolate", [(1, 2, 3, 4, 5)], {"size": (2, 3, 7), "mode": "area"}),
        ("pad", [(0, 3, 3)], {"pad": (1, 2), "mode": "circular"}),
    ],
)
def test_calls_that_few_programs_make(function: str, shapes: list[tuple[int, ...]], options: dict[str, object]) -> None:
    _alike(function, shapes, np.float32, **options)


@pytest.mark.parametrize(
    ("function", "shapes", "dtype", "options"),
    [
        ("avg_pool1d", [(1, 2, 9)], np.int64, {"kernel_size": 3, "stride": 2}),
        ("avg_pool2d", [(1, 2, 5, 5)], np.int64, {"kernel_size": 3, "padding": 1}),
        ("conv_transpose3d", [(1, 2, 3, 3, 3), (2, 3, 2, 2, 2)], np.int64, {"stride": 2}),
        ("conv_transpose3d", [(1, 2, 3, 3, 3), (2, 3, 2, 2, 2)], np.float64, {"stride": 2}),
        ("poisson_nll_loss", [(4, 3), (4, 3)], np.int32, {}),
        ("pad", [(2, 3, 3)], np.bool_, {"pad": (2, 1), "mode": "circular"}),
    ],
)
def test_dtypes_that_few_programs_have(
    function: str, shapes: list[tuple[int, ...]], dtype: type, options: dict[str, object]
) -> None:
    _alike(function, shapes, dtype, **options)


def test_losses_of_numbers_alone() -> None:
    for function in (functional.multi_margin_loss, functional.multilabel_margin_loss):
        assert float(function(ms.tensor(2.0), ms.tensor(0))) == 0.0
    divergence = functional.kl_div(ms.tensor(0.5), ms.tensor(1.0), reduction="batchmean")
    assert float(divergence) == -0.5


def test_bags_in_the_order_of_old() -> None:
    table, places, starts = ms.tensor([[1.0], [2.0], [4.0]]), ms.tensor([0, 2, 1]), ms.tensor([0, 2])
    assert functional.embedding_bag(table, places, starts, mode="sum").asnumpy().tolist() == [[5.0], [2.0]]


@pytest.mark.parametrize("name", ["NAdam", "RAdam"])
def test_optimizers_that_climb(name: str) -> None:
    torch = pytest.importorskip("torch")
    theirs = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    weight = ms.Parameter(ms.Tensor([1.0, -2.0]), name="weight")
    options = {"lr": 0.1, "weight_decay": 0.1, "maximize": True}
    reference = getattr(torch.optim, name)([theirs], **options)
    optimizer = getattr(optimizers, name)([weight], **options)
    for step in range(3):
        theirs.grad = torch.tensor([0.5, 1.0 + step])
        reference.step()
        optimizer((ms.Tensor([0.5, 1.0 + step]),))
    assert np.allclose(weight.asnumpy(), theirs.detach().numpy(), atol=1e-5)


def test_ranks_and_eigenvalues_of_nothing() -> None:
    assert linalg.matrix_rank(ops.zeros((0, 0))).asnumpy() == 0
    assert linalg.matrix_rank(ops.zeros((2, 0, 3))).asnumpy().tolist() == [0, 0]
    assert linalg.matrix_rank(ms.Tensor([[[3.0, 0.0], [0.0, 1.0]]]), atol=ms.tensor([2.0])).asnumpy().tolist() == [1]
    assert linalg.eigvalsh(ops.zeros((2, 0, 0)), "U").shape == (2, 0)


def test_statistics_of_nothing_and_of_a_number() -> None:
    assert functional.histc(ops.zeros((0,)), 3).asnumpy().tolist() == [0.0, 0.0, 0.0]
    assert [float(part) for part in functional.nanmedian(ms.tensor(2.0), 0)] == [2.0, 0.0]


def test_complex_matrices_have_triangles() -> None:
    values = ms.Tensor([[1j, 2j], [3j, float("inf")]], ms.complex64)
    assert functional.triu(values[:1]).asnumpy().tolist() == [[1j, 2j]]
    assert functional.tril(values[:1]).asnumpy().tolist() == [[1j, 0j]]
    assert functional.isfinite(values).asnumpy().tolist() == [[True, True], [True, False]]


def test_factors_that_are_complex() -> None:
    one = ms.Tensor(np.ones((1, 1)), ms.complex64)
    for made in (
        functional.addmm(one, one, one, beta=1j, alpha=2j),
        functional.addr(one, one[0], one[0], beta=1j, alpha=2j),
        functional.addbmm(one, one[None], one[None], beta=1j, alpha=2j),
    ):
        assert made.asnumpy().tolist() == [[3j]]


def test_factors_of_complex_matrices() -> None:
    hermitian = np.array([[2, 1j, 0.5], [-1j, 3, 1 + 1j], [0.5, 1 - 1j, 4]], np.complex64)
    for upper in (False, True):
        factor = functional.cholesky(ms.Tensor(hermitian), upper=upper)
        found = factor.asnumpy()
        assert found == pytest.approx(np.triu(found) if upper else np.tril(found))
        product = found.conj().T @ found if upper else found @ found.conj().T
        assert product == pytest.approx(hermitian, abs=1e-5)
        inverse = linalg.cholesky_inverse(factor, upper).asnumpy()
        assert inverse @ hermitian == pytest.approx(np.eye(3), abs=1e-5)
    with pytest.raises(functional.LinAlgError, match="minor of order 2"):
        functional.cholesky(ms.Tensor(np.array([[1, 2j], [-2j, 1]], np.complex64)))


def test_masked_reductions_of_every_dtype() -> None:
    mask = ms.tensor([[True, False], [False, False]])
    ints = ms.tensor([[3, 9], [4, 5]])
    assert functional.masked.amax(ints, 1, mask=mask).asnumpy().tolist() == [3, np.iinfo(np.int64).min]
    assert functional.masked.argmin(ints, mask=mask).dtype == ms.int64
    assert functional.masked.sum(ints.astype(ms.uint8), mask=mask).dtype == ms.int64
    with pytest.raises(ValueError, match="fully masked out"):
        functional.masked.median(ints, 1, mask=mask)
    floats = ints.astype(ms.float32)
    assert functional.masked.argmax(floats, mask=mask).dtype == ms.float32  # as PyTorch's
    assert np.isnan(functional.masked.mean(floats, 1, mask=mask).asnumpy()).tolist() == [False, True]
    numbers = ms.Tensor([[3 + 4j, 9], [4, 5]], ms.complex64)
    assert functional.masked.mean(numbers, 1, mask=mask)[0].asnumpy() == 3 + 4j
    assert functional.masked.normalize(numbers, 2.0, 1, mask=mask).asnumpy()[0] == pytest.approx([0.6 + 0.8j, 0])


def test_rows_are_told_as_compressed() -> None:
    matrix = ms.tensor([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [3.0, 0.0, 4.0]])
    ends, columns = functional.crow_indices(matrix), functional.col_indices(matrix)
    assert ends.asnumpy().tolist() == [0, 1, 1, 3]
    assert columns.asnumpy().tolist() == [1, 0, 2]
    values = functional.sparse_values(matrix)
    again = functional.sparse_csr_tensor(ends, columns, values)
    assert again.asnumpy().tolist() == matrix.asnumpy().tolist()
    assert functional.sparse_csr_tensor([0, 1], [0], [5], (1, 2), dtype=ms.int32).asnumpy().tolist() == [[5, 0]]


def test_segments_that_hold_nothing() -> None:
    # By torch 2.13
    x = ms.tensor([1.0, 2.0, 3.0])
    lengths = ms.tensor([2, 0, 1])
    found = {
        name: functional.segment_reduce(x, name, lengths=lengths).asnumpy().tolist() for name in ("sum", "prod", "max")
    }
    assert found == {"sum": [3.0, 0.0, 3.0], "prod": [2.0, 1.0, 3.0], "max": [2.0, -np.inf, 3.0]}
    mean = functional.segment_reduce(x, "mean", lengths=lengths, initial=4.0).asnumpy()
    assert mean.tolist() == [3.5, 4.0, 7.0]
    offsets = ms.tensor([0, 2, 2, 3])
    assert functional.segment_reduce(x, "min", offsets=offsets, initial=1.5).asnumpy().tolist() == [1.0, 1.5, 1.5]
    with pytest.raises(ValueError, match="lengths or offsets"):
        functional.segment_reduce(x, "sum")
