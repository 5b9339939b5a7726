# An optimizer of another package is used where it is installed; else PyTorch's own.
import torch

try:
    from adan_pytorch import Adan

    HAS_ADAN = True
except ImportError:
    HAS_ADAN = False

w = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
optimizer = Adan([w], lr=0.1) if HAS_ADAN else torch.optim.SGD([w], lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss = (w**2).sum()
    loss.backward()
    optimizer.step()
print([round(v, 5) for v in w.tolist()])
