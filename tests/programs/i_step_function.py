import torch
from torch import nn

from fixed import fill, points


def train_step(model, batch, criterion, optimizer):
    inputs, targets = batch
    outputs = model(inputs)
    loss = criterion(outputs, targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item(), (outputs.argmax(1) == targets).float().mean().item()


@torch.no_grad()
def evaluate(model, batches, criterion):
    model.eval()
    losses = [criterion(model(a), b).item() for a, b in batches]
    model.train()
    return sum(losses) / len(losses)


x, y = points()
net = fill(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)))
optimizer = torch.optim.RMSprop(net.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()
for step in range(6):
    loss, accuracy = train_step(net, (x, y), criterion, optimizer)
    print(step, loss, accuracy, evaluate(net, [(x[:32], y[:32]), (x[32:], y[32:])], criterion))
