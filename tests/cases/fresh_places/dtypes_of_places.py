# Nobody else has the place that a result is written into; it says the dtype of the result all the same.
import torch

x, y = torch.tensor([1, 2, 3]), torch.tensor([0.5, 1.5, 2.5])
counted = torch.arange(0, 3, out=torch.empty(3))
print(counted.dtype == torch.float32, (counted / 2).tolist())
added = torch.add(x, 1, out=torch.empty(3))
print(added.dtype == torch.float32, (added * 0.5).tolist())
asked = torch.gt(y, 1, out=torch.empty(3))
print(asked.dtype == torch.float32, (asked + asked).tolist())


def indices(n):
    return torch.arange(0, n, out=torch.LongTensor())


def mask(n):
    return torch.ones(n, out=torch.BoolTensor())


print(indices(3).dtype == torch.int64, y[indices(2)].tolist(), (~mask(2)).tolist(), mask(2).dtype == torch.bool)
product = torch.mm(y.view(1, 3), y.view(3, 1), out=torch.empty(1, 1))
print(product.is_floating_point(), product.item())
