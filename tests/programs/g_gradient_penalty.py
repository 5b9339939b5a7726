import torch
from torch import autograd, nn

from fixed import fill, points

real, _ = points(features=2)
critic = fill(nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)))
optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)


def gradient_penalty(net, a, b, alpha):
    mixed = (alpha * a + (1 - alpha) * b).requires_grad_(True)
    out = net(mixed)
    grads = autograd.grad(
        outputs=out, inputs=mixed, grad_outputs=torch.ones_like(out), create_graph=True, retain_graph=True, only_inputs=True
    )[0]
    return ((grads.norm(2, dim=1) - 1) ** 2).mean()


for step in range(4):
    fake = torch.cos(torch.arange(128).float() * (step + 1)).view(64, 2)
    optimizer.zero_grad()
    loss = critic(fake).mean() - critic(real).mean() + 10 * gradient_penalty(critic, real, fake, 0.3)
    loss.backward()
    optimizer.step()
    print(step, loss.item())
