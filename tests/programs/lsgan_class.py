import numpy as np
import torch
import torch.nn as nn
from torch.autograd import Variable
from fixed import fill

rng = np.random.RandomState(0)


class Generator(nn.Module):
    def __init__(self, nz, nf):
        super().__init__()
        def block(i, o, normalize=True):
            layers = [nn.Linear(i, o)]
            if normalize:
                layers.append(nn.BatchNorm1d(o, 0.8))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers
        self.model = nn.Sequential(*block(nz, 8, normalize=False), *block(8, 12), nn.Linear(12, nf), nn.Tanh())

    def forward(self, z):
        return self.model(z)


class Discriminator(nn.Module):
    def __init__(self, nf):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(nf, 12), nn.LeakyReLU(0.2))
        self.out = nn.Linear(12, 1)

    def forward(self, x, matching=False):
        f = self.features(x)
        if matching:
            return self.out(f), f
        return self.out(f)


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Linear") != -1:
        torch.nn.init.normal_(m.weight.data, 0.0, 0.02)
    elif classname.find("BatchNorm") != -1:
        torch.nn.init.constant_(m.bias.data, 0.0)


class LSGAN:
    def __init__(self, nz=3, nf=5, lr=2e-3):
        self.nz = nz
        self.G, self.D = Generator(nz, nf), Discriminator(nf)
        self.G.apply(weights_init)
        self.D.apply(weights_init)
        fill(self.G), fill(self.D)
        self.g_opt = torch.optim.Adam(self.G.parameters(), lr=lr, betas=(0.5, 0.999))
        self.d_opt = torch.optim.Adam(self.D.parameters(), lr=lr, betas=(0.5, 0.999))
        self.mse = nn.MSELoss()
        self.Tensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor

    def reset_grad(self):
        self.g_opt.zero_grad()
        self.d_opt.zero_grad()

    def noise(self, n):
        return Variable(self.Tensor(rng.normal(0, 1, (n, self.nz))))

    def train_d(self, real):
        n = real.size(0)
        valid = Variable(self.Tensor(n, 1).fill_(0.9), requires_grad=False)
        zeros = Variable(self.Tensor(n, 1).fill_(0.0), requires_grad=False)
        fake = self.G(self.noise(n)).detach()
        d_loss = 0.5 * (self.mse(self.D(real), valid) + self.mse(self.D(fake), zeros))
        self.reset_grad()
        d_loss.backward()
        self.d_opt.step()
        return d_loss.item()

    def train_g(self, real):
        n = real.size(0)
        valid = torch.ones(n, 1)
        fake = self.G(self.noise(n))
        score, f_fake = self.D(fake, matching=True)
        _, f_real = self.D(real, matching=True)
        g_loss = self.mse(score, valid) + 0.1 * torch.mean(torch.abs(f_fake.mean(0) - f_real.detach().mean(0)))
        self.reset_grad()
        g_loss.backward()
        self.g_opt.step()
        return g_loss.item()

    def fit(self, data, epochs, batch):
        for epoch in range(epochs):
            for i in range(0, len(data), batch):
                real = Variable(data[i:i + batch].type(self.Tensor))
                d = self.train_d(real)
                if (i // batch) % 2 == 1:
                    g = self.train_g(real)
            print("[Epoch %d/%d] [D loss: %f] [G loss: %f]" % (epoch, epochs, d, g))


gan = LSGAN()
gan.fit(torch.from_numpy(np.tanh(np.random.RandomState(1).randn(32, 5))), 4, 8)
gan.G.eval()
with torch.no_grad():
    sample = gan.G(gan.noise(4))
print(tuple(sample.shape), "%.4f" % sample.mean())

# one step written out: both losses from one discriminator, hinge
G, D = fill(Generator(3, 5)), fill(Discriminator(5))
optG = torch.optim.RMSprop(G.parameters(), lr=1e-3)
optD = torch.optim.RMSprop(D.parameters(), lr=1e-3)
real = torch.from_numpy(np.tanh(np.random.RandomState(2).randn(16, 5)).astype(np.float32))
for it in range(5):
    for p in D.parameters():
        p.requires_grad = True
    for _ in range(2):
        z = torch.from_numpy(rng.randn(16, 3).astype("float32"))
        D.zero_grad()
        d_real = D(real)
        errD_real = torch.relu(1.0 - d_real).mean()
        errD_real.backward()
        fake = G(z)
        errD_fake = torch.relu(1.0 + D(fake.detach())).mean()
        errD_fake.backward()
        errD = errD_real + errD_fake
        optD.step()
        for p in D.parameters():
            p.data.clamp_(-0.5, 0.5)
    for p in D.parameters():
        p.requires_grad = False
    G.zero_grad()
    errG = -D(G(z)).mean()
    errG.backward()
    optG.step()
    print(it, "%.4f %.4f" % (errD.item(), errG.item()))
