"""Style transfer: the optimizer moves the image; the network is frozen."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

rs = np.random.RandomState(2)
cnn = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.ReLU(), nn.Conv2d(2, 2, 3, padding=1))
for p in cnn.parameters():
    p.data = torch.from_numpy(rs.randn(*p.shape).astype(np.float32) * 0.4)
    p.requires_grad_(False)
content = torch.from_numpy(rs.rand(1, 1, 6, 6).astype(np.float32))
style = torch.from_numpy(rs.rand(1, 1, 6, 6).astype(np.float32))


def gram(t):
    a, b, c, d = t.size()
    f = t.view(a * b, c * d)
    return torch.mm(f, f.t()) / (a * b * c * d)


image = content.clone()
image.requires_grad_(True)
optimizer = optim.Adam([image], lr=0.05)
target = gram(cnn(style)).detach()
for step in range(3):
    with torch.no_grad():
        image.clamp_(0, 1)
    optimizer.zero_grad()
    features = cnn(image)
    style_loss = F.mse_loss(gram(features), target)
    content_loss = F.mse_loss(features, cnn(content))
    loss = 10 * style_loss + content_loss
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 5), round(image.grad.norm().item(), 5), round(image.mean().item(), 4))

lbfgs = optim.LBFGS([image], max_iter=3)


def closure():
    lbfgs.zero_grad()
    value = 10 * F.mse_loss(gram(cnn(image)), target)
    value.backward()
    return value


lbfgs.step(closure)
print(round(closure().item(), 5))
