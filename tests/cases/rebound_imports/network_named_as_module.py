# The network takes the name of the module that it comes from; its sizes are numpy's.
import memory_parts
import numpy as np
import torch

pairs = np.array([[0, 1], [2, 3], [1, 3]])
memory_parts = memory_parts.Net(pairs.max() + 1, 3)
optimizer = torch.optim.SGD(memory_parts.parameters(), lr=0.1)

for epoch in range(2):
    memory_parts.train()
    for left, right in pairs.tolist():
        memory_parts.zero_grad()
        positive, negative = memory_parts(torch.tensor([left]), torch.tensor([right]))
        loss = -(positive - negative).sigmoid().log().sum()
        loss.backward()
        optimizer.step()
    memory_parts.eval()
    print(epoch, f"{loss.item():.4f}", tuple(memory_parts.table.weight.shape))
