"""Guidance of a sampler: scales are ints, floats or tensors, as the settings have them."""
import torch


class Sampler:
    def __init__(self, scale, steps):
        self.scale = scale
        self.steps = steps

    def guided(self, low, high):
        return torch.lerp(low, high, self.scale)

    def run(self, x):
        for step in range(self.steps):
            x = self.guided(x, x * (step + 1)).lerp(x.neg(), step)
        return x


start = torch.tensor([0.5, -1.0, 2.0])
for scale in (2, 0.5, torch.tensor(1.5), True):
    print(Sampler(scale, 3).run(start).tolist())
settings = {"mix": 1, "rate": 0}
print(torch.lerp(start, -start, settings["mix"]).tolist(), start.lerp(-start, weight=settings["rate"]).tolist())
