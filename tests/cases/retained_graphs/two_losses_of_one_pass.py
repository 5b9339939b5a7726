# Two losses of one forward pass through LayerNorm, each with its own backward call.
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        hidden = self.norm(self.embed(x))
        return self.head(hidden), [hidden, hidden * 2]


class Solver:
    def __init__(self):
        self.model = Net()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.weight = 3
        for number, weight in enumerate(self.model.parameters()):
            nn.init.constant_(weight, 0.1 * (number + 1))
        with torch.no_grad():
            self.model.embed.weight.copy_(torch.arange(16.0).reshape(4, 4) / 10)

    def train(self):
        losses = []
        for i in range(4):
            self.optimizer.zero_grad()
            x = torch.sin(torch.arange(12.0)).reshape(3, 4) + i
            output, series = self.model(x)
            apart = 0.0
            for part in series:
                apart += torch.mean(part**2) + torch.mean(part.detach() * part)
            fit = nn.functional.mse_loss(output, x[:, :2])
            losses.append((fit - self.weight * apart).item())
            first = fit - self.weight * apart
            second = fit + self.weight * apart * 2
            first.backward(retain_graph=True)
            second.backward()
            self.optimizer.step()
        print([round(v, 3) for v in losses])


Solver().train()
