"""A damped oscillator: both derivatives are asked for in the training loop, at the top of a script."""

import numpy as np
import torch
import torch.nn as nn


class FCN(nn.Module):
    def __init__(self, n_input, n_output, n_hidden, n_layers):
        super().__init__()
        activation = nn.Tanh
        self.fcs = nn.Sequential(nn.Linear(n_input, n_hidden), activation())
        self.fch = nn.Sequential(*[nn.Sequential(nn.Linear(n_hidden, n_hidden), activation()) for _ in range(n_layers - 1)])
        self.fce = nn.Linear(n_hidden, n_output)

    def forward(self, x):
        x = self.fcs(x)
        x = self.fch(x)
        x = self.fce(x)
        return x


pinn = FCN(1, 1, 8, 3)
draw = np.random.RandomState(123)
with torch.no_grad():
    for p in pinn.parameters():
        p.copy_(torch.from_numpy(draw.uniform(-0.5, 0.5, tuple(p.shape)).astype(np.float32)))

t_boundary = torch.tensor(0.0).view(-1, 1).requires_grad_(True)
t_physics = torch.linspace(0, 1, 12).view(-1, 1).requires_grad_(True)
d, w0 = 2, 5
mu, k = 2 * d, w0**2
t_test = torch.linspace(0, 1, 5).view(-1, 1)
optimiser = torch.optim.Adam(pinn.parameters(), lr=1e-3)
for i in range(4):
    optimiser.zero_grad()
    lambda1, lambda2 = 1e-1, 1e-4

    # boundary loss
    u = pinn(t_boundary)
    loss1 = (torch.squeeze(u) - 1) ** 2
    dudt = torch.autograd.grad(u, t_boundary, torch.ones_like(u), create_graph=True)[0]
    loss2 = (torch.squeeze(dudt) - 0) ** 2

    # physics loss
    u = pinn(t_physics)
    dudt = torch.autograd.grad(u, t_physics, torch.ones_like(u), create_graph=True)[0]
    d2udt2 = torch.autograd.grad(dudt, t_physics, torch.ones_like(dudt), create_graph=True)[0]
    loss3 = torch.mean((d2udt2 + mu * dudt + k * u) ** 2)

    loss = loss1 + lambda1 * loss2 + lambda2 * loss3
    loss.backward()
    optimiser.step()
    if i % 3 == 0:
        u = pinn(t_test).detach()
        print(i, round(loss.item(), 5), [round(v, 4) for v in u[:, 0].tolist()])
