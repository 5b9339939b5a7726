# The optimizers stand in a dictionary, and a method resets them all.
import torch
import torch.nn as nn


class Game:
    def __init__(self):
        self.maker = nn.Linear(2, 2)
        self.judge = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
        for number, weight in enumerate([*self.maker.parameters(), *self.judge.parameters()]):
            nn.init.constant_(weight, 0.1 * (number + 1))
        self.optimizers = {
            "maker": torch.optim.SGD(self.maker.parameters(), lr=0.05),
            "judge": torch.optim.SGD(self.judge.parameters(), lr=0.05),
        }

    def clear(self):
        for optimizer in self.optimizers.values():
            optimizer.zero_grad()

    def play(self, noise, real):
        made = self.maker(noise)
        judged = self.judge(real).mean() - self.judge(made).mean()
        judged.backward(retain_graph=True)
        self.optimizers["judge"].step()
        self.clear()
        fooled = -self.judge(self.maker(noise)).mean() + made.pow(2).mean()
        fooled.backward()
        self.optimizers["maker"].step()
        self.clear()
        return judged.item(), fooled.item()


game = Game()
noise, real = torch.sin(torch.arange(6.0)).reshape(3, 2), torch.cos(torch.arange(6.0)).reshape(3, 2)
for _ in range(3):
    print([round(v, 4) for v in game.play(noise, real)])
