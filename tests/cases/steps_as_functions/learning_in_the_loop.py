"""Acting and learning in one loop of a script: what the network chose is an array when the buffer gets it."""

import random

import numpy as np
import torch
import torch.nn.functional as F
from replay_parts import ReplayBuffer, fill

q_network = fill(torch.nn.Linear(3, 2), 4)
target_network = fill(torch.nn.Linear(3, 2), 4)
optimizer = torch.optim.Adam(q_network.parameters(), lr=0.05)
rb = ReplayBuffer(3, 1)
random.seed(1)
noise = np.random.RandomState(3)
obs = noise.randn(3).astype(np.float32)
start, history = 6, []
for step in range(16):
    if random.random() < 0.3:
        action = np.array(noise.randint(2))
    else:
        q_values = q_network(torch.Tensor(obs[None]))
        action = torch.argmax(q_values, dim=1).cpu().numpy()[0]
    next_obs = noise.randn(3).astype(np.float32) + 0.1 * action
    rb.add(obs, action, float(action), next_obs)
    obs = next_obs
    if step > start:
        if step % 2 == 0:
            data = rb.batch(4)
            with torch.no_grad():
                target_max, _ = target_network(data.next_states).max(dim=1)
                td_target = data.rewards.flatten() + 0.9 * target_max
            old_val = q_network(data.states).gather(1, data.actions.long()).squeeze()
            loss = F.mse_loss(td_target, old_val)
            if step % 4 == 0:
                history.append(round(old_val.mean().item(), 5))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(step, round(loss.item(), 5))
print(history, [round(v, 4) for v in q_network.weight.flatten().tolist()])
