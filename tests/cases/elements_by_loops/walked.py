# Elements of a table that loops over tensors of places name together.
import torch
from torch import nn


class Crf(nn.Module):
    def __init__(self):
        super().__init__()
        self.trans = nn.Parameter(torch.arange(12.0).view(3, 4) / 10)

    def pairs(self, tags):
        score = torch.zeros(1)
        for before, after in zip(tags[:-1], tags[1:]):
            score = score + self.trans[after, before]
        return score

    def steps(self, emissions, tags):
        score = emissions[0, tags[0]]
        last = tags[0]
        for row, tag in zip(emissions[1:], tags[1:]):
            score = score + self.trans[tag, last] + row[tag]
            last = tag
        return score

    def listed(self, tags):
        return torch.stack([self.trans[place] for place in zip(tags[1:], tags[:-1])]).sum()


net = Crf()
places = torch.tensor([0, 1, 2, 1])
emissions = torch.arange(12.0).view(4, 3).requires_grad_()
for loss in (net.pairs(places), net.steps(emissions, places), net.listed(places)):
    net.zero_grad()
    loss.sum().backward()
    print(loss.sum().item(), net.trans.grad.tolist())
