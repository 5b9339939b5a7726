import torch

total = torch.zeros(4)
torch.sum(torch.arange(6.0).reshape(2, 3), dim=0, out=total)
print(tuple(total.shape), total.tolist())
product = torch.empty(1, 1)
torch.matmul(torch.ones(2, 3), torch.ones(3, 4), out=product)
print(tuple(product.shape), product.sum().item())
other = product
torch.cat([torch.ones(2), torch.zeros(1)], out=product)
print(tuple(other.shape), other.tolist())
