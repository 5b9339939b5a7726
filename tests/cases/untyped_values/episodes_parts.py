"""What a reinforcement learner remembers: rows of states, actions as NumPy draws them, lengths as it counts them."""
import numpy as np


class Memory:
    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)
        self.rows = []

    def add(self, *row):
        self.rows.append(row)

    def sample(self, count):
        chosen = self.rng.choice(len(self.rows), count, replace=False)
        return [self.rows[k] for k in chosen]

    def lengths(self):
        return np.array([row[1] for row in self.rows])


def longest(memory):
    return memory.lengths().max()


def sizes(parts):
    return {name: part.shape for name, part in parts.items()}
