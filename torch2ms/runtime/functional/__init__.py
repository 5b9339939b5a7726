"""Functions with PyTorch's signatures for what MindSpore cannot say in one readable expression.

Built from operators that run on CPU, GPU and Ascend; all are differentiable, except what returns indices
or draws at random.
"""

from __future__ import annotations

from . import loss, masked, nan_pools, nans, pooling, selections, whole
from .activation import *  # noqa: F403
from .algebra import *  # noqa: F403
from .assertions import *  # noqa: F403
from .attention import *  # noqa: F403
from .class_losses import *  # noqa: F403
from .comparison import *  # noqa: F403
from .contraction import *  # noqa: F403
from .convolution import *  # noqa: F403
from .copies import *  # noqa: F403
from .creation import *  # noqa: F403
from .dtypes import *  # noqa: F403
from .exact import *  # noqa: F403
from .extrema import *  # noqa: F403
from .flexible import *  # noqa: F403
from .fractional import *  # noqa: F403
from .handed import *  # noqa: F403
from .image import *  # noqa: F403
from .kernels import *  # noqa: F403
from .lookup import *  # noqa: F403
from .loss import *  # noqa: F403
from .matrix import *  # noqa: F403
from .noise import *  # noqa: F403
from .normalization import *  # noqa: F403
from .places import *  # noqa: F403
from .placing import *  # noqa: F403
from .pointwise import *  # noqa: F403
from .polynomials import *  # noqa: F403
from .pooling import *  # noqa: F403
from .reductions import *  # noqa: F403
from .sampling import *  # noqa: F403
from .seldom import *  # noqa: F403
from .singular import *  # noqa: F403
from .sparse_rows import *  # noqa: F403
from .special import *  # noqa: F403
from .spectral import *  # noqa: F403
from .statistics import *  # noqa: F403
from .tensor import *  # noqa: F403
from .texts import *  # noqa: F403
from .whole import *  # noqa: F403
