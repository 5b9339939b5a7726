import torch
from torch import nn

from fixed import fill, points

real_data, _ = points(features=2)
generator = fill(nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(0.2), nn.Linear(8, 2)))
discriminator = fill(nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1), nn.Sigmoid()))
adversarial_loss = nn.BCELoss()
optimizer_G = torch.optim.Adam(generator.parameters(), lr=0.01, betas=(0.5, 0.999))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=0.01, betas=(0.5, 0.999))
valid, fake = torch.ones(64, 1), torch.zeros(64, 1)
for step in range(6):
    z = torch.sin(torch.arange(64 * 3).float() * (step + 1)).view(64, 3)
    optimizer_G.zero_grad()
    gen = generator(z)
    g_loss = adversarial_loss(discriminator(gen), valid)
    g_loss.backward()
    optimizer_G.step()
    optimizer_D.zero_grad()
    real_loss = adversarial_loss(discriminator(real_data), valid)
    fake_loss = adversarial_loss(discriminator(gen.detach()), fake)
    d_loss = (real_loss + fake_loss) / 2
    d_loss.backward()
    optimizer_D.step()
    print("[D loss: %f] [G loss: %f]" % (d_loss.item(), g_loss.item()))
