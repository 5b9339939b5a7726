import torch


class Window:
    def __init__(self, length):
        self.values = torch.zeros(2, length)

    def fill(self, low, high):
        first, second = self.values.hsplit(2)
        first[:] = low
        second[:] = high
        return self.values


window = Window(4)
print(window.fill(1.0, 2.0).tolist())
left, right = window.values.tensor_split(2, dim=1)
left[:, 1] = 0
print(window.values.tolist(), right.sum().item())
