import torch
import torch.nn.functional as F
from torch.autograd import Variable

made = 0


def init(size):
    global made
    made += 1
    return Variable(torch.linspace(-0.5, 0.5 + 0.1 * made, size[0] * size[1]).view(*size), requires_grad=True)


Wzh, bzh = init([4, 8]), Variable(torch.zeros(8), requires_grad=True)
Wxh = init(size=[8, 6])
Why = init(size=[6, 1])
bhy = Variable(torch.zeros(1), requires_grad=True)


def G(z):
    return torch.tanh(z @ Wzh + bzh.repeat(z.size(0), 1))


def D(x):
    return torch.sigmoid(F.relu(x @ Wxh) @ Why + bhy.repeat(x.size(0), 1))


G_params = [Wzh, bzh]
D_params = [Wxh, Why, bhy]
params = G_params + D_params


def reset_grad():
    for p in params:
        if p.grad is not None:
            data = p.grad.data
            p.grad = Variable(data.new().resize_as_(data).zero_())


G_solver = torch.optim.Adam(G_params, lr=1e-2)
D_solver = torch.optim.Adam(D_params, lr=1e-2)
real = torch.linspace(-1, 1, 40).view(5, 8)
ones, zeros = Variable(torch.ones(5, 1)), Variable(torch.zeros(5, 1))

for it in range(5):
    z = Variable(torch.linspace(-1, 1 + it, 20).view(5, 4))
    D_loss = F.binary_cross_entropy(D(real), ones) + F.binary_cross_entropy(D(G(z)), zeros)
    D_loss.backward()
    D_solver.step()
    reset_grad()
    G_loss = F.binary_cross_entropy(D(G(z)), ones)
    G_loss.backward()
    G_solver.step()
    reset_grad()
    print(f"{it}: D={D_loss.item():.5f} G={G_loss.item():.5f}")
