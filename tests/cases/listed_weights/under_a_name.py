# The list of weights has a name; what stands in it are leaf tensors.
import torch

weight = torch.tensor([[0.5, -0.25]], requires_grad=True)
bias = torch.zeros(1, requires_grad=True)
params = [weight, bias]
optimizer = torch.optim.SGD(params, lr=0.1)
x = torch.tensor([[1.0, 2.0], [0.5, -1.0], [2.0, 0.0]])
y = torch.tensor([[1.0], [0.0], [2.0]])

for epoch in range(5):
    optimizer.zero_grad()
    loss = ((x @ weight.t() + bias) - y).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(epoch, f"{loss.item():.4f}")
with torch.no_grad():
    print([round(v, 4) for p in params for v in p.flatten().tolist()], sum(p.numel() for p in params))
