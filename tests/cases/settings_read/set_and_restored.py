"""A switch is read, set for a while, and put back."""

import contextlib

import torch


@contextlib.contextmanager
def benchmark(value):
    before = torch.backends.cudnn.benchmark
    torch.backends.cudnn.benchmark = value
    try:
        yield
    finally:
        torch.backends.cudnn.benchmark = before


print(torch.backends.cudnn.benchmark)
with benchmark(True):
    print(torch.backends.cudnn.benchmark)
print(torch.backends.cudnn.benchmark)
if not torch.backends.cudnn.allow_tf32:
    print("never")
torch.backends.cuda.matmul.allow_tf32 = True
print("tf32" if torch.backends.cuda.matmul.allow_tf32 else "full")
