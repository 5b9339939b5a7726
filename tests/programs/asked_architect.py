"""Differentiable architecture search: gradients by weights and by a step of them, asked for by ``autograd.grad``."""

import torch, torch.nn as nn, torch.nn.functional as F, copy
from fixed import fill
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.alpha = nn.ParameterList([nn.Parameter(torch.ones(2) * 0.1)])
        self.a, self.b, self.head = nn.Linear(4, 6), nn.Linear(4, 6), nn.Linear(6, 3)
        self._alphas = [(n, p) for n, p in self.named_parameters() if 'alpha' in n]
    def forward(self, x):
        w = F.softmax(self.alpha[0], dim=-1)
        return self.head(w[0] * torch.relu(self.a(x)) + w[1] * torch.tanh(self.b(x)))
    def loss(self, x, y):
        return F.cross_entropy(self(x), y)
    def alphas(self):
        for n, p in self._alphas:
            yield p
    def weights(self):
        return [p for n, p in self.named_parameters() if 'alpha' not in n]
class Architect:
    def __init__(self, net):
        self.net = net
        self.v_net = copy.deepcopy(net)
    def virtual_step(self, x, y, xi, w_optim):
        loss = self.net.loss(x, y)
        gradients = torch.autograd.grad(loss, self.net.weights())
        with torch.no_grad():
            for w, vw, g in zip(self.net.weights(), self.v_net.weights(), gradients):
                vw.copy_(w - xi * (g + 0.001 * w))
            for a, va in zip(self.net.alphas(), self.v_net.alphas()):
                va.copy_(a)
    def unrolled_backward(self, tx, ty, vx, vy, xi, w_optim):
        self.virtual_step(tx, ty, xi, w_optim)
        loss = self.v_net.loss(vx, vy)
        v_alphas = tuple(self.v_net.alphas())
        v_weights = tuple(self.v_net.weights())
        v_grads = torch.autograd.grad(loss, v_alphas + v_weights)
        dalpha = v_grads[:len(v_alphas)]
        dw = v_grads[len(v_alphas):]
        hessian = self.compute_hessian(dw, tx, ty)
        with torch.no_grad():
            for alpha, da, h in zip(self.net.alphas(), dalpha, hessian):
                alpha.grad = da - xi * h
    def compute_hessian(self, dw, x, y):
        norm = torch.cat([w.view(-1) for w in dw]).norm()
        eps = 0.01 / norm
        with torch.no_grad():
            for p, d in zip(self.net.weights(), dw):
                p += eps * d
        loss = self.net.loss(x, y)
        pos = torch.autograd.grad(loss, self.net.alphas())
        with torch.no_grad():
            for p, d in zip(self.net.weights(), dw):
                p -= 2. * eps * d
        loss = self.net.loss(x, y)
        neg = torch.autograd.grad(loss, self.net.alphas())
        with torch.no_grad():
            for p, d in zip(self.net.weights(), dw):
                p += eps * d
        return [(p - n) / (2. * eps) for p, n in zip(pos, neg)]
net = fill(Net())
arch = Architect(net)
w_optim = torch.optim.SGD(net.weights(), 0.1, momentum=0.9)
a_optim = torch.optim.Adam(net.alphas(), 0.05)
x = torch.linspace(-1, 1, 80).reshape(20, 4)
y = (torch.arange(20) % 3)
for i in range(4):
    a_optim.zero_grad()
    arch.unrolled_backward(x[:10], y[:10], x[10:], y[10:], 0.1, w_optim)
    a_optim.step()
    w_optim.zero_grad()
    loss = F.cross_entropy(net(x[:10]), y[:10])
    loss.backward()
    nn.utils.clip_grad_norm_(net.weights(), 5.0)
    w_optim.step()
    print(loss.item(), *net.alpha[0].tolist())
