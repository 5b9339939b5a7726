"""A logger that is found in a table and handed an optimizer: rates are printed, formatted, compared and dumped."""

import json

import torch


def log(o, step):
    print(step, o.param_groups[0]["lr"])
    print(f"{o.param_groups[0]['lr']:.3e}", "%.4f" % o.param_groups[-1]["lr"])
    print(json.dumps({"step": step, "lr": o.param_groups[0]["lr"]}))
    return o.param_groups[0]["lr"] < 0.05


class Meter:
    def __init__(self, source):
        self.source = source

    def rates(self):
        return [group["lr"] for group in self.source.param_groups]


w = torch.nn.Parameter(torch.ones(2))
table = {"log": log, "meter": Meter}
made = torch.optim.SGD([w], lr=0.1, momentum=0.9)
schedule = torch.optim.lr_scheduler.StepLR(made, step_size=1, gamma=0.25)
for step in range(3):
    made.zero_grad()
    (w * w).sum().backward()
    made.step()
    print(table["log"](made, step), table["meter"](made).rates())
    schedule.step()
