# One optimizer has all weights, the other some of them; the lists stand under names.
import torch

slope = torch.tensor([[0.5, -0.25]], requires_grad=True)
shift = torch.zeros(1, requires_grad=True)
scale = torch.ones(1, requires_grad=True)
every = [slope, shift, scale]
coarse = torch.optim.SGD([slope, shift], lr=0.1)
fine = torch.optim.SGD(every, lr=0.01, momentum=0.9)
x = torch.tensor([[1.0, 2.0], [0.5, -1.0], [2.0, 0.0]])
y = torch.tensor([[1.0], [0.0], [2.0]])

for epoch in range(6):
    optimizer = coarse if epoch < 3 else fine
    optimizer.zero_grad()
    loss = ((x @ slope.t() + shift) * scale - y).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(epoch, f"{loss.item():.4f}")
print([round(v, 4) for w in every for v in w.detach().flatten().tolist()])
