"""Nothing resets the gradient of the input: it builds up over the steps, that of the weights does not."""

import torch

w = torch.nn.Parameter(torch.tensor([2.0, -1.0]))
opt = torch.optim.SGD([w], lr=0.1)
x = torch.tensor([1.0, 3.0], requires_grad=True)
for i in range(3):
    opt.zero_grad()
    loss = (w * x).sum() ** 2
    loss.backward()
    opt.step()
    print(i, round(loss.item(), 4), [round(v, 4) for v in x.grad.tolist()], [round(v, 4) for v in w.grad.tolist()])
