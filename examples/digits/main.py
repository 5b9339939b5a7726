"""Train a small CNN on scikit-learn's handwritten digits (1,797 images of 8x8) with PyTorch."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.utils.data import DataLoader, TensorDataset


class DigitNet(nn.Module):
    """Two convolutions and two linear layers."""

    def __init__(self, num_classes=10):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, kernel_size=3, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(inplace=True),
            nn.Conv2d(32, 64, kernel_size=3, padding=1),
            nn.BatchNorm2d(64),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
        )
        self.dropout = nn.Dropout(0.25)
        self.fc1 = nn.Linear(64 * 4 * 4, 128)
        self.fc2 = nn.Linear(128, num_classes)

    def forward(self, x):
        """Return the logits of images (N, 1, 8, 8)."""
        x = self.features(x)
        x = self.dropout(x.flatten(1))
        return self.fc2(F.relu(self.fc1(x)))


def load_data(test_size):
    """Return the training and the test images, the same in every run."""
    digits = load_digits()
    images = torch.from_numpy(digits.images).float().unsqueeze(1) / 16.0
    labels = torch.from_numpy(digits.target).long()
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    train, test = order[test_size:], order[:test_size]
    return TensorDataset(images[train], labels[train]), TensorDataset(images[test], labels[test])


def train(model, device, loader, optimizer, epoch):
    """Train for one epoch."""
    model.train()
    total = 0.0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels, label_smoothing=0.05)
        loss.backward()
        optimizer.step()
        total += loss.item() * images.size(0)
    print(f"epoch {epoch}: loss {total / len(loader.dataset):.4f}")


@torch.no_grad()
def test(model, device, loader):
    """Return the accuracy in percent."""
    model.eval()
    correct = 0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        predictions = model(images).argmax(dim=1)
        correct += (predictions == labels).sum().item()
    accuracy = 100.0 * correct / len(loader.dataset)
    print(f"test accuracy: {accuracy:.2f} %")
    return accuracy


def main():
    """Train, test after every epoch and keep the best weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--test-size", type=int, default=450)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", default="digits.pth")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_set, test_set = load_data(args.test_size)
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=args.test_size)

    model = DigitNet().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-2)
    scheduler = CosineAnnealingLR(optimizer, T_max=args.epochs)
    best = 0.0
    for epoch in range(1, args.epochs + 1):
        train(model, device, train_loader, optimizer, epoch)
        accuracy = test(model, device, test_loader)
        scheduler.step()
        if accuracy > best:
            best = accuracy
            torch.save(model.state_dict(), args.save)
    print(f"best test accuracy: {best:.2f} %")


if __name__ == "__main__":
    main()
