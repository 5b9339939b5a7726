# needs: pandas
# Sizes of layers come from a table: what pandas answers are numpy's numbers.
import pandas as pd
import torch
import torch.nn as nn

table = pd.DataFrame({"user": [0, 2, 1, 3], "item": [1, 4, 0, 2], "rating": [3.0, 5.0, 1.0, 4.0]})
users, items = table["user"].max() + 1, table.item.nunique()


class Factors(nn.Module):
    def __init__(self, users, items, width=2):
        super().__init__()
        self.users = nn.Embedding(users, width)
        self.items = nn.Embedding(items, width)
        nn.init.constant_(self.users.weight, 0.5)
        nn.init.constant_(self.items.weight, 0.25)

    def forward(self, user, item):
        return (self.users(user) * self.items(item)).sum(1)


items = table["item"].astype(int).max() + 1
net = Factors(users, items)
user, item = torch.tensor(table["user"].values), torch.from_numpy(table["item"].to_numpy())
print(net(user, item).tolist(), tuple(net.items.weight.shape))
sizes = {name: table[name].max() + 1 for name in ("user", "item")}
tables = nn.ModuleList([nn.Embedding(sizes[name], 2) for name in sizes])
print([tuple(one.weight.shape) for one in tables], table.shape[0], round(table.rating.mean(), 2))
normed = (table["rating"] - table["rating"].mean()) / table["rating"].std()
print([round(v, 4) for v in torch.tensor(normed.values, dtype=torch.float32).tolist()])
head = nn.Linear(table["user"].count(), int(table["item"].max()))
print(tuple(head.weight.shape))
