"""A learner of learners, to the first order: gradients by the weights of a network, and by what steps made of them."""

import torch, torch.nn as nn, torch.nn.functional as F
from fixed import fill
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1 = nn.Parameter(torch.ones(8, 3)); self.b1 = nn.Parameter(torch.zeros(8))
        self.w2 = nn.Parameter(torch.ones(1, 8)); self.b2 = nn.Parameter(torch.zeros(1))
    def forward(self, x, params=None):
        if params is None:
            params = list(self.parameters())
        x = F.relu(F.linear(x, params[0], params[1]))
        return F.linear(x, params[2], params[3])
class Meta(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.opt = torch.optim.Adam(self.net.parameters(), lr=0.01)
    def forward(self, xs, ys, xq, yq, steps=3):
        losses = []
        for i in range(len(xs)):
            logits = self.net(xs[i])
            loss = F.mse_loss(logits, ys[i])
            grad = torch.autograd.grad(loss, self.net.parameters())
            fast = list(map(lambda p: p[1] - 0.1 * p[0], zip(grad, self.net.parameters())))
            for k in range(1, steps):
                logits = self.net(xs[i], fast)
                loss = F.mse_loss(logits, ys[i])
                grad = torch.autograd.grad(loss, fast)
                fast = list(map(lambda p: p[1] - 0.1 * p[0], zip(grad, fast)))
            losses.append(F.mse_loss(self.net(xq[i], fast), yq[i]))
        loss = sum(losses) / len(losses)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()
meta = Meta(fill(Net()))
g = torch.linspace(-1, 1, 120)
xs = [g[:30].reshape(10, 3), g[30:60].reshape(10, 3)]
xq = [g[60:90].reshape(10, 3), g[90:].reshape(10, 3)]
ys = [x.sum(1, keepdim=True) for x in xs]
yq = [x.sum(1, keepdim=True) for x in xq]
for epoch in range(4):
    print(meta(xs, ys, xq, yq))
