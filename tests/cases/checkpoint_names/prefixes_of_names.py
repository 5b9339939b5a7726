"""Names with a prefix, in a file and out of it; the work on them is in another file (prefix_parts)."""

import torch
from prefix_parts import add, pick, strip
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5, 4)
        self.ln = nn.LayerNorm(4)
        self.act = nn.PReLU()
        self.out = nn.Linear(4, 1)

    def forward(self, x):
        return self.out(self.act(self.ln(self.embed(x))))


def build(scale):
    net = Block()
    for i, p in enumerate(net.parameters()):
        nn.init.constant_(p, scale * (i + 1))
    return net


first = build(0.1)
torch.save(add(first.state_dict(), "module."), "parallel.pth")
loaded = torch.load("parallel.pth")
print(list(loaded)[:3])
second = build(0.7)
print(second.load_state_dict(strip(loaded)))
print(second.ln.weight[0].item(), second.embed.weight[0, 0].item(), second.act.weight.item())

state = torch.load("parallel.pth")
state = {k.replace("module.", ""): v for k, v in state.items()}
norm = nn.LayerNorm(4)
norm.load_state_dict(pick(state, "ln"))
print(norm.weight.sum().item(), norm.bias.sum().item())
embed = nn.Embedding.from_pretrained(state["embed.weight"])
print(embed(torch.tensor([1, 2])).sum().item())
try:
    build(0.2).load_state_dict({k: v for k, v in state.items() if "ln" not in k})
except RuntimeError as error:
    print("ln.weight" in str(error), "ln.bias" in str(error), "gamma" in str(error))
