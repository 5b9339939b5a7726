# needs: tensorboard matplotlib
"""Figures that are open, closed, listed, and used again after they were written."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from torch.utils.tensorboard import SummaryWriter

writer = SummaryWriter("figures")
figure, axes = plt.subplots(figsize=(2, 2))
axes.plot([1, 2, 3])
writer.add_figure("open", figure, 0, close=False)
print(plt.fignum_exists(figure.number), len(axes.lines))
plt.close(figure)
writer.add_figure("closed", figure, 1)
print(len(axes.lines), len(figure.axes))
others = [plt.figure(figsize=(1, 1)) for _ in range(2)]
writer.add_figure("several", others, 2)
print(len(plt.get_fignums()))
writer.close()
