import torch


class Storage:
    def __init__(self, steps, envs):
        self.values = torch.zeros(steps, envs)
        self.hidden = torch.zeros(steps, 1, 2)

    def insert(self, step, value, hidden):
        self.values[step] = value
        self.hidden[step, :] = hidden
