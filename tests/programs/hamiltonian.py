"""Networks whose output is a derivative: Hamiltonian dynamics, forces of a potential, scores of an energy."""

import numpy as np
import torch
import torch.nn as nn

from fixed import fill


class MLP(nn.Module):
    def __init__(self, inputs, hidden, outputs):
        super().__init__()
        self.linear1 = nn.Linear(inputs, hidden)
        self.linear2 = nn.Linear(hidden, hidden)
        self.linear3 = nn.Linear(hidden, outputs, bias=None)
        self.norm = nn.LayerNorm(hidden)

    def forward(self, x):
        h = torch.tanh(self.linear1(x))
        return self.linear3(torch.tanh(self.norm(self.linear2(h))))


class HNN(nn.Module):
    def __init__(self, dim, model, field="both"):
        super().__init__()
        self.model, self.field = model, field
        eye = torch.eye(dim)
        self.M = torch.cat([eye[dim // 2 :], -eye[: dim // 2]])

    def forward(self, x):
        return self.model(x).split(1, 1)

    def time_derivative(self, x):
        F1, F2 = self.forward(x)
        conservative, solenoidal = torch.zeros_like(x), torch.zeros_like(x)
        if self.field != "solenoidal":
            dF1 = torch.autograd.grad(F1.sum(), x, create_graph=True)[0]
            conservative = dF1 @ torch.eye(*self.M.shape)
        if self.field != "conservative":
            dF2 = torch.autograd.grad(F2.sum(), x, create_graph=True)[0]
            solenoidal = dF2 @ self.M.t()
        return conservative + solenoidal


def train_dynamics(x, dxdt):
    model = HNN(4, fill(MLP(4, 16, 2), 0.4))
    optim = torch.optim.Adam(model.parameters(), 1e-2, weight_decay=1e-4)
    for step in range(5):
        loss = ((dxdt - model.time_derivative(x)) ** 2).mean()
        loss.backward()
        grad = torch.cat([p.grad.flatten() for p in model.parameters()])
        optim.step()
        optim.zero_grad()
        print("dynamics %.4f grad %.3f" % (loss.item(), grad @ grad))


class Forces(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = fill(nn.Sequential(nn.Linear(4, 12), nn.SiLU(), nn.Linear(12, 1)))

    def forward(self, positions):
        positions.requires_grad_(True)
        energy = self.net(positions)
        forces = -torch.autograd.grad([energy], [positions], [torch.ones_like(energy)], create_graph=self.training)[0]
        return energy, forces


def train_forces(x, wanted):
    model = Forces()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(4):
        energy, forces = model(x)
        loss = nn.functional.mse_loss(forces, wanted) + 0.1 * energy.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("forces %.4f" % loss.item())
    model.eval()
    print("at rest %.4f" % model(x)[1].abs().sum().item())


def sliced_score_matching(energy_net, samples, vectors):
    samples.requires_grad_(True)
    logp = -energy_net(samples).sum()
    grad1 = torch.autograd.grad(logp, samples, create_graph=True)[0]
    loss1 = torch.sum(grad1 * vectors, dim=-1) ** 2 * 0.5
    gradv = torch.sum(grad1 * vectors)
    grad2 = torch.autograd.grad(gradv, samples, create_graph=True)[0]
    loss2 = torch.sum(vectors * grad2, dim=-1)
    return (loss1 + loss2).mean(), loss1.mean(), loss2.mean()


def train_scores(x):
    net = fill(nn.Sequential(nn.Linear(4, 12), nn.Softplus(), nn.Linear(12, 12), nn.Softplus(), nn.Linear(12, 1)))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    vectors = torch.sign(torch.sin(torch.arange(x.numel()).float() * 1.7)).reshape(x.shape)
    for step in range(4):
        loss, *parts = sliced_score_matching(net, x.clone().detach(), vectors)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("score %.4f %.4f %.4f" % (loss.item(), parts[0].item(), parts[1].item()))


if __name__ == "__main__":
    rng = np.random.RandomState(1)
    states = rng.randn(20, 4).astype(np.float32)
    change = np.concatenate([states[:, 2:], -states[:, :2]], 1)
    train_dynamics(torch.tensor(states, requires_grad=True, dtype=torch.float32), torch.tensor(change))
    train_forces(torch.tensor(states), torch.tensor(-states))
    train_scores(torch.tensor(states))
