"""Rows of an architecture, as configuration files hold them."""

ENCODER = [("conv", (1, 2, 3), {"padding": 1}), ("norm", (2,), {}), ("act", (0.1,), {}), ("conv", (2, 1, 1), {"bias": False})]
POOL = dict(kernel_size=2, stride=2)
