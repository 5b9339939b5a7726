import torch
from torch import nn
from torch.autograd import Function

from fixed import fill, points


class Reverse(Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.alpha = alpha
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.neg() * ctx.alpha, None


class Affine(Function):
    @staticmethod
    def forward(ctx, x, weight, bias=None):
        ctx.save_for_backward(x, weight, bias)
        out = x.mm(weight.t())
        return out if bias is None else out + bias.unsqueeze(0)

    @staticmethod
    def backward(ctx, grad_output):
        x, weight, bias = ctx.saved_tensors
        grad_x = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_x = grad_output.mm(weight)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t().mm(x)
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0)
        return grad_x, grad_weight, grad_bias


affine = Affine.apply


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 5)
        self.weight = nn.Parameter(torch.ones(3, 5))
        self.bias = nn.Parameter(torch.zeros(3))

    def forward(self, x):
        x = Reverse.apply(torch.tanh(self.inner(x)), 0.5)
        return affine(x, self.weight, self.bias)


x, y = points()
net = fill(Net())
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    print(step, loss.item())
print(net.inner.weight.sum().item(), net.bias.sum().item())
