"""The losses are functions inside of a function, and so is the update that uses them; networks are attributes."""

import torch
from replay_parts import ReplayBuffer, fill
from torch import nn
from torch.optim import Adam


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
        self.q = nn.Linear(3, 1)


def learn(make, buffer, rounds, gamma=0.9):
    ac, ac_targ = fill(make(), 0), fill(make(), 0)
    for p in ac_targ.parameters():
        p.requires_grad = False

    def compute_loss_q(data):
        o, a, r, o2 = data["obs"], data["act"], data["rew"], data["obs2"]
        q = ac.q(torch.cat([o, a], dim=-1)).squeeze(-1)
        with torch.no_grad():
            q_targ = ac_targ.q(torch.cat([o2, ac_targ.pi(o2)], dim=-1)).squeeze(-1)
            backup = r + gamma * q_targ
        loss_q = ((q - backup) ** 2).mean()
        return loss_q, dict(QVals=q.detach().numpy())

    def compute_loss_pi(data):
        o = data["obs"]
        return -ac.q(torch.cat([o, ac.pi(o)], dim=-1)).mean()

    pi_optimizer = Adam(ac.pi.parameters(), lr=0.02)
    q_optimizer = Adam(ac.q.parameters(), lr=0.02)

    def update(data):
        q_optimizer.zero_grad()
        loss_q, info = compute_loss_q(data)
        loss_q.backward()
        q_optimizer.step()
        pi_optimizer.zero_grad()
        loss_pi = compute_loss_pi(data)
        loss_pi.backward()
        pi_optimizer.step()
        with torch.no_grad():
            for p, p_targ in zip(ac.parameters(), ac_targ.parameters()):
                p_targ.data.mul_(0.95)
                p_targ.data.add_(0.05 * p.data)
        return round(loss_q.item(), 5), round(loss_pi.item(), 5), round(float(info["QVals"].mean()), 5)

    for _ in range(rounds):
        o, a, r, o2 = buffer.sample(6)
        print(*update({"obs": o, "act": a, "rew": r.squeeze(-1), "obs2": o2}))


buffer = ReplayBuffer(2, 1)
for i in range(12):
    buffer.add([i / 12, 1 - i / 6], [0.1 * i], i % 3, [(i + 1) / 12, 0.5])
learn(ActorCritic, buffer, 3)
