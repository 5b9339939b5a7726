# A trainer of its own counts the batches; two loops follow one another, and the second starts from no gradients.
import torch
import torch.nn as nn


class Trainer:
    def __init__(self, net, every):
        self.net = net
        self.every = every
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
        self.pending = 0

    def fit(self, batches):
        for x, y in batches:
            loss = nn.functional.mse_loss(self.net(x), y)
            (loss / self.every).backward()
            self.pending += 1
            if self.pending == self.every:
                self.optimizer.step()
                self.optimizer.zero_grad()
                self.pending = 0
        if self.pending:
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.pending = 0
        return loss.item()

    def tune(self, batches):
        for x, y in batches:
            self.optimizer.zero_grad()
            loss = nn.functional.l1_loss(self.net(x), y)
            loss.backward()
            self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()


net = nn.Linear(2, 1)
nn.init.constant_(net.weight, 0.3)
nn.init.zeros_(net.bias)
data = [(torch.sin(torch.arange(4.0) + k).reshape(2, 2), torch.full((2, 1), float(k))) for k in range(5)]
trainer = Trainer(net, 2)
print(f"{trainer.fit(data):.4f}", f"{trainer.tune(data):.4f}", f"{trainer.fit(data[:3]):.4f}")
print([round(v, 4) for p in net.parameters() for v in p.flatten().tolist()])
