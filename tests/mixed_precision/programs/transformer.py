"""An encoder with a class token in float32 beside patches in half precision; a part of it is kept in float32."""

import torch
import torch.nn.functional as F
from begin import fill, numbers, weights_of
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).reshape(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        with torch.autocast("cpu", enabled=False):
            scores = q.float() @ k.float().transpose(-2, -1) * (c // self.heads) ** -0.5
        weights = scores.softmax(dim=-1)
        x = x + self.proj((weights @ v).transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.norm2(x))


class Net(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 4, stride=4)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.blocks = nn.ModuleList([Block(width, 2) for _ in range(1)])
        self.head = nn.Linear(width, 4)

    @torch.autocast("cpu", dtype=torch.float16)
    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), dim=1)
        for block in self.blocks:
            x = block(x)
        return self.head(x[:, 0])


class Plain(Net):
    def forward(self, x):
        with torch.autocast("cpu", enabled=False):
            x = self.patches(x).flatten(2).transpose(1, 2)
            x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), dim=1)
            for block in self.blocks:
                x = block(x)
            return self.head(x[:, 0])


def train(amp, shift):
    net = fill(Net() if amp else Plain(), shift, 0.2)
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.003)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=4, enabled=amp)
    losses = []
    for step in range(20):
        x, y = numbers(8, 3, 8, 8, seed=step), torch.arange(8) % 4
        loss = F.cross_entropy(net(x).float(), y, label_smoothing=0.1)
        optimizer.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses, scaler.get_scale(), weights_of(net)
