import torch
import torch.nn.functional as F
from torch import nn

from fixed import fill, points

x, y = points()
teacher = fill(nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3)))
student = fill(nn.Linear(4, 3), 0.1)
teacher.eval()
for p in teacher.parameters():
    p.requires_grad = False
T, alpha = 4.0, 0.7
optimizer = torch.optim.Adam(student.parameters(), lr=0.02)
for step in range(6):
    student.train()
    with torch.no_grad():
        teacher_logits = teacher(x)
    student_logits = student(x)
    soft = F.kl_div(F.log_softmax(student_logits / T, dim=1), F.softmax(teacher_logits / T, dim=1), reduction="batchmean")
    hard = F.cross_entropy(student_logits, y)
    loss = alpha * soft * T * T + (1 - alpha) * hard
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{step}: total={loss.item():.5f} soft={soft.item():.5f} hard={hard.item():.5f}")
