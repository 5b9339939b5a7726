# Uses compat_parts: names that depend on the release of PyTorch.
import torch
from compat_parts import XFORMERS, Dataset, LRScheduler, default_collate


class Halving(LRScheduler):
    def get_lr(self):
        return [base * 0.5**self.last_epoch for base in self.base_lrs]


class Squares(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.tensor([index, index**2], dtype=torch.float32), index


w = torch.nn.Parameter(torch.ones(2))
optimizer = torch.optim.SGD([w], lr=0.4)
scheduler = Halving(optimizer)
for _ in range(3):
    optimizer.zero_grad()
    (w * w).sum().backward()
    optimizer.step()
    scheduler.step()
    print(round(optimizer.param_groups[0]["lr"], 4))
print([round(v, 5) for v in w.tolist()])
batch, indices = default_collate([Squares()[i] for i in range(4)])
print(list(batch.shape), batch.sum().item(), indices.tolist(), XFORMERS)
