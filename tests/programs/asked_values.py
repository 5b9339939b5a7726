"""Gradients of what was computed before: by weights, by layers between, by inputs, one for each output."""

import torch, torch.nn as nn, torch.nn.functional as F
from torch import autograd
from fixed import fill
net = fill(nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3)))
x = torch.linspace(0, 1, 30).reshape(5, 6)
y = torch.tensor([0, 1, 2, 0, 1])
def prepare(x):
    return x.requires_grad_()
def expl(inp, model):
    inp = inp.detach().clone().requires_grad_(True)
    out = model(inp)
    grads = []
    for c in range(out.shape[1]):
        grads.append(autograd.grad(out[:, c].sum(), inp, retain_graph=True)[0])
    return torch.stack(grads)
def integrated(inp, model, steps=4):
    total = 0
    for i in range(steps):
        p = (inp * i / steps).requires_grad_()
        s = model(p).pow(2).sum()
        total += autograd.grad(s, p)[0]
    return total / steps
def layer_grads(model, inp):
    h = torch.relu(model[0](inp))
    out = model[2](h)
    alpha, = autograd.grad(outputs=out[:, 0].sum(), inputs=h, retain_graph=True)
    both = autograd.grad(outputs=[out.sum(), h.sum()], inputs=[h, model[0].weight], grad_outputs=[torch.tensor(2.0), None])
    return alpha, both
def seeds(model, inp):
    v = inp.clone().requires_grad_()
    out = model(v)
    return autograd.grad(out, v, grad_outputs=torch.ones_like(out))[0]
print(expl(x, net).norm().item(), integrated(x, net).norm().item())
a, b = layer_grads(net, x)
print(a.sum().item(), [t.norm().item() for t in b])
print(seeds(net, x).norm().item())
z = prepare(x.clone())
print(torch.autograd.grad(net(z).exp().sum(), z)[0].norm().item())
loss = F.cross_entropy(net(x), y)
for p, g in zip(net.parameters(), torch.autograd.grad(loss, net.parameters())):
    p.data -= 0.1 * g
print(F.cross_entropy(net(x), y).item())
fisher = {n: torch.zeros_like(p) for n, p in net.named_parameters()}
for i in range(5):
    out = F.log_softmax(net(x[i:i + 1]), 1)[0, y[i]]
    gs = autograd.grad(out, net.parameters())
    for (n, p), g in zip(net.named_parameters(), gs):
        fisher[n] += g.detach() ** 2 / 5
print([round(v.sum().item(), 5) for v in fisher.values()])


def flat(get_loss):
    loss = get_loss()
    return torch.cat([g.reshape(-1) for g in torch.autograd.grad(loss, net.parameters())]).data


print(flat(lambda: net(x).pow(2).mean()).norm().item())
weights = torch.ones(2, requires_grad=True)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    out = net(x)
    losses = [F.cross_entropy(out, y), out.pow(2).mean()]
    norms = []
    for i, loss in enumerate(losses):
        g = torch.autograd.grad(weights[i] * loss, list(net[0].parameters()), retain_graph=True)
        norms.append(torch.norm(torch.cat([t.flatten() for t in g])))
    share = torch.stack(norms).detach()
    total = sum(part / share.sum() * loss for part, loss in zip(share, losses))
    opt.zero_grad()
    total.backward()
    opt.step()
    print(total.item())
