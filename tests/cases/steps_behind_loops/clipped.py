# Gradients that the last batches have left are used behind the loop, by a step that clips them first.
import torch
import torch.nn as nn

model = nn.Linear(3, 1)
nn.init.constant_(model.weight, 0.2)
nn.init.constant_(model.bias, 0.1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.MSELoss()
batches = [(torch.sin(torch.arange(6.0)).reshape(2, 3) + k, torch.ones(2, 1) * k) for k in range(7)]
every = 3


def train(batches):
    seen = 0
    for number, (x, y) in enumerate(batches, start=1):
        seen = number
        loss = criterion(model(x), y) / every
        loss.backward()
        if number % every == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    if seen % every != 0:
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        print(f"{norm.item():.4f}")
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return loss.item()


for epoch in range(2):
    print(f"{train(batches):.4f}", [round(v, 4) for v in model.weight.detach().flatten().tolist()])
