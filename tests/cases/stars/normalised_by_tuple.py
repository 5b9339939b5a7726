"""The old functions of normalisation take their statistics by place; what a tuple holds keeps its places."""

import torch
import torch.nn.functional as F

x = torch.arange(12, dtype=torch.float32).view(2, 3, 2)
mean, var = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, 1.0, 9.0])
weight, bias = torch.tensor([1.0, 0.5, 2.0]), torch.tensor([0.0, 1.0, -1.0])
state = (weight, bias, mean, var, False, 0.1, 1e-5, False)
print(torch.batch_norm(x, *state).numpy().round(4).tolist())
print(F.batch_norm(x, *(mean, var, weight, bias)).numpy().round(4).tolist())


def reduced(x, *dims, **options):
    return torch.sum(x, *dims, **options), x.amax(*dims), torch.std(x, *dims, **options)


for part in reduced(x, 1) + reduced(x, (0, 2), keepdim=True):
    print(part.numpy().round(4).tolist())
