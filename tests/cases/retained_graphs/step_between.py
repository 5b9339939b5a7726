# The judge steps between the two backward calls; GroupNorm and BatchNorm stand in what both losses share.
import torch
import torch.nn as nn

maker = nn.Sequential(nn.Conv1d(2, 4, 3, padding=1), nn.GroupNorm(2, 4), nn.Tanh())
judge = nn.Sequential(nn.Conv1d(4, 4, 1), nn.BatchNorm1d(4), nn.ReLU(), nn.Conv1d(4, 1, 1))
for number, weight in enumerate([*maker.parameters(), *judge.parameters()]):
    with torch.no_grad():
        weight.copy_(torch.sin(torch.arange(float(weight.numel())) + number).reshape(weight.shape) / 2)
maker_step = torch.optim.SGD(maker.parameters(), lr=0.05)
judge_step = torch.optim.SGD(judge.parameters(), lr=0.05)
x = torch.cos(torch.arange(30.0)).reshape(3, 2, 5)

for step in range(3):
    made = maker(x)
    score = judge(made)
    bound = made.abs().mean()
    judge_loss = (score - 1).pow(2).mean()
    judge_step.zero_grad()
    judge_loss.backward(retain_graph=True)
    judge_step.step()
    maker_step.zero_grad()
    bound.backward(retain_graph=True)
    spread = made.var() * 0.1
    spread.backward()
    maker_step.step()
    print(f"{judge_loss.item():.4f} {bound.item():.4f} {spread.item():.4f}")
