"""Base classes that programs make directly, or derive from with little of their own."""
import torch
from torch import nn
from torch.distributions import Distribution, Normal, constraints


class Shifted(Distribution):
    arg_constraints = {"shift": constraints.real}
    support = constraints.real

    def __init__(self, shift, validate_args=None):
        self.shift = shift
        super().__init__(shift.shape, validate_args=validate_args)

    def log_prob(self, value):
        return Normal(0.0, 1.0).log_prob(value - self.shift)


class Sign(torch.optim.Optimizer):
    def __init__(self, params, lr=1):
        super().__init__(params, dict(lr=lr))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p -= group["lr"] * p.grad.sign()


plain = Distribution(torch.Size([2]), torch.Size([3]), validate_args=False)
print(tuple(plain.batch_shape), tuple(plain.event_shape))
shifted = Shifted(torch.tensor([0.0, 1.0]))
print(shifted.log_prob(torch.ones(2)).tolist(), tuple(shifted.batch_shape), tuple(shifted.event_shape))
rnn = nn.RNNBase("GRU", 3, 4, 2, batch_first=True)
print(rnn.hidden_size, rnn.num_layers, sum(p.numel() for p in rnn.parameters()))
net = nn.Linear(2, 1)
with torch.no_grad():
    net.weight.fill_(0.5)
    net.bias.zero_()
holder = torch.optim.Optimizer(net.parameters(), {"lr": 0.1})
print(holder.param_groups[0]["lr"], len(holder.param_groups[0]["params"]))
sign = Sign(net.parameters())
for _ in range(2):
    sign.zero_grad()
    net(torch.ones(1, 2)).pow(2).sum().backward()
    sign.step()
print(net.weight.tolist(), net.bias.tolist())
x = torch.tensor([-1.0, 3.0, 9.0], dtype=torch.float64)
print(nn.ReLU6()(x).tolist(), nn.Sequential(nn.ReLU6(), nn.ReLU6(inplace=True))(x).sum().item())
