import numpy as np
import torch
from torch import autograd, nn, optim

from fixed import fill, points

x, y = points(96)
targets = (y > 0).float()[:, None]


def make_environment(features, labels, flip):
    def torch_xor(a, b):
        return (a - b).abs()

    noise = torch.from_numpy((np.arange(len(labels)) % int(1 / flip) == 0).astype(np.float32))[:, None]
    labels = torch_xor(labels, noise)
    return {"features": features.float(), "labels": labels}


envs = [
    make_environment(x[::3], targets[::3], 0.2),
    make_environment(x[1::3], targets[1::3], 0.1),
    make_environment(x[2::3], targets[2::3], 0.5),
]


class MLP(nn.Module):
    def __init__(self):
        super(MLP, self).__init__()
        lin1 = nn.Linear(4, 8)
        lin2 = nn.Linear(8, 1)
        for lin in [lin1, lin2]:
            nn.init.xavier_uniform_(lin.weight)
            nn.init.zeros_(lin.bias)
        self._main = nn.Sequential(lin1, nn.ReLU(True), lin2)

    def forward(self, input):
        return self._main(input.view(input.shape[0], 4))


mlp = fill(MLP())


def mean_nll(logits, y):
    return nn.functional.binary_cross_entropy_with_logits(logits, y)


def mean_accuracy(logits, y):
    preds = (logits > 0.0).float()
    return ((preds - y).abs() < 1e-2).float().mean()


def penalty(logits, y):
    scale = torch.tensor(1.0).requires_grad_()
    loss = mean_nll(logits * scale, y)
    grad = autograd.grad(loss, [scale], create_graph=True)[0]
    return torch.sum(grad**2)


optimizer = optim.Adam(mlp.parameters(), lr=0.01)
for step in range(5):
    for env in envs:
        logits = mlp(env["features"])
        env["nll"] = mean_nll(logits, env["labels"])
        env["acc"] = mean_accuracy(logits, env["labels"])
        env["penalty"] = penalty(logits, env["labels"])

    train_nll = torch.stack([envs[0]["nll"], envs[1]["nll"]]).mean()
    train_acc = torch.stack([envs[0]["acc"], envs[1]["acc"]]).mean()
    train_penalty = torch.stack([envs[0]["penalty"], envs[1]["penalty"]]).mean()

    weight_norm = torch.tensor(0.0)
    for w in mlp.parameters():
        weight_norm += w.norm().pow(2)

    loss = train_nll.clone()
    loss += 0.001 * weight_norm
    penalty_weight = 100.0 if step >= 3 else 1.0
    loss += penalty_weight * train_penalty
    if penalty_weight > 1.0:
        # Rescale the entire loss to keep gradients in a reasonable range
        loss /= penalty_weight

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    test_acc = envs[2]["acc"]
    print(np.int32(step), train_nll.detach().cpu().numpy(), train_acc.item(), train_penalty.item(), test_acc.item())
