"""A script without functions: what stands in the module afterwards is what its statements bound."""

import torch

torch.manual_seed(0)
x = torch.linspace(-1, 1, 11).unsqueeze(1)
y = 3 * x + 0.5
model = torch.nn.Linear(1, 1)
torch.nn.init.constant_(model.weight, 0.1)
torch.nn.init.zeros_(model.bias)
criterion = torch.nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(20):
    optimizer.zero_grad()
    y_pred = model(x)
    residual = y_pred - y
    loss = criterion(y_pred, y)
    loss.backward()
    optimizer.step()

names = [name for name in ("y_pred", "residual", "loss", "epoch") if name in globals()]
print(names, round(globals()["loss"].item(), 4), tuple(globals()["y_pred"].shape))
