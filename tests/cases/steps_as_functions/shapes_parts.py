from torch import nn


class Discriminator(nn.Module):
    def __init__(self, input_shape):
        super().__init__()
        channels, height, width = input_shape
        self.output_shape = (1, height // 2, width // 2)
        self.model = nn.Sequential(nn.Conv2d(channels, 2, 3, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(2, 1, 3, 1, 1))

    def forward(self, img):
        return self.model(img)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Conv2d(1, 1, 3, 1, 1)

    def forward(self, x):
        return self.net(x)
