# A program that trains by elements that the variables of loops name.
import torch
from torch import nn, optim


class Crf(nn.Module):
    def __init__(self):
        super().__init__()
        self.trans = nn.Parameter(torch.arange(12.0).view(3, 4) / 10)

    def forward(self, emissions, tags):
        score = emissions[0, tags[0]]
        last = tags[0]
        for row, tag in zip(emissions[1:], tags[1:]):
            score = score + self.trans[tag, last] ** 2 + row[tag]
            last = tag
        for before, after in zip(tags[:-1], tags[1:]):
            score = score + self.trans[after, before]
        return score + torch.stack([self.trans[place] for place in zip(tags[1:], tags[:-1])]).sum()


net = Crf()
optimizer = optim.SGD(net.parameters(), lr=0.1)
tags = torch.tensor([0, 1, 2, 1])
emissions = torch.arange(12.0).view(4, 3)
for _ in range(3):
    optimizer.zero_grad()
    loss = net(emissions, tags)
    loss.backward()
    optimizer.step()
    print(round(loss.item(), 4))
print(net.trans.detach().numpy().round(4).tolist())
