import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.Dropout(0.5))
        self.head = nn.Linear(width * 64, 8)

    def forward(self, x):
        return self.head(self.body(x).flatten(1))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))

    def forward(self, x):
        return self.layers(x).squeeze(1)


class Trainer:
    def __init__(self, args):
        self.encoder, self.critic = Encoder(args.width), Critic()
        self.optimizer = torch.optim.SGD(self.encoder.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3, betas=(0.5, 0.999))
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 1, gamma=0.5)
        self.criterion = nn.BCEWithLogitsLoss()

    def train(self, loader):
        self.encoder.train()
        for images, labels in loader:
            noise = torch.randn(images.size(0), 8)
            self.critic_optimizer.zero_grad()
            real = self.criterion(self.critic(noise), torch.ones(images.size(0)))
            real.backward()
            fake = self.criterion(self.critic(self.encoder(images).detach()), torch.zeros(images.size(0)))
            fake.backward()
            self.critic_optimizer.step()

            self.optimizer.zero_grad()
            codes = self.encoder(images)
            loss = nn.functional.cross_entropy(codes, labels) + 0.1 * self.criterion(
                self.critic(codes), torch.ones(images.size(0))
            )
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.encoder.parameters(), 1.0)
            self.optimizer.step()
            print(f"{real.item():.4f} {fake.item():.4f} {loss.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=4)
    parser.add_argument("--lr", type=float, default=0.1)
    args = parser.parse_args()
    data = TensorDataset(torch.rand(32, 1, 8, 8), torch.randint(0, 8, (32,)))
    trainer = Trainer(args)
    for _ in range(10):
        trainer.train(DataLoader(data, batch_size=8, shuffle=True))
        trainer.scheduler.step()
