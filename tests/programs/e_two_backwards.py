import torch
from torch import nn

from fixed import fill, points

x, y = points()
body, head, aux = fill(nn.Linear(4, 8)), fill(nn.Linear(8, 3)), fill(nn.Linear(8, 4))
weights = list(body.parameters()) + list(head.parameters()) + list(aux.parameters())
optimizer = torch.optim.Adam(weights, lr=0.02)
for step in range(6):
    optimizer.zero_grad()
    loss_class = nn.functional.cross_entropy(head(torch.relu(body(x))), y)
    loss_class.backward()
    loss_rebuilt = 0.1 * nn.functional.mse_loss(aux(torch.relu(body(x))), x)
    loss_rebuilt.backward()
    optimizer.step()
    print(step, loss_class.item(), loss_rebuilt.item())
