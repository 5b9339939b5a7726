"""Schedules whose factors are ints on some lines of a table."""
import torch


def constant(gamma=1):
    w = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([w], lr=0.5)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma)
    for _ in range(3):
        optimizer.step()
        schedule.step()
    return round(float(optimizer.param_groups[0]["lr"]), 4)


print(constant(), constant(gamma=0), constant(0.5))


def powers(power, total):
    w = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([w], lr=0.5)
    schedule = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=total, power=power)
    found = []
    for _ in range(3):
        optimizer.step()
        schedule.step()
        found.append(round(float(optimizer.param_groups[0]["lr"]), 4))
    return found


print(powers(2, 4), powers(1, 4), powers(0.5, 4))
