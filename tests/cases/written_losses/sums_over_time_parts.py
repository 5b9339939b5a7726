import torch


class Meter:
    def __init__(self, n):
        self.values = torch.zeros(n)
        self.count = 0

    def add(self, loss):
        self.values[self.count] = loss
        self.count += 1


def step_loss(criterion, outputs, targets):
    total = outputs.new_zeros(1)
    for t in range(outputs.size(1)):
        total += criterion(outputs[:, t], targets[:, t])
    return total / outputs.size(1)
