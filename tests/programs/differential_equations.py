"""Networks that solve differential equations: derivatives of what methods computed, by what the constructor marked."""

import numpy as np
import torch
import torch.nn as nn

from fixed import fill


def gradient(y, x, grad_outputs=None):
    if grad_outputs is None:
        grad_outputs = torch.ones_like(y)
    return torch.autograd.grad(y, [x], grad_outputs=grad_outputs, create_graph=True)[0]


def divergence(y, x):
    div = 0.0
    for i in range(y.shape[-1]):
        div += torch.autograd.grad(y[..., i], x, torch.ones_like(y[..., i]), create_graph=True)[0][..., i : i + 1]
    return div


def laplace(y, x):
    return divergence(gradient(y, x), x)


class Sine(nn.Module):
    def forward(self, x):
        return torch.sin(2.0 * x)


class PhysicsInformed:
    def __init__(self, points, u):
        self.x = torch.tensor(points[:, 0:1], requires_grad=True).float()
        self.t = torch.tensor(points[:, 1:2], requires_grad=True).float()
        self.u = torch.tensor(u).float()
        self.lambda_1 = nn.Parameter(torch.tensor([0.3]))
        self.dnn = fill(nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 12), nn.Tanh(), nn.Linear(12, 1)))
        self.dnn.register_parameter("lambda_1", self.lambda_1)
        self.optimizer = torch.optim.LBFGS(self.dnn.parameters(), lr=0.1, max_iter=4, line_search_fn="strong_wolfe")
        self.optimizer_adam = torch.optim.Adam(self.dnn.parameters(), lr=0.01)

    def net_u(self, x, t):
        return self.dnn(torch.cat([x, t], dim=1))

    def net_f(self, x, t):
        u = self.net_u(x, t)
        u_t = torch.autograd.grad(u, t, grad_outputs=torch.ones_like(u), retain_graph=True, create_graph=True)[0]
        u_x = torch.autograd.grad(u, x, grad_outputs=torch.ones_like(u), retain_graph=True, create_graph=True)[0]
        u_xx = torch.autograd.grad(u_x, x, grad_outputs=torch.ones_like(u_x), retain_graph=True, create_graph=True)[0]
        return u_t + self.lambda_1 * u * u_x - 0.1 * u_xx

    def loss_func(self):
        u_pred, f_pred = self.net_u(self.x, self.t), self.net_f(self.x, self.t)
        loss = torch.mean((self.u - u_pred) ** 2) + torch.mean(f_pred**2)
        self.optimizer.zero_grad()
        loss.backward()
        return loss

    def train(self, steps):
        self.dnn.train()
        for epoch in range(steps):
            u_pred = self.net_u(self.x, self.t)
            f_pred = self.net_f(self.x, self.t)
            loss = torch.mean((self.u - u_pred) ** 2) + torch.mean(f_pred**2)
            self.optimizer_adam.zero_grad()
            loss.backward()
            self.optimizer_adam.step()
            print("adam %.4f" % loss.item())
        self.optimizer.step(self.loss_func)
        print("after %.4f lambda %.4f" % (self.loss_func().item(), self.lambda_1.item()))

    def predict(self, points):
        x = torch.tensor(points[:, 0:1], requires_grad=True).float()
        t = torch.tensor(points[:, 1:2], requires_grad=True).float()
        return self.net_f(x, t).detach().numpy()


class Collocation(nn.Module):
    """A network that is its own problem, whose closure uses the optimizer of the script."""

    def __init__(self, layers):
        super().__init__()
        self.linears = nn.ModuleList([nn.Linear(layers[i], layers[i + 1]) for i in range(len(layers) - 1)])
        self.iter = 0

    def forward(self, x):
        a = x.float()
        for layer in self.linears[:-1]:
            a = torch.tanh(layer(a))
        return self.linears[-1](a)

    def loss_PDE(self, points):
        g = points.clone()
        g.requires_grad = True
        u = self.forward(g)
        u_x_t = torch.autograd.grad(u, g, torch.ones([points.shape[0], 1]), retain_graph=True, create_graph=True)[0]
        u_xx_tt = torch.autograd.grad(u_x_t, g, torch.ones(points.shape), create_graph=True)[0]
        return ((u_x_t[:, [1]] + self.forward(g) * u_x_t[:, [0]] - 0.1 * u_xx_tt[:, [0]]) ** 2).mean()

    def closure(self):
        optimizer.zero_grad()
        loss = ((self.forward(collocation) - torch.sin(collocation[:, :1])) ** 2).mean() + self.loss_PDE(collocation)
        loss.backward()
        self.iter += 1
        print("closure %d %.4f" % (self.iter, loss.item()))
        return loss


def fit_by_laplacian(coords):
    net = fill(nn.Sequential(nn.Linear(2, 16), Sine(), nn.Linear(16, 16), Sine(), nn.Linear(16, 1)), 0.3)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for step in range(4):
        x = coords.clone().detach().requires_grad_(True)
        y = net(x)
        loss = ((laplace(y, x) - torch.sin(x[:, :1])) ** 2).mean() + (gradient(y, x).norm(dim=-1) - 1).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("laplace %.4f" % loss.item())


if __name__ == "__main__":
    grid = np.random.RandomState(0).uniform(-1, 1, (24, 2)).astype(np.float32)
    model = PhysicsInformed(grid, np.sin(grid[:, :1]))
    model.train(4)
    print("residual %.4f" % np.abs(model.predict(grid[:5])).sum())
    fit_by_laplacian(torch.from_numpy(grid))
    collocation = torch.from_numpy(grid)
    problem = fill(Collocation([2, 10, 10, 1]))
    optimizer = torch.optim.LBFGS(problem.parameters(), 0.1, max_iter=5)
    optimizer.step(problem.closure)
