from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor

from torch2ms.runtime import distributions
from torch2ms.runtime.distributions import gamma


def test_samples_have_the_shape_asked_for():
    mean = Tensor([[0.0, 1.0, 2.0]])
    assert distributions.Normal(mean, 1.0).sample((5, 4)).shape == (5, 4, 1, 3)
    assert distributions.Normal(0.0, 1.0).sample().shape == ()
    drawn = distributions.Categorical(Tensor([[0.5, 0.5], [1.0, 0.0]])).sample((7,))
    assert drawn.shape == (7, 2)
    assert drawn.dtype == ms.int64
    assert (drawn.asnumpy()[:, 1] == 0).all()
    assert set(np.unique(distributions.Bernoulli(Tensor([0.5])).sample((50,)).asnumpy())) == {0.0, 1.0}


def test_classes_broadcast_against_the_batch():
    categorical = distributions.Categorical(logits=Tensor([[0.0, 1.0], [2.0, 0.0]]))
    values = Tensor([[0, 1], [1, 1], [0, 0]], ms.int64)
    expected = np.take_along_axis(np.tile(categorical.logits.asnumpy(), (3, 1, 1)), values.asnumpy()[..., None], -1)
    np.testing.assert_allclose(categorical.log_prob(values).asnumpy(), expected[..., 0], rtol=1e-6)


@pytest.mark.parametrize("name", ["Categorical", "Bernoulli"])
def test_either_probabilities_or_logits(name):
    with pytest.raises(ValueError, match="Either"):
        getattr(distributions, name)()


def test_gradients_reach_the_parameters():
    value = Tensor([0.3], ms.float32)
    slope = ms.grad(lambda mean: distributions.Normal(mean, 2.0).log_prob(value).sum())(Tensor([1.0]))
    np.testing.assert_allclose(slope.asnumpy(), [(0.3 - 1.0) / 4], rtol=1e-5)
    ones = ms.grad(lambda mean: distributions.Normal(mean, 2.0).rsample((3,)).sum())(Tensor([1.0]))
    np.testing.assert_allclose(ones.asnumpy(), [3.0], rtol=1e-6)
    none = ms.grad(lambda mean: distributions.Normal(mean, 2.0).sample((3,)).sum())(Tensor([1.0]))
    np.testing.assert_array_equal(none.asnumpy(), 0)


def test_the_divergence_from_itself_is_zero():
    normal = distributions.Normal(Tensor([0.5]), 2.0)
    np.testing.assert_allclose(distributions.kl_divergence(normal, normal).asnumpy(), 0, atol=1e-6)
    with pytest.raises(NotImplementedError):
        distributions.kl_divergence(normal, distributions.Uniform(0.0, 1.0))


def test_a_saturated_sample_goes_back_through_the_cache():
    normal = distributions.Normal(Tensor([8.0, 12.0]), 1.0)
    squashed = distributions.TransformedDistribution(normal, [distributions.TanhTransform(cache_size=1)])
    drawn = squashed.rsample()
    assert np.isfinite(squashed.log_prob(drawn).asnumpy()).all()
    assert not np.isfinite(squashed.log_prob(Tensor([1.0, 1.0])).asnumpy()).any()


@pytest.mark.parametrize("name", ["VonMises"])
def test_draws_without_gradients_say_so(name):
    distribution = getattr(distributions, name)(Tensor([1.0]), Tensor([2.0]))
    assert distribution.sample((3,)).shape == (3, 1)
    assert not distribution.has_rsample
    with pytest.raises(NotImplementedError, match="carry no gradients"):
        distribution.rsample()


def test_expanded_parameters():
    wide = distributions.Normal(Tensor([[1.0], [2.0]]), 1.0).expand((2, 3))
    assert (wide.batch_shape, wide.mean.shape, wide.sample().shape) == ((2, 3), (2, 3), (2, 3))


def test_pairs_without_a_formula_are_refused():
    with pytest.raises(NotImplementedError, match="Cauchy and Normal"):
        distributions.kl_divergence(distributions.Cauchy(0.0, 1.0), distributions.Normal(0.0, 1.0))


def test_a_transform_of_ones_own_defines_call_and_inverse():
    class Doubled(distributions.Transform):
        domain = codomain = distributions.constraints.real

        def _call(self, x):
            return 2 * x

        def _inverse(self, y):
            return y / 2

        def log_abs_det_jacobian(self, x, y):
            return 0 * x + np.log(2.0)

    changed = distributions.TransformedDistribution(distributions.Normal(0.0, 1.0), [Doubled()])
    value = Tensor([0.3])
    expected = distributions.Normal(0.0, 2.0).log_prob(value).asnumpy()
    np.testing.assert_allclose(changed.log_prob(value).asnumpy(), expected, rtol=1e-6)
    assert Doubled.codomain.check(value).all()


def test_quantiles_of_the_log_normal_distribution() -> None:
    found = distributions.LogNormal(ms.Tensor([0.0, 0.5]), ms.Tensor([1.0, 0.5]))
    value = ms.Tensor([0.5, 2.0])
    np.testing.assert_allclose(found.cdf(value).asnumpy(), [0.24410859, 0.65036273], rtol=1e-4)
    np.testing.assert_allclose(found.icdf(found.cdf(value)).asnumpy(), [0.5, 2.0], rtol=1e-4)


def test_draws_of_a_gamma_distribution_carry_the_gradient_of_the_concentration(monkeypatch):
    drawn = Tensor([0.3, 1.2, 5.0], ms.float32)
    monkeypatch.setattr(gamma, "standard_gamma", lambda shape, concentration: drawn)
    slope = ms.grad(lambda a: gamma.gamma_draws((), a).sum())(Tensor([0.5, 2.0, 4.0], ms.float32))
    # torch._standard_gamma_grad of the same numbers
    np.testing.assert_allclose(slope.asnumpy(), [1.0098, 0.8307, 1.1633], rtol=1e-3)


@pytest.mark.parametrize("name", ["Gamma", "Beta", "InverseGamma", "FisherSnedecor"])
def test_distributions_made_of_gamma_draws_have_gradients(name):
    kind = getattr(distributions, name)
    slopes = ms.grad(lambda a, b: kind(a, b).rsample((4,)).sum(), (0, 1))(Tensor([2.0]), Tensor([3.0]))
    assert all(np.isfinite(slope.asnumpy()).all() and (slope.asnumpy() != 0).all() for slope in slopes)
    assert kind(2.0, 3.0).has_rsample


def test_rows_of_a_dirichlet_distribution_sum_to_one():
    drawn = distributions.Dirichlet(Tensor([1.0, 2.0, 3.0])).rsample((5,))
    assert drawn.shape == (5, 3)
    np.testing.assert_allclose(drawn.asnumpy().sum(-1), np.ones(5), rtol=1e-5)


def test_entropy_of_a_binomial_distribution():
    found = distributions.Binomial(4, Tensor([0.3, 0.5])).entropy().asnumpy()
    np.testing.assert_allclose(found, [1.293955, 1.407532], rtol=1e-4)
    with pytest.raises(NotImplementedError):
        distributions.Binomial(Tensor([2.0, 3.0]), Tensor([0.3, 0.5])).entropy()
    assert np.isinf(distributions.HalfCauchy(Tensor([1.0])).stddev.asnumpy()).all()


def test_a_mean_of_one_place_stays_one():
    mixed = distributions.MultivariateNormal(ms.ops.zeros((2, 1)), ms.ops.eye(3))
    assert mixed.mean.shape == (2, 1)
    assert distributions.MultivariateNormal(ms.ops.zeros((2, 3)), ms.ops.eye(3)).mean.shape == (2, 3)


def test_jacobian_has_the_dtype_of_the_argument():
    found = distributions.AffineTransform(1.5, -2.0).log_abs_det_jacobian(Tensor([True, False]), None)
    assert found.dtype == ms.bool_


def test_no_failures_at_all_are_certain():
    found = distributions.NegativeBinomial(Tensor([0.0]), Tensor([0.3])).log_prob(Tensor([0.0]))
    assert found.asnumpy().tolist() == [0.0]


def test_negative_count_of_axes_sums_what_pytorch_sums():
    base = distributions.Normal(ms.ops.zeros((2, 3)), ms.ops.ones((2, 3)))
    value = ms.ops.ones((4, 2, 3))
    found = distributions.Independent(base, -1).log_prob(value)
    np.testing.assert_allclose(found.asnumpy(), base.log_prob(value).asnumpy().sum((1, 2)), rtol=1e-6)


def test_classes_that_are_masked():
    masked = distributions.Categorical(logits=ms.tensor([[1.0, -np.inf, 0.5]]))
    assert masked.entropy().asnumpy()[0] == pytest.approx(0.6628473)
    whole = distributions.Categorical(logits=ms.tensor([[1.0, 0.0, 0.5]]))
    shares = masked.probs.asnumpy()[0, [0, 2]]
    expected = (shares * np.log(shares / whole.probs.asnumpy()[0, [0, 2]])).sum()
    assert distributions.kl_divergence(masked, whole).asnumpy()[0] == pytest.approx(expected, abs=1e-6)
    assert distributions.kl_divergence(masked, masked).asnumpy()[0] == pytest.approx(0, abs=1e-6)
    assert distributions.kl_divergence(whole, masked).asnumpy()[0] == np.inf


def test_a_number_takes_the_dtype_of_the_tensor_beside_it():
    assert (
        distributions.HalfCauchy(ms.tensor([1.0], ms.float16)).log_prob(ms.tensor([0.5], ms.float16)).dtype
        == ms.float16
    )


NAN = float("nan")
# Mode, cdf and icdf at 0.3 and 0.6, by torch 2.13
FACTS = [
    ("Gamma", ([1.0, 2.5], [2.0, 0.5]), [0.0, 3.0], [0.45119, 0.012], None),
    ("InverseGamma", ([3.0, 2.5], [2.0, 0.5]), [0.5, 0.14286], [0.03804, 0.89307], None),
    ("Kumaraswamy", ([1.5, 2.0], [1.5, 3.0]), [NAN, NAN], [0.23605, 0.73786], [0.35512, 0.51302]),
    ("Pareto", ([0.2, 0.1], [3.0, 2.5]), [0.2, 0.1], [0.7037, 0.98866], [0.22525, 0.14427]),
    ("Weibull", ([1.0, 2.0], [1.5, 2.5]), [0.48075, 1.63039], [0.15153, 0.0481], [0.50294, 1.93127]),
    ("HalfCauchy", ([1.0, 2.0],), [0.0, 0.0], [0.18555, 0.18555], [0.50953, 2.75276]),
    ("HalfNormal", ([1.0, 2.0],), [0.0, 0.0], [0.23582, 0.23582], [0.38532, 1.68324]),
    ("Gumbel", ([0.0, 1.0], [1.0, 2.0]), [0.0, 1.0], [0.47672, 0.29482], [-0.18563, 2.34345]),
    ("Beta", ([2.0, 0.5], [3.0, 0.5]), [0.33333, 1.0], None, None),
    ("FisherSnedecor", ([3.0, 6.0], [5.0, 7.0]), [0.2381, 0.51852], None, None),
    ("Bernoulli", ([0.3, 0.5],), [0.0, NAN], None, None),
    ("Uniform", ([0.0, 0.1], [1.0, 2.0]), [NAN, NAN], [0.3, 0.26316], [0.3, 1.24]),
]


@pytest.mark.parametrize(("name", "arguments", "mode", "below", "quantiles"), FACTS)
def test_modes_and_distribution_functions(name, arguments, mode, below, quantiles):
    found = getattr(distributions, name)(*map(ms.tensor, arguments))
    value = ms.tensor([0.3, 0.6])
    assert found.mode.asnumpy() == pytest.approx(np.array(mode), abs=1e-5, nan_ok=True)
    for function, expected in ((found.cdf, below), (found.icdf, quantiles)):
        if expected is not None:
            assert function(value).asnumpy() == pytest.approx(np.array(expected), abs=1e-5)
        else:
            with pytest.raises(NotImplementedError):
                function(value)


def test_events_keep_their_shape_when_the_batch_grows():
    shares = ms.tensor([0.2, 0.3, 0.5])
    for one, value in (
        (distributions.Categorical(shares), ms.tensor([[0, 2], [1, 1]])),
        (distributions.OneHotCategorical(shares), ms.tensor([0.0, 1.0, 0.0])),
        (distributions.Multinomial(2, shares), ms.tensor([1.0, 1.0, 0.0])),
        (distributions.Dirichlet(shares), shares),
        (distributions.MultivariateNormal(shares, ms.ops.eye(3)), shares),
        (distributions.Independent(distributions.Normal(shares, 1.0), 1), shares),
    ):
        more = one.expand((2, 2))
        assert more.batch_shape == (2, 2)
        assert more.event_shape == one.event_shape
        expected = np.broadcast_to(one.log_prob(value).asnumpy(), (2, 2))
        assert more.log_prob(value).asnumpy() == pytest.approx(expected, abs=1e-6)
        assert more.sample((3,)).shape == (3, 2, 2, *one.event_shape)


def test_where_values_lie():
    uniform = distributions.Uniform(ms.tensor([0.0, 1.0]), 2.0)
    assert uniform.support.check(ms.tensor([0.5, 0.5])).asnumpy().tolist() == [True, False]
    assert sorted(uniform.arg_constraints) == ["high", "low"]
    matrices = ms.tensor([[[2.0, 1.0], [1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]]])
    check = distributions.MultivariateNormal.arg_constraints["covariance_matrix"].check
    assert check(matrices).asnumpy().tolist() == [True, False]
    assert distributions.constraints.lower_cholesky.check(matrices).asnumpy().tolist() == [False, False]
    assert bool(distributions.OneHotCategorical(ms.tensor([0.5, 0.5])).support.check(ms.tensor([0.0, 1.0])))
    values = distributions.Categorical(ms.tensor([[0.5, 0.5]])).enumerate_support()
    assert values.dtype == ms.int64
    assert values.asnumpy().tolist() == [[0], [1]]
    assert distributions.Dirichlet(ms.tensor([[0.5, 0.9], [3.0, 2.0]])).mode.asnumpy() == pytest.approx(
        np.array([[1, 0], [2 / 3, 1 / 3]])
    )


def test_transforms_that_change_the_shape_of_events():
    sticks = distributions.LogisticNormal(ms.ops.zeros(2), ms.ops.ones(2))
    assert (sticks.batch_shape, sticks.event_shape) == ((), (3,))
    assert sticks.sample((4,)).asnumpy().sum(-1) == pytest.approx(np.ones(4), abs=1e-6)
    turned = distributions.TransformedDistribution(
        distributions.Normal(0.0, 1.0), [distributions.AffineTransform(0.0, -2.0)]
    )
    plain = distributions.Normal(0.0, 2.0)
    assert float(turned.cdf(ms.tensor(0.3))) == pytest.approx(float(plain.cdf(ms.tensor(0.3))))
    assert float(turned.icdf(ms.tensor(0.3))) == pytest.approx(float(plain.icdf(ms.tensor(0.3))), abs=1e-6)
