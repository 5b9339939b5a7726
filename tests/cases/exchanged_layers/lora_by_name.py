"""LoRA: the linear layers of some blocks are replaced by name, everything else is frozen."""

import torch
import torch.nn as nn


class LoRALinear(nn.Module):
    def __init__(self, base, rank):
        super().__init__()
        self.base = base
        self.down = nn.Parameter(torch.full((rank, base.in_features), 0.1))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + x @ self.down.t() @ self.up.t()


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)

    def forward(self, x):
        return torch.tanh(self.query(x)) * self.value(x)


class Model(nn.Module):
    def __init__(self, dim, depth):
        super().__init__()
        self.layers = nn.ModuleList([Attention(dim) for _ in range(depth)])
        self.head = nn.Linear(dim, 1)

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return self.head(x)


def inject(module, names, rank=2):
    for name, child in module.named_children():
        if name in names and isinstance(child, nn.Linear):
            setattr(module, name, LoRALinear(child, rank))
        else:
            inject(child, names, rank)


model = Model(3, 2)
for p in model.parameters():
    nn.init.constant_(p, 0.2)
    p.requires_grad = False
inject(model, {"query", "value"})
trained = [n for n, p in model.named_parameters() if p.requires_grad]
print(trained)
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.1)
x, y = torch.tensor([[1.0, 0.5, -1.0], [0.2, 0.3, 2.0]]), torch.tensor([[1.0], [0.0]])
for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 5))
state = {k: v for k, v in model.state_dict().items() if "up" in k or "down" in k}
print(sorted(state), round(sum(v.abs().sum() for v in state.values()).item(), 3))
