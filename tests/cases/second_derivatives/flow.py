"""A stream function: velocities are derivatives themselves; some are asked for inline, some by a helper of a file."""

import torch
from flow_parts import Stream, derivative

net = Stream()
nu = torch.nn.Parameter(torch.tensor(0.2))
optimizer = torch.optim.Adam([*net.parameters(), nu], lr=5e-3)
n = 7
x = torch.linspace(0, 1, n).view(-1, 1).requires_grad_()
y = torch.linspace(1, 0.2, n).view(-1, 1).requires_grad_()
t = torch.full((n, 1), 0.3, requires_grad=True)
for _ in range(3):
    psi, p = net(x, y, t)
    u = torch.autograd.grad(psi, y, torch.ones_like(psi), create_graph=True)[0]
    v = -1.0 * torch.autograd.grad(psi, x, torch.ones_like(psi), create_graph=True)[0]
    u_x, u_y, u_t = torch.autograd.grad(u, (x, y, t), torch.ones_like(u), create_graph=True)
    p_x = derivative(p, x)
    f = u_t + u * u_x + v * u_y + p_x - nu * (derivative(u_x, x) + derivative(u, y, order=2))
    loss = f.square().mean() + (u.square() + v.square() - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(round(loss.item(), 4), round(nu.item(), 4), round(u_x.detach().sum().item(), 4))
