"""Small programs whose results are compared: each defines ``result()``, which returns arrays."""

from __future__ import annotations

__all__ = ["PROGRAMS"]

_HEAD = """import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

A = np.random.RandomState(0).randn(4, 6).astype("float32")
B = np.random.RandomState(1).randn(2, 3, 8, 8).astype("float32")


"""

_BODIES = {
    "reductions": """
def stats(x, keep):
    top = x.max(dim=1, keepdim=keep)
    return [x.std(), x.var(dim=0), top[0], top[1], x.mean(dim=1, keepdim=True), x.norm(2), x.median()]


def result():
    return [v.numpy() for v in stats(torch.from_numpy(A), keep=True)]
""",
    "shapes": """
def arrange(x):
    n = x.size(0)
    y = x.view(n, -1).t()
    z = y.repeat(1, 2).unsqueeze(1).expand(-1, 3, -1)
    parts = z.chunk(2, dim=2) + tuple(y.split(2))
    return [part.contiguous() for part in parts] + [z.permute(2, 0, 1).flatten(1)]


def result():
    return [v.numpy() for v in arrange(torch.tensor(A))]
""",
    "functions": """
def mix(x, slope=0.2, axis=1):
    a = F.softmax(x, dim=axis) + F.leaky_relu(x, slope)
    b = F.gelu(x) * torch.sigmoid(x) + F.elu(x, alpha=0.5)
    return [a, b, F.log_softmax(x, dim=0), F.normalize(x, p=2, dim=axis), F.softplus(x), torch.clamp(x, -0.5, 0.5)]


def result():
    return [v.numpy() for v in mix(torch.tensor(A), slope=0.3)]
""",
    "images": """
def look(x, size=3):
    y = F.max_pool2d(x, 2) + F.avg_pool2d(x, size - 1)
    z = F.interpolate(y, scale_factor=2, mode="nearest")
    return [y, z, F.pad(x, (1, 2, 0, 1), mode="reflect"), F.adaptive_avg_pool2d(x, 1), F.unfold(x, 2, stride=2)]


def result():
    return [v.numpy() for v in look(torch.tensor(B))]
""",
    "layers": """
class Net(nn.Module):
    def __init__(self, width=4, act=nn.ReLU):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 3, padding=1, bias=True)
        self.norm = nn.BatchNorm2d(width, eps=0.1)
        self.act = act()
        self.fc = nn.Linear(width, 2)
        for m in self.modules():
            if isinstance(m, (nn.Conv2d, nn.Linear)):
                nn.init.constant_(m.weight, 0.1)
                nn.init.zeros_(m.bias)
            elif isinstance(m, nn.BatchNorm2d):
                m.weight.data.fill_(2.0)

    def forward(self, x, scale=1.0):
        x = self.act(self.norm(self.conv(x)))
        return self.fc(x.mean([2, 3])) * scale


def result():
    net = Net(width=3)
    net.eval()
    with torch.no_grad():
        return [net(torch.tensor(B)).numpy(), net(torch.tensor(B), scale=2.0).numpy()]
""",
    "in_place": """
def change(x, box):
    y = x.clone()
    y.add_(1).mul_(2)
    y[0] = 0
    y[y > 3] -= 1
    box.append(y)
    y += x
    return y, box[0], x


def result():
    return [v.numpy() for v in change(torch.tensor(A), [])]
""",
    "casts": """
def cast(x, kind=torch.int64):
    whole = x.long()
    back = whole.to(torch.float32).type_as(x)
    return [whole, back, (x > 0).float(), x.double().sum(), (x * 10).to(kind) // 3, (x * 10).int() % 4]


def result():
    return [v.numpy() for v in cast(torch.tensor(A))]
""",
    "indices": """
def pick(x, k=2):
    values, order = x.topk(k, dim=1)
    rows = torch.arange(x.size(0)).unsqueeze(1)
    ranked, places = torch.sort(x, dim=1, descending=True)
    chosen = x.gather(1, order)
    return [values, order, x[rows, order], ranked, places, chosen, torch.where(x > 0, x, torch.zeros_like(x)),
            x.masked_fill(x < 0, 5.0), x.cumsum(dim=1), x.argmax(dim=0)]


def result():
    return [v.numpy() for v in pick(torch.tensor(A), k=3)]
""",
    "losses": """
def losses(x, y):
    target = y.argmax(dim=1)
    return [F.cross_entropy(x, target), F.mse_loss(x, y, reduction="sum"), F.l1_loss(x, y), F.smooth_l1_loss(x, y),
            F.binary_cross_entropy_with_logits(x, torch.sigmoid(y)), F.kl_div(F.log_softmax(x, 1), F.softmax(y, 1))]


def result():
    return [v.numpy() for v in losses(torch.tensor(A), torch.tensor(A[::-1].copy()))]
""",
    "training": """
def result():
    net = nn.Linear(6, 2)
    nn.init.constant_(net.weight, 0.05)
    nn.init.zeros_(net.bias)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    x = torch.tensor(A)
    y = x[:, :2] * 2
    seen = []
    for step in range(3):
        optimizer.zero_grad()
        loss = F.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        seen.append(loss.item())
    return [np.array(seen), net.weight.detach().numpy()]
""",
    "objects": """
class Meter:
    def __init__(self):
        self.values = []
        self.total = torch.zeros(6)

    def update(self, value, n=1):
        self.values.append(value)
        self.total += value * n

    def spread(self):
        return torch.stack(self.values).std(dim=0)


def result():
    meter = Meter()
    for row in torch.tensor(A):
        meter.update(row, n=2)
    return [meter.total.numpy(), meter.spread().numpy()]
""",
    "algebra": """
def combine(x, y):
    z = torch.matmul(x, y.t())
    e = torch.einsum("ij,kj->ik", x, y)
    return [z, e, torch.bmm(x.unsqueeze(0), y.t().unsqueeze(0)), torch.outer(x[0], y[0]), z.tril(), torch.diag(z),
            torch.cat([x, y], dim=0).sum(0), torch.stack((x, y)).flip(0), x @ y.t()]


def result():
    return [v.numpy() for v in combine(torch.tensor(A), torch.tensor(A * 2))]
""",
    "own_gradient": """
class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, factor=2.0):
        ctx.factor = factor
        ctx.save_for_backward(a)
        return a * factor

    @staticmethod
    def backward(ctx, grad):
        (a,) = ctx.saved_tensors
        return grad * a * ctx.factor, None


def apply_it(x, factor):
    return Scaled.apply(x, factor)


def result():
    net = nn.Linear(6, 2)
    nn.init.constant_(net.weight, 0.05)
    nn.init.zeros_(net.bias)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loss = apply_it(net(torch.tensor(A)), 0.5).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return [loss.item(), net.weight.detach().numpy()]
""",
    "buffers": """
class Running(nn.Module):
    def __init__(self, width, decay=0.9):
        super().__init__()
        self.decay = decay
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("count", torch.tensor(0))

    def forward(self, x, update=True):
        if self.training and update:
            self.mean.mul_(self.decay).add_(x.mean(0), alpha=1 - self.decay)
            self.count += 1
        return (x - self.mean) / (1 + self.count.item())


def result():
    net = Running(6, decay=0.5)
    net.train()
    values = [net(torch.tensor(A)), net(torch.tensor(A * 2), update=False)]
    net.eval()
    return [v.numpy() for v in [*values, net(torch.tensor(A)), net.mean, net.count]]
""",
    "modes": """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(6)

    def forward(self, x):
        return self.norm(x)

    def train(self, mode=True):
        super().train(mode)
        self.norm.eval()
        return self


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.norm = nn.BatchNorm1d(6, affine=False)

    def forward(self, x):
        return self.norm(self.block(x)) * (2 if self.training else 1)


def run(net, x):
    return net(x)


def result():
    net = Net()
    net.train()
    values = [run(net, torch.tensor(A)), run(Net(), torch.tensor(A))]
    net.eval()
    return [v.detach().numpy() for v in [*values, run(net, torch.tensor(A))]]
""",
    "collecting": """
def collect(x, k=2):
    def scaled(row, factor=1.0):
        return row * factor + k

    filled = torch.full((x.size(0), k), 0.5)
    filled[0] = 3
    best = {i: scaled(row, factor=i) for i, row in enumerate(x) if row.sum() > -10}
    total = sum(best.values())
    for i, value in sorted(best.items()):
        if i > 1:
            break
        total = total + value.max()
    while total.norm() > 10:
        total = total / 2
    rows = torch.cat([row.unsqueeze(0) for row in best.values()])
    return [filled, total, rows, torch.stack([*best.values()]).size(1)]


def result():
    return [v.numpy() if isinstance(v, torch.Tensor) else v for v in collect(torch.tensor(A), k=3)]
""",
}

PROGRAMS: dict[str, str] = {name: _HEAD + body.lstrip("\n") for name, body in _BODIES.items()}
