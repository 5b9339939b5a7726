"""Mean teacher: the teacher is a copy that somebody wraps, trains or evaluates on its own."""

import copy

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, update_bn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.drop = nn.Dropout(0.3)

    def forward(self, x):
        return self.norm(x)


class MeanTeacher(nn.Module):
    def __init__(self, student):
        super().__init__()
        self.student = student
        self.teacher = copy.deepcopy(student)
        self.teacher.eval()

    def train(self, mode=True):
        super().train(mode)
        self.teacher.eval()
        return self


student = nn.DataParallel(Net())
pair = MeanTeacher(student)
print(pair.training, pair.student.training, pair.teacher.training)
pair.train()
print(pair.training, pair.student.training, pair.teacher.training)
x = torch.tensor([[1.0, 2.0, 4.0], [3.0, 1.0, 0.0], [2.0, 2.0, 2.0]])
print(pair.student(x)[0].tolist(), pair.teacher(x)[0].tolist())
swa = AveragedModel(pair.teacher)
print(swa.training, swa.module.training)
update_bn([x, x + 1], swa)
print(swa.training, swa.module.training, [round(v, 4) for v in pair.student(x).mean(0).abs().tolist()])
pair.eval()
print(pair.training, pair.student.training)
swa.train()
print(swa.module.training, swa(x)[0].tolist())
