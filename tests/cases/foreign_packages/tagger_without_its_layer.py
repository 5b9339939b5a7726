# Uses tagger_parts: a layer of a package that is not installed.
import torch
from tagger_parts import Tagger

tagger = Tagger(2)
with torch.no_grad():
    tagger.linear.weight.copy_(torch.tensor([[0.1, 0.2, 0.3], [0.3, -0.1, 0.5]]))
    tagger.linear.bias.zero_()
optimizer = torch.optim.SGD(tagger.parameters(), lr=0.5)
x = torch.arange(12.0).reshape(2, 2, 3) / 6
tags = torch.tensor([[0, 1], [1, 1]])
for _ in range(3):
    optimizer.zero_grad()
    loss = tagger(x, tags)
    loss.backward()
    optimizer.step()
    print(round(loss.item(), 5))
