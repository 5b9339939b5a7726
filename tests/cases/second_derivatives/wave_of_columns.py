"""A wave: one input with two columns, whose gradient is taken apart before it is differentiated again."""

import numpy as np
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Linear(2, 12), torch.nn.Tanh(), torch.nn.Linear(12, 12), torch.nn.Tanh(), torch.nn.Linear(12, 1)
)
rs = np.random.RandomState(3)
model.load_state_dict({k: torch.tensor(rs.uniform(-1, 1, tuple(v.shape)) * 0.6).float() for k, v in model.state_dict().items()})
points = torch.tensor(rs.uniform(0, 1, (10, 2)), dtype=torch.float32)
c = 1.5


def laplace(y, xt):
    total = 0
    g = torch.autograd.grad(y.sum(), xt, create_graph=True)[0]
    for i in range(xt.shape[1]):
        total = total + torch.autograd.grad(g[:, i].sum(), xt, create_graph=True)[0][:, i : i + 1]
    return total


optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
for step in range(3):
    xt = points.clone().requires_grad_(True)
    u = model(xt)
    du = torch.autograd.grad(outputs=u, inputs=xt, grad_outputs=torch.ones_like(u), create_graph=True)[0]
    u_x, u_t = du[:, 0:1], du[:, 1:2]
    u_xx = torch.autograd.grad(outputs=u_x, inputs=xt, grad_outputs=torch.ones_like(u_x), create_graph=True)[0][:, 0:1]
    u_tt = torch.autograd.grad(outputs=u_t, inputs=xt, grad_outputs=torch.ones_like(u_t), create_graph=True)[0][:, 1:2]
    f = u_tt - c**2 * u_xx
    loss = (f**2).mean() + 10 * (u_t**2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{step}: {loss.item():.4f}")

probe = points[:4].detach().requires_grad_()
print([round(v, 3) for v in laplace(model(probe), probe).flatten().tolist()])
