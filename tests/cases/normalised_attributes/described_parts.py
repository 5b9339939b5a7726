from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.pad = nn.ReflectionPad2d(2)
        self.conv = nn.Conv2d(3, 8, kernel_size=(3, 5), stride=2, padding=(1, 0), groups=1, bias=False)
        self.norm = nn.BatchNorm2d(8, eps=1e-3, momentum=0.2)
        self.pool = nn.MaxPool2d(2)
        self.smooth = nn.AvgPool1d(3, stride=1)
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        return self.pool(self.norm(self.conv(self.pad(x))))


def describe(net):
    yield f"pad {net.pad.padding}"
    conv = net.conv
    yield f"conv {conv.in_channels}->{conv.out_channels} {conv.kernel_size} {conv.stride} {conv.padding} {conv.dilation}"
    yield f"norm {net.norm.num_features} {net.norm.eps} {net.norm.momentum} {net.norm.affine}"
    yield f"pool {net.pool.kernel_size} {net.pool.stride} {net.pool.padding}"
    yield f"smooth {net.smooth.kernel_size} {net.smooth.stride} {net.smooth.padding}"
    yield f"head {net.head.in_features} {net.head.out_features} {net.head.bias is not None}"
