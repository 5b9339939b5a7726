"""Burgers' equation as a class: the network is called with position and time, and the residual is a method."""

import numpy as np
import torch
from torch import nn


class DNN(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:])])

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = torch.tanh(layer(x))
        return self.layers[-1](x)


class PhysicsInformedNN:
    def __init__(self, X_u, u, X_f, sizes, nu):
        self.x_u = torch.tensor(X_u[:, 0:1], requires_grad=True).float()
        self.t_u = torch.tensor(X_u[:, 1:2], requires_grad=True).float()
        self.x_f = torch.tensor(X_f[:, 0:1], requires_grad=True).float()
        self.t_f = torch.tensor(X_f[:, 1:2], requires_grad=True).float()
        self.u = torch.tensor(u).float()
        self.nu = nu
        self.dnn = DNN(sizes)
        state = np.random.RandomState(0)
        for p in self.dnn.parameters():
            p.data = torch.tensor(state.randn(*p.shape) * 0.4).float()
        self.optimizer = torch.optim.LBFGS(
            self.dnn.parameters(), lr=0.5, max_iter=3, history_size=5, line_search_fn="strong_wolfe"
        )
        self.iter = 0

    def net_u(self, x, t):
        return self.dnn(torch.cat([x, t], dim=1))

    def net_f(self, x, t):
        u = self.net_u(x, t)
        u_t = torch.autograd.grad(
            u, t, grad_outputs=torch.ones_like(u), retain_graph=True, create_graph=True
        )[0]
        u_x = torch.autograd.grad(
            u, x, grad_outputs=torch.ones_like(u), retain_graph=True, create_graph=True
        )[0]
        u_xx = torch.autograd.grad(
            u_x, x, grad_outputs=torch.ones_like(u_x), retain_graph=True, create_graph=True
        )[0]
        return u_t + u * u_x - self.nu * u_xx

    def loss_func(self):
        self.optimizer.zero_grad()
        u_pred = self.net_u(self.x_u, self.t_u)
        f_pred = self.net_f(self.x_f, self.t_f)
        loss_u = torch.mean((self.u - u_pred) ** 2)
        loss_f = torch.mean(f_pred**2)
        loss = loss_u + loss_f
        loss.backward()
        self.iter += 1
        if self.iter <= 2:
            print("Iter %d, Loss: %.4f, Loss_u: %.4f, Loss_f: %.4f" % (self.iter, loss.item(), loss_u.item(), loss_f.item()))
        return loss

    def train(self):
        self.dnn.train()
        self.optimizer.step(self.loss_func)

    def predict(self, X):
        x = torch.tensor(X[:, 0:1], requires_grad=True).float()
        t = torch.tensor(X[:, 1:2], requires_grad=True).float()
        self.dnn.eval()
        u = self.net_u(x, t)
        f = self.net_f(x, t)
        return u.detach().cpu().numpy(), f.detach().cpu().numpy()


rng = np.random.RandomState(1234)
X_u = rng.uniform(-1, 1, (10, 2))
X_f = rng.uniform(-1, 1, (16, 2))
model = PhysicsInformedNN(X_u, -np.sin(np.pi * X_u[:, 0:1]), X_f, [2, 8, 8, 1], 0.01 / np.pi)
model.train()
u_pred, f_pred = model.predict(X_u[:3])
print(np.round(u_pred[:, 0], 3), np.round(f_pred[:, 0], 2))
