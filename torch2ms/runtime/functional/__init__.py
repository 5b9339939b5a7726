"""Functions with PyTorch's signatures for what MindSpore cannot say in one readable expression.

Built from operators that run on CPU, GPU and Ascend; all are differentiable unless they return indices or draw at random.
"""

from __future__ import annotations

from .activation import *  # noqa: F403
from .contraction import *  # noqa: F403
from .convolution import *  # noqa: F403
from .creation import *  # noqa: F403
from .image import *  # noqa: F403
from .loss import *  # noqa: F403
from .matrix import *  # noqa: F403
from .normalization import *  # noqa: F403
from .pointwise import *  # noqa: F403
from .pooling import *  # noqa: F403
from .tensor import *  # noqa: F403
