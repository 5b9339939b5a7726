"""A pretrained part in eval mode is wrapped by code that does not know of it."""

import torch
from torch import nn

from wrapped_after_eval_parts import Classifier, attach_head, load_backbone

backbone = load_backbone()
model = attach_head(backbone, 3)
print(model.training, model.features.training, model.head.training, [m.training for m in model.features])
stacked = nn.Sequential(backbone, nn.Dropout(0.5), nn.Linear(4, 2))
print([m.training for m in stacked.modules()])
x = torch.ones(2, 4)
print(model.features(x).tolist())
again = Classifier(backbone, 2)
print([m.training for m in again.modules()])
listed = nn.ModuleList([backbone, nn.BatchNorm1d(4)])
print(listed.training, listed[0].training, listed[1].training)
again.train()
print([m.training for m in again.modules()])
again.eval()
print(backbone.training, again.head.training)
