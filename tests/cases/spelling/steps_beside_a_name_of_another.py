"""A slice with steps is read under a name that another function writes into: that is another name."""

import torch
from torch import nn
class Downsample(nn.Module):
    def __init__(self, stride, resolution, use_pool=False):
        super().__init__()
        self.stride = stride
        self.resolution = (resolution, resolution)
        self.pool = nn.AvgPool2d(3, stride=stride, padding=1, count_include_pad=False) if use_pool else None

    def forward(self, x):
        B, N, C = x.shape
        x = x.view(B, self.resolution[0], self.resolution[1], C)
        if self.pool is not None:
            x = self.pool(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        else:
            x = x[:, ::self.stride, ::self.stride]
        return x.reshape(B, -1, C)


def smooth(x):
    x[0] = 0
    return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = Downsample(2, 4)

    def forward(self, x):
        x = self.down(x)
        x = smooth(x)
        return x


net = Net()
x = torch.ones(2, 16, 3, requires_grad=True)
(net(x) ** 2).sum().backward()
print(x.grad[1, :, 0].tolist())
