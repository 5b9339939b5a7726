"""Train ResNet-50 on CIFAR-10 and measure its accuracy after every epoch.

    python main.py --data-path data/
"""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
import torchvision
import torchvision.transforms as transforms
from torch.utils.data import DataLoader

from resnet import resnet50

# Mean and standard deviation of each channel over the training images
MEAN = (0.4914, 0.4822, 0.4465)
STD = (0.2023, 0.1994, 0.2010)


def create_loaders(data_path, batch_size, image_size):
    """Return the loaders of the training and of the test images."""
    transform_train = transforms.Compose(
        [
            transforms.RandomCrop(32, padding=4),
            transforms.RandomHorizontalFlip(),
            transforms.Resize(image_size),
            transforms.ToTensor(),
            transforms.Normalize(MEAN, STD),
        ]
    )
    transform_test = transforms.Compose(
        [
            transforms.Resize(image_size),
            transforms.ToTensor(),
            transforms.Normalize(MEAN, STD),
        ]
    )
    train_set = torchvision.datasets.CIFAR10(root=data_path, train=True, download=True, transform=transform_train)
    test_set = torchvision.datasets.CIFAR10(root=data_path, train=False, download=True, transform=transform_test)
    train_loader = DataLoader(train_set, batch_size=batch_size, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=batch_size, shuffle=False)
    return train_loader, test_loader


def train_epoch(epoch, model, device, train_loader, criterion, optimizer):
    """Go through the training images once; return the mean loss of the batches."""
    model.train()
    total_loss = 0.0
    for batch_idx, (data, target) in enumerate(train_loader):
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        output = model(data)
        loss = criterion(output, target)
        loss.backward()
        optimizer.step()
        total_loss += loss.item()
        if batch_idx % 100 == 0:
            print(f"epoch {epoch}  step {batch_idx}/{len(train_loader)}  loss {loss.item():.4f}")
    return total_loss / len(train_loader)


def test_epoch(model, device, test_loader):
    """Return the mean loss of the test images and the share that is classified correctly."""
    model.eval()
    test_loss = 0.0
    correct = 0
    with torch.no_grad():
        for data, target in test_loader:
            data, target = data.to(device), target.to(device)
            output = model(data)
            # the sum over the batch, because the last batch may be smaller than the others
            test_loss += F.nll_loss(F.log_softmax(output, dim=1), target, reduction="sum").item()
            pred = output.max(1)[1]  # the index of the largest logit
            correct += pred.eq(target).sum().item()
    test_loss /= len(test_loader.dataset)
    return test_loss, correct / len(test_loader.dataset)


def main():
    parser = argparse.ArgumentParser(description="Train ResNet-50 on CIFAR-10")
    parser.add_argument("--data-path", default="./data", help="folder of the data set (default: ./data)")
    parser.add_argument("--epochs", type=int, default=90, help="number of epochs (default: 90)")
    parser.add_argument("--batch-size", type=int, default=32, help="images in a batch (default: 32)")
    parser.add_argument("--image-size", type=int, default=224, help="side the images are resized to (default: 224)")
    parser.add_argument("--save-path", default="resnet50.pth", help="file of the weights (default: resnet50.pth)")
    args = parser.parse_args()

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_loader, test_loader = create_loaders(args.data_path, args.batch_size, args.image_size)

    net = resnet50(num_classes=10).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.001, weight_decay=1e-5)

    best_accuracy = 0.0
    for epoch in range(1, args.epochs + 1):
        train_loss = train_epoch(epoch, net, device, train_loader, criterion, optimizer)
        test_loss, accuracy = test_epoch(net, device, test_loader)
        print(f"epoch {epoch}: train loss {train_loss:.4f}, test loss {test_loss:.4f}, accuracy {100 * accuracy:.2f}%")
        if accuracy >= best_accuracy:
            best_accuracy = accuracy
            torch.save(net.state_dict(), args.save_path)
    print(f"best accuracy: {100 * best_accuracy:.2f}%")


if __name__ == "__main__":
    main()
