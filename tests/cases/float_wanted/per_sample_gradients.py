"""Gradients of every sample, of weights in dictionaries and tuples."""
import torch
from torch.func import grad, vmap


def loss(weights, x, y):
    hidden = torch.tanh(weights["first"]["w"] @ x + weights["first"]["b"])
    return ((weights["last"] * hidden).sum() - y) ** 2


weights = {"first": {"w": torch.tensor([[0.5, -1.0], [0.25, 2.0]]), "b": torch.tensor([0.1, -0.2])},
           "last": torch.tensor([1.0, -0.5])}
xs, ys = torch.tensor([[1.0, 2.0], [0.5, -1.0], [2.0, 0.25]]), torch.tensor([1.0, 0.0, -1.0])
per_sample = vmap(grad(loss), in_dims=(None, 0, 0))(weights, xs, ys)
print(tuple(per_sample["first"]["w"].shape), per_sample["first"]["b"].abs().tolist(), per_sample["last"].tolist())
norms = vmap(lambda g: (g["last"] ** 2).sum())({"last": per_sample["last"]})
print(norms.tolist())
swapped = vmap(lambda pair: {"sum": pair[0] + pair[1], "both": (pair[0], pair[1])}, in_dims=((0, 1),))((xs, xs.t()))
print(swapped["sum"].tolist(), swapped["both"][1].tolist())
