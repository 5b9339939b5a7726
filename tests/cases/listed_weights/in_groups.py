# Named lists stand in the groups of an optimizer, each with its learning rate.
import torch

slope = torch.tensor([0.5, -0.5], requires_grad=True)
curve = torch.tensor([0.1, 0.1], requires_grad=True)
shift = torch.zeros(1, requires_grad=True)
shape = [slope, curve]
rest = (shift,)
optimizer = torch.optim.SGD([{"params": shape}, {"params": rest, "lr": 0.5}], lr=0.05, momentum=0.5)
x = torch.cos(torch.arange(10.0)).reshape(5, 2)
y = torch.sin(torch.arange(5.0))

for step in range(4):
    prediction = (x * slope + x * x * curve).sum(1) + shift
    loss = (prediction - y).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}", [group["lr"] for group in optimizer.param_groups])
