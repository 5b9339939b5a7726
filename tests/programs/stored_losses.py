import torch
from torch import nn

from fixed import fill, points

x, y = points()
crit = nn.CrossEntropyLoss()


class Part:
    def __init__(self, x, y):
        self.x, self.y, self.loss = x, y, None

    def run(self, net):
        self.loss = crit(net(self.x), self.y)
        return len(self.y)


def evaluate(net, env):
    env["nll"] = crit(net(env["x"]), env["y"])


def size_of(net):
    reg = torch.tensor(0.0)
    for w in net.parameters():
        reg = reg + 0.01 * w.norm()
    return reg


def show(name, step, loss, net):
    print(name, step, loss.item(), [round(p.abs().sum().item(), 4) for p in net.parameters()])


def by_loop_variable(envs):
    net = fill(nn.Linear(4, 3))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(3):
        for number, env in enumerate(envs):
            env["nll"] = crit(net(env["x"]), env["y"]) * (number + 1)
        loss = torch.stack([env["nll"] for env in envs]).mean() + size_of(net)
        opt.zero_grad()
        loss.backward()
        opt.step()
        show("loop", step, loss, net)


def by_helper(envs):
    net = fill(nn.Linear(4, 3))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(3):
        for env in envs.values():
            evaluate(net, env)
        loss = envs["a"]["nll"] + 2 * envs["b"]["nll"] + size_of(net)
        opt.zero_grad()
        loss.backward()
        opt.step()
        show("helper", step, loss, net)


def by_objects(parts):
    net = fill(nn.Linear(4, 3))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(3):
        count = sum([part.run(net) for part in parts])
        loss = (parts[0].loss + parts[1].loss) / 2 + size_of(net)
        opt.zero_grad()
        loss.backward()
        opt.step()
        show("objects", step + count, loss, net)


def by_unpacking(outs):
    net = fill(nn.Linear(4, 3))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(3):
        first, second = outs
        first["l"] = crit(net(x[:32]), y[:32])
        second.update(l=crit(net(x[32:]), y[32:]))
        loss = outs[0]["l"] + outs[1]["l"] + size_of(net)
        opt.zero_grad()
        loss.backward()
        opt.step()
        show("unpacking", step, loss, net)


by_loop_variable([{"x": x[:32], "y": y[:32]}, {"x": x[32:], "y": y[32:]}])
by_helper({"a": {"x": x[:32], "y": y[:32]}, "b": {"x": x[32:], "y": y[32:]}})
by_objects([Part(x[:32], y[:32]), Part(x[32:], y[32:])])
by_unpacking([{}, {}])
