import torch
from episodes_parts import Memory, longest, sizes


def gather(table, memory, count):
    found = []
    for row in memory.sample(count):
        state, action, gain = row
        found.append(table[state, action] * gain)
    return torch.stack(found)


def count_all(shapes):
    return sum(shape.numel() for shape in shapes.values())


table = torch.arange(12.0).view(4, 3)
memory = Memory(1)
for step in range(4):
    memory.add(step, memory.rng.randint(3), torch.tensor(step + 0.5))
print(gather(table, memory, 3).tolist())
print(table[:, : longest(memory) + 1].sum().item())
print(count_all(sizes({"a": torch.ones(2, 3), "b": torch.ones(4)})))
print(count_all(sizes(dict(c=table, d=table[0]))))
