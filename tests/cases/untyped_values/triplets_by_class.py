"""Triplets drawn by class: positions are ints beside NumPy's numbers, in lists and dictionaries."""
import numpy as np
import torch

features = torch.arange(20.0).reshape(10, 2)
targets = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 0])
rng = np.random.RandomState(3)
by_class = {int(c): np.flatnonzero(targets == c) for c in np.unique(targets)}


def triplets(count):
    found = []
    for anchor in range(count):
        label = int(targets[anchor])
        positive = rng.choice(by_class[label])
        negative = rng.choice(by_class[(label + 1) % 3])
        found.append({"anchor": anchor, "positive": positive, "negative": negative})
    return found


total = torch.zeros(2)
for item in triplets(6):
    a, p, n = (features[item[key]] for key in ("anchor", "positive", "negative"))
    total = total + (a - p).abs() - (a - n).abs()
print(total.tolist())
columns = [rng.randint(2), 0, by_class[1][0] % 2]
print([features[row, column].item() for row, column in enumerate(columns)])
picked = list(by_class[2]) + [0]
print(features[picked].sum(0).tolist())
