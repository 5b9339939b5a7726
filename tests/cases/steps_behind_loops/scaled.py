# A gradient scaler takes the last step behind the loop.
import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
for index, weight in enumerate(model.parameters()):
    nn.init.constant_(weight, 0.1 * (index + 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
scaler = torch.amp.GradScaler("cpu", enabled=False)


def run(batches, every, start=0):
    last = start
    for step, (x, y) in enumerate(batches, start=start + 1):
        last = step
        for group in optimizer.param_groups:
            group["lr"] = 0.05 / step
        with torch.amp.autocast("cpu", enabled=False):
            prediction = model(x)
            loss = ((prediction - y) ** 2).mean()
            loss = loss / every
        scaler.scale(loss).backward()
        if step % every == 0:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.3)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)
        if step % 2 == 0:
            print(step, f"{loss.item() * every:.4f}")
        del x, y, prediction, loss
    if last > start and last % every != 0:
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.3)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)


data = [(torch.cos(torch.arange(6.0) + k).reshape(3, 2), torch.full((3, 1), float(k))) for k in range(5)]
run(data, 2)
run(data, 3)
print([round(p.sum().item(), 4) for p in model.parameters()])
