import torch
from torch import nn

try:
    from torch.cuda.amp import GradScaler, autocast
except ImportError:
    from contextlib import nullcontext as autocast

    class GradScaler:
        """Does nothing, where PyTorch is older than 1.6."""

        def __init__(self, enabled=True):
            self.enabled = enabled

        def scale(self, loss):
            return loss * 1024.0

        def step(self, optimizer):
            optimizer.step()

        def update(self):
            pass

        def get_scale(self):
            return 1024.0


torch.manual_seed(0)
net = nn.Linear(3, 1)
with torch.no_grad():
    net.weight.copy_(torch.tensor([[0.5, -0.25, 1.0]]))
    net.bias.fill_(0.125)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
scaler = GradScaler(enabled=False)
x = torch.arange(12.0).reshape(4, 3) / 10
y = torch.tensor([[1.0], [0.0], [1.0], [0.5]])
for epoch in range(3):
    optimizer.zero_grad()
    with autocast(enabled=False):
        loss = nn.functional.mse_loss(net(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print(epoch, round(loss.item(), 5))
print(net.weight.detach().numpy().round(4).tolist())
