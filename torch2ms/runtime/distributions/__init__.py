"""Probability distributions with PyTorch's signatures, on plain MindSpore operators.

Parameters are float tensors (numbers become tensors) and broadcast against each other; ``log_prob``, ``entropy`` and
``rsample`` have gradients. Samples come from MindSpore's generator. Arguments and values are not validated.
"""

from . import constraints, utils
from .base import Distribution, Independent, TransformedDistribution
from .continuous import (
    Cauchy,
    Exponential,
    Gumbel,
    HalfCauchy,
    HalfNormal,
    Laplace,
    LogNormal,
    Normal,
    Pareto,
    Uniform,
    Weibull,
)
from .discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    Multinomial,
    NegativeBinomial,
    OneHotCategorical,
    Poisson,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
)
from .divergence import kl_divergence, register_kl
from .facts import attach
from .gamma import Beta, Chi2, Gamma, StudentT
from .multivariate import Dirichlet, MixtureSameFamily, MultivariateNormal
from .seldom import (
    ContinuousBernoulli,
    FisherSnedecor,
    InverseGamma,
    Kumaraswamy,
    LogisticNormal,
    LowRankMultivariateNormal,
    OneHotCategoricalStraightThrough,
    VonMises,
)
from .transforms import (
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
    Transform,
)
from .wider_transforms import (
    AbsTransform,
    CatTransform,
    CumulativeDistributionTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    ReshapeTransform,
    SoftmaxTransform,
    StackTransform,
    StickBreakingTransform,
)

attach()

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Binomial",
    "CatTransform",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ComposeTransform",
    "ContinuousBernoulli",
    "CumulativeDistributionTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "FisherSnedecor",
    "Gamma",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "IndependentTransform",
    "InverseGamma",
    "Kumaraswamy",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "LowerCholeskyTransform",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "PowerTransform",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "constraints",
    "kl_divergence",
    "register_kl",
    "utils",
]
