import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

from fixed import fill, points


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 16)
        self.fc2 = nn.Linear(16, 3)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


def train(model, device, loader, optimizer, epoch):
    model.train()
    correct, total_loss = 0, 0.0
    for batch_idx, (data, target) in enumerate(loader):
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        output = model(data)
        loss = F.cross_entropy(output, target)
        loss.backward()
        optimizer.step()
        total_loss += loss.item() * data.size(0)
        pred = output.argmax(dim=1, keepdim=True)
        correct += pred.eq(target.view_as(pred)).sum().item()
        if batch_idx % 2 == 0:
            print(f"Train Epoch: {epoch} [{batch_idx * len(data)}/{len(loader.dataset)}] Loss: {loss.item():.5f}")
    print(f"epoch {epoch}: {total_loss / len(loader.dataset):.5f} {100.0 * correct / len(loader.dataset):.1f}%")


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader(TensorDataset(*points()), batch_size=16, shuffle=False)
    model = fill(Net()).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
    for epoch in range(1, 4):
        train(model, device, loader, optimizer, epoch)
        scheduler.step()
        print("lr %.5f" % scheduler.get_last_lr()[0])
    torch.save(model.state_dict(), "a_canonical.pt")
    again = Net().to(device)
    again.load_state_dict(torch.load("a_canonical.pt", map_location=device))
    again.eval()
    with torch.no_grad():
        print("again", F.cross_entropy(again(loader.dataset.tensors[0]), loader.dataset.tensors[1]).item())


if __name__ == "__main__":
    main()
