import torch
from torch import nn

from fixed import fill, points

real, _ = points(features=2)
critic = fill(nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)))
maker = fill(nn.Linear(3, 2))
one = torch.FloatTensor([1])
mone = one * -1
optimizer = torch.optim.RMSprop(critic.parameters(), lr=0.01)
optimizer_of_maker = torch.optim.RMSprop(maker.parameters(), lr=0.01)
for step in range(4):
    noise = torch.cos(torch.arange(192).float() * (step + 1)).view(64, 3)
    for p in critic.parameters():
        p.data.clamp_(-0.3, 0.3)
    critic.zero_grad()
    of_real = critic(real).mean(0).view(1)
    of_real.backward(one)
    of_made = critic(maker(noise).detach()).mean(0).view(1)
    of_made.backward(mone)
    optimizer.step()
    maker.zero_grad()
    scores = critic(maker(noise))
    scores.backward(gradient=torch.full_like(scores, 1 / 64))
    optimizer_of_maker.step()
    print("%d %f %f" % (step, (of_real - of_made).item(), scores.mean()))

net = fill(nn.Linear(4, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = points()
for step in range(3):
    optimizer.zero_grad()
    losses = nn.functional.cross_entropy(net(x), y, reduction="none")
    losses.backward(losses.detach() / len(x))
    optimizer.step()
    print(step, losses.mean().item())
