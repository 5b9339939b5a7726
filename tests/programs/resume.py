import argparse
import os

import torch
from torch import nn

from fixed import fill, points

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--resume", default="", type=str)
args, _ = parser.parse_known_args([])


def save_checkpoint(state, is_best, filename="resume.pth.tar"):
    torch.save(state, filename)
    if is_best:
        torch.save(state, "best_" + filename)


def run(epochs, resume):
    x, y = points()
    net = fill(nn.Linear(4, 3))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=6)
    start, best = 0, 1e9
    if resume and os.path.isfile(resume):
        checkpoint = torch.load(resume, map_location="cpu")
        start, best = checkpoint["epoch"], checkpoint["best"]
        net.load_state_dict(checkpoint["state_dict"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        scheduler.load_state_dict(checkpoint["scheduler"])
        print("=> loaded checkpoint '{}' (epoch {})".format(resume, start))
    for epoch in range(start, epochs):
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        is_best = loss.item() < best
        best = min(loss.item(), best)
        print(epoch, loss.item(), scheduler.get_last_lr()[0])
        state = {"epoch": epoch + 1, "state_dict": net.state_dict(), "best": best,
                 "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}
        save_checkpoint(state, is_best)


run(args.epochs, args.resume)
run(6, "resume.pth.tar")
