# needs: scipy
# Arrays go to scipy and come back: nothing is to be said.
import torch
from scipy.optimize import linear_sum_assignment

predicted = torch.tensor([[0.1, 0.2], [0.9, 0.8], [0.5, 0.4]])
wanted = torch.tensor([[1.0, 1.0], [0.0, 0.0]])
cost = torch.cdist(predicted, wanted, p=1)
rows, columns = linear_sum_assignment(cost.numpy())
print(rows.tolist(), columns.tolist())
matched = predicted[torch.as_tensor(rows)]
print(torch.nn.functional.l1_loss(matched, wanted[torch.as_tensor(columns)]).item())
