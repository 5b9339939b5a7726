import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from fixed import fill


class Blobs(Dataset):
    def __init__(self, count):
        rng = np.random.RandomState(0)
        self.images = rng.rand(count, 1, 8, 8).astype(np.float32)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return {"image": torch.from_numpy(self.images[index]), "index": index}


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.ReLU(True), nn.MaxPool2d(2))
        self.decoder = nn.Sequential(
            nn.ConvTranspose2d(4, 4, 2, stride=2), nn.ReLU(True), nn.ConvTranspose2d(4, 1, 2, stride=2), nn.Sigmoid()
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


model = fill(AutoEncoder())
loader = DataLoader(Blobs(20), batch_size=8, shuffle=False, drop_last=False, num_workers=0)
distance = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=1e-5)
for epoch in range(2):
    for batch in loader:
        img = batch["image"]
        output = model(img)
        loss = distance(output, img)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(batch["index"].tolist()[0], loss.item())
    print("epoch [{}/{}], loss: {:.5f}".format(epoch + 1, 2, loss.item()))
