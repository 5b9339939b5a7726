"""A queue of a network: rows are written at a pointer, then the buffer is loaded, copied into, and filled."""

import torch
from torch import nn


class Queue(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(4, 2))
        self.register_buffer("at", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def push(self, rows):
        at, n = int(self.at), rows.shape[0]
        self.keys[at : at + n] = rows
        self.at[0] = (at + n) % 4

    def forward(self, x):
        return x @ self.keys.t()


queue = Queue()
queue.push(torch.ones(2, 2))
queue.push(2 * torch.ones(2, 2))
print(queue.keys.tolist(), queue.at.tolist())
state = {k: v.clone() for k, v in queue.state_dict().items()}
queue.push(7 * torch.ones(2, 2))
queue.keys.copy_(queue.keys * 10)
print(queue.keys.tolist(), queue(torch.ones(1, 2)).tolist())
queue.load_state_dict(state)
print(queue.keys.tolist(), queue.at.tolist())
queue.keys.fill_(0.5)
queue.keys[0] = 1
print(queue.keys.tolist())
