"""Meters that are updated between the loss and the backward call, and a display that holds them all."""

import torch
from meters_parts import AverageMeter, Progress, accuracy
from torch import nn


def train(loader, model, criterion, optimizer, epoch):
    losses = AverageMeter("Loss", ":.4f")
    top1 = AverageMeter("Acc@1", ":6.2f")
    top5 = AverageMeter("Acc@2", ":6.2f")
    progress = Progress(len(loader), [losses, top1, top5], prefix=f"Epoch: [{epoch}]")
    model.train()
    for i, (images, target) in enumerate(loader):
        output = model(images)
        loss = criterion(output, target)

        acc1, acc5 = accuracy(output, target, topk=(1, 2))
        losses.update(loss.item(), images.size(0))
        top1.update(acc1[0].item(), images.size(0))
        top5.update(acc5[0].item(), images.size(0))

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        progress.display(i + 1)
    return losses.avg


model = nn.Sequential(nn.Flatten(), nn.Linear(4, 3))
nn.init.constant_(model[1].weight, 0.1)
with torch.no_grad():
    model[1].bias.copy_(torch.tensor([0.1, -0.2, 0.3]))
loader = [(torch.arange(8.0).view(2, 2, 2) / (4 + k), torch.tensor([k % 3, 2])) for k in range(3)]
optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
for epoch in range(2):
    print(round(train(loader, model, nn.CrossEntropyLoss(), optimizer, epoch), 4))
