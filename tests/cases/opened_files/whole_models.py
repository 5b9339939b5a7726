# needs: safetensors
"""A network with shared weights, saved and loaded as a whole, also as bytes and in half precision."""

import safetensors.torch
import torch
from torch import nn


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(4, 2)
        self.out = nn.Linear(2, 4, bias=False)
        self.out.weight = self.embed.weight
        self.register_buffer("scale", torch.tensor([2.0]))

    def forward(self, i):
        return self.out(self.embed(i)) * self.scale


first, second = Tied(), Tied()
with torch.no_grad():
    first.embed.weight.copy_(torch.arange(8.0).view(4, 2))
safetensors.torch.save_model(first, "tied.safetensors")
missing, unexpected = safetensors.torch.load_model(second, "tied.safetensors")
i = torch.tensor([1, 3])
print(list(missing), list(unexpected), torch.equal(first(i), second(i)))
data = safetensors.torch.save({"h": torch.ones(2).half(), "n": torch.tensor([1, 2]), "b": torch.tensor([True])})
back = safetensors.torch.load(data)
print({k: (v.tolist(), str(v.dtype).split(".")[-1].lower()) for k, v in sorted(back.items())}, type(data).__name__)
