"""The generator is trained first; the shape of the targets is an attribute of a network of another file."""

import numpy as np
import torch
from replay_parts import fill
from shapes_parts import Discriminator, Generator

generator, discriminator = fill(Generator(), 1), fill(Discriminator((1, 8, 8)), 2)
criterion = torch.nn.MSELoss()
optimizer_G = torch.optim.Adam(generator.parameters(), lr=0.01, betas=(0.5, 0.999))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=0.01, betas=(0.5, 0.999))
draw = np.random.RandomState(0)
saved = {}
for epoch in range(3):
    imgs = torch.tensor(draw.rand(2, 1, 8, 8), dtype=torch.float32)
    valid = torch.ones((imgs.size(0), *discriminator.output_shape))
    fake = torch.zeros((imgs.size(0), *discriminator.output_shape))

    optimizer_G.zero_grad()
    gen_imgs = generator(imgs)
    g_loss = criterion(discriminator(gen_imgs), valid)
    g_loss.backward()
    optimizer_G.step()

    optimizer_D.zero_grad()
    real_loss = criterion(discriminator(imgs), valid)
    fake_loss = criterion(discriminator(gen_imgs.detach()), fake)
    d_loss = 0.5 * (real_loss + fake_loss)
    d_loss.backward()
    optimizer_D.step()
    if not saved:
        saved["imgs"] = gen_imgs[:1].detach().clone()
    print(epoch, round(d_loss.item(), 5), round(g_loss.item(), 5))
print(round(saved["imgs"].sum().item(), 4))
