"""Decompositions of matrices that no gradient is asked of."""
import torch

a = torch.tensor([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 5.0]])
q, r = torch.linalg.qr(a)
print((q @ r - a).abs().max().item() < 1e-5, r.diag().abs().tolist())
values, vectors = torch.linalg.eigh(a)
print(values.tolist(), (vectors @ torch.diag(values) @ vectors.T - a).abs().max().item() < 1e-4)
print(torch.linalg.inv(a).tolist(), torch.linalg.cond(a).item())
u, s, vh = torch.linalg.svd(a, full_matrices=False)
print(s.tolist(), torch.linalg.solve(a, torch.ones(3)).tolist())
print(torch.linalg.pinv(a[:, :2]).abs().sum().item(), torch.special.i0(torch.tensor([0.5, 1.0])).tolist())
