import torch
from parts_changed_on_the_way_parts import Lion

w = torch.nn.Parameter(torch.tensor([1.0, -2.0, 0.5]))
optimizer = Lion([w])
for _ in range(4):
    optimizer.zero_grad()
    ((w - 0.3) ** 2).sum().backward()
    optimizer.step()
state = optimizer.state[w]
print(w.tolist(), state["step"], state["exp_avg"].tolist(), state["exp_avg_sq"].tolist())
frames = torch.arange(12.0).view(2, 2, 3)
for t in range(2):
    frame = frames[t].unsqueeze_(0).clone()
    frame[0, 0] = -1.0
    print(tuple(frame.shape), frame.sum().item(), frames[t].t_().contiguous().tolist())
print(tuple(frames.shape), frames.sum().item())
