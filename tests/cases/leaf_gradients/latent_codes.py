"""A latent code and a decoder learn together; the gradient of the code is read where the step is long past."""

import torch
from latent_parts import Decoder, fit

decoder = Decoder()
z = torch.zeros(3, 2, requires_grad=True)
wanted = torch.linspace(0, 1, 12).view(3, 4)
optimizer = torch.optim.SGD([{"params": decoder.parameters()}, {"params": [z], "lr": 0.5}], lr=0.1)
loss = fit(decoder, z, wanted, optimizer, 3)
print(round(loss.item(), 5), [round(v, 5) for v in z.grad.flatten().tolist()])
print([round(v, 5) for v in z.detach().flatten().tolist()])
